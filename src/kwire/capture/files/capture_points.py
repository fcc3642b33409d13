"""Captures of the same traffic from several capture points, read as one.

Such a set is one item of a series. Its location lists all files: ``points:``, then the points separated by ``|``, each with its files in
order separated by ``,``. Files of a point are read in sequence; points are merged by time. The clocks are compared by packets captured at
two points: the two directions together give the latency and the clock's offset.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from statistics import median_low
from typing import Final
from urllib.parse import quote, unquote

from kwire.capture.files.capture_chunks import FileFacts, iter_chunks
from kwire.capture.files.damaged_records import MAX_DAMAGES
from kwire.capture.files.point_copies import CopyFilter, PointRow
from kwire.capture.files.source import open_capture
from kwire.capture.packet_columns import SYN, PacketColumns, ScanCarry
from kwire.capture.secrets_blocks import SecretsBlock
from kwire.errors import InputError

__all__ = ["clock_offsets", "is_of_points", "iter_points", "location_of_points", "names_in", "points_of"]

_PREFIX: Final = "points:"
_PLAIN: Final = "/:*?=&+@~ "
_MOST_ROWS: Final = 1 << 16
_SUMS: Final = (
    "stored_bytes", "packets", "tcp_packets", "fragments", "other_packets", "unreadable_packets", "packet_bytes", "packet_bytes_stored",
    "bytes_cut", "damage_count", "damaged_bytes",
)  # fmt: skip


def location_of_points(points: Sequence[Sequence[str]]) -> str:
    """Return the location of a set of files: for each point its files in order."""
    return _PREFIX + "|".join(",".join(quote(location, safe=_PLAIN) for location in files) for files in points)


def is_of_points(location: str) -> bool:
    """Return whether `location_of_points` made a location."""
    return location.startswith(_PREFIX)


def points_of(location: str) -> list[list[str]]:
    """Return the files of each point of a location."""
    return [[unquote(each) for each in files.split(",")] for files in location.removeprefix(_PREFIX).split("|")]


def names_in(location: str) -> list[str]:
    """Return all files of a location, which may have several points."""
    return [location, *(each for files in points_of(location) for each in files)] if is_of_points(location) else [location]


class _Point:
    """Files of one capture point as a sequence of chunks."""

    def __init__(self, files: Sequence[tuple[str, int | None]], chunk_bytes: int, progress: Callable[[int], None]) -> None:
        self.facts: list[FileFacts] = []
        self.faults: list[str] = []
        self.secrets: list[SecretsBlock] = []  # of the chunks so far, until they are passed on
        self._chunks = self._read(files, chunk_bytes, progress)
        self._first = next(self._chunks, None)

    @property
    def readable(self) -> bool:
        return self._first is not None

    @property
    def first_columns(self) -> PacketColumns:
        return PacketColumns() if self._first is None else self._first[1]

    def _read(
        self, files: Sequence[tuple[str, int | None]], chunk_bytes: int, progress: Callable[[int], None]
    ) -> Iterator[tuple[bytes, PacketColumns]]:
        scan = ScanCarry()
        for location, size in files:
            try:
                with open_capture(location, limit=size) as source:
                    self.facts.append((yield from iter_chunks(location, source, scan, chunk_bytes, progress)))
            except InputError as error:  # the other points saw the same
                self.faults.append(str(error))

    def rows(self, point: int, offset_ns: int) -> Iterator[tuple[int, int, PointRow]]:
        """Yield rows with their merge key: a time that never decreases, and the point's number."""
        latest = -(1 << 63)
        chunk = self._first
        self._first = None
        while chunk is not None:
            data, columns = chunk
            keys = columns.keys
            self.secrets += columns.secrets
            for number, time, key, direction, seq, ack, flags, offset, captured, original, signature in zip(
                columns.number, columns.time_ns, columns.key, columns.direction, columns.seq, columns.ack, columns.flags,
                columns.offset, columns.captured, columns.original, columns.signature, strict=True,
            ):  # fmt: skip
                time_ns = time - offset_ns
                if time_ns > latest:
                    latest = time_ns
                row = PointRow(point, number, time_ns, keys[key], direction, seq, ack, flags, data, offset, captured, original, signature)
                yield latest, point, row
            chunk = next(self._chunks, None)


def clock_offsets(beginnings: Sequence[PacketColumns]) -> list[int]:
    """Return nanoseconds by which each point's clock is ahead of the first point's, by packets captured at both; 0 if there are none."""
    known = dict(_marked(beginnings[0]))
    return [0, *(_offset(known, columns) for columns in beginnings[1:])]


def _marked(columns: PacketColumns) -> Iterator[tuple[tuple[bytes, int, int], int]]:
    """Yield an identity of each packet with payload, once: endpoints, direction and sequence number."""
    seen = set()
    for row in range(len(columns)):
        if columns.original[row] or columns.flags[row] & SYN:
            identity = (columns.keys[columns.key[row]], columns.direction[row], columns.seq[row])
            if identity not in seen:
                seen.add(identity)
                yield identity, columns.time_ns[row]


