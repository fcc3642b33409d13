"""TCP checksums of packets (RFC 9293, section 3.1)."""

from __future__ import annotations

from typing import Final

from kwire.capture._pure.packet_view import PacketView

__all__ = ["is_right", "right_checksum", "words_sum"]

_AT: Final = 16
_TCP: Final = 6


def words_sum(data: bytes) -> int:
    """Return the sum of 16-bit words in ones' complement, 0 for 0xFFFF (RFC 1071): 2**16 is 1 modulo 65535."""
    return int.from_bytes(data if len(data) % 2 == 0 else data + b"\0", "big") % 0xFFFF


def _whole_sum(view: PacketView, segment: bytes) -> int:
    return (words_sum(view.source) + words_sum(view.target) + _TCP + len(segment) + words_sum(segment)) % 0xFFFF


def is_right(view: PacketView) -> bool:
    """Tell whether the checksum of a packet is right; False if the packet is cut or was captured before checksum offload."""
    segment = view.data[view.at : view.end]
    return not view.cut and len(segment) > _AT + 1 and _whole_sum(view, segment) == 0


def right_checksum(view: PacketView) -> bytes:
    segment = bytearray(view.data[view.at : view.end])
    segment[_AT : _AT + 2] = b"\0\0"
    return (0xFFFF - _whole_sum(view, bytes(segment))).to_bytes(2, "big")
