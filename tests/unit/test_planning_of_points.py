"""Captures of several points are not gone on with: a later run would count them twice."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.capture.capture_points import location_of_points
from kwire.capture.inputs import CaptureFile
from kwire.capture.series import Series
from kwire.errors import InputError
from kwire.spark.planning import plan_of


def series(location: str) -> Series:
    return Series("x", (CaptureFile(location, "", "x", 10),))


def manifest(location: str) -> dict[str, Any]:
    entry = {"name": "x", "number": 0, "shares": 1, "files": [[location, 10]], "states": ["state-00000-000"], "waiting": [[]]}
    return {"run": 0, "series": [entry], "parts": {}}


ONE = location_of_points([["a.pcap"], ["b.pcap"]])
MORE = location_of_points([["a.pcap", "c.pcap"], ["b.pcap"]])


def test_the_same_points_again_add_nothing() -> None:
    plan = plan_of([series(ONE)], 2, manifest(ONE))
    assert [each.fresh for each in plan.series] == [()]


@pytest.mark.parametrize(("read", "given"), [(ONE, MORE), (ONE, "/c.pcap"), ("/a.pcap", ONE)])
def test_points_cannot_be_added_to(read: str, given: str) -> None:
    with pytest.raises(InputError, match="--append cannot add captures of several points"):
        plan_of([series(given)], 2, manifest(read))


def test_points_in_a_first_run() -> None:
    assert plan_of([series(ONE)], 2).series[0].fresh == (ONE,)
