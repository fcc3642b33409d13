"""What tasks of a series do whose packets are routed: those of the first step read ranges of files, those of the second a share each.

No Spark here: the same functions run in a Python worker of any Spark and in a test. The theory is in
`kwire.capture.dividing.packet_routing`.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from kwire.capture.dividing.file_ranges import FileRange
from kwire.capture.dividing.packet_routing import RangeFacts, RoutedFile, RoutedPiece, join_ranges, route_range
from kwire.errors import InputError
from kwire.files.file_systems import StoreOptions, store_options
from kwire.spark.divided_files import unpacked_bytes
from kwire.spark.packet_files import PacketFile, PacketFileWriter
from kwire.spark.series_task import Piece, SeriesResult, SeriesTask, in_folder, progress_of, run_task

__all__ = ["RANGE_BYTES", "RouteResult", "RouteTask", "RoutedSeries", "large_files", "resolve", "route_tasks", "run_route", "run_share"]

RANGE_BYTES: Final = 128 << 20
"""Bytes of a file, unpacked, that are worth a task of their own in the first step."""

# Rounds of tasks in the first step, at most: each task looks for its borders and writes a file.
_ROUNDS: Final = 8


@dataclass(frozen=True, slots=True)
class RouteTask:
    """A task of the first step.

    Attributes:
        place: among them all.
        series, file: whose packets; places in what is routed, and in the series.
        given: the range of the file.
        shares: of how many the series is read.
        out, folder, store: as in `SeriesTask`.
    """

    place: int
    series: int
    file: int
    given: FileRange
    shares: int
    out: str
    folder: str
    store: StoreOptions | None


@dataclass(slots=True)
class RouteResult:
    """What a task of the first step gives back.

    Attributes:
        place: of the task.
        series: of the task.
        facts: of its range; None where nothing could be written.
        packets: where the packets are.
        largest: the shares with the most bytes of them, and how many.
        fault: why nothing could be written, empty when all went well.
        seconds: of wall clock, by phase (`kwire.spark.phase_times.PHASES`).
        cpu_seconds: of the processor.
        began: when the task began, seconds since 1970.
    """

    place: int
    series: int
    facts: RangeFacts | None = None
    packets: PacketFile | None = None
    largest: list[tuple[int, int]] = field(default_factory=list)
    fault: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    began: float = 0.0


@dataclass(slots=True)
class RoutedSeries:
    """A series as the second step knows it.

    Attributes:
        files: in order.
        ranges: of each file those that count, in order: where their packets are, and how many of the file's are before.
    """

    files: list[RoutedFile] = field(default_factory=list)
    ranges: list[list[tuple[PacketFile, int]]] = field(default_factory=list)


def route_tasks(
    series: Sequence[Sequence[SeriesTask]], sizes: Mapping[str, int], slots: int, undivided: Collection[str] = ()
) -> list[RouteTask]:
    """Plan the first step.

    Args:
        series: the tasks of the second, by series.
        sizes: bytes of each file, as stored.
        slots: tasks that can run at once.
        undivided: locations of files that have to be read as one range.
    """
    found: list[RouteTask] = []
    for number, file, location, parts in _parts(series, sizes, slots):
        model = series[number][0]
        for part in range(1 if location in undivided else parts):
            given = FileRange(location, sizes[location], part, 1 if location in undivided else parts)
            place = len(found)
            found.append(RouteTask(place, number, file, given, len(series[number]), model.out, model.folder, model.store))
    return found


def large_files(series: Sequence[Sequence[SeriesTask]], sizes: Mapping[str, int], slots: int) -> list[tuple[str, int]]:
    """Give the files that are worth several tasks of the first step, with the number of them; arguments as for `route_tasks`."""
    return [(location, parts) for _, _, location, parts in _parts(series, sizes, slots) if parts > 1]


def _parts(series: Sequence[Sequence[SeriesTask]], sizes: Mapping[str, int], slots: int) -> Iterator[tuple[int, int, str, int]]:
    """Series and place in it, location and number of parts of each file."""
    long = {location: unpacked_bytes(location, sizes[location]) for tasks in series for location in tasks[0].locations}
    least = max(RANGE_BYTES, sum(long.values()) // (_ROUNDS * slots))
    for number, tasks in enumerate(series):
        for file, location in enumerate(tasks[0].locations):
            yield number, file, location, max(1, long[location] // least)


def run_route(task: RouteTask) -> RouteResult:
    """Do a task of the first step. Never raises for what files or bytes are."""
    result = RouteResult(task.place, task.series, began=time.time())
    began, cpu = time.perf_counter(), time.process_time()
    try:
        with in_folder(task.folder, (task.given.location,)), store_options(task.store):
            _route(task, result)
    except _Unwritten as error:
        result.fault = str(error)
    result.seconds["route"] = time.perf_counter() - began
    result.cpu_seconds = time.process_time() - cpu
    return result


class _Unwritten(Exception):
    """Packets cannot be written: not to be taken for a file that cannot be read."""


def _route(task: RouteTask, result: RouteResult) -> None:
    with PacketFileWriter(task.out, task.place, task.shares) as writer:

        def hand_over(router: object) -> None:
            try:
                writer.add(router)
            except InputError as error:
                raise _Unwritten(f"{error}") from error

        result.facts = route_range(task.given, task.shares, hand_over, progress=progress_of(task.out))
        try:
            result.packets, result.largest = writer.finish(), writer.largest()
        except InputError as error:
            raise _Unwritten(f"{error}") from error


def resolve(tasks: Sequence[RouteTask], results: Iterable[RouteResult]) -> tuple[list[RoutedSeries], list[str]]:
    """Put together what the first step gave.

    Args:
        tasks: all of it.
        results: of each task.

    Returns:
        The series, and the locations of files that have to be read as one range: then nothing of this counts.

    Raises:
        InputError: a task could not write.
    """
    ranges: dict[tuple[int, int], list[RouteResult]] = defaultdict(list)
    for result in results:
        if result.fault:
            raise InputError(result.fault)
        task = tasks[result.place]
        ranges[task.series, task.file].append(result)
    found = [RoutedSeries() for _ in range(max(task.series for task in tasks) + 1)]
    again = []
    for place, parts in sorted(ranges.items()):
        series = found[place[0]]
        location = tasks[parts[0].place].given.location
        joined = join_ranges(location, (part.facts for part in parts if part.facts))
        if joined is None:
            again.append(location)
            continue
        series.files.append(joined)
        kept = sorted((part.place, part) for part in parts if part.facts and part.facts.part in joined.packets_before)
        series.ranges.append(
            [(part.packets, joined.packets_before[part.facts.part]) for _, part in kept if part.packets is not None and part.facts]
        )
    return found, again


def run_share(task: SeriesTask, series: RoutedSeries) -> SeriesResult:
    """Do a task of the second step: read the packets of a share as if they were the files.

    Args:
        task: what to do with the rows.
        series: what the first step gave.
    """
    pieces: list[Piece] = [
        sized if file.is_log else RoutedPiece(file, chain.from_iterable(_chunks(task, packets, before) for packets, before in ranges))
        for sized, file, ranges in zip(task.pieces(), series.files, series.ranges, strict=True)
    ]
    return run_task(task, pieces)


def _chunks(task: SeriesTask, packets: PacketFile, before: int) -> Iterator[tuple[int, bytes]]:
    return ((before, found) for found in packets.packets_of(task.out, task.share[0]))
