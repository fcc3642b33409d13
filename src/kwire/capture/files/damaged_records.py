"""Recovery after damage in a capture file: search for the next record that is proven by several records in a row.

Structure is checked before time. A record is *plausible* if its captured bytes do not exceed its original bytes and the snapshot length,
and its packet's link layer is readable. `PROVING_RECORDS` plausible records in a row prove their border, and so do fewer that end exactly
at the end of the file. In pcapng each block repeats its length at its end, which is further evidence.

The scan of a pcap file stops (`FileState.strict`) at odd lengths and at a jump in time, the first signs of overwritten headers. Records
that prove each other are then read regardless of their times. Records of odd lengths (some writers leave the original length out) are read
if their times are near or their packets are readable. Otherwise the record before them is kept only if its TCP checksum is right, or if a
run of one byte begins behind it, because the damage may begin inside it.

Behind damage, times choose between possible borders: the next border near in time to the last packet before the damage wins; a distant one
is accepted only if its records fill the whole window. The window grows until a border is found, so the cost is proportional to the skipped
bytes.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, NamedTuple

from kwire.capture._pure.packet_view import TCP, UNREADABLE, PacketView
from kwire.capture._pure.packets import nanoseconds
from kwire.capture.packet_checksums import is_right
from kwire.capture.packet_columns import MAX_BLOCK_BYTES, MAX_PACKET_BYTES, NEAR_NS, PCAP, FileState, longest_packet

__all__ = ["MAX_DAMAGES", "PROVING_RECORDS", "Damage", "Damages", "read_behind_damage"]

PROVING_RECORDS: Final = 4
"""Number of plausible records in a row that prove the border in front of the first."""

MAX_DAMAGES: Final = 100
"""Number of damaged ranges listed per file; all are counted."""

_FIRST_WINDOW: Final = 1 << 12
_READ_BYTES: Final = 1 << 20
# Records of a chain are near the packet before the damage, or else each other.
_FAR_NS: Final = 30 * 86_400 * 1_000_000_000
# A run of so many equal bytes is a hole, no piece of a packet.
_HOLE_BYTES: Final = 64
# A file in which so many odd records are right has a writer with rules of its own, and is questioned no more.
_MOST_IMPLAUSIBLE: Final = 16

_SECTION: Final = 0x0A0D0D0A
_INTERFACE: Final = 1
_OLD_PACKET: Final = 2
_SIMPLE_PACKET: Final = 3
_ENHANCED_PACKET: Final = 6
_FIXED_BYTES: Final = {_INTERFACE: 20, _OLD_PACKET: 32, _SIMPLE_PACKET: 16, 4: 12, 5: 24, _ENHANCED_PACKET: 32, 9: 16, 10: 20}
_MARKS: Final = {b"\x1a\x2b\x3c\x4d": True, b"\x4d\x3c\x2b\x1a": False}


class Damages:
    """Damages of one file: number (`count`) and total bytes (`size`) of all ranges, and the first of them."""

    def __init__(self) -> None:
        self.first: list[Damage] = []  # the first `MAX_DAMAGES` ranges
        self.count = self.size = 0
        self._implausible = 0

    def skip(self, position: int, data: bytes, read: Callable[[int], bytes], state: FileState) -> tuple[bytes, int]:
        """Find the next readable record and count the skipped bytes, except odd but valid records (`FileState.proven`).

        Returns the bytes from the next proven record on, and their offset. If there is none, returns no bytes and counts nothing.
        """
        if state.kind == PCAP:
            data, state.proven, is_odd = _right_records(data, read, state)
            if state.proven:
                self._implausible += is_odd
                state.strict = self._implausible < _MOST_IMPLAUSIBLE
                return data, position
        found, skipped = read_behind_damage(data, read, state)
        if not found:
            return b"", position
        self.count, self.size = self.count + 1, self.size + skipped
        if len(self.first) < MAX_DAMAGES:
            self.first.append(Damage(position, skipped))
        return found, position + skipped


class Damage(NamedTuple):
    """Bytes of a (decompressed) file that are not records: offset and size."""

    at: int
    size: int


def read_behind_damage(data: bytes, read: Callable[[int], bytes], state: FileState) -> tuple[bytes, int]:
    """Return the bytes from the next proven record on (empty if there is none), and the number of skipped bytes."""
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


def _right_records(data: bytes, read: Callable[[int], bytes], state: FileState) -> tuple[bytes, int, bool]:
    """Check the pcap records at which a scan stopped; return the bytes read, the number of bytes with readable records, and whether one of
    them is odd."""
    records = _PcapRecords(state)
    ended = False
    while (right := records.right(data, ended)) is None:
        more = read(_READ_BYTES)
        ended = not more
        data += more
    return data, right, not records.stops_behind


class _Records(ABC):
    """Rules of plausible records."""

    reach: int  # window after which a search needs no more bytes
    header: int  # bytes of a record's header

    def __init__(self, state: FileState) -> None:
        self._known = state.time_ns if state.start_ns is not None else None

    def search(self, data: bytes, start: int, stop: int, ended: bool) -> tuple[int | None, int]:
        """Search for a proven record that begins in `data[start:stop]`; `ended` if no bytes follow.

        Returns its offset or None, and the offset up to which no record begins; behind that, more bytes are needed.
        """
        far = None
        for at in self.candidates(data, start, stop):
            proven = self._proven(data, at, ended, far is None)
            if proven is None:
                return None, at if far is None else far
            if proven and self._is_near:
                return at, at
            if proven:
                far = at
        if far is not None:
            return far, far
        # a header that is not whole cannot be looked at
        return None, max(start, stop if ended or stop < len(data) else min(stop, len(data) - self.header + 1))

    @abstractmethod
    def candidates(self, data: bytes, start: int, stop: int) -> list[int]: ...

    @abstractmethod
    def following(self, data: bytes, at: int) -> int | None:
        """Return the end of a plausible record with a whole header, possibly behind the data; None for an implausible one."""

    def begin(self) -> None:
        self._near_ns, self._is_near = self._known, True
        self._times: list[int] = []

    def _proven(self, data: bytes, at: int, ended: bool, far: bool) -> bool | None:
        """Return whether a chain of plausible records begins here; None if more bytes are needed.

        If `far`, their times may differ widely from those before the damage (`_is_near`), but they must fill all of `reach`.
        """
        self.begin()
        begun, end, records = at, len(data), 0
        while records < PROVING_RECORDS or (not self._is_near and at - begun < self.reach):
            if at == end and ended:
                break
            if end - at < self.header:
                return False if ended else None
            following = self.following(data, at)
            if following is None or not (far or self._is_near):
                return False
            if following > end:
                return False if ended else None
            records, at = records + 1, following
        if len(self._times) < 2:
            return True
        first, second = self._times[:2]
        # damage may end behind the time of a record: the next one is a better border then
        is_nearer = self._known is None or abs(second - self._known) < abs(first - self._known)
        return not (is_nearer and abs(second - first) > NEAR_NS)

    def _take_time(self, time_ns: int) -> bool:
        """Record the time of the chain's next record; return whether it is near."""
        self._times.append(time_ns)
        if self._near_ns is None:
            self._near_ns = time_ns  # nothing was read before the damage: the records of a chain are near each other
        is_near = abs(time_ns - self._near_ns) <= _FAR_NS
        self._is_near &= is_near
        return is_near


