"""Date of a row, in UTC, and its folder in Hive's layout: `date=2026-11-23`.

Spark, DuckDB and Arrow read the date from the folder's name; the files have no such column.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["BEGINS", "DATE", "NO_DATE", "rows_by_date", "rows_by_number"]

DATE: Final = "date"
"""Key in the names of folders."""

NO_DATE: Final = f"{DATE}=__HIVE_DEFAULT_PARTITION__"
"""Hive's folder name for rows without a date."""

BEGINS: Final[dict[str, tuple[str, ...]]] = {
    "requests": ("request_time", "response_time"), "connections": ("first_seen",), "telemetry": ("time",),
}  # fmt: skip
"""Tables of rows with a time, and the columns of a row's beginning, of which the first non-null one is used."""

_DAY_US: Final = 86_400_000_000
_EPOCH: Final = date(1970, 1, 1).toordinal()
_NOT_KNOWN: Final = np.iinfo(np.int64).min


def rows_by_date(table: str, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Divide rows by their first date (UTC); rows of a date keep their order.

    `NO_DATE` is the folder of rows without a time or before year 1 or after 9999.
    """
    for day, rows in rows_by_number(_days(table, batch), batch):
        yield _folder(day), rows


def rows_by_number(numbers: Any, batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Divide rows by their numbers, an array; rows of a number keep their order."""
    if not batch.num_rows:
        return
    if numbers[0] == numbers[-1] and (numbers == numbers[0]).all():
        yield int(numbers[0]), batch
        return
    order = np.argsort(numbers, kind="stable")
    borders = np.flatnonzero(np.diff(numbers[order])) + 1
    for rows in np.split(order, borders):
        yield int(numbers[rows[0]]), batch.take(pa.array(rows, pa.int64()))  # a copy: rows that wait do not hold those of other numbers


def _days(table: str, batch: pa.RecordBatch) -> Any:
    times: Any = pc.coalesce(*(batch.column(name) for name in BEGINS.get(table, ("time",)))).cast(pa.int64())
    days = np.floor_divide(pc.fill_null(times, 0).to_numpy(zero_copy_only=False), _DAY_US)
    known = pc.is_valid(times).to_numpy(zero_copy_only=False)
    known &= (days >= date.min.toordinal() - _EPOCH) & (days <= date.max.toordinal() - _EPOCH)
    return np.where(known, days, _NOT_KNOWN)


def _folder(day: int) -> str:
    return NO_DATE if day == _NOT_KNOWN else f"{DATE}={date.fromordinal(day + _EPOCH).isoformat()}"
