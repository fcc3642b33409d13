"""The time of tasks is shared out among their own phases."""

from __future__ import annotations

import pytest

from kwire.runs import phase_times
from kwire.runs.phase_times import PHASES, PhaseTimes


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(phase_times.time, "perf_counter", lambda: now[0])
    return now


def test_phases_follow_one_another(clock: list[float]) -> None:
    times = PhaseTimes()
    for phase, seconds in (("start_spark", 4.0), ("answers", 1.0), ("page", 2.0), ("answers", 0.5)):
        clock[0] += seconds
        times.end(phase)
    assert times.seconds == {"start_spark": 4.0, "answers": 1.5, "page": 2.0}
    assert times.seconds.keys() <= PHASES.keys()


def test_two_tasks_at_once_share_the_clock(clock: list[float]) -> None:
    """Ten seconds of the clock, in which two tasks read for 8 and 6 seconds and wrote for 2 and 4."""
    times = PhaseTimes()
    clock[0] += 10
    times.end_tasks([{"read": 8.0, "second_pass": 2.0}, {"read": 6.0, "second_pass": 4.0}])
    assert times.seconds == {"start_workers": 0.0, "read": 7.0, "second_pass": 3.0}


@pytest.mark.parametrize(("waited", "started"), [(2.0, 2.0), (-1.0, 0.0), (60.0, 10.0)])
def test_the_start_of_workers_is_not_reading(waited: float, started: float, clock: list[float]) -> None:
    """Whatever the clock of another machine says, it is a part of the ten seconds."""
    times = PhaseTimes()
    clock[0] += 10
    times.end_tasks([{"read": 3.0, "second_pass": 1.0}], waited)
    assert times.seconds == {"start_workers": started, "read": (10 - started) * 0.75, "second_pass": (10 - started) * 0.25}


def test_no_task_takes_no_time(clock: list[float]) -> None:
    times = PhaseTimes()
    times.end_tasks([])
    assert times.seconds == {}
