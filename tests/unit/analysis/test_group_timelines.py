"""Timelines of groups that live long: a generation is told from an earlier one of the same number."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kwire.analysis.group_timelines import STEP_COLUMNS, timeline


def step(event: str, time: int, member: str, generation: int | None, **more: Any) -> dict[str, Any]:
    known = {"event": event, "protocol": "classic", "member_id": member, "generation": generation, "error_code": 0, "time": time}
    return dict.fromkeys(STEP_COLUMNS) | known | {"response_time": time + 5} | more


def life(begin: int) -> list[dict[str, Any]]:
    """A member joins and is assigned, another comes, the first leaves."""
    told = json.dumps([["a", None, ["t"], None, 0]])
    both = json.dumps([["a", None, ["t"], None, 0], ["b", None, ["t"], None, 0]])
    return [
        step("join", begin, "a", 1, members=told),
        step("sync", begin + 10, "a", 1),
        step("join", begin + 100, "b", 2),
        step("join", begin + 110, "a", 2, members=both),
        step("sync", begin + 120, "b", 2),
        step("sync", begin + 130, "a", 2),
        step("leave", begin + 200, "a", None, members=json.dumps([["a", None, None, "done", 0]])),
        step("join", begin + 210, "b", 3, members=json.dumps([["b", None, ["t"], None, 0]])),
        step("sync", begin + 220, "b", 3),
    ]


def test_a_generation_ends_with_its_own_assignments() -> None:
    found = timeline([*life(1000), *life(1_000_000)])
    assert [(each.generation, each.time, each.ended) for each in found] == [
        (1, 1000, 1015),
        (2, 1100, 1135),
        (3, 1200, 1225),
        (1, 1_000_000, 1_000_015),
        (2, 1_000_100, 1_000_135),
        (3, 1_000_200, 1_000_225),
    ]


@pytest.mark.requirement("K559-45")
def test_who_left_is_looked_for_between_two_generations() -> None:
    found = timeline([*life(1000), *life(1_000_000)])
    assert [each.left for each in found] == [[], [], ["a"], [], [], ["a"]]
    assert [each.trigger for each in found] == ["a", "b", "a", "a", "b", "a"]
    assert found[3].expired == ["b"]  # of the first life nobody said goodbye to it


def test_K559_11_a_new_member_that_asks_twice_joins_once() -> None:
    """From JoinGroup v4 on the first request is answered with the member's id and error 79 (KIP-394)."""
    (found,) = timeline([step("join", 1000, "a", -1, error_code=79), step("join", 1010, "a", 1), step("sync", 1020, "a", 1)])
    assert (found.generation, found.trigger, list(found.after), found.ended) == (1, "a", ["a"], 1025)


@pytest.mark.requirement("K559-45")
def test_two_rebalances_and_their_difference() -> None:
    first, second, third = timeline(life(1000))
    assert [(list(each.before), list(each.after)) for each in (first, second, third)] == [
        ([], ["a"]),
        (["a"], ["a", "b"]),
        (["a", "b"], ["b"]),
    ]
    assert ("+b" in second.diff, "-a left" in third.diff, third.reason) == (True, True, "done")


def test_a_streams_group_gives_the_status_that_the_coordinator_reported() -> None:
    """KIP-1071: an epoch that rises with no member's doing follows what the coordinator said in its answers."""
    status = "MISSING_SOURCE_TOPICS: topic orders is missing"
    beats = [("a", 1, 1, None), ("a", 2, 1, status), ("a", 3, 2, None), ("a", 4, 3, None)]
    found = timeline([step("consumer_heartbeat", time, who, epoch, protocol="streams", reason=why) for who, time, epoch, why in beats])
    assert [(each.generation, each.trigger, each.reason) for each in found] == [
        (1, "a", "the first join captured"),
        (2, None, f"the coordinator reported {status}"),
        (3, None, "no captured request explains it; a member's session may have timed out"),
    ]