def _offset(known: dict[tuple[bytes, int, int], int], columns: PacketColumns) -> int:
    found: dict[bytes, tuple[list[int], list[int]]] = {}
    for identity, time_ns in _marked(columns):
        if identity in known:
            found.setdefault(identity[0], ([], []))[identity[1]].append(time_ns - known[identity])
    both = [(median_low(there) + median_low(back)) // 2 for there, back in found.values() if there and back]
    if both:
        return median_low(both)
    one_way = [difference for ways in found.values() for way in ways for difference in way]
    return median_low(one_way) if one_way else 0


class _Merged:
    """Packet columns of rows from many chunks, with their payloads joined."""

    def __init__(self) -> None:
        self.columns = PacketColumns()
        self.data = bytearray()
        self._keys: dict[bytes, int] = {}

    def take_secrets(self, points: Iterable[_Point]) -> None:
        """Return the Decryption Secrets Blocks of the points."""
        for point in points:
            self.columns.secrets += point.secrets
            point.secrets.clear()

    def add(self, row: PointRow) -> None:
        columns = self.columns
        key = self._keys.get(row.key)
        if key is None:
            key = self._keys[row.key] = len(columns.keys)
            columns.keys.append(row.key)
        columns.number.append(row.number)
        columns.time_ns.append(row.time_ns)
        columns.key.append(key)
        columns.direction.append(row.direction)
        columns.seq.append(row.seq)
        columns.ack.append(row.ack)
        columns.flags.append(row.flags)
        columns.offset.append(len(self.data))
        columns.captured.append(row.captured)
        columns.original.append(row.original)
        columns.signature.append(row.signature)
        self.data += memoryview(row.data)[row.offset : row.offset + row.captured]


def iter_points(
    location: str, chunk_bytes: int, progress: Callable[[int], None], sizes: Sequence[int] = ()
) -> Generator[tuple[bytes, PacketColumns], None, FileFacts]:
    """Read the captures of several points as one, each part of the traffic once; yield as `iter_chunks`.

    Args:
        location: location made by `location_of_points`.
        sizes: bytes of each file to read, in the order of `names_in`; empty for whole files.

    Raises:
        InputError: a point has no readable file. Other unreadable files are in the facts.
    """
    limits = iter(sizes or (None,) * (len(names_in(location)) - 1))
    points = [_Point([(file, next(limits)) for file in files], chunk_bytes, progress) for files in points_of(location)]
    for point in points:
        if not point.readable:
            raise InputError(point.faults[0])
    offsets = clock_offsets([point.first_columns for point in points])
    copies = CopyFilter()
    merged = _Merged()
    for _time, _point, row in heapq.merge(*(point.rows(index, offsets[index]) for index, point in enumerate(points))):
        for kept in copies.take(row):
            merged.add(kept)
        if len(merged.data) >= chunk_bytes or len(merged.columns) >= _MOST_ROWS:
            merged.take_secrets(points)
            yield bytes(merged.data), merged.columns
            merged = _Merged()
    for kept in copies.finish():
        merged.add(kept)
    merged.take_secrets(points)
    yield bytes(merged.data), merged.columns
    faults = [fault for point in points for fault in point.faults]
    return _together(location, [facts for point in points for facts in point.facts], faults)


def _together(location: str, files: Sequence[FileFacts], faults: Sequence[str]) -> FileFacts:
    """Combine the facts of all points' files; times are each point's own."""
    cuts = [(0, fault) for fault in faults]
    cuts += [(facts.cut_at, f"{facts.cut_reason}, in {facts.location}") for facts in files if facts.cut_at is not None]
    cut_at, cut_reason = cuts[0] if cuts else (None, "")
    dropped = [facts.packets_dropped for facts in files if facts.packets_dropped is not None]
    limits = [facts.snaplen for facts in files]
    return FileFacts(
        location=location,
        format="pcap" if all(facts.format == "pcap" for facts in files) else "pcapng",
        compression=None,
        sha256=hashlib.sha256("".join(facts.sha256 for facts in files).encode()).hexdigest(),
        start_ns=min((facts.start_ns for facts in files if facts.start_ns is not None), default=None),
        end_ns=max((facts.end_ns for facts in files if facts.end_ns is not None), default=None),
        link_types=tuple(dict.fromkeys(link_type for facts in files for link_type in facts.link_types)),
        packets_dropped=sum(dropped) if dropped else None,
        snaplen=None if None in limits else max(limit for limit in limits if limit is not None),
        cut_at=cut_at,
        cut_reason=cut_reason,
        damages=tuple(damage for facts in files for damage in facts.damages)[:MAX_DAMAGES],
        unread=dict(sum(map(Counter, (facts.unread for facts in files)), Counter())),
        **{name: sum(getattr(facts, name) for facts in files) for name in _SUMS},
    )
