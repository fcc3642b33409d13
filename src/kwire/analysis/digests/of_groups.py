"""Consumer groups in a digest: timelines of the groups with most rebalances, and their reasons."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute

from kwire.analysis.columns import aggregated, flat
from kwire.analysis.digests.tables import PAGE, Digest, reduced, shaped
from kwire.analysis.group_lives import EVENTS, group_lives
from kwire.tables.schemas import TIME

__all__ = ["of_groups"]

pc: Any = pyarrow.compute  # its stubs know neither numbers nor texts as arguments


def of_groups(events: pa.Table, span: tuple[datetime, datetime] | None) -> Digest:
    start, end = span or (None, None)
    lives = group_lives(events.select(EVENTS), start, end)
    sums = aggregated(lives, ["group_id"], [(name, "first") for name in ("again", "troubled", "rebalances")])
    counted = sums.filter(pc.or_(pc.greater(sums.column("rebalances"), pa.scalar(0)), pc.greater(sums.column("troubled"), pa.scalar(0))))
    ends = (("start", pc.min(lives.column("time"))), ("end", pc.max(lives.column("time"))))
    return {
        "group_lives": shaped("group_lives", lives),
        "groups": shaped("groups", counted),
        "members": _members(events, lives),
        "rebalance_reasons": _reasons(events, counted),
        "life_ends": shaped("life_ends", what=pa.array(["groups"]), **{at: pa.array([time.as_py()], TIME) for at, time in ends}),
    }


def _members(events: pa.Table, lives: pa.Table) -> pa.Table:
    """Name the client of each member that a difference between generations names, with or without a sign."""
    told = {word for diff in lives.column("diff").to_pylist() if diff for word in diff.replace(";", " ").split()}
    names = pa.array(sorted(told | {word[1:] for word in told if word[0] in "+-"}), pa.string())
    known: Any = pc.and_(pc.is_in(events.column("member_id"), value_set=names), pc.is_valid(events.column("client_id")))
    return reduced("members", events.filter(known), PAGE)


def _reasons(events: pa.Table, groups: pa.Table) -> pa.Table:
    """Count the reasons of a group's rebalances; the first generation seen is not a rebalance."""
    before: Any = pc.fill_null(events.column("members_before"), 0)
    again = events.filter(pc.and_(pc.equal(events.column("event"), pa.scalar("rebalance")), pc.greater(before, pa.scalar(0))))
    found = aggregated(again, ["group_id", "reason"], [([], "count_all")])
    at: Any = pc.index_in(found.column("group_id"), value_set=flat(groups, "group_id"))
    return shaped("rebalance_reasons", found, times=found.column("count_all"), again=groups.column("again").take(at))
