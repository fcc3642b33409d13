"""Where a capture file can be read on behind damage: at the next record that several records in a row prove.

Bad bytes have no marks, and payload may look like a record. So a record counts where it and those behind it are *plausible*: no more bytes
captured than there were on the wire, within the snapshot length; a time near that of the last packet before the damage; and a packet whose
link layer makes sense. `PROVING_RECORDS` such records in a row prove their border, or fewer that end exactly where the file does. In pcapng
each block says its length at both ends, which proves more than all of that.

A search looks at a window behind the damage and makes it larger as long as it finds nothing, so that it costs what it skips.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, NamedTuple

from kwire.capture._pure.packet_view import UNREADABLE, PacketView
from kwire.capture._pure.packets import nanoseconds
from kwire.capture.packet_columns import MAX_BLOCK_BYTES, MAX_PACKET_BYTES, PCAP, FileState

__all__ = ["MAX_DAMAGES", "PROVING_RECORDS", "Damage", "Damages", "read_behind_damage"]

PROVING_RECORDS: Final = 4
"""So many plausible records in a row prove the border in front of the first."""

MAX_DAMAGES: Final = 100
"""Damages of one file that are named; all are counted."""

_FIRST_WINDOW: Final = 1 << 12
_READ_BYTES: Final = 1 << 20
# A capture that pauses for longer within a file, or whose clock is set by more, is not read on.
_NEAR_NS: Final = 30 * 86_400 * 1_000_000_000
# tcpdump's default. Writers that say less do not always mean it: a packet that was put together by a card is longer than 64 KiB.
_LEAST_SNAPLEN: Final = 1 << 18

_SECTION: Final = 0x0A0D0D0A
_INTERFACE: Final = 1
_OLD_PACKET: Final = 2
_SIMPLE_PACKET: Final = 3
_ENHANCED_PACKET: Final = 6
_FIXED_BYTES: Final = {_INTERFACE: 20, _OLD_PACKET: 32, _SIMPLE_PACKET: 16, 4: 12, 5: 24, _ENHANCED_PACKET: 32, 9: 16, 10: 20}
_MARKS: Final = {b"\x1a\x2b\x3c\x4d": True, b"\x4d\x3c\x2b\x1a": False}


class Damages:
    """The damages of one file.

    Attributes:
        first: the first `MAX_DAMAGES` of them.
        count, size: of all.
    """

    def __init__(self) -> None:
        self.first: list[Damage] = []
        self.count = self.size = 0

    def skip(self, position: int, data: bytes, read: Callable[[int], bytes], state: FileState) -> tuple[bytes, int]:
        """Find where a file can be read on, and count what is skipped.

        Args:
            position: of `data` in the file.
            data, read, state: as for `read_behind_damage`.

        Returns:
            The bytes from the next proven record on and their position in the file; no bytes where there is none: nothing is counted then.
        """
        found, skipped = read_behind_damage(data, read, state)
        if not found:
            return b"", position
        self.count, self.size = self.count + 1, self.size + skipped
        if len(self.first) < MAX_DAMAGES:
            self.first.append(Damage(position, skipped))
        return found, position + skipped


class Damage(NamedTuple):
    """Bytes of a (decompressed) file that make no records.

    Attributes:
        at: the first of them.
        size: how many.
    """

    at: int
    size: int


def read_behind_damage(data: bytes, read: Callable[[int], bytes], state: FileState) -> tuple[bytes, int]:
    """Find where a file can be read on.

    Args:
        data: what is read of the file, from the record on that makes no sense.
        read: gives up to so many more bytes; none only at the end.
        state: of the scan up to there.

    Returns:
        The bytes that are read, from the next proven record on, empty where there is none to the end of the file; and how many bytes were
        skipped.
    """
    records = _PcapRecords(state) if state.kind == PCAP else _PcapngRecords(state)
    skipped, at, window, ended = 0, 1, _FIRST_WINDOW, False
    while True:
        found, at = records.search(data, at, min(at + window, len(data)), ended)
        if found is not None:
            return data[found:], skipped + found
        if at < len(data) and (ended or len(data) - at > records.reach):
            window = min(2 * window, _READ_BYTES)
            continue
        if ended:
            return b"", skipped + len(data)
        more = read(_READ_BYTES)
        ended = not more
        skipped += at
        data, at = data[at:] + more, 0


class _Records:
    """What makes a record plausible.

    Attributes:
        reach: a search that has so many bytes in front of it needs no more.
    """

    reach: int

    def __init__(self, state: FileState) -> None:
        self._near_ns = state.time_ns if state.packets else None

    def search(self, data: bytes, start: int, stop: int, ended: bool) -> tuple[int | None, int]:
        """Look for a proven record that begins in `data[start:stop]`.

        Args:
            ended: no bytes follow `data` in the file.

        Returns:
            Where it begins, None without one; and up to where none begins: behind it more bytes have to be known.
        """
        for at in self.candidates(data, start, stop):
            proven = self._proven(data, at, ended)
            if proven:
                return at, at
            if proven is None:
                return None, at
        # a header that is not whole cannot be looked at
        return None, max(start, stop if ended or stop < len(data) else min(stop, len(data) - self.header + 1))

    header: int

    def candidates(self, data: bytes, start: int, stop: int) -> list[int]:
        raise NotImplementedError

    def following(self, data: bytes, at: int) -> int | None:
        """Where a plausible record ends, which may be behind the data; None for one that is not plausible. Its header is whole."""
        raise NotImplementedError

    def begin(self) -> None:
        """Forget the chain before."""

    def _proven(self, data: bytes, at: int, ended: bool) -> bool | None:
        """Whether plausible records follow each other from here on; None where it takes more bytes to tell."""
        self.begin()
        end = len(data)
        for _ in range(PROVING_RECORDS):
            if at == end and ended:
                return True
            if end - at < self.header:
                return False if ended else None
            following = self.following(data, at)
            if following is None:
                return False
            if following > end:
                return False if ended else None
            at = following
        return True

    def _is_near(self, time_ns: int) -> bool:
        if self._near_ns is None:
            self._near_ns = time_ns  # nothing was read before the damage: the records of a chain are near each other
        return abs(time_ns - self._near_ns) <= _NEAR_NS


def _is_packet(data: bytes, at: int, captured: int, original: int, link_type: int) -> bool:
    """A packet that the snapshot length cut may end inside its headers."""
    return captured < original or PacketView(data, at, at + captured, 0).find(link_type) != UNREADABLE


class _PcapRecords(_Records):
    def __init__(self, state: FileState) -> None:
        super().__init__(state)
        interface = state.interfaces[0]
        self.header, self._link_type = state.record_header, interface.link_type
        told = max(state.snaplen, _LEAST_SNAPLEN) if state.snaplen else MAX_PACKET_BYTES
        self._longest = min(told, MAX_PACKET_BYTES)
        self._units, self._unit_ns = (1_000_000_000, 1) if interface.resolution == 9 else (1_000_000, 1_000)
        self._order = ">" if state.big_endian else "<"
        self._read = struct.Struct(f"{self._order}IIII").unpack_from
        self._known = self._near_ns
        self.reach = PROVING_RECORDS * (self.header + self._longest)

    def begin(self) -> None:
        self._near_ns = self._known

    def candidates(self, data: bytes, start: int, stop: int) -> list[int]:
        import numpy as np

        count = min(stop, len(data) - self.header + 1) - start
        if count <= 0:
            return []
        kind = np.dtype(f"{self._order}u4")
        fraction, captured, original = (np.ndarray((count,), kind, data, start + at, (1,)) for at in (4, 8, 12))
        fits = (captured <= original) & (captured <= self._longest) & (original <= MAX_PACKET_BYTES) & (captured > 0)
        found: list[int] = (np.flatnonzero(fits & (fraction < self._units)) + start).tolist()
        return found

    def following(self, data: bytes, at: int) -> int | None:
        seconds, fraction, captured, original = self._read(data, at)
        if not 0 < captured <= original <= MAX_PACKET_BYTES or captured > self._longest or fraction >= self._units:
            return None
        if not self._is_near(seconds * 1_000_000_000 + fraction * self._unit_ns):
            return None
        start = at + self.header
        if start + captured <= len(data) and not _is_packet(data, start, captured, original, self._link_type):
            return None
        return start + int(captured)


class _PcapngRecords(_Records):
    header = 12

    def __init__(self, state: FileState) -> None:
        super().__init__(state)
        self._first = (state.big_endian, [(each.link_type, each.resolution, each.offset_s) for each in state.interfaces], self._near_ns)
        self.reach = PROVING_RECORDS * (MAX_PACKET_BYTES + 32)

    def begin(self) -> None:
        self._big_endian, self._interfaces, self._near_ns = self._first[0], list(self._first[1]), self._first[2]

    def candidates(self, data: bytes, start: int, stop: int) -> list[int]:
        import numpy as np

        count = min(stop, len(data) - self.header + 1) - start
        if count <= 0:
            return []
        kind = np.dtype(">u4" if self._first[0] else "<u4")
        kinds, lengths = (np.ndarray((count,), kind, data, start + at, (1,)) for at in (0, 4))
        fits = np.isin(kinds, tuple(_FIXED_BYTES)) & (lengths >= 12) & (lengths <= MAX_BLOCK_BYTES) & (lengths & 3 == 0)
        found: list[int] = (np.flatnonzero(fits | (kinds == _SECTION)) + start).tolist()
        return found

    def following(self, data: bytes, at: int) -> int | None:
        section = data[at : at + 4] == b"\n\r\r\n"
        if section:
            order = _MARKS.get(data[at + 8 : at + 12])
            if order is None:
                return None
            self._big_endian, self._interfaces = order, []
        kind, length = struct.unpack_from(">II" if self._big_endian else "<II", data, at)
        least = 28 if section else _FIXED_BYTES.get(kind)
        if least is None or not least <= length <= MAX_BLOCK_BYTES or length & 3:
            return None
        end: int = at + length
        if end > len(data):
            # how long it is cannot be held against its end yet; a block of packets is no longer than a packet with options
            return end if length <= MAX_PACKET_BYTES + (1 << 16) else None
        if data[end - 4 : end] != data[at + 4 : at + 8]:
            return None
        return end if section or self._makes_sense(data, at, kind, length) else None

    def _makes_sense(self, data: bytes, at: int, kind: int, length: int) -> bool:
        order = ">" if self._big_endian else "<"
        if kind == _INTERFACE:
            (link_type,) = struct.unpack_from(f"{order}H", data, at + 8)
            # its options are not read: where they name another clock, times prove nothing
            self._interfaces.append((link_type, -1, 0))
        elif kind in (_ENHANCED_PACKET, _OLD_PACKET):
            index, high, low, captured, original = struct.unpack_from(
                f"{order}{'I' if kind == _ENHANCED_PACKET else 'H2x'}IIII", data, at + 8
            )
            if index >= len(self._interfaces) or captured > length - 32 or captured > original:
                return False
            link_type, resolution, offset_s = self._interfaces[index]
            if resolution >= 0 and not self._is_near(nanoseconds(high << 32 | low, resolution, offset_s)):
                return False
            return _is_packet(data, at + 28, captured, original, link_type)
        return True
