"""Runs the tasks that read series, on Spark or in processes of this machine.

Packets are routed first, since all slots can do that. Then all that reads connections runs in one go, the longest first: a series, or a
share with one huge connection, begins at once, and what is left fits around it.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kwire.spark.divided_files import unpacked_bytes
from kwire.spark.pack_task import PackTask, locations_of, run_read
from kwire.spark.packet_files import remove_packet_files
from kwire.spark.route_task import RoutedSeries, RouteResult, RouteTask, resolve, route_tasks, run_route, run_share
from kwire.spark.series_task import SeriesResult, SeriesTask
from kwire.spark.task_running import run_each

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from kwire.spark.local_processes import LocalProcesses

__all__ = ["longest_first", "run_reading"]

# A task, and where its packets were routed the place of its series among those.
Reading = tuple[SeriesTask | PackTask, int | None]


def run_reading(
    spark: SparkSession | SparkContext | LocalProcesses,
    tasks: Sequence[SeriesTask | PackTask],
    routed: Sequence[Sequence[SeriesTask]],
    routes: Sequence[RouteTask],
    sizes: Mapping[str, int],
    slots: int,
    whole: Collection[str] = (),
) -> tuple[list[SeriesResult], list[RouteResult]]:
    """Read all series of a run.

    Args:
        spark: where to.
        tasks: those that read files as they lie there.
        routed: those whose packets are routed, by series.
        routes: the first step of these, from `route_tasks`.
        sizes: bytes of each file, as stored.
        slots: tasks that can run at once.
        whole: locations of files that are read as one range.

    Returns:
        What the tasks give, by their numbers, and what those of the first step give.

    Raises:
        KwireError: a job failed.
        InputError: packets could not be written.
    """
    found: list[RoutedSeries] = []
    told: list[RouteResult] = []
    if routes:
        found, told = _run_routes(spark, routed, routes, sizes, slots, whole)
    readings: list[Reading] = [(task, None) for task in tasks]
    readings += [(task, number) for number, shares in enumerate(routed) for task in shares]
    packed = run_each(spark, longest_first(readings, sizes, _heavy(told)), partial(_read, found)) if readings else []
    if routes:
        remove_packet_files(routes[0].out)
    return sorted(map(SeriesResult.from_bytes, packed), key=lambda result: result.number), told


def longest_first(readings: Sequence[Reading], sizes: Mapping[str, int], heavy: Mapping[tuple[int, int], int]) -> list[Reading]:
    """Put tasks in the order of what they have to read, so that no long one begins when all others are done.

    Args:
        readings: the tasks.
        sizes: bytes of each file, as stored.
        heavy: bytes that were routed to the largest shares, by series and share.
    """

    def size(reading: Reading) -> int:
        task, series = reading
        whole = sum(unpacked_bytes(location, sizes[location]) for location in locations_of(task))
        if series is None or isinstance(task, PackTask):
            return whole
        return max(whole // task.share[1], heavy.get((series, task.share[0]), 0))

    return sorted(readings, key=size, reverse=True)


def _heavy(told: Iterable[RouteResult]) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    for result in told:
        for share, size in result.largest:
            found[result.series, share] += size
    return found


def _run_routes(
    spark: SparkSession | SparkContext | LocalProcesses,
    series: Sequence[Sequence[SeriesTask]],
    routes: Sequence[RouteTask],
    sizes: Mapping[str, int],
    slots: int,
    whole: Collection[str],
) -> tuple[list[RoutedSeries], list[RouteResult]]:
    told: list[RouteResult] = []
    undivided = set(whole)
    while True:
        results = [_unpacked(one) for one in run_each(spark, routes, _route_packed)]
        told += results
        found, again = resolve(routes, results)
        if not again:
            return found, told
        # a file that is damaged, or not as its header says: rare enough to read everything again
        remove_packet_files(routes[0].out)
        undivided.update(again)
        routes = route_tasks(series, sizes, slots, undivided)


def _route_packed(task: RouteTask) -> bytes:
    return pickle.dumps(run_route(task))


def _unpacked(packed: bytes) -> RouteResult:
    result: RouteResult = pickle.loads(packed)  # noqa: S301 - of kwire's own task
    return result


def _read(found: Sequence[RoutedSeries], reading: Reading) -> bytes:
    task, number = reading
    if number is None or isinstance(task, PackTask):
        return run_read(task).to_bytes()
    return run_share(task, found[number]).to_bytes()
