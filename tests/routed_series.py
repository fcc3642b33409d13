"""A series read by way of ranges and shares in one process, and its rows beside those of one task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from counted_rows import counted_json
from kwire import tables
from kwire.analysis import merge, partial_of_series
from kwire.analysis.partials import Partial
from kwire.analysis.request_sums import RequestSums
from kwire.capture.dividing.file_ranges import FileRange
from kwire.capture.dividing.packet_routing import RangeFacts, RoutedFile, RoutedPiece, join_ranges, route_range
from kwire.tables.series_rows import SPOOLED
from plain_hashes import with_plain_hash

__all__ = ["LONGEST", "Routed", "Tables", "at_once", "rows_of", "same"]

LONGEST = 4096
"""No packet of the captures is longer: with the limit of a real file, 1 MiB, none of them could be divided."""

Tables = dict[str, Counter[str]]


def rows_of(read: Sequence[tables.SeriesRows]) -> Tables:
    """All rows of some shares of a series, and what goes back to the driver of a job."""
    found: Tables = {name: Counter() for name in (*SPOOLED, "connections")}
    partials: list[Partial] = []
    for rows in read:
        for name, counts in found.items():
            counts += counted_json(rows.table(name).to_pylist())
        sums = RequestSums(rows)
        for batch in rows.batches("requests"):
            sums.add(batch)
        partials.append(partial_of_series(rows, sums))
    found |= {f"partial {name}": counted_json(table.to_pylist()) for name, table in merge(partials).items()}
    found["partial captures"] = Counter(with_plain_hash(row) for row in found["partial captures"].elements())
    # how many packets without any request are worth a word is known to the driver alone
    found["violations"] = Counter({row: n for row, n in found["violations"].items() if '"no_kafka"' not in row})
    return found


def at_once(files: Sequence[Path], ports: tuple[int, ...] = ()) -> Tables:
    with tables.read_series(files, "x", ports) as rows:
        return rows_of([rows])


class Routed:
    """Files that went through the first step, each cut in parts where it lets itself be; `again`: those read as one after all."""

    def __init__(self, files: Sequence[Path], parts: int, shares: int, longest: int | None = LONGEST) -> None:
        self.shares = shares
        self.files: list[RoutedFile] = []
        self.ranges: list[list[RangeFacts]] = []
        self.again: list[Path] = []
        self._chunks: list[list[tuple[int, Sequence[bytes]]]] = []
        for path in files:
            joined = self._route(path, parts, longest)
            if joined is None:
                self.again.append(path)
                joined = self._route(path, 1, longest)
            assert joined is not None
            self.files.append(joined)

    def _route(self, path: Path, parts: int, longest: int | None) -> RoutedFile | None:
        chunks: list[tuple[int, Sequence[bytes]]] = []
        ranges = []
        size = path.stat().st_size if path.exists() else 0
        for part in range(parts):

            def hand_over(router: Any, part: int = part) -> None:
                chunks.append((part, [router.take(share) for share in range(self.shares)]))

            ranges.append(route_range(FileRange(str(path), size, part, parts, longest), self.shares, hand_over))
        joined = join_ranges(str(path), ranges)
        if joined is not None:
            self._chunks.append(chunks)
            self.ranges.append([facts for facts in ranges if facts.start is not None])
        return joined

    def pieces(self, share: int) -> list[RoutedPiece]:
        return [
            RoutedPiece(
                file, iter([(file.packets_before[part], c[share]) for part, c in chunks if part in file.packets_before and c[share]])
            )
            for file, chunks in zip(self.files, self._chunks, strict=True)
        ]

    def tables(self, ports: tuple[int, ...] = ()) -> Tables:
        read = [tables.read_series(self.pieces(share), "x", ports, share=(share, self.shares)) for share in range(self.shares)]
        try:
            return rows_of(read)
        finally:
            for rows in read:
                rows.__exit__(None, None, None)


def same(found: Tables, expected: Tables) -> None:
    assert found.keys() == expected.keys()
    for name, rows in expected.items():
        assert found[name] == rows, name
