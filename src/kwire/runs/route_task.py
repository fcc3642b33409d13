"""Tasks that read a series in two steps (`kwire.capture.dividing.packet_routing`): routing of file ranges, then reading of shares."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Final

from kwire.capture.dividing.file_ranges import FileRange
from kwire.capture.dividing.packet_routing import RangeFacts, RoutedFile, RoutedPiece, join_ranges, route_range
from kwire.errors import InputError
from kwire.runs.divided_files import unpacked_bytes
from kwire.runs.packet_files import PacketFile, PacketFileWriter
from kwire.runs.series_task import Piece, SeriesResult, SeriesTask, in_folder, run_task
from kwire.runs.task_parts import Unwritten, progress_of, writing

__all__ = ["RANGE_BYTES", "RouteResult", "RouteTask", "RoutedSeries", "large_files", "resolve", "route_tasks", "run_route", "run_share"]

RANGE_BYTES: Final = 128 << 20
"""Unpacked bytes of a file that justify another task in the first step."""

# Rounds of tasks in the first step, at most: each task looks for its borders and writes a file.
_ROUNDS: Final = 8


@dataclass(frozen=True, slots=True)
class RouteTask:
    """Task of the first step; `series` and `file` are indexes."""

    index: int
    series: int
    file: int
    given: FileRange
    shares: int
    out: str
    folder: str


@dataclass(slots=True)
class RouteResult:
    """Outcome of a task of the first step; `largest` has the shares with the most bytes."""

    facts: RangeFacts
    packets: PacketFile
    largest: list[tuple[int, int]]
    seconds: dict[str, float]
    began: float


@dataclass(slots=True)
class RoutedSeries:
    """Series whose packets are routed; each valid range of a file has the number of packets before it."""

    files: list[RoutedFile] = field(default_factory=list)
    ranges: list[list[tuple[PacketFile, int]]] = field(default_factory=list)


def route_tasks(
    series: Sequence[Sequence[SeriesTask]], sizes: Mapping[str, int], slots: int, undivided: Collection[str] = ()
) -> list[RouteTask]:
    """Plan the first step for the tasks of the second one, by series."""
    found: list[RouteTask] = []
    for number, file, location, parts in _parts(series, sizes, slots):
        model = series[number][0]
        for part in range(1 if location in undivided else parts):
            given = FileRange(location, sizes[location], part, 1 if location in undivided else parts)
            found.append(RouteTask(len(found), number, file, given, len(series[number]), model.out, model.folder))
    return found


def large_files(series: Sequence[Sequence[SeriesTask]], sizes: Mapping[str, int], slots: int) -> list[tuple[str, int]]:
    """Return the files that justify several tasks in the first step, with the number of tasks; arguments as in `route_tasks`."""
    return [(location, parts) for _, _, location, parts in _parts(series, sizes, slots) if parts > 1]


def _parts(series: Sequence[Sequence[SeriesTask]], sizes: Mapping[str, int], slots: int) -> Iterator[tuple[int, int, str, int]]:
    """Yield the series, the index in it, the location and the number of parts of each file."""
    long = {location: unpacked_bytes(location, sizes[location]) for tasks in series for location in tasks[0].locations}
    least = max(RANGE_BYTES, sum(long.values()) // (_ROUNDS * slots))
    for number, tasks in enumerate(series):
        for file, location in enumerate(tasks[0].locations):
            yield number, file, location, max(1, long[location] // least)


def run_route(task: RouteTask) -> RouteResult:
    at, began = time.time(), time.perf_counter()

    def hand_over(router: object) -> None:
        with writing():
            writer.add(router)

    try:
        with in_folder(task.folder, (task.given.location,)), PacketFileWriter(task.out, task.index, task.shares) as writer:
            facts = route_range(task.given, task.shares, hand_over, progress=progress_of(task.out))
            packets = writer.finish()
    except Unwritten as error:
        raise InputError(f"{error}") from error
    return RouteResult(facts, packets, writer.largest(), {"route": time.perf_counter() - began}, at)


def resolve(tasks: Sequence[RouteTask], results: Sequence[RouteResult]) -> tuple[list[RoutedSeries], list[str]]:
    """Join the ranges of files; return the series, and the locations of files that must be read as one range. If there are any, the series
    are invalid."""
    ranges: dict[tuple[int, int], list[tuple[RouteTask, RouteResult]]] = defaultdict(list)
    for task, result in zip(tasks, results, strict=True):
        ranges[task.series, task.file].append((task, result))
    found = [RoutedSeries() for _ in range(max(task.series for task in tasks) + 1)]
    again = []
    for (series, _), parts in sorted(ranges.items(), key=itemgetter(0)):
        location = parts[0][0].given.location
        joined = join_ranges(location, (result.facts for _, result in parts))
        if joined is None:
            again.append(location)
            continue
        found[series].files.append(joined)
        before = joined.packets_before
        found[series].ranges.append([(each.packets, before[each.facts.part]) for _, each in parts if each.facts.part in before])
    return found, again


def run_share(task: SeriesTask, series: RoutedSeries) -> SeriesResult:
    """Read the routed packets of a share as if they were the files."""
    pieces: list[Piece] = [
        sized if file.is_log else RoutedPiece(file, chain.from_iterable(_chunks(task, packets, before) for packets, before in ranges))
        for sized, file, ranges in zip(task.members[0].pieces(), series.files, series.ranges, strict=True)
    ]
    return run_task(task, pieces)


def _chunks(task: SeriesTask, packets: PacketFile, before: int) -> Iterator[tuple[int, bytes]]:
    return ((before, found) for found in packets.packets_of(task.out, task.share[0]))
