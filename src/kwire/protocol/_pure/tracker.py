"""Tracker in Python, the contract of the native one."""

from __future__ import annotations

from kwire.protocol.tracking.connection import Connection

__all__ = ["Connection"]
