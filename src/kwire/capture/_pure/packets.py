"""Conversion of one chunk of a capture file to packet columns.

Layouts (pcap record; pcapng enhanced packet, obsolete packet, simple packet block)::

    seconds 4 | fraction 4 | captured 4 | original 4 | data
    type 4 | length 4 | interface 4 | time high 4 | time low 4 | captured 4 | original 4 | data | options | length 4
    type 4 | length 4 | interface 2 | drops 2 | time high 4 | time low 4 | captured 4 | original 4 | data | options | length 4
    type 4 | length 4 | original 4 | data | length 4
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from kwire.capture._pure.fragments import Fragments
from kwire.capture._pure.packet_routes import Router
from kwire.capture._pure.packet_rows import PacketRows
from kwire.capture._pure.packet_view import EXPORTED, FRAGMENT, OTHER, TCP, UNREAD, PacketView
from kwire.capture.packet_columns import (
    MAX_BLOCK_BYTES,
    MAX_PACKET_BYTES,
    NEAR_NS,
    PCAP,
    ROUTED,
    ROUTED_HEADER_BYTES,
    FileState,
    Interface,
    PacketColumns,
)

__all__ = ["Router", "read_on", "route", "scan"]

_SECTION: Final = 0x0A0D0D0A
_INTERFACE: Final = 1
_OLD_PACKET: Final = 2
_SIMPLE_PACKET: Final = 3
_STATISTICS: Final = 5
_SECRETS: Final = 10
_KEY_LOG: Final = 0x544C534B  # "TLSK": the secrets are an NSS key log
_ENHANCED_PACKET: Final = 6

# What is odd about a record.
_LENGTHS: Final = 1
_TIME: Final = 2

_IF_TSRESOL: Final = 9
_IF_TSOFFSET: Final = 14
_ISB_IFDROP: Final = 5
_ISB_OSDROP: Final = 7

# Sums of such counts fit 64 bits whatever a file says.
_MOST_DROPPED: Final = (1 << 40) - 1


def read_on(rest: bytes, read_into: Callable[[memoryview], int], size: int) -> bytes:
    """Return `rest` and up to `size` more bytes; `read_into` fills a buffer and returns the number of bytes, 0 only at the end."""
    made, had = bytearray(rest) + bytearray(size), len(rest)
    with memoryview(made) as view:
        while had < len(made) and (got := read_into(view[had:])):
            had += got
    return bytes(made[:had])


def scan(data: bytes, start: int, state: FileState) -> PacketColumns:
    """Read all whole records of a chunk from offset `start` on; `state` is changed in place."""
    columns = PacketColumns(consumed=start)
    scanner = _Scanner(data, state, columns)
    scanner.walk()
    columns.spilled = bytes(scanner.fragments.spilled)
    return columns


def route(data: bytes, start: int, state: FileState, router: Router) -> tuple[int, bool]:
    """Route the packets of all whole records of a chunk, as `scan` reads them; return `consumed` and `damaged` of `PacketColumns`."""
    columns = PacketColumns(consumed=start)
    _Scanner(data, state, columns, router).walk()
    return columns.consumed, columns.damaged


def nanoseconds(ticks: int, resolution: int, offset_s: int) -> int:
    """Turn clock ticks (uint64) into nanoseconds modulo 2**63, so that native integers hold the difference of any two times."""
    power = resolution & 0x7F
    if resolution & 0x80:
        seconds = ticks >> power
        fraction = ticks - (seconds << power)
        if power > 34:  # what is left fits 64 bits times 10**9
            fraction >>= power - 34
            power = 34
        value = seconds * 1_000_000_000 + (fraction * 1_000_000_000 >> power)
    elif power <= 9:
        value = ticks * 10 ** (9 - power)
    else:
        value = ticks // 10 ** (power - 9)
    return (value + offset_s * 1_000_000_000 + (1 << 62) & (1 << 63) - 1) - (1 << 62)


class _Scanner:
    def __init__(self, data: bytes, state: FileState, columns: PacketColumns, router: Router | None = None) -> None:
        self.data = data
        self.router = router
        self.state = state
        self.columns = columns
        self.rows = PacketRows(state, columns)
        self.fragments = Fragments(self.rows)

    def walk(self) -> None:
        if self.state.kind == PCAP:
            self.pcap()
        elif self.state.kind == ROUTED:
            self.routed()
        else:
            self.pcapng()

    def pcap(self) -> None:
        data, state, columns = self.data, self.state, self.columns
        read = struct.Struct(">IIII" if state.big_endian else "<IIII").unpack_from
        interface = state.interfaces[0]
        fraction_ns = 1 if interface.resolution == 9 else 1000
        header, at, end = state.record_header, columns.consumed, len(data)
        proven = at + state.proven if state.strict else end
        while end - at >= header:
            seconds, fraction, captured, original = read(data, at)
            if captured > MAX_PACKET_BYTES or (
                at >= proven and self.implausible_record(at, fraction_ns, state.start_ns is not None, state.time_ns)
            ):
                columns.damaged = True
                break
            following, time_ns = at + header + captured, seconds * 1_000_000_000 + fraction * fraction_ns
            if following > end:
                break
            if at >= proven:
                if end - following < header:
                    if not state.ended:
                        break
                elif self.implausible_record(following, fraction_ns, True, time_ns) == _TIME:
                    # what destroyed the time, which comes first, may have begun in this record
                    columns.damaged = True
                    break
            self.packet(interface.link_type, time_ns, at + header, captured, original)
            at = following
        columns.consumed = at

    def implausible_record(self, at: int, fraction_ns: int, timed: bool, time_ns: int) -> int:
        """Return the fault of a pcap record's header: 0 for none, `_LENGTHS` or `_TIME`; `time_ns` is the previous record's time."""
        seconds, fraction, captured, original = struct.unpack_from(">IIII" if self.state.big_endian else "<IIII", self.data, at)
        if fraction * fraction_ns >= 1_000_000_000 or (timed and abs(seconds * 1_000_000_000 + fraction * fraction_ns - time_ns) > NEAR_NS):
            return _TIME
        if captured > MAX_PACKET_BYTES or captured > original or not (seconds or fraction or captured or original):
            return _LENGTHS
        return 0

    def pcapng(self) -> None:
        data, state, columns = self.data, self.state, self.columns
        at, end = columns.consumed, len(data)
        while end - at >= 12:
            kind = int.from_bytes(data[at : at + 4], "big")
            if kind == _SECTION:
                if data[at + 8 : at + 12] == b"\x1a\x2b\x3c\x4d":
                    state.big_endian = True
                elif data[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a":
                    state.big_endian = False
                else:
                    columns.damaged = True
                    break
            length = self.u32(at + 4)
            if length < 12 or length > MAX_BLOCK_BYTES or length & 3:
                columns.damaged = True
                break
            if end - at < length:
                break
            kind = kind if kind == _SECTION else self.u32(at)
            if state.strict and self.u32(at + length - 4) != length:
                columns.damaged = True
                break
            self.block(kind, at, length)
            at += length
        columns.consumed = at

    def routed(self) -> None:
        """Return the counts of a chunk for a `Router`, which counts all packets except fragments."""
        data, state, columns = self.data, self.state, self.columns
        read = struct.Struct("<qIIII").unpack_from
        at, end, before = columns.consumed, len(data), state.packets
        while end - at >= ROUTED_HEADER_BYTES:
            time_ns, number, link_type, captured, original = read(data, at)
            if captured > MAX_BLOCK_BYTES:
                columns.damaged = True
                break
            packet = at + ROUTED_HEADER_BYTES
            if end - packet < captured:
                break
            state.packets = before + number
            view = PacketView(data, packet, packet + captured, original - captured)
            fate = view.find(link_type)
            counted = state.tcp, state.cut_bytes
            if fate == FRAGMENT:
                self.fragments.take(view, time_ns)
            else:
                if fate == TCP:
                    self.rows.tcp(view, time_ns)
                elif fate == EXPORTED:
                    self.rows.exported(view, time_ns)
                state.tcp, state.cut_bytes = counted
            at = packet + captured
        state.packets = before
        columns.consumed = at

    def block(self, kind: int, at: int, length: int) -> None:
        state = self.state
        body_end = at + length - 4
        if kind in (_ENHANCED_PACKET, _OLD_PACKET):
            if length < 32:
                self.unreadable()
                return
            index = self.u32(at + 8) if kind == _ENHANCED_PACKET else self.u16(at + 8)
            captured = self.u32(at + 20)
            if index >= len(state.interfaces) or captured > body_end - at - 28:
                self.unreadable()
                return
            interface = state.interfaces[index]
            ticks = self.u32(at + 12) << 32 | self.u32(at + 16)
            time_ns = nanoseconds(ticks, interface.resolution, interface.offset_s)
            self.packet(interface.link_type, time_ns, at + 28, captured, self.u32(at + 24))
        elif kind == _SIMPLE_PACKET:
            if length < 16 or not state.interfaces:
                self.unreadable()
                return
            interface = state.interfaces[0]
            original = self.u32(at + 8)
            captured = min(original, length - 16)
            if interface.snaplen and interface.snaplen < captured:
                captured = interface.snaplen
            self.packet(interface.link_type, state.time_ns, at + 12, captured, original)
        elif kind == _INTERFACE:
            if length >= 20:
                self.interface(at, body_end)
        elif kind == _STATISTICS:
            if length >= 24:
                self.statistics(at, body_end)
        elif kind == _SECRETS:
            size = self.u32(at + 12) if length >= 20 else 0
            if size and self.u32(at + 8) == _KEY_LOG and size <= length - 20:
                state.secrets.append((at + 16, size))
        elif kind == _SECTION:
            known = state.dropped
            state.dropped_before = -1 if known is None else known
            state.interfaces.clear()

    def interface(self, at: int, body_end: int) -> None:
        found = Interface(self.u16(at + 8), self.u32(at + 12))
        for code, value, length in self.options(at + 16, body_end):
            if code == _IF_TSRESOL and length >= 1:
                found.resolution = self.data[value]
            elif code == _IF_TSOFFSET and length >= 8:
                found.offset_s = self.u64(value)
        # the offset is signed; keep it as 64 bits that wrap
        if found.offset_s >> 63:
            found.offset_s -= 1 << 64
        self.state.interfaces.append(found)
        self.state.snaplen = max(self.state.snaplen, found.snaplen)

    def statistics(self, at: int, body_end: int) -> None:
        index = self.u32(at + 8)
        if index >= len(self.state.interfaces):
            return
        drops = {}
        for code, value, length in self.options(at + 20, body_end):
            if code in (_ISB_IFDROP, _ISB_OSDROP) and length >= 8:
                drops[code] = self.u64(value) & _MOST_DROPPED
        if drops:
            self.state.interfaces[index].dropped = sum(drops.values())

    def options(self, at: int, end: int) -> list[tuple[int, int, int]]:
        """Yield the code, value offset and value length of each whole option."""
        found = []
        while end - at >= 4:
            code, length = self.u16(at), self.u16(at + 2)
            if code == 0 or length > end - at - 4:
                break
            found.append((code, at + 4, length))
            if (length + 3 & ~3) > end - at - 4:
                break
            at += 4 + (length + 3 & ~3)
        return found

    def u16(self, at: int) -> int:
        return int.from_bytes(self.data[at : at + 2], "big" if self.state.big_endian else "little")

    def u32(self, at: int) -> int:
        return int.from_bytes(self.data[at : at + 4], "big" if self.state.big_endian else "little")

    def u64(self, at: int) -> int:
        return int.from_bytes(self.data[at : at + 8], "big" if self.state.big_endian else "little")

    def unreadable(self) -> None:
        self.state.packets += 1
        self.state.unreadable += 1

    def packet(self, link_type: int, time_ns: int, at: int, captured: int, original: int) -> None:
        state = self.state
        original = min(max(original, captured), 0x7FFFFFFF)
        state.packets += 1
        state.captured_bytes += captured
        state.original_bytes += original
        state.time_ns = time_ns
        if state.start_ns is None or state.end_ns is None:
            state.start_ns = state.end_ns = time_ns
        elif time_ns < state.start_ns:
            state.start_ns = time_ns
        elif time_ns > state.end_ns:
            state.end_ns = time_ns
        view = PacketView(self.data, at, at + captured, original - captured)
        fate = view.find(link_type)
        if self.router is not None and fate in (TCP, FRAGMENT, EXPORTED):
            self.router.add(state, view, fate, link_type, time_ns, at, captured, original)
        elif fate == TCP:
            self.rows.tcp(view, time_ns)
        elif fate == OTHER:
            state.others += 1
        elif fate == FRAGMENT:
            self.fragments.take(view, time_ns)
        elif fate == EXPORTED:
            self.rows.exported(view, time_ns)
        else:
            state.unreadable += 1
            if fate == UNREAD:
                state.unread[link_type] = state.unread.get(link_type, 0) + 1
