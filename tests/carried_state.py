"""Parts of a series made anew from what its state holds of them."""

from __future__ import annotations

import pickle
from typing import Any, TypeVar

import msgspec

from kwire.capture.carry import SeriesCarry
from kwire.capture.tcp import TcpConnection
from kwire.tables.state_types import KINDS

Part = TypeVar("Part")
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


def packed(part: object) -> bytes:
    """Write an object of a class that a state may have, of the pure backend."""
    return msgspec.msgpack.encode(part, enc_hook=lambda found: KINDS[type(found)].dump(found))


def unpacked(data: bytes, of: type[Part]) -> Part:
    def decoded(kind: type, found: object) -> Any:
        return KINDS[kind].load(msgspec.convert(found, KINDS[kind].fields, dec_hook=decoded))

    return msgspec.msgpack.decode(data, type=of, dec_hook=decoded)
