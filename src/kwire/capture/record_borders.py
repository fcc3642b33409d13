"""Where a record of a huge pcap file begins, found from any offset, with proof: so that several tasks can read one file.

A pcap file has no marks between its records, and payload may look like records (a capture may even hold another capture). The proof is that
of RAPCAP. Some record begins within one longest record from any offset, so each offset there is a *candidate*. From a candidate its length
field leads to the next record, and so on: a *chain*. A chain ends where a record is impossible; chains that meet stay together. The chain
of the true candidate never ends, so where all the chains that are left have met, they have met at a true record. While two chains are
apart, more bytes are asked for. Impossible is only what no packet can be: captured bytes <= original bytes <= `max_packet_bytes`; plausible
times and link layers prove nothing. (Both rules are needed: four bytes behind each true header stands another one, with the original length
for its captured length, and in most files they are the same.)

The proof holds for a file that is whole from the offset on, and whose records keep these rules: `split_ranges` looks at the first ones.
Where a file is damaged no border behind the damage is one for the scan, which stops there; so a range counts only when the scan of the
range before it ends exactly at its start (`PacketColumns.consumed`).
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from kwire.capture.formats import PCAP_HEADER_BYTES, identify
from kwire.capture.packet_columns import MAX_PACKET_BYTES, PCAP, FileState
from kwire.capture.source import filesystem_of
from kwire.errors import InputError

if TYPE_CHECKING:
    from pyarrow import NativeFile

__all__ = ["MAX_SEARCH_BYTES", "find_record", "split_pcap", "split_ranges"]

# Where chains have not met after so many bytes, the part is not worth looking for: it is read together with the one before.
MAX_SEARCH_BYTES: Final = 64 << 20

_LENGTHS_AT: Final = 8
# So much of the beginning is held against the rules.
_CHECKED_BYTES: Final = 1 << 20


def find_record(data: bytes, start: int, state: FileState, *, max_packet_bytes: int = MAX_PACKET_BYTES) -> int | None:
    """Find a true record from an arbitrary offset of a pcap file.

    Args:
        data: part of the file, whole from `start` on.
        start: any offset in `data` behind the file's header; nothing has to begin there.
        state: from `kwire.capture.formats.identify`: byte order and size of the record headers.
        max_packet_bytes: no packet of the file is longer than this.

    Returns:
        Offset in `data` of a record, behind `start`; perhaps the end of `data` or beyond it. None when it takes more bytes to prove one.
    """
    header, end = state.record_header, len(data)
    lengths = struct.Struct(">II" if state.big_endian else "<II").unpack_from
    window = start + header + max_packet_bytes
    if end < window + header:
        return None  # candidates are missing
    # Where chains are, the nearest first; a place that several of them reach is there once.
    waiting = _behind_candidates(data, start, window, state, max_packet_bytes)
    known = set(waiting)
    while len(waiting) > 1:
        at = heapq.heappop(waiting)
        known.discard(at)
        if end - at < header:
            return None
        size, original = lengths(data, at + _LENGTHS_AT)
        following = at + header + size
        if size <= original <= max_packet_bytes and following not in known:
            known.add(following)
            heapq.heappush(waiting, following)
    return waiting[0] if waiting else None  # none is left: the file is damaged


def _behind_candidates(data: bytes, start: int, window: int, state: FileState, max_packet_bytes: int) -> list[int]:
    """Where chains leave the window of candidates, in order: every place in the window is one, so one step from each is enough."""
    import numpy as np

    count = window - start
    kind = np.dtype(np.uint32).newbyteorder(">" if state.big_endian else "<")
    sizes = np.ndarray((count,), kind, data, start + _LENGTHS_AT, (1,)).astype(np.int64)
    originals = np.ndarray((count,), kind, data, start + _LENGTHS_AT + 4, (1,))
    following = np.arange(start + state.record_header, window + state.record_header) + sizes
    possible = (sizes <= originals) & (originals <= max_packet_bytes) & (following >= window)
    found: list[int] = np.unique(following[possible]).tolist()
    return found


def split_ranges(
    read: Callable[[int, int], bytes], size: int, parts: int, state: FileState, *, max_packet_bytes: int = MAX_PACKET_BYTES
) -> list[tuple[int, int]]:
    """Divide the records of a pcap file into ranges of about equal size.

    Args:
        read: offset and count to the bytes there, fewer only at the end of the file.
        size: of the file.
        parts: how many ranges there shall be.
        state: from `kwire.capture.formats.identify`.
        max_packet_bytes: no packet of the file is longer than this.

    Returns:
        At most `parts` ranges, start and end, in order and without holes, that begin with records; the first begins behind the header of
        the file. Fewer where chains did not meet in `MAX_SEARCH_BYTES`, and in files that are not much longer than a packet may be;
        one where the first records do not keep the rules of the proof.
    """
    borders = [PCAP_HEADER_BYTES]
    if not _keeps_rules(read(PCAP_HEADER_BYTES, _CHECKED_BYTES), state, max_packet_bytes):
        parts = 1
    for part in range(1, parts):
        target = PCAP_HEADER_BYTES + (size - PCAP_HEADER_BYTES) * part // parts
        if target <= borders[-1]:
            continue
        count = 2 * (state.record_header + max_packet_bytes)
        while True:
            data = read(target, count)
            found = find_record(data, 0, state, max_packet_bytes=max_packet_bytes)
            if found is not None or len(data) < count or count >= MAX_SEARCH_BYTES:
                break
            count *= 2
        if found is not None and borders[-1] < target + found < size:
            borders.append(target + found)
    return list(pairwise([*borders, size]))


def _keeps_rules(data: bytes, state: FileState, max_packet_bytes: int) -> bool:
    lengths = struct.Struct(">II" if state.big_endian else "<II").unpack_from
    at = 0
    while at + state.record_header <= len(data):
        size, original = lengths(data, at + _LENGTHS_AT)
        if not size <= original <= max_packet_bytes:
            return False
        at += state.record_header + size
    return True


def split_pcap(location: str, parts: int, *, max_packet_bytes: int = MAX_PACKET_BYTES) -> list[tuple[int, int]]:
    """Divide a capture file into byte ranges that several tasks can read.

    Args:
        location: path or URI.
        parts: how many ranges there shall be.
        max_packet_bytes: no packet of the file is longer than this.

    Returns:
        As `split_ranges`; the one range (0, size) for what cannot be divided: pcapng and compressed files.

    Raises:
        InputError: there is no such file, or it may not be read.
    """
    filesystem, path = filesystem_of(location)
    try:
        with filesystem.open_input_file(path) as stored:
            size: int = stored.size()
            known = identify(_read_at(stored, 0, PCAP_HEADER_BYTES))
            if known is None or known[0].kind != PCAP:
                return [(0, size)]
            return split_ranges(lambda at, count: _read_at(stored, at, count), size, parts, known[0], max_packet_bytes=max_packet_bytes)
    except FileNotFoundError as error:
        raise InputError(f"{location} does not exist") from error
    except OSError as error:
        raise InputError(f"{location} cannot be read: {(str(error).splitlines() or [type(error).__name__])[0]}") from error


def _read_at(stored: NativeFile, at: int, count: int) -> bytes:
    stored.seek(at)
    return stored.read(count)
