"""The tracker that reads every frame with Python's rules: `kwire.protocol.connection`, which stands by itself and is the contract."""

from __future__ import annotations

from kwire.protocol.connection import Connection

__all__ = ["Connection"]
