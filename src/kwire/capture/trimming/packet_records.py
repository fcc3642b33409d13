"""Packet records of a capture file, and other contents that may reveal secrets.

A pcapng file may also hold comments, TLS keys, journal entries and vendor blocks: these are *erasures*. Layouts
are those of `kwire.capture._pure.packets`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from kwire.capture.packet_columns import PCAP, FileState

__all__ = ["Erasure", "PacketRecord", "RecordWalker"]

_SECTION: Final = 0x0A0D0D0A
_INTERFACE: Final = 1
_OLD_PACKET: Final = 2
_SIMPLE_PACKET: Final = 3
_NAMES: Final = 4
_STATISTICS: Final = 5
_ENHANCED_PACKET: Final = 6
_SECRETS: Final = 10
_FRAME: Final = 8  # type and length in front of a block's body
_OPTIONS_AT: Final = {_SECTION: 24, _INTERFACE: 16, _STATISTICS: 20}
_PACKET_AT: Final = 28
_SIMPLE_AT: Final = 12
_COMMENT: Final = 1
_HASH: Final = 3  # of a packet: its contents could be guessed with it
_CUSTOM: Final = frozenset((2988, 2989, 19372, 19373))
_INTERFACE_NAMES: Final = (2, 3, 4, 5, 6, 7, 15)  # name, description, addresses, hardware
_SECTION_NAMES: Final = (2, 3, 4)  # hardware, operating system, application


class PacketRecord(NamedTuple):
    """Packet in a file: its number, its bounds, and its link type, -1 for an invalid record."""

    number: int
    at: int
    end: int
    link_type: int
    cut: int


class Erasure(NamedTuple):
    """Bytes of a file that are not part of packets."""

    at: int
    end: int


class RecordWalker:
    """Iterator over the records of one file, chunk by chunk; with `with_names`, names and addresses of interfaces are erased too."""

    def __init__(self, state: FileState, *, with_names: bool = False) -> None:
        self._with_names = with_names
        self._is_pcap = state.kind == PCAP
        self._order = ">" if state.big_endian else "<"
        self._header = state.record_header
        self._interfaces = [(each.link_type, each.snaplen) for each in state.interfaces]
        self._number = 0

    def walk(self, data: bytes, at: int, end: int) -> Iterator[PacketRecord | Erasure]:
        """Find the records of a chunk within the bounds found by its scan (`consumed`)."""
        return self._pcap(data, at, end) if self._is_pcap else self._pcapng(data, at, end)

    def whole(self, data: bytes) -> int:
        at, order = 0, self._order
        while len(data) - at >= max(self._header if self._is_pcap else 12, 12):
            if not self._is_pcap and data[at : at + 4] == b"\n\r\r\n":
                order = ">" if data[at + 8 : at + 12] == b"\x1a\x2b\x3c\x4d" else "<"
            size = int(struct.unpack_from(f"{order}I", data, at + (8 if self._is_pcap else 4))[0])
            size = self._header + size if self._is_pcap else max(size, 12)
            if size > len(data) - at:
                break
            at += size
        return at

    def head_of(self, data: bytes) -> int:
        if self._is_pcap:
            return min(self._header, len(data))
        kind = struct.unpack_from(f"{self._order}I", data)[0] if len(data) >= 4 else 0
        return min({_ENHANCED_PACKET: _PACKET_AT, _OLD_PACKET: _PACKET_AT, _SIMPLE_PACKET: _SIMPLE_AT}.get(kind, 12), len(data))

    def _pcap(self, data: bytes, at: int, end: int) -> Iterator[PacketRecord]:
        read = struct.Struct(f"{self._order}II").unpack_from
        link_type = self._interfaces[0][0]
        while at < end:
            captured, original = read(data, at + 8)
            self._number += 1
            start = at + self._header
            at = start + captured
            yield PacketRecord(self._number, start, at, link_type, max(original - captured, 0))

    def _pcapng(self, data: bytes, at: int, end: int) -> Iterator[PacketRecord | Erasure]:
        while at < end:
            kind = int.from_bytes(data[at : at + 4], "big")
            if kind == _SECTION:
                self._order = ">" if data[at + 8 : at + 12] == b"\x1a\x2b\x3c\x4d" else "<"
                self._interfaces = []
            else:
                kind = self._u32(data, at)
            length = self._u32(data, at + 4)
            yield from self._block(data, kind, at, length)
            at += length

    def _block(self, data: bytes, kind: int, at: int, length: int) -> Iterator[PacketRecord | Erasure]:
        body_end = at + length - 4
        if kind in (_ENHANCED_PACKET, _OLD_PACKET, _SIMPLE_PACKET):
            yield from self._packet(data, kind, at, length)
        elif kind in _OPTIONS_AT:
            if kind == _INTERFACE and length >= 20:
                self._interfaces.append((self._u16(data, at + 8), self._u32(data, at + 12)))
            names = _INTERFACE_NAMES if kind == _INTERFACE else _SECTION_NAMES if kind == _SECTION else ()
            codes = (_COMMENT, *names) if self._with_names else (_COMMENT,)
            yield from self._options(data, at + _OPTIONS_AT[kind], body_end, codes)
        elif kind != _NAMES or self._with_names:
            # of secrets their kind and size stay, so that the block can be read
            yield Erasure(min(at + _FRAME + (8 if kind == _SECRETS else 0), body_end), body_end)

    def _packet(self, data: bytes, kind: int, at: int, length: int) -> Iterator[PacketRecord | Erasure]:
        self._number += 1
        body_end = at + length - 4
        if kind == _SIMPLE_PACKET:
            if length < 16 or not self._interfaces:
                yield PacketRecord(self._number, min(at + _FRAME, body_end), body_end, -1, 0)
                return
            link_type, snaplen = self._interfaces[0]
            original = self._u32(data, at + 8)
            captured = min(original, length - 16, snaplen or length)
            yield PacketRecord(self._number, at + _SIMPLE_AT, at + _SIMPLE_AT + captured, link_type, original - captured)
            yield Erasure(at + _SIMPLE_AT + captured, body_end)
            return
        index = (self._u32 if kind == _ENHANCED_PACKET else self._u16)(data, at + 8) if length >= 32 else len(self._interfaces)
        if index >= len(self._interfaces) or self._u32(data, at + 20) > body_end - at - _PACKET_AT:
            yield PacketRecord(self._number, min(at + _PACKET_AT, body_end), body_end, -1, 0)
            return
        captured, original = self._u32(data, at + 20), self._u32(data, at + 24)
        end = at + _PACKET_AT + captured
        yield PacketRecord(self._number, at + _PACKET_AT, end, self._interfaces[index][0], max(original - captured, 0))
        options = at + _PACKET_AT + (captured + 3 & ~3)
        yield Erasure(end, min(options, body_end))
        yield from self._options(data, options, body_end, (_COMMENT, _HASH))

    def _options(self, data: bytes, at: int, end: int, codes: tuple[int, ...]) -> Iterator[Erasure]:
        while end - at >= 4:
            code, length = self._u16(data, at), self._u16(data, at + 2)
            stop = min(at + 4 + length, end)
            if code == 0 or code in codes or code in _CUSTOM:
                yield Erasure(at + 4, end if code == 0 else stop)
            if code == 0:
                return
            at += 4 + (length + 3 & ~3)

    def _u16(self, data: bytes, at: int) -> int:
        return int(struct.unpack_from(f"{self._order}H", data, at)[0])

    def _u32(self, data: bytes, at: int) -> int:
        return int(struct.unpack_from(f"{self._order}I", data, at)[0])
