"""The tracker that reads every frame with Python's rules: `kwire.protocol.tracking.connection`; it is the contract."""

from __future__ import annotations

from kwire.protocol.tracking.connection import Connection

__all__ = ["Connection"]
