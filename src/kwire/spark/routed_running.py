"""Runs series whose packets are routed, in two steps, on Spark or in processes of this machine."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kwire.spark.packet_files import remove_packet_files
from kwire.spark.route_task import RoutedSeries, RouteResult, RouteTask, resolve, route_tasks, run_route, run_share
from kwire.spark.series_task import SeriesResult, SeriesTask
from kwire.spark.task_running import run_each

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from kwire.spark.local_processes import LocalProcesses

__all__ = ["run_routed"]


def run_routed(
    spark: SparkSession | SparkContext | LocalProcesses,
    series: Sequence[Sequence[SeriesTask]],
    routes: Sequence[RouteTask],
    sizes: Mapping[str, int],
    slots: int,
    whole: Collection[str] = (),
) -> tuple[list[SeriesResult], list[RouteResult]]:
    """Read series in two steps.

    Args:
        spark: where to.
        series: the tasks of the second step, by series.
        routes: those of the first, from `route_tasks`.
        sizes: bytes of each file, as stored.
        slots: tasks that can run at once.
        whole: locations of files that are read as one range.

    Returns:
        What the tasks of the second step give, and those of the first.

    Raises:
        KwireError: a job failed.
        InputError: packets could not be written.
    """
    told: list[RouteResult] = []
    undivided = set(whole)
    while True:
        results = [_unpacked(one) for one in run_each(spark, routes, _route_packed)]
        told += results
        found, again = resolve(routes, results)
        if not again:
            break
        # a file that is damaged, or not as its header says: rare enough to read everything again
        remove_packet_files(routes[0].out)
        undivided.update(again)
        routes = route_tasks(series, sizes, slots, undivided)
    shares = [(task, number) for number, tasks in enumerate(series) for task in tasks]
    packed = run_each(spark, shares, partial(_share_packed, found))
    remove_packet_files(routes[0].out)
    return [SeriesResult.from_bytes(one) for one in packed], told


def _route_packed(task: RouteTask) -> bytes:
    return pickle.dumps(run_route(task))


def _unpacked(packed: bytes) -> RouteResult:
    result: RouteResult = pickle.loads(packed)
    return result


def _share_packed(found: Sequence[RoutedSeries], share: tuple[SeriesTask, int]) -> bytes:
    task, number = share
    return run_share(task, found[number]).to_bytes()
