"""Consumer groups in a digest: the lives of those that rebalance most, and why they do."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute

from kwire.analysis.digests.tables import Digest, shaped
from kwire.analysis.group_lives import EVENTS, group_lives

__all__ = ["of_groups"]

pc: Any = pyarrow.compute  # its stubs know neither numbers nor texts as arguments


def of_groups(events: pa.Table, span: tuple[datetime, datetime] | None) -> Digest:
    """Digest `group_events`.

    Args:
        events: its rows.
        span: of all time that is drawn.
    """
    start, end = span or (None, None)
    lives = group_lives(events.select(EVENTS), start, end)
    first = lives.group_by("group_id", use_threads=False).aggregate([(name, "first") for name in ("again", "troubled", "rebalances")])
    sums = first.rename_columns([name.removesuffix("_first") for name in first.column_names])
    counted = sums.filter(pc.or_(pc.greater(sums.column("rebalances"), pa.scalar(0)), pc.greater(sums.column("troubled"), pa.scalar(0))))
    return {
        "group_lives": shaped("group_lives", **{name: lives.column(name) for name in lives.column_names}),
        "groups": shaped("groups", **{name: counted.column(name) for name in ("group_id", "again", "troubled")}),
        "rebalance_reasons": _reasons(events, counted),
        "life_ends": shaped(
            "life_ends", what=pa.array(["groups"]), start=pa.array([pc.min(lives.column("time")).as_py()], lives.schema.field("time").type),
            end=pa.array([pc.max(lives.column("time")).as_py()], lives.schema.field("time").type),
        ),
    }  # fmt: skip


def _reasons(events: pa.Table, groups: pa.Table) -> pa.Table:
    """How often a group rebalanced why; the first generation in sight is no rebalance."""
    before: Any = pc.fill_null(events.column("members_before"), 0)
    again = events.filter(pc.and_(pc.equal(events.column("event"), pa.scalar("rebalance")), pc.greater(before, pa.scalar(0))))
    found = again.group_by(["group_id", "reason"], use_threads=False).aggregate([([], "count_all")])
    at: Any = pc.index_in(found.column("group_id"), value_set=groups.column("group_id").combine_chunks())
    return shaped(
        "rebalance_reasons", group_id=found.column("group_id"), reason=found.column("reason"), times=found.column("count_all"),
        again=groups.column("again").take(at),
    )  # fmt: skip
