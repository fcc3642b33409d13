"""Running of the tasks that read series, on Spark or in local processes.

Packets are routed first, because all slots can take part. Then all tasks that read connections run together, the longest first, so that a
series or share with one huge connection starts early.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from kwire.runs.divided_files import unpacked_bytes
from kwire.runs.packet_files import remove_packet_files
from kwire.runs.route_task import RoutedSeries, RouteResult, RouteTask, resolve, route_tasks, run_route, run_share
from kwire.runs.series_task import SeriesResult, SeriesTask, run_task
from kwire.runs.workers import Workers, run_each

__all__ = ["longest_first", "run_reading"]

# A task, and the index of its series among the routed ones, None for others.
Reading = tuple[SeriesTask, int | None]


def run_reading(
    workers: Workers,
    tasks: Sequence[SeriesTask],
    routed: Sequence[Sequence[SeriesTask]],
    routes: Sequence[RouteTask],
    sizes: Mapping[str, int],
    slots: int,
    whole: Collection[str] = (),
) -> tuple[list[SeriesResult], list[RouteResult], float]:
    """Read all series; return results by number, results of the first step, and CPU seconds."""
    found: list[RoutedSeries] = []
    told: list[RouteResult] = []
    cpu, undivided, again = 0.0, set(whole), bool(routes)
    while again:
        results, seconds = run_each(workers, routes, run_route)
        told += results
        cpu += seconds
        found, damaged = resolve(routes, results)
        again = bool(damaged)
        if again:  # a file that is damaged, or not as its header says: rare enough to read everything again
            remove_packet_files(routes[0].out)
            undivided.update(damaged)
            routes = route_tasks(routed, sizes, slots, undivided)
    readings: list[Reading] = [(task, None) for task in tasks]
    readings += [(task, number) for number, shares in enumerate(routed) for task in shares]
    read, seconds = run_each(workers, longest_first(readings, sizes, _heavy(routes, told)), partial(_read, found))
    if routes:
        remove_packet_files(routes[0].out)
    return sorted(read, key=lambda result: result.number), told, cpu + seconds


def longest_first(readings: Sequence[Reading], sizes: Mapping[str, int], heavy: Mapping[tuple[int, int], int]) -> list[Reading]:
    """Sort tasks by the bytes that they read, so that a long one does not start last."""

    def size(reading: Reading) -> int:
        task, series = reading
        whole = sum(unpacked_bytes(location, sizes[location]) for location in task.locations)
        return whole if series is None else max(whole // task.share[1], heavy.get((series, task.share[0]), 0))

    return sorted(readings, key=size, reverse=True)


def _heavy(routes: Sequence[RouteTask], told: Sequence[RouteResult]) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    for route, result in zip(routes, told[-len(routes) :], strict=True) if routes else ():
        for share, size in result.largest:
            found[route.series, share] += size
    return found


def _read(found: Sequence[RoutedSeries], reading: Reading) -> SeriesResult:
    task, number = reading
    return run_task(task) if number is None else run_share(task, found[number])
