"""Results of filled columns: one row per message or per element of an exploded array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from kwire.codec.arrow_types import ArrowArray
from kwire.codec.column_explosion import Explosion, Filled, RepeatLimit
from kwire.codec.column_layout import MESSAGE_INDEX, ColumnLayout
from kwire.codec.column_nodes import IMPORT_BATCH

__all__ = ["BatchMaker", "TooMuchRepeated", "batch_of"]


def batch_of(arrays: Sequence[ArrowArray], schema: pa.Schema, rows: int) -> pa.RecordBatch:
    """Return arrays as a batch of `rows` rows, even without columns (messages without fields)."""
    if not arrays:
        empty: Any = pa.Array.from_buffers(pa.struct([]), rows, [None], children=[])
        return pa.RecordBatch.from_struct_array(empty)
    return pa.RecordBatch.from_arrays(list(arrays), schema=schema)


class TooMuchRepeated(Exception):
    """Copies of values above an exploded array exceed the limit; `messages` has the rejected ones, in order."""

    def __init__(self, messages: list[int]) -> None:
        super().__init__()
        self.messages = messages


class BatchMaker:
    """Maker of the results of one layout."""

    def __init__(self, layout: ColumnLayout) -> None:
        self.layout = layout
        self.schema = layout.schema()
        self.schema_with_errors = layout.schema(errors=True)
        index = [pa.field(MESSAGE_INDEX, pa.int32())] if layout.indexed else []
        self._levels = [
            pa.schema([*index, *fields] if number == 0 else fields)
            for number in range(len(layout.levels))
            for fields in [[pa.field(each.name, each.type) for each in layout.columns if each.level == number]]
        ]

    def batch(
        self, filled: Filled, rows: int, errors: Sequence[ArrowArray] | None, faultless: bool, limit: RepeatLimit | None
    ) -> pa.RecordBatch:
        """Return the result of one batch of `rows` messages; raise `TooMuchRepeated` beyond the limit for copies of values. `faultless`
        marks that all `errors` are null."""
        schema = self.schema if errors is None else self.schema_with_errors
        if len(self._levels) == 1 and faultless:
            return filled.batch(0, rows, errors is not None, schema, IMPORT_BATCH)
        explosion = Explosion(filled, self.layout, rows)
        levels = [filled.batch(number, explosion.rows[number], False, each, IMPORT_BATCH) for number, each in enumerate(self._levels)]
        if limit is not None and (refused := explosion.refused(levels, limit)):
            raise TooMuchRepeated(refused)
        columns = [iter(level.columns) for level in levels]
        made: list[ArrowArray] = []
        if self.layout.indexed:
            made.append(explosion.spread(next(columns[0]), 0))
        made += [explosion.spread(next(columns[column.level]), column.level) for column in self.layout.columns]
        made += [explosion.spread(array, 0) for array in errors or ()]
        return batch_of(made, schema, explosion.count)
