"""Search with proof for record borders of a large pcap file from any offset, so that several tasks can read it.

A pcap file has no marks between its records, and payload may look like records (a capture may even hold another capture). The proof is that
of RAPCAP. Some record begins within one longest record from any offset, so each offset there is a *candidate*. From a candidate its length
field leads to the next record, and so on: a *chain*. A chain ends at an impossible record; chains that meet stay together. The chain of the
true candidate never ends, so once all remaining chains have met, they have met at a true record. Until then, more bytes are read. A record
is possible if captured bytes <= original bytes <= `MAX_PACKET_BYTES`; plausible times and link layers prove nothing. Both rules are needed,
because a false header four bytes behind each true one has the original length as its captured length.

The proof holds for a file that is undamaged from the offset on, and whose records obey these rules and the snapshot length. The scan stops
at damage, so a range is accepted only if the scan of the previous range ends exactly at its start
(`kwire.capture.dividing.packet_routing.join_ranges`), which makes it a true border in any file.
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Callable
from typing import Final

from kwire.capture.files.formats import PCAP_HEADER_BYTES
from kwire.capture.packet_columns import MAX_PACKET_BYTES, FileState, longest_packet

__all__ = ["MAX_SEARCH_BYTES", "RecordBorders", "find_record"]

MAX_SEARCH_BYTES: Final = 64 << 20
"""Longest search, in bytes: a part whose chains have not met by then is merged with the previous part."""

_LENGTHS_AT: Final = 8
# So much of the beginning is held against the rules.
_CHECKED_BYTES: Final = 1 << 20


def find_record(
    data: bytes, start: int, state: FileState, *, longest: int = MAX_PACKET_BYTES, longest_original: int = MAX_PACKET_BYTES
) -> int | None:
    """Find a true record behind `start`, maybe at the end of `data` or beyond; None if the proof needs more bytes."""
    header, end = state.record_header, len(data)
    lengths = struct.Struct(">II" if state.big_endian else "<II").unpack_from
    window = start + header + longest
    if end < window + header:
        return None  # candidates are missing
    # Where chains are, the nearest first; a place that several of them reach is there once.
    waiting = _behind_candidates(data, start, window, state, longest, longest_original)
    known = set(waiting)
    while len(waiting) > 1:
        at = heapq.heappop(waiting)
        known.discard(at)
        if end - at < header:
            return None
        size, original = lengths(data, at + _LENGTHS_AT)
        following = at + header + size
        if size <= original <= longest_original and size <= longest and following not in known:
            known.add(following)
            heapq.heappush(waiting, following)
    return waiting[0] if waiting else None  # none is left: the file is damaged


def _behind_candidates(data: bytes, start: int, window: int, state: FileState, longest: int, longest_original: int) -> list[int]:
    """Return the offsets, in order, at which chains leave the window; every offset in it is a candidate, so one step each suffices."""
    import numpy as np

    count = window - start
    kind = np.dtype(np.uint32).newbyteorder(">" if state.big_endian else "<")
    sizes = np.ndarray((count,), kind, data, start + _LENGTHS_AT, (1,))
    originals = np.ndarray((count,), kind, data, start + _LENGTHS_AT + 4, (1,))
    possible = np.flatnonzero((sizes <= originals) & (originals <= longest_original) & (sizes <= longest))
    following = possible + sizes[possible].astype(np.int64) + (start + state.record_header)
    found: list[int] = np.unique(following[following >= window]).tolist()
    return found


class RecordBorders:
    """Records at which a pcap file is divided into parts of similar size; they depend only on the file, its size and the number of
    parts."""

    def __init__(self, read: Callable[[int, int], bytes], size: int, parts: int, state: FileState, longest: int | None = None) -> None:
        self._read, self._size, self._parts, self._state = read, size, parts, state
        self._longest = longest_packet(state) if longest is None else longest
        # no border may lie behind the place where the next part is looked for
        reach = (size - PCAP_HEADER_BYTES) // parts - self._state.record_header - self._longest
        keeps = parts == 1 or _keeps_rules(read(PCAP_HEADER_BYTES, _CHECKED_BYTES), state)
        self._reach = min(MAX_SEARCH_BYTES, reach) if keeps else 0

    def start_of(self, part: int) -> int | None:
        """Return the start of a part; None if it cannot be proven, so that the part is merged with the previous one."""
        if part == 0:
            return PCAP_HEADER_BYTES
        target = PCAP_HEADER_BYTES + (self._size - PCAP_HEADER_BYTES) * part // self._parts
        count = min(2 * (self._state.record_header + self._longest), self._reach)
        while count > 0:
            data = self._read(target, count)
            found = find_record(data, 0, self._state, longest=self._longest)
            if found is not None:
                return target + found if target + found < self._size else None
            if len(data) < count or count == self._reach:
                return None
            count = min(2 * count, self._reach)
        return None

    def range_of(self, part: int) -> tuple[int, int | None] | None:
        """Return the start of a part and of the next one, None for the end of the file; None for an empty part."""
        start = self.start_of(part)
        if start is None:
            return None
        borders = (self.start_of(later) for later in range(part + 1, self._parts))
        return start, next((border for border in borders if border is not None), None)


def _keeps_rules(data: bytes, state: FileState) -> bool:
    lengths = struct.Struct(">II" if state.big_endian else "<II").unpack_from
    at = 0
    while at + state.record_header <= len(data):
        size, original = lengths(data, at + _LENGTHS_AT)
        if not size <= original <= MAX_PACKET_BYTES:
            return False
        at += state.record_header + size
    return True
