"""Rows for the timeline of each group: its sums, and its rebalances. Of many rebalances, the newest and one per time step are kept."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import Ints, flat
from kwire.analysis.row_sums import codes_of
from kwire.protocol.expected_errors import EXPECTED_ERRORS
from kwire.schema import error_name
from kwire.tables.schemas import GROUP_EVENTS, INT, LONG, TIME

__all__ = ["EVENTS", "LAST", "LIVES", "STEPS", "group_lives"]

LAST: Final = 30
"""Number of newest rebalances of a group to keep."""

STEPS: Final = 60
"""Number of equal time steps; the last rebalance, leave and problem of a group in each step is kept."""

_WHOLE: Final = 200  # a group with no more rows keeps them
_LEFT: Final = "leave"
_TROUBLE: Final = pa.array(["expired", "heartbeat_error", "offset_commit_error"])
_EXPECTED: Final = pa.array([error_name(each.code) for each in EXPECTED_ERRORS if not each.apis])
_TELLING: Final = pa.array(["rebalance", _LEFT, *_TROUBLE.to_pylist()])

EVENTS: Final = (
    "group_id", "event", "protocol", "time", "generation", "members_before", "members_after", "duration_us", "reason", "diff", "error_name",
)  # fmt: skip
"""Columns of `group_events` for timelines."""

LIVES: Final = pa.schema(
    [
        *(GROUP_EVENTS.field(name) for name in EVENTS if name != "error_name"),
        pa.field("rebalances", LONG),  # these of the whole group
        pa.field("again", LONG),  # rebalances without the first generation in sight, which is none
        pa.field("spent_us", LONG),  # in these
        pa.field("expired", LONG),
        pa.field("troubled", LONG),  # members that expired, heartbeats and commits that failed
        pa.field("most", INT),  # members
    ]
)
"""Rows of `group_events`, each with the sums of its group."""


def group_lives(events: pa.Table, start: datetime | None = None, end: datetime | None = None) -> pa.Table:
    """Make the rows, by group and time; `start` and `end` bound the drawn time, None for the first and last row.

    Successful steps of single members, failed leaves and heartbeats that report a rebalance are left out.
    """
    in_vain: Any = pc.and_(pc.equal(events.column("event"), pa.scalar(_LEFT)), pc.is_valid(events.column("error_name")))
    telling: Any = pc.is_in(events.column("event"), value_set=_TELLING)
    expected: Any = pc.is_in(events.column("error_name"), value_set=_EXPECTED)
    rows = events.filter(pc.and_(pc.and_(telling, pc.invert(pc.or_(in_vain, expected))), pc.is_valid(events.column("time"))))
    rows = rows.sort_by([("group_id", "ascending"), ("time", "ascending")]).combine_chunks()
    if not len(rows):
        return LIVES.empty_table()
    numbers, first = codes_of(flat(rows, "group_id"))
    kinds = _kinds(rows)
    found: dict[str, Any] = {name: rows.column(name) for name in rows.column_names} | _sums(rows, kinds, numbers, len(first))
    kept: Any = pa.array(_kept(rows, kinds, numbers, start, end))
    return pa.table([found[name] for name in LIVES.names], schema=LIVES).filter(kept)


def _kinds(rows: pa.Table) -> Ints:
    trouble: Any = pc.is_in(flat(rows, "event"), value_set=_TROUBLE)
    left: Any = pc.equal(flat(rows, "event"), pa.scalar(_LEFT))
    found: Ints = 2 * trouble.to_numpy(zero_copy_only=False).astype(np.int64) + left.to_numpy(zero_copy_only=False)
    return found


def _sums(rows: pa.Table, kinds: Ints, numbers: Ints, count: int) -> dict[str, Any]:
    before, after, duration = (
        flat(rows, name).fill_null(0).to_numpy().astype(np.int64) for name in ("members_before", "members_after", "duration_us")
    )
    rebalance, trouble = kinds == 0, kinds == 2
    again = rebalance & (before > 0)
    expired: Any = pc.equal(flat(rows, "event"), pa.scalar("expired"))

    def counted(which: Any, values: Ints | None = None) -> Any:
        sums = np.zeros(count, np.int64)
        np.add.at(sums, numbers[which], 1 if values is None else values[which])
        return pa.array(sums[numbers])

    most = np.zeros(count, np.int64)
    np.maximum.at(most, numbers[rebalance], np.maximum(before, after)[rebalance])
    return {
        "rebalances": counted(rebalance), "again": counted(again), "spent_us": counted(again, duration),
        "expired": counted(expired.to_numpy(zero_copy_only=False)), "troubled": counted(trouble), "most": pa.array(most[numbers], INT),
    }  # fmt: skip


def _microseconds(moment: datetime) -> int:
    found: int = pa.scalar(moment, TIME).cast(LONG).as_py()
    return found


def _kept(rows: pa.Table, kinds: Ints, numbers: Ints, start: datetime | None, end: datetime | None) -> Any:
    times = flat(rows, "time").cast(LONG).to_numpy()
    begin = int(times.min()) if start is None else _microseconds(start)
    stop = int(times.max()) if end is None else _microseconds(end)
    step = np.clip((times - begin) * STEPS // max(stop - begin, 1), 0, STEPS - 1)
    drawn = (numbers * STEPS + step) * 3 + kinds
    last = np.zeros(len(rows), np.bool_)
    _, first = np.unique(numbers, return_index=True)
    _, from_the_end = np.unique(drawn[::-1], return_index=True)
    last[len(rows) - 1 - from_the_end] = True
    last[first] = True
    rebalance = kinds == 0
    passed = np.cumsum(rebalance)  # in all groups
    total = np.zeros(int(numbers[-1]) + 1, np.int64)
    np.maximum.at(total, numbers, passed)
    newest = rebalance & (total[numbers] - passed < LAST)
    few = np.bincount(numbers)[numbers] <= _WHOLE
    return last | newest | few
