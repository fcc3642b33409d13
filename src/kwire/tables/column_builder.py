"""Conversion of rows to record batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa

__all__ = ["BATCH_ROWS", "ColumnBuilder"]

# Spark and Parquet like 10,000 to 65,536 rows a batch; a row of `requests` is about 300 bytes, so a batch stays below 10 MB.
BATCH_ROWS: Final = 32_768

# So few rows are made into arrays together.
_FEW: Final = 8


class _Columns(NamedTuple):
    """Columns with the index of each in a row; None if rows lack it."""

    schema: pa.Schema
    places: list[int | None]
    names: tuple[str, ...]
    struct: pa.DataType


# By identity of the schema: to hash one takes as long as to look for the places.
_COLUMNS: Final[dict[tuple[int, tuple[str, ...] | None], _Columns]] = {}


def _columns_of(schema: pa.Schema, given: tuple[str, ...] | None) -> _Columns:
    found = _COLUMNS.get((id(schema), given))
    if found is None:
        names = schema.names
        places = [*range(len(names))] if given is None else [given.index(name) if name in given else None for name in names]
        found = _COLUMNS[id(schema), given] = _Columns(schema, places, given or tuple(names), pa.struct(list(schema)))
    return found


class ColumnBuilder:
    """Collector of rows of one schema; columns that are not `given` are null."""

    def __init__(self, schema: pa.Schema, batch_rows: int = BATCH_ROWS, given: Sequence[str] | None = None) -> None:
        self.schema = schema
        self._columns = _columns_of(schema, None if given is None else tuple(given))
        self.batches: list[pa.RecordBatch] = []
        self._rows: list[Sequence[Any]] = []
        self._batch_rows = batch_rows

    def add(self, row: Sequence[Any]) -> None:
        """Append a row; values are in the order of the given columns, times are integers in microseconds."""
        self._rows.append(row)
        if len(self._rows) >= self._batch_rows:
            self._flush()

    def extend(self, rows: list[Sequence[Any]]) -> None:
        """Append rows, as `add` does; a batch may become larger."""
        self._rows += rows
        if len(self._rows) >= self._batch_rows:
            self._flush()

    def take(self, *, whole: bool) -> list[pa.RecordBatch]:
        """Remove and return the full batches; with `whole`, also the remaining rows."""
        if whole:
            self._flush()
        batches, self.batches = self.batches, []
        return batches

    def _flush(self) -> None:
        if self._rows:
            width = len(self._columns.names)
            if wrong := next((row for row in self._rows if len(row) != width), None):
                raise ValueError(f"rows have {len(wrong)} values where {width} columns are given")
            self.batches.append(self._few() if len(self._rows) <= _FEW else self._many())
            self._rows = []

    def _many(self) -> pa.RecordBatch:
        columns = [*zip(*self._rows, strict=True)]
        arrays = [
            pa.nulls(len(self._rows), field.type) if place is None else pa.array(columns[place], field.type)
            for place, field in zip(self._columns.places, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _few(self) -> pa.RecordBatch:
        """Create all columns in one call, because creating an array takes longer than filling it with a few values."""
        rows = [dict(zip(self._columns.names, row, strict=True)) for row in self._rows]
        made: Any = pa.array(rows, self._columns.struct)
        return pa.RecordBatch.from_struct_array(made)
