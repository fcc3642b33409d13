"""Connections of which only a SYN was seen, and perhaps its refusal, as packed bytes: a port scan or a SYN flood has millions of them.

`SeriesCarry` packs a `TcpConnection` behind each packet after which it is half-open, and makes it again for the next packet. Both twins
write the same bytes, and a state has them as they are. What hangs on the connection has to be bytes too, else it stays an object.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from kwire.capture.tcp import TcpConnection

__all__ = ["attachment_of", "pack_half_open", "times_of", "unpack_half_open"]

# `begun`, so that they sort by it, times of the first packet, the last and the reset, `n`, number of the SYN and of the reset, packets of
# both sides, flags
_HALF_OPEN: Final = Struct(">QqqqIIIHHB")
_TIMES: Final = Struct(">16xqq")

_DIRECTION: Final = 1  # of the SYN
_CLOSED: Final = 2
_IGNORED: Final = 4
_MOST_PACKETS: Final = 0xFFFF


def pack_half_open(connection: TcpConnection) -> bytes | None:
    """Pack a connection of which nothing but a SYN, its copies and a reset of the other side were seen; None for any other."""
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
    flags = side | _CLOSED * closed | _IGNORED * connection.ignored
    return (
        _HALF_OPEN.pack(
            connection.begun, connection.first_ns, connection.last_ns, connection.closed_ns or 0, connection.n, own.isn, other.next or 0,
            own.packets, other.packets, flags,
        )
        + (kept or b"")
    )  # fmt: skip


def unpack_half_open(key: bytes, packed: bytes) -> TcpConnection:
    """Make the connection of what `pack_half_open` gave.

    Args:
        key: as `TcpConnection.key`.
        packed: its state.
    """
    begun, first_ns, last_ns, closed_ns, n, isn, reset, sent, answered, flags = _HALF_OPEN.unpack_from(packed)
    made = TcpConnection(key, n, first_ns)
    side = flags & _DIRECTION
    made.begun, made.last_ns, made.opened_by, made.ignored = begun, last_ns, side, bool(flags & _IGNORED)
    made.attachment = None if made.ignored else packed[_HALF_OPEN.size :]
    made.flows[side].begin(isn)
    made.flows[side].packets, made.flows[1 - side].packets = sent, answered
    if flags & _CLOSED:
        made.answered, made.closed_ns, made.flows[1 - side].next = True, closed_ns, reset
    return made


def times_of(packed: bytes) -> tuple[int, int | None]:
    """Give `last_ns` and `closed_ns` of a packed connection."""
    last_ns, closed_ns = _TIMES.unpack_from(packed)
    return last_ns, closed_ns if packed[_HALF_OPEN.size - 1] & _CLOSED else None


def attachment_of(packed: bytes) -> bytes:
    """Give what hangs on a packed connection, empty for one whose streams are not wanted."""
    return packed[_HALF_OPEN.size :]
