"""Rows of packet columns, from a TCP header or from an exported PDU without one."""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from kwire.capture._pure.packet_view import PacketView
from kwire.capture.packet_columns import ACK, SYN, FileState, PacketColumns

__all__ = ["MIXING", "PacketRows", "TcpHeader", "read_tcp"]

# A multiplier that spreads the bits of a signature: 2**32 divided by the golden ratio.
MIXING: Final = 2654435761
_NUMBERS: Final = Struct(">II").unpack_from
_PUSH: Final = 0x08
_FIRST_NUMBER: Final = 1


class TcpHeader(NamedTuple):
    """Values of a row from a TCP header, and the offset of its payload in the chunk."""

    endpoints: bytes
    direction: int
    seq: int
    ack: int
    flags: int
    signature: int
    payload: int


def read_tcp(view: PacketView) -> TcpHeader:
    data, at = view.data, view.at
    stored = view.end - at
    signature = view.identification << 16
    if stored >= 18:
        signature |= data[at + 16] << 8 | data[at + 17]
    if view.header >= 32 and stored >= 28:  # NOP, NOP, timestamps: the sender's clock
        signature ^= int.from_bytes(data[at + 24 : at + 28], "big") * MIXING & 0xFFFFFFFF
    seq, ack = _NUMBERS(data, at + 4)
    endpoints, direction = endpoints_of(view, data[at : at + 4])
    return TcpHeader(endpoints, direction, seq, ack, data[at + 13], signature, at + view.header)


def endpoints_of(view: PacketView, ports: bytes) -> tuple[bytes, int]:
    source, target = view.source, view.target
    version = b"\4" if view.version == 4 else b"\6"
    if source < target or (source == target and ports[:2] <= ports[2:]):
        return version + source + ports[:2] + target + ports[2:], 0
    return version + target + ports[2:] + source + ports[:2], 1


class PacketRows:
    def __init__(self, state: FileState, columns: PacketColumns) -> None:
        self.state = state
        self.columns = columns
        self._known: dict[bytes, int] = {}

    def tcp(self, view: PacketView, time_ns: int) -> None:
        header = read_tcp(view)
        captured = max(view.end - header.payload, 0)
        original = view.end - header.payload + view.cut
        self.add(self.state.packets, time_ns, header, header.payload, captured, original)

    def exported(self, view: PacketView, time_ns: int) -> None:
        """Add an exported PDU; its sequence number is in its tags or follows the previous PDU of its direction."""
        endpoints, direction = endpoints_of(view, view.ports)
        captured, original = view.end - view.at, view.end - view.at + view.cut
        numbers = self.state.carry.exported.get(endpoints, (_FIRST_NUMBER, _FIRST_NUMBER))
        seq, ack, flags = numbers[direction], numbers[1 - direction], ACK | _PUSH
        # Wireshark exports what it put together after the segments, so the length must be that of the numbers
        if view.numbers is not None and view.numbers[1] - view.numbers[0] & 0xFFFFFFFF == original:
            seq, ack, flags = view.numbers[0], view.numbers[2], view.numbers[3] & ~SYN
        following = seq + original & 0xFFFFFFFF
        self.state.carry.exported[endpoints] = (numbers[0], following) if direction else (following, numbers[1])
        signature = self.state.packets & 0xFFFFFFFF
        header = TcpHeader(endpoints, direction, seq, ack, flags, signature, view.at)
        self.add(self.state.packets, time_ns, header, view.at, captured, original)

    def add(self, number: int, time_ns: int, header: TcpHeader, offset: int, captured: int, original: int) -> None:
        columns = self.columns
        key = self._known.get(header.endpoints)
        if key is None:
            key = self._known[header.endpoints] = len(columns.keys)
            columns.keys.append(header.endpoints)
        self.state.tcp += 1
        self.state.cut_bytes += original - captured
        columns.number.append(number)
        columns.time_ns.append(time_ns)
        columns.key.append(key)
        columns.direction.append(header.direction)
        columns.seq.append(header.seq)
        columns.ack.append(header.ack)
        columns.flags.append(header.flags)
        columns.offset.append(offset if captured else 0)
        columns.captured.append(captured)
        columns.original.append(original)
        columns.signature.append(header.signature)
