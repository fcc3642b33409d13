"""Captures of several points are read from their beginnings when there is more of them, and what was written of them goes."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.capture.files.capture_points import location_of_points
from kwire.capture.files.inputs import CaptureFile
from kwire.capture.files.series import Series
from kwire.errors import InputError
from kwire.runs.planning import plan_of

ONE = location_of_points([["/a.pcap"], ["/b.pcap"]])
MORE = location_of_points([["/a.pcap", "/c.pcap"], ["/b.pcap"]])


def series(location: str, size: int = 10) -> Series:
    return Series("x", (CaptureFile(location, "", "x", size, (size - 5, 5)),))


def manifest(*locations: str, rule: str = "points") -> dict[str, Any]:
    """An analysis with a series for each location, of 10 bytes; two tasks read each."""
    entries = [
        {
            "name": f"x{place}", "number": 2 * place, "shares": 2, "files": [[location, 10]],
            "states": [f"state-{2 * place:05}-000", f"state-{2 * place + 1:05}-000"], "waiting": [[], []],
        }
        for place, location in enumerate(locations)
    ]  # fmt: skip
    names = [f"{kind}-{task:05}-000.parquet" for task in range(2 * len(locations)) for kind in ("part", "open", "end")]
    return {"run": 0, "series": entries, "series_rule": rule, "parts": {"requests": names, "_state": ["sums-00000-000-0.x"]}}


@pytest.mark.parametrize("again", [ONE, location_of_points([["/b.pcap"], ["/a.pcap"]])])
def test_the_same_points_again_add_nothing(again: str) -> None:
    plan = plan_of([series(again)], 2, manifest(ONE))
    assert [(each.number, each.fresh) for each in plan.series] == [(0, ())]
    assert len(plan.kept) == 7


@pytest.mark.parametrize(("read", "given"), [(ONE, series(ONE, 11)), (ONE, series(MORE)), ("/a.pcap", series(ONE))])
def test_points_of_which_there_is_more_are_read_from_their_beginnings(read: str, given: Series) -> None:
    """One of the files has grown, there is another one, or what was one point alone is one of two: no part of before stays."""
    plan = plan_of([given], 2, manifest(read))
    assert [(each.number, each.fresh, each.earlier, each.point_sizes) for each in plan.series] == [
        (2, (given.pieces[0].location,), (), given.pieces[0].sizes)
    ]
    assert plan.kept == ()
    assert [entry["number"] for entry in plan.entries(["_state/state-00002-001"])] == [2]


def test_other_series_stay_as_they_are() -> None:
    plan = plan_of([series(MORE)], 2, manifest(ONE, "/elsewhere.pcap", rule="points:elsewhere|."))
    assert [(each.number, bool(each.fresh)) for each in plan.series] == [(2, False), (4, True)]
    assert plan.kept == tuple(f"requests/{kind}-{task:05}-000.parquet" for task in (2, 3) for kind in ("part", "open", "end"))


@pytest.mark.parametrize(("read", "given"), [(ONE, "/c.pcap"), (ONE, "/a.pcap"), (MORE, ONE), (ONE, location_of_points([["/c"], ["/d"]]))])
def test_all_files_of_the_points_have_to_be_given(read: str, given: str) -> None:
    """A packet of a new file may be a copy of one that a file saw which is not there."""
    with pytest.raises(InputError, match=r"was read with overlapping captures and is not given with x: .* give all of their files"):
        plan_of([series(given)], 2, manifest(read))


def test_other_traffic_is_added() -> None:
    monday, tuesday = (location_of_points([[f"/{day}/a.pcap"], [f"/{day}/b.pcap"]]) for day in ("monday", "tuesday"))
    plan = plan_of([series(tuesday)], 2, manifest(monday, rule="points:/[a-z]+day/"))
    assert [(each.number, bool(each.fresh)) for each in plan.series] == [(0, False), (2, True)]


def test_points_in_a_first_run() -> None:
    assert plan_of([series(ONE)], 2).series[0].fresh == (ONE,)
