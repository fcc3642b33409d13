"""Hourly sums by day (UTC), so that a later run leaves finished days as they are."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import with_columns
from kwire.analysis.partials import PARTS, Partial, reduce_rows
from kwire.tables.schemas import LONG

__all__ = ["changed_days", "day_numbers", "days_of", "of_day", "without_days"]

_HOURLY: Final = ("hourly", "hourly_latency")
_IDENTITIES: Final = "identities"


def day_numbers(hours: Any) -> Any:
    """Return the day of each hour, `NaT` for a null, as an array of numpy."""
    bare: Any = hours.combine_chunks().cast(pa.timestamp("us"))
    return bare.to_numpy(zero_copy_only=False).astype("datetime64[D]")


def days_of(sums: Partial) -> set[str]:
    days = np.unique(day_numbers(sums["hourly"].column("hour")))
    return set(np.datetime_as_string(days[~np.isnat(days)]).tolist())


def changed_days(before: Collection[Partial], after: Collection[Partial]) -> set[str]:
    """Return the days whose hourly sums differ; connections that were open then may since be closed."""
    old, new = ({name: reduce_rows(name, pa.concat_tables(each[name] for each in some)) for name in _HOURLY} for some in (before, after))
    return {day for day in days_of(old) | days_of(new) if any(not _rows(old[name], day).equals(_rows(new[name], day)) for name in _HOURLY)}


def of_day(sums: Partial, day: str) -> Partial:
    """Return the hourly sums of a day, and their keys as connections that count nothing, which divide them by key."""
    found = {name: _rows(sums[name], day) for name in _HOURLY}
    keys: Any = pc.unique(found["hourly"].column("client_key"))
    identities = sums[_IDENTITIES].filter(pc.is_in(sums[_IDENTITIES].column("client_key"), value_set=keys))
    none = pa.array(np.zeros(len(identities), np.int64), LONG)
    return found | {_IDENTITIES: with_columns(identities, dict.fromkeys(PARTS[_IDENTITIES].sums, none))}


def without_days(sums: Partial, days: Collection[str]) -> Partial:
    """Leave out the hourly sums of some days."""
    if not days:
        return sums
    chosen = np.array(list(days), "datetime64[D]")
    return sums | {name: sums[name].filter(pa.array(~np.isin(day_numbers(sums[name].column("hour")), chosen))) for name in _HOURLY}


def _rows(table: pa.Table, day: str) -> pa.Table:
    return table.filter(pa.array(day_numbers(table.column("hour")) == np.datetime64(day)))
