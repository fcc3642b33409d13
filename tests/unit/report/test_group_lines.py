"""The life of groups, worked out by hand from a few events of a capture of 600 seconds: a step is ten seconds."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from kwire.report.group_lines import STEPS, read_group_lines

START = datetime(2026, 9, 8, 10, 0, tzinfo=timezone.utc)
CAPTURE = {"capture": "a.pcap", "start": START, "end": START + timedelta(seconds=600)}


@pytest.fixture
def lines_of(folder_of: Any) -> Any:
    return lambda rows: read_group_lines(folder_of(captures=[CAPTURE], group_events=rows))


def event(second: float, name: str = "rebalance", group: str = "g", **more: Any) -> dict[str, Any]:
    return {"group_id": group, "event": name, "time": START + timedelta(seconds=second), **more}


def rebalance(second: float, before: int, after: int, took: int, group: str = "g") -> dict[str, Any]:
    of_members = {"members_before": before, "members_after": after, "generation": 7, "diff": "+m"}
    return event(second, group=group, duration_us=took * 1_000_000, reason="a member joined", **of_members)


def test_rebalances_are_counted_without_the_first_generation(lines_of: Any) -> None:
    rows = [rebalance(10, 0, 1, 3), rebalance(100, 1, 2, 5), rebalance(300, 2, 4, 7), event(310, "expired"), event(9, "join")]
    (group,) = lines_of(rows).groups
    assert (group.again, group.spent, group.expired, group.most) == (2, timedelta(seconds=12), 1, 4)
    assert [(one.time - START).total_seconds() for one in group.shown] == [10, 100, 300]
    assert group.rebalances == 3
    assert group.shown[1].diff == "+m"


def test_groups_that_rebalance_most_come_first(lines_of: Any) -> None:
    rows = [rebalance(1, 0, 1, 1, "calm"), rebalance(1, 0, 1, 1, "busy"), rebalance(9, 1, 2, 1, "busy"), event(3, "expired", "sick")]
    assert [group.group_id for group in lines_of(rows).groups] == ["busy", "sick", "calm"]


def test_steps_are_on_the_scale_of_the_capture(lines_of: Any) -> None:
    """A step is ten seconds: members count from the rebalance that brings them, and the worst in a step is its state."""
    rows = [rebalance(60, 0, 1, 15), rebalance(300, 1, 2, 6), event(450, "heartbeat_error", error_name="UNKNOWN_MEMBER_ID")]
    lines = lines_of([*rows, event(460, "heartbeat_error", error_name="REBALANCE_IN_PROGRESS")])
    assert lines.groups[0].troubled == 1
    steps = lines.steps(lines.groups[0])
    assert len(steps) == STEPS == 60
    assert [step.members for step in steps] == [None] * 6 + [1] * 24 + [2] * 30
    states = {place: step.state for place, step in enumerate(steps) if step.state != "steady"}
    assert states == {6: "forming", 7: "forming", 30: "rebalancing", 45: "trouble"}


def test_a_rebalance_counts_over_forming_and_trouble_over_both(lines_of: Any) -> None:
    lines = lines_of([rebalance(100, 0, 1, 0), rebalance(101, 1, 2, 20), event(121, "expired")])
    steps = lines.steps(lines.groups[0])
    assert [step.state for step in steps[9:14]] == ["steady", "rebalancing", "rebalancing", "trouble", "steady"]


def test_a_member_that_leaves_counts_until_the_next_rebalance(lines_of: Any) -> None:
    rows = [rebalance(100, 0, 2, 1), event(200, "leave"), event(210, "leave", error_name="UNKNOWN_MEMBER_ID"), rebalance(300, 2, 2, 1)]
    lines = lines_of([*rows, event(400, "leave"), event(500, "leave")])
    members = [step.members for step in lines.steps(lines.groups[0])]
    assert members == [None] * 10 + [2] * 10 + [1] * 10 + [2] * 10 + [1] * 10 + [0] * 10


def test_trouble_without_a_rebalance_has_no_members(lines_of: Any) -> None:
    lines = lines_of([event(30, "offset_commit_error"), event(10, "leave")])
    steps = lines.steps(lines.groups[0])
    assert {step.members for step in steps} == {None}
    assert [place for place, step in enumerate(steps) if step.state == "trouble"] == [3]


def test_a_group_that_rebalances_all_day_is_thinned_out_and_counted_whole(lines_of: Any) -> None:
    """A rebalance each second for 600 seconds, of which each expires a member: the newest 30 stay, and one each ten seconds."""
    rows = [each for number in range(600) for each in (rebalance(number, 1, 2, 1, "busy"), event(number, "expired", "busy"))]
    (busy, calm) = lines_of([*rows, rebalance(300, 0, 7, 1, "calm")]).groups
    assert (busy.rebalances, busy.again, busy.troubled, busy.expired, busy.most) == (600, 600, 600, 600, 2)
    assert busy.spent == timedelta(seconds=600)
    seconds = [(one.time - START).total_seconds() for one in busy.shown]
    assert seconds[0] == 0
    assert seconds[-30:] == list(range(570, 600))
    assert seconds[1:4] == [9, 19, 29]  # the last of each step of 10 seconds
    assert len(seconds) == 1 + 57 + 30
    assert len(busy.trouble) == 60
    assert (calm.rebalances, calm.most, len(calm.shown)) == (1, 7, 1)


@pytest.mark.parametrize("rows", [[], [event(10, "leave")]])
def test_without_a_rebalance_or_trouble_there_are_no_groups(lines_of: Any, rows: list[dict[str, Any]]) -> None:
    assert lines_of(rows).groups == ()
