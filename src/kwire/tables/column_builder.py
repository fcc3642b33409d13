"""Rows in, record batches out: one Python list a column, made into Arrow arrays when there are enough rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

__all__ = ["BATCH_ROWS", "ColumnBuilder"]

# Spark and Parquet like 10,000 to 65,536 rows a batch; a row of `requests` is about 300 bytes, so a batch stays below 10 MB.
BATCH_ROWS: Final = 32_768

# By identity of the schema: to hash one takes as long as to look for the places.
_PLACES: Final[dict[tuple[int, tuple[str, ...] | None], tuple[pa.Schema, list[int | None]]]] = {}


def _places_of(schema: pa.Schema, given: tuple[str, ...] | None) -> list[int | None]:
    """Give of each column of the schema its place in a row, None where rows do not have it."""
    found = _PLACES.get((id(schema), given))
    if found is None:
        names = schema.names
        places = [*range(len(names))] if given is None else [given.index(name) if name in given else None for name in names]
        found = _PLACES[id(schema), given] = schema, places
    return found[1]


class ColumnBuilder:
    """Collects rows of one schema.

    Arguments:
        schema: what the batches will have.
        batch_rows: how many rows make a batch.
        given: the columns that rows have, in their order; all others are null. None for all of the schema in its order.

    Attributes:
        schema: what the batches will have.
        batches: those that are full.
    """

    def __init__(self, schema: pa.Schema, batch_rows: int = BATCH_ROWS, given: Sequence[str] | None = None) -> None:
        self.schema = schema
        self._places = _places_of(schema, None if given is None else tuple(given))
        self._width = len(self._places) if given is None else len(given)
        self.batches: list[pa.RecordBatch] = []
        self._rows: list[Sequence[Any]] = []
        self._batch_rows = batch_rows

    def add(self, row: Sequence[Any]) -> None:
        """Append a row, values in the order of the given columns, times as integers in microseconds."""
        self._rows.append(row)
        if len(self._rows) >= self._batch_rows:
            self._flush()

    def extend(self, rows: list[Sequence[Any]]) -> None:
        """Append rows as `add` does; a batch may be larger by as many as there are."""
        self._rows += rows
        if len(self._rows) >= self._batch_rows:
            self._flush()

    def take(self, *, whole: bool) -> list[pa.RecordBatch]:
        """Give away the full batches, and with `whole` the rows of the one that is begun too."""
        if whole:
            self._flush()
        batches, self.batches = self.batches, []
        return batches

    def _flush(self) -> None:
        if self._rows:
            columns = [*zip(*self._rows, strict=True)]
            if len(columns) != self._width:
                raise ValueError(f"rows have {len(columns)} values where {self._width} columns are given")
            arrays = [
                pa.nulls(len(self._rows), field.type) if place is None else pa.array(columns[place], field.type)
                for place, field in zip(self._places, self.schema, strict=True)
            ]
            self.batches.append(pa.RecordBatch.from_arrays(arrays, schema=self.schema))
            self._rows = []
