"""Timeline of each consumer group: members, rebalances and their reasons, errors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import pyarrow.compute as pc

from kwire.report.analysis_folder import AnalysisFolder, rows_of
from kwire.report.records import record

__all__ = ["STEPS", "GroupLine", "GroupLines", "GroupState", "GroupStep", "Rebalance", "read_group_lines"]

STEPS: Final = 60
"""Number of equal time steps of a group's timeline."""

_LEFT: Final = "leave"
_TROUBLE: Final = ("expired", "heartbeat_error", "offset_commit_error")

GroupState = Literal["trouble", "rebalancing", "forming", "steady"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    """New assignment of partitions; `members_before` is 0 for the first captured generation."""

    time: datetime
    generation: int | None
    members_before: int | None
    members_after: int | None
    duration_us: int | None
    reason: str
    diff: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    """Consumer group; of many rebalances and problems, the newest and one per time step are kept (`kwire.analysis.group_lives`).

    Attributes:
        again: rebalances without the first captured generation, which is not a rebalance.
        trouble: expired members and failed heartbeats and commits, as (event, time); `troubled` is their number.
        members: client and host of members that differences name, by member id.
    """

    group_id: str
    protocol: str
    shown: tuple[Rebalance, ...]
    rebalances: int
    again: int
    spent: timedelta
    left: tuple[datetime, ...]
    trouble: tuple[tuple[str, datetime], ...]
    troubled: int
    expired: int
    most: int
    members: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GroupStep:
    """Time step: members at its end, and its worst event; `members` is None before the group appears."""

    members: int | None
    state: GroupState


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLines:
    """Groups ordered by rebalances, from the first event to the last; `count` includes those not listed."""

    start: datetime | None
    end: datetime | None
    count: int
    groups: tuple[GroupLine, ...]

    def steps(self, group: GroupLine) -> tuple[GroupStep, ...]:
        members: list[int | None] = [None] * STEPS
        states: list[GroupState] = ["steady"] * STEPS
        changes = [(one.time, one.members_after or 0) for one in group.shown]
        changes += [(time, -1) for time in group.left if group.shown and time > group.shown[0].time]
        number = 0
        for time, after in sorted(changes):  # between rebalances, a member that leaves counts
            number = after if after >= 0 else max(0, number - 1)
            members[self._step(time)] = number
        for place in range(1, STEPS):
            members[place] = members[place - 1] if members[place] is None else members[place]
        for one in group.shown:
            state: GroupState = "rebalancing" if one.members_before else "forming"
            end = one.time + timedelta(microseconds=one.duration_us or 0)
            for place in range(self._step(one.time), self._step(end) + 1):
                if states[place] in ("steady", "forming"):
                    states[place] = state
        for _, time in group.trouble:
            states[self._step(time)] = "trouble"
        return tuple(GroupStep(*pair) for pair in zip(members, states, strict=True))

    def _step(self, time: datetime) -> int:
        assert self.start is not None
        assert self.end is not None
        whole = self.end - self.start
        return min(STEPS - 1, max(0, int(STEPS * ((time - self.start) / whole)))) if whole else 0


def read_group_lines(folder: AnalysisFolder) -> GroupLines:
    seen = folder.time_range() or (None, None)
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of(folder.digest, "group_lives"):
        rows[row["group_id"] or ""].append(row)
    members: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows_of(folder.digest, "members"):
        members[row["group_id"]][row["member_id"]] = " at ".join(filter(None, (row["client_id"], row["client_address"])))
    found = [_group(group_id, of_group, members[group_id]) for group_id, of_group in rows.items()]
    groups = [group for group in found if group.rebalances or group.troubled]
    ends = rows_of(folder.digest, "life_ends", pc.field("what") == "groups")
    return GroupLines(
        start=min([time for time in (seen[0], *(row["start"] for row in ends)) if time is not None], default=None),
        end=max([time for time in (seen[1], *(row["end"] for row in ends)) if time is not None], default=None),
        count=sum(row["number"] for row in rows_of(folder.digest, "totals", pc.field("what") == "groups")),
        groups=tuple(sorted(groups, key=lambda group: (-group.again, -group.troubled, group.group_id))),
    )


def _group(group_id: str, rows: list[dict[str, Any]], members: Mapping[str, str]) -> GroupLine:
    sums = rows[0]
    return record(
        GroupLine,
        sums,
        group_id=group_id,
        members=members,
        protocol=next((row["protocol"] for row in rows if row["protocol"]), ""),
        shown=tuple(record(Rebalance, row) for row in rows if row["event"] == "rebalance"),
        spent=timedelta(microseconds=sums["spent_us"]),
        left=tuple(row["time"] for row in rows if row["event"] == _LEFT),
        trouble=tuple((row["event"], row["time"]) for row in rows if row["event"] in _TROUBLE),
    )
