"""How many tasks a series gets, how they share it, and what the first of two steps reads."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from kwire.capture.files.capture_points import location_of_points
from kwire.capture.files.inputs import CaptureFile
from kwire.capture.files.series import Series
from kwire.capture.tls.session_keys import TlsOptions, tls_options
from kwire.runs.plan_facts import plan_facts, undivided_sentences
from kwire.runs.planning import MAX_ROUTED_SHARES, MAX_SCANNING_SHARES, SHARE_BYTES, plan_of
from kwire.runs.read_running import longest_first
from kwire.runs.route_task import RANGE_BYTES, RouteTask, route_tasks
from kwire.runs.series_task import SeriesFiles, SeriesTask

TB = 10**12


def series(name: str, *sizes: int) -> Series:
    return Series(name, tuple(CaptureFile(f"/{name}-{n}.pcap", "", f"{name}-{n}.pcap", size) for n, size in enumerate(sizes)))


def planned(slots: int, *given: Series, routing: bool = True) -> list[tuple[int, bool]]:
    return [(each.shares, each.routed) for each in plan_of(given, slots, routing=routing).series]


def task(number: int, *names: str, share: tuple[int, int] = (0, 1)) -> SeriesTask:
    return SeriesTask(number, tuple(SeriesFiles(name, (f"/{name}",)) for name in names), (), "/out", "/", share=share)


@pytest.mark.parametrize(
    ("slots", "sizes", "expected"),
    [
        (1, (TB,), (1, False)),
        (2, (TB,), (2, True)),
        (1000, (10**9,) * 1000, (1000, True)),
        (100_000, (100 * TB,), (MAX_ROUTED_SHARES, True)),
        (1000, (3 * SHARE_BYTES,), (3, True)),  # too small for more
        (1000, (10,), (1, False)),
    ],
)
def test_one_series(slots: int, sizes: tuple[int, ...], expected: tuple[int, bool]) -> None:
    assert planned(slots, series("x", *sizes)) == [expected]


def test_a_series_with_tls_keys_is_divided_by_hosts_and_not_routed() -> None:
    """A resumed session has its client certificate from another connection of the same hosts; packets are routed by connection."""
    with tls_options(TlsOptions(("keys.log",))):
        assert planned(1000, series("x", TB), series("y", TB)) == [(MAX_SCANNING_SHARES, False)] * 2
        assert planned(1, series("x", TB)) == [(1, False)]


def test_as_many_series_as_cores_are_a_task_each() -> None:
    assert planned(2, series("a", TB), series("b", TB)) == [(1, False)] * 2


def test_cores_are_shared_out_by_size() -> None:
    assert planned(20, series("a", 3 * TB), series("b", TB)) == [(15, True), (5, True)]


def test_without_a_first_step_the_shares_scan() -> None:
    assert planned(64, series("x", TB), routing=False) == [(MAX_SCANNING_SHARES, False)]


def test_captures_of_several_points_are_not_routed() -> None:
    both = Series("x", (CaptureFile(location_of_points([["a.pcap"], ["b.pcap"]]), "", "x", TB),))
    assert planned(64, both) == [(MAX_SCANNING_SHARES, False)]


def routes(slots: int, undivided: Any = (), *, shares: int = 8, **sizes: int) -> list[RouteTask]:
    files = {f"/{name}": size for name, size in sizes.items()}
    tasks = [SeriesTask(n, (SeriesFiles("x", tuple(files)),), (), "/out", "/", share=(n, shares)) for n in range(shares)]
    return route_tasks([tasks], files, slots, undivided)


def test_small_files_are_ranges_of_their_own_and_large_ones_are_divided() -> None:
    found = routes(64, small=1000, large=10 * RANGE_BYTES, empty=0)
    parts = Counter(task.given.location for task in found)
    assert parts == {"/small": 1, "/large": 10, "/empty": 1}
    assert [task.index for task in found] == list(range(len(found)))
    assert {task.given.part for task in found if task.given.location == "/large"} == set(range(10))
    assert {task.shares for task in found} == {8}


def test_compressed_files_count_as_they_are_unpacked() -> None:
    """A quarter of the bytes, as gzip and zstd leave of a capture, is the same work."""
    plain = Series("x", tuple(CaptureFile(f"/{n}.pcap", "", f"{n}.pcap", SHARE_BYTES) for n in range(4)))
    packed = Series("x", tuple(CaptureFile(f"s3://b/{n}.pcap.ZST?region=x", "", f"{n}.pcap", SHARE_BYTES // 4) for n in range(4)))
    assert planned(1000, plain) == planned(1000, packed) == [(4, True)]
    parts = Counter(task.given.location for task in routes(64, **{"a.gz": 2 * RANGE_BYTES, "b.zst": RANGE_BYTES // 4, "c": RANGE_BYTES}))
    assert parts == {"/a.gz": 8, "/b.zst": 1, "/c": 1}


def test_a_file_that_cannot_be_divided_is_one_range() -> None:
    found = routes(64, {"/large"}, small=1000, large=10 * RANGE_BYTES)
    assert [(task.given.part, task.given.parts) for task in found] == [(0, 1)] * 2


def test_what_a_plan_says_of_itself() -> None:
    """The series that several tasks share, the most first; those of one task are counted alone."""
    given = [series("a", TB, TB), series("b", 9 * TB), series("c", 10), series("d", 10)]
    plan = plan_of(given, 20)
    _, routed = plan.tasks({"ports": (), "out": "/out", "folder": "/"})
    sizes = {file.location: file.size for each in given for file in each.pieces}
    facts = plan_facts(plan, route_tasks(routed, sizes, 20, {"/a-0.pcap"}))
    assert facts == {
        "tasks": 4 + 17 + 1,
        "packed": 2,
        "shared": [
            {"files": 1, "tasks": 17, "sharing": "route", "ranges": 9 * 8 * 20 // 11},
            {"files": 2, "tasks": 4, "sharing": "route", "ranges": 1 + 8 * 20 // 11},
        ],
    }
    assert undivided_sentences([("x.gz", 3), ("y.gz", 4), ("z", 9)], {"x.gz": "small", "y.gz": "gzip without the blocks of bgzip"}) == [
        "y.gz is gzip without the blocks of bgzip, so one task unpacks and routes it; "
        "several tasks can read a plain pcap file, or one compressed by bgzip or pzstd."
    ]


def test_the_longest_task_begins_first() -> None:
    """A share with one huge connection is as long as what was routed to it; the others are as long as their part of the series."""
    packed, plain = task(9, "a", "b"), task(8, "c.gz")
    shares = [task(n, "x", share=(n, 4)) for n in range(4)]
    sizes = {"/a": 10, "/b": 20, "/c.gz": 5, "/x": 100}
    readings = [(packed, None), (plain, None), *((share, 0) for share in shares)]
    ordered = [task.number for task, _ in longest_first(readings, sizes, {(0, 2): 90, (1, 3): 1000, (0, 1): 3})]
    assert ordered == [2, 9, 0, 1, 3, 8]


def test_ranges_grow_with_what_each_core_has_to_read() -> None:
    found = routes(10, huge=100 * TB)
    assert len(found) == 80
