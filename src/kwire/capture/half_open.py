"""Packed form of connections with only a SYN and maybe a reset; a port scan or SYN flood has millions of them.

`SeriesCarry` packs a half-open `TcpConnection` after each packet and unpacks it for the next one. Both backends write the same bytes. A
connection is not packed if its attachment is not bytes.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from kwire.capture.tcp import TcpConnection

__all__ = ["attachment_of", "pack_half_open", "times_of", "unpack_half_open"]

# `begun`, so that they sort by it, times of the first packet and the last, `n`, number of the SYN, packets of its side, flags
_HALF_OPEN: Final = Struct(">QqqIIHB")
# Of a refused one, behind that: time and number of the reset, packets of its side
_RESET: Final = Struct(">qIH")
_LAST: Final = Struct(">16xq")

_DIRECTION: Final = 1  # of the SYN
_CLOSED: Final = 2
_IGNORED: Final = 4
_MOST_PACKETS: Final = 0xFFFF


def pack_half_open(connection: TcpConnection) -> bytes | None:
    """Pack a connection that has only a SYN, its copies and a reset of the other side; return None for others."""
    side, kept = connection.opened_by, connection.attachment
    if side is None or not (isinstance(kept, bytes) or (connection.ignored and kept is None)):
        return None
    own, other = connection.flows[side], connection.flows[1 - side]
    closed = connection.closed_ns is not None
    if (
        connection.held
        or own.isn is None
        or other.isn is not None
        or connection.answered != closed
        or (other.next is not None) != closed
        or not 0 <= other.packets <= _MOST_PACKETS
        or not 0 < own.packets <= _MOST_PACKETS
        or any(flow.payload_packets or flow.strays or flow.position or flow.waiting or flow.fin_at is not None for flow in (own, other))
        or other.anchored
        or own.next != (own.isn + 1 & 0xFFFFFFFF)
    ):
        return None
    if other.packets and not closed:
        return None
    flags = side | _CLOSED * closed | _IGNORED * connection.ignored
    made = _HALF_OPEN.pack(connection.begun, connection.first_ns, connection.last_ns, connection.n, own.isn, own.packets, flags)
    if connection.closed_ns is not None and other.next is not None:
        made += _RESET.pack(connection.closed_ns, other.next, other.packets)
    return made + (kept or b"")


def unpack_half_open(key: bytes, packed: bytes) -> TcpConnection:
    begun, first_ns, last_ns, n, isn, packets, flags = _HALF_OPEN.unpack_from(packed)
    made = TcpConnection(key, n, first_ns)
    side = flags & _DIRECTION
    made.begun, made.last_ns, made.opened_by, made.ignored = begun, last_ns, side, bool(flags & _IGNORED)
    made.attachment = None if made.ignored else attachment_of(packed)
    own, other = made.flows[side], made.flows[1 - side]
    own.begin(isn)
    own.packets = packets
    if flags & _CLOSED:
        made.answered = True
        made.closed_ns, other.next, other.packets = _RESET.unpack_from(packed, _HALF_OPEN.size)
    return made


def times_of(packed: bytes) -> tuple[int, int | None]:
    """Return `last_ns` and `closed_ns` of a packed connection."""
    last_ns = _LAST.unpack_from(packed)[0]
    return last_ns, _RESET.unpack_from(packed, _HALF_OPEN.size)[0] if packed[_HALF_OPEN.size - 1] & _CLOSED else None


def attachment_of(packed: bytes) -> bytes:
    """Return the attachment of a packed connection, empty if its streams are ignored."""
    return packed[_HALF_OPEN.size + (_RESET.size if packed[_HALF_OPEN.size - 1] & _CLOSED else 0) :]
