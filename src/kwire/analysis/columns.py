"""Short forms for what the analysis does with columns of Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

__all__ = ["Columns", "Ints", "aggregated", "flat", "taken", "with_columns"]

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
