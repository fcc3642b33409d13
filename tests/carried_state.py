"""A `SeriesCarry` made anew from what the state of a series holds of it."""

from __future__ import annotations

import pickle
from typing import Any

from kwire.capture.carry import SeriesCarry
from kwire.capture.tcp import TcpConnection

FIELDS = [name for name in SeriesCarry.__slots__ if name not in ("share", "by_hosts", "live", "watched")]


def carried(carry: Any, kind: type | None = None) -> Any:
    """Make a copy, of the same class or of the class of another backend."""
    connections = [each if isinstance(each, TcpConnection) else each.plain() for each in carry.connections()]
    fields, connections = pickle.loads(pickle.dumps(([getattr(carry, name) for name in FIELDS], connections)))
    made = (kind or type(carry))(carry.share, carry.by_hosts)
    for name, value in zip(FIELDS, fields, strict=True):
        setattr(made, name, value)
    for connection in connections:
        made.adopt(connection)
    return made