def _is_packet(data: bytes, at: int, captured: int, original: int, link_type: int) -> bool:
    """Return whether a packet is readable; one cut by the snapshot length may end inside its headers."""
    return captured < original or PacketView(data, at, at + captured, 0).find(link_type) != UNREADABLE


class _PcapRecords(_Records):
    """Records of a pcap file; `stops_behind` tells whether `right` found exactly one valid record."""

    def __init__(self, state: FileState) -> None:
        super().__init__(state)
        interface = state.interfaces[0]
        self.header, self._link_type = state.record_header, interface.link_type
        self._longest = longest_packet(state)
        self._units, self._unit_ns = (1_000_000_000, 1) if interface.resolution == 9 else (1_000_000, 1_000)
        self._order = ">" if state.big_endian else "<"
        self._read = struct.Struct(f"{self._order}IIII").unpack_from
        self.reach = PROVING_RECORDS * (self.header + self._longest)
        self._lenient = self.stops_behind = False

    def right(self, data: bytes, ended: bool) -> int | None:
        """Count the bytes of valid records, of which the first may be odd; None if more bytes are needed."""
        for self._lenient in (True, False):
            if (right := self._chain(data, ended)) != 0:
                return right
        self.begin()
        first = self.following(data, 0) if len(data) >= self.header else None
        if first is None or not self._is_near or first > len(data):
            return 0
        # the scan stopped for what is behind it
        hole = data[first : first + _HOLE_BYTES]
        if len(hole) < _HOLE_BYTES and not ended:
            return None
        _, _, captured, original = self._read(data, 0)
        view = PacketView(data, self.header, first, original - captured)
        self.stops_behind = (view.find(self._link_type) == TCP and is_right(view)) or (
            hole == hole[:1] * len(hole) and data[first - 1 : first] != hole[:1]
        )
        return first if self.stops_behind else 0

    def _chain(self, data: bytes, ended: bool) -> int | None:
        """Return the end of a chain of plausible records; 0 without one, None if more bytes are needed."""
        self.begin()
        end, at, records, empty = len(data), 0, 0, 0
        while records < PROVING_RECORDS and not (at == end and ended):
            following = self.following(data, at) if end - at >= self.header else end + 1
            if following is None or empty == PROVING_RECORDS:
                return 0
            if following > end:  # of a file that is cut the last record may be there in part
                return None if not ended else at if records and not self._lenient else 0
            is_empty = not any(data[at:following])
            records, empty, at = records + (not is_empty), empty + is_empty, following
        return at

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
        start = at + self.header
        end: int = start + captured
        is_near = self._take_time(seconds * 1_000_000_000 + fraction * self._unit_ns)
        if self._lenient:
            if captured > MAX_PACKET_BYTES or not (is_near or captured):
                return None
            return end if is_near or end > len(data) or _is_packet(data, start, captured, captured, self._link_type) else None
        if not 0 < captured <= original <= MAX_PACKET_BYTES or captured > self._longest or fraction >= self._units:
            return None
        return end if end > len(data) or _is_packet(data, start, captured, original, self._link_type) else None


class _PcapngRecords(_Records):
    header = 12

    def __init__(self, state: FileState) -> None:
        super().__init__(state)
        self._first = (state.big_endian, [(each.link_type, each.resolution, each.offset_s) for each in state.interfaces])
        self.reach = PROVING_RECORDS * (MAX_PACKET_BYTES + 32)

    def begin(self) -> None:
        super().begin()
        self._big_endian, self._interfaces = self._first[0], list(self._first[1])

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
            if resolution >= 0:
                self._take_time(nanoseconds(high << 32 | low, resolution, offset_s))
            return _is_packet(data, at + 28, captured, original, link_type)
        return True
