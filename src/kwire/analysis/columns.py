"""Shared operations on columns of Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from kwire.tables.schemas import LONG

__all__ = ["Columns", "Ints", "aggregated", "flat", "rows_of", "taken", "with_columns"]

Columns = dict[str, Any]
Ints = np.ndarray[Any, np.dtype[np.int64]]
_Rows = TypeVar("_Rows", pa.Table, pa.RecordBatch)


def flat(table: pa.Table, column: str) -> Any:
    return table.column(column).combine_chunks()


def taken(columns: Mapping[str, Any], at: Any) -> Columns:
    rows = pa.array(at) if isinstance(at, np.ndarray) else at
    return {name: column.take(rows) for name, column in columns.items()}


def with_columns(rows: _Rows, columns: Mapping[str, Any]) -> _Rows:
    for name, values in columns.items():
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, rows.schema.field(at), values)
    return rows


def aggregated(table: pa.Table, keys: Sequence[str], rules: Iterable[tuple[Any, ...]] = ()) -> pa.Table:
    """Group rows by `keys`; aggregated columns keep their names, and `([], "count_all")` gives a column `count_all`."""
    given: list[Any] = list(rules)
    found = table.group_by(list(keys), use_threads=False).aggregate(given)
    names = [f"{rule[0]}_{rule[1]}" if rule[0] else rule[1] for rule in given]
    return found.select([*keys, *names]).rename_columns([*keys, *(rule[0] or rule[1] for rule in given)])


def rows_of(table: pa.Table, *columns: str) -> list[dict[str, Any]]:
    """Return rows as dictionaries of plain values; times are integers, microseconds since 1970."""
    if columns:
        table = table.select(columns)
    # A datetime with its zone takes 6 us to make, all other values of a row together 2 us.
    fields = [field.with_type(LONG) if pa.types.is_timestamp(field.type) else field for field in table.schema]
    found: list[dict[str, Any]] = table.cast(pa.schema(fields)).to_pylist()
    return found
