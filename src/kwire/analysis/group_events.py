"""Rows of `group_events`: every step of a group's members, and between them the rebalances that they add up to."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import groupby
from typing import Any, Final

import pyarrow as pa

from kwire.analysis.group_timelines import Rebalance, Row, timeline
from kwire.analysis.partials import Partial
from kwire.schema import error_name
from kwire.tables.schemas import GROUP_EVENTS

__all__ = ["group_events"]

_MICROSECOND: Final = timedelta(microseconds=1)
_OF_STEP: Final = (
    "series", "capture", "connection_id", "request_index", "group_id", "protocol", "client_key", "client_id", "client_address",
    "protocol_type", "protocol_name", "leader",
)  # fmt: skip


def group_events(partial: Partial) -> pa.Table:
    """Make the table, sorted by group and time.

    Args:
        partial: merged parts.
    """
    rows: list[Row] = []
    steps = sorted(partial["group_steps"].to_pylist(), key=lambda step: (step["group_id"], step["time"]))
    for _group, found in groupby(steps, key=lambda step: step["group_id"]):
        of_group = list(found)
        events = [_of_step(step) for step in of_group]
        for rebalance in timeline(of_group):
            events += _of_rebalance(rebalance)
        rows += sorted(events, key=lambda row: (row["time"], row["event"], row["connection_id"] or "", row["request_index"] or 0))
    return pa.Table.from_pylist([{name: row.get(name) for name in GROUP_EVENTS.names} for row in rows], schema=GROUP_EVENTS)


def _of_step(step: Row) -> Row:
    answered = step["response_time"]
    row = dict(step)
    row["error_name"] = error_name(step["error_code"]) if step["error_code"] else None
    row["duration_us"] = None if answered is None else (answered - step["time"]) // _MICROSECOND
    row["members_before"] = row["members_after"] = None
    return row


def _of_rebalance(rebalance: Rebalance) -> Iterator[dict[str, Any]]:
    step = rebalance.step
    of_step = {name: step[name] for name in _OF_STEP}
    yield {
        **of_step,
        "event": "rebalance",
        "trigger_member_id": rebalance.trigger,
        "member_id": rebalance.trigger,
        "generation": rebalance.generation,
        "members_before": len(rebalance.before),
        "members_after": len(rebalance.after),
        "duration_us": None if rebalance.ended is None else (rebalance.ended - rebalance.time) // _MICROSECOND,
        "reason": rebalance.reason,
        "diff": rebalance.diff,
        "time": rebalance.time,
    }
    for member_id in rebalance.expired:
        yield {
            **of_step,
            "event": "expired",
            "trigger_member_id": rebalance.trigger,
            "member_id": member_id,
            "group_instance_id": rebalance.before[member_id].instance_id,
            "client_key": None,  # of the step, not of the member that is gone
            "client_id": None,
            "client_address": None,
            "generation": rebalance.generation,
            "members_before": len(rebalance.before),
            "members_after": len(rebalance.after),
            "time": rebalance.time,
        }
