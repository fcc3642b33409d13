"""Rows in, record batches out: one Python list a column, made into Arrow arrays when there are enough rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

__all__ = ["BATCH_ROWS", "ColumnBuilder"]

# Spark and Parquet like 10,000 to 65,536 rows a batch; a row of `requests` is about 300 bytes, so a batch stays below 10 MB.
BATCH_ROWS: Final = 32_768


class ColumnBuilder:
    """Collects rows of one schema.

    Attributes:
        schema: what the batches will have.
        batches: those that are full.
    """

    def __init__(self, schema: pa.Schema, batch_rows: int = BATCH_ROWS) -> None:
        self.schema = schema
        self.batches: list[pa.RecordBatch] = []
        self._rows: list[Sequence[Any]] = []
        self._batch_rows = batch_rows

    def add(self, row: Sequence[Any]) -> None:
        """Append a row, values in the schema's order, times as integers in microseconds."""
        self._rows.append(row)
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
            columns = zip(*self._rows, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, self.schema, strict=True)]
            self.batches.append(pa.RecordBatch.from_arrays(arrays, schema=self.schema))
            self._rows = []
