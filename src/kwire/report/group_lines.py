"""The life of each consumer group over the capture: how many members, when it rebalanced and why, what went wrong."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import pyarrow.compute as pc

from kwire.analysis.group_lives import EVENTS, group_lives
from kwire.report.analysis_folder import AnalysisFolder

__all__ = ["LANE_HEIGHT", "LANE_WIDTH", "GroupLine", "GroupLines", "Lane", "Rebalance", "read_group_lines"]

LANE_WIDTH: Final = 600
"""Units from the first to the last event that a lane is wide."""
LANE_HEIGHT: Final = 30

_LEFT: Final = "leave"
_TROUBLE: Final = ("expired", "heartbeat_error", "offset_commit_error")
_DRAWN: Final = ("rebalance", _LEFT, *_TROUBLE)
_NARROWEST: Final = 2.0  # of a rebalance, so that a short one is seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    """The members of a group shared out its partitions anew; `members_before` is 0 for the first generation in sight."""

    time: datetime
    generation: int | None
    members_before: int | None
    members_after: int | None
    duration_us: int | None
    reason: str
    diff: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    """One group.

    Attributes:
        shown: its rebalances; of a group with very many the newest, and one for each step of time (`kwire.analysis.group_lives`).
        rebalances: how many there were in all.
        again: rebalances without the first generation in sight, which is none.
        spent: time in these.
        left: when members said that they leave.
        trouble: members that expired, and heartbeats and commits that were answered with an error, as (event, time), thinned out too.
        troubled: how many of these there were.
        expired: of these, members that expired.
        most: members at most.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A group drawn: `members` is a filled SVG path, `busy` are rebalances as (left edge, width), `trouble` are left edges."""

    members: str
    busy: tuple[tuple[float, float], ...]
    trouble: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLines:
    """All groups, those first that rebalance most, from the first event to the last; both are None without groups."""

    start: datetime | None
    end: datetime | None
    groups: tuple[GroupLine, ...]

    def lane(self, group: GroupLine) -> Lane:
        """Draw one group on the scale that all of them share."""
        busy = [(self._x(one.time), self._x(one.time + timedelta(microseconds=one.duration_us or 0))) for one in group.shown]
        trouble = sorted({round(self._x(time)) for _, time in group.trouble})
        return Lane(members=self._members(group), busy=tuple(_merged(busy)), trouble=tuple(map(float, trouble)))

    def _x(self, time: datetime) -> float:
        assert self.start is not None
        assert self.end is not None
        whole = (self.end - self.start) / timedelta(microseconds=1)
        place = (time - self.start) / timedelta(microseconds=1)
        return round(LANE_WIDTH * min(place / whole, 1.0), 1) if whole else 0.0

    def _members(self, group: GroupLine) -> str:
        """Steps of the number of members, from the first rebalance in sight to the end; between them who leaves counts."""
        most = group.most
        if not most:
            return ""
        steps = [(one.time, one.members_after or 0) for one in group.shown]
        steps += [(time, -1) for time in group.left if time > group.shown[0].time]
        level, number = dict[int, float](), 0  # of each unit the last one
        for time, members in sorted(steps):
            number = members if members >= 0 else max(0, number - 1)
            level[int(self._x(time))] = LANE_HEIGHT - (LANE_HEIGHT - 4) * number / most
        path = f"M{next(iter(level))} {LANE_HEIGHT}" + "".join(f"V{y:.1f}H{x}" for x, y in _until_next(level))
        return f"{path}V{LANE_HEIGHT}Z"


def _until_next(level: dict[int, float]) -> list[tuple[int, float]]:
    ends = [*list(level)[1:], LANE_WIDTH]
    return list(zip(ends, level.values(), strict=True))


def _merged(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Spans as (left edge, width), none narrower than can be seen; those that touch are one."""
    found: list[list[float]] = []
    for left, right in sorted(spans):
        right = max(right, left + _NARROWEST)
        if found and left <= found[-1][1]:
            found[-1][1] = max(found[-1][1], right)
        else:
            found.append([left, right])
    return [(left, round(right - left, 1)) for left, right in found]


def read_group_lines(folder: AnalysisFolder) -> GroupLines:
    """Read what happened to the groups; steps of single members that went well are left out."""
    seen = folder.time_range() or (None, None)
    lives = group_lives(folder.read("group_events", EVENTS, pc.field("event").isin([*_DRAWN])), *seen)
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in lives.to_pylist():
        rows[row["group_id"] or ""].append(row)
    found = [_group(group_id, of_group) for group_id, of_group in rows.items()]
    groups = [group for group in found if group.rebalances or group.troubled]
    ends = [pc.min(lives["time"]).as_py(), pc.max(lives["time"]).as_py()]
    return GroupLines(
        start=min([time for time in (seen[0], ends[0]) if time is not None], default=None),
        end=max([time for time in (seen[1], ends[1]) if time is not None], default=None),
        groups=tuple(sorted(groups, key=lambda group: (-group.again, -group.troubled, group.group_id))),
    )


def _group(group_id: str, rows: list[dict[str, Any]]) -> GroupLine:
    sums = rows[0]
    return GroupLine(
        group_id=group_id,
        protocol=next((row["protocol"] for row in rows if row["protocol"]), ""),
        shown=tuple(
            Rebalance(
                time=row["time"],
                generation=row["generation"],
                members_before=row["members_before"],
                members_after=row["members_after"],
                duration_us=row["duration_us"],
                reason=row["reason"] or "",
                diff=row["diff"] or "",
            )
            for row in rows
            if row["event"] == "rebalance"
        ),
        rebalances=sums["rebalances"],
        again=sums["again"],
        spent=timedelta(microseconds=sums["spent_us"]),
        left=tuple(row["time"] for row in rows if row["event"] == _LEFT),
        trouble=tuple((row["event"], row["time"]) for row in rows if row["event"] in _TROUBLE),
        troubled=sums["troubled"],
        expired=sums["expired"],
        most=sums["most"],
    )
