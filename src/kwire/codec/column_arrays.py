"""Arrow arrays of filled columns, then one row per message or per element of an exploded array.

Arrays share the memory that the executor filled; only columns above an exploded array are repeated.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from kwire.codec.arrow_types import UNKNOWN_TAGS_TYPE, ArrowArray, ArrowType
from kwire.codec.column_explosion import Explosion, Filled, RepeatLimit
from kwire.codec.column_layout import ERROR_FIELDS, MESSAGE_INDEX, Column, ColumnLayout, built_operations
from kwire.codec.column_nodes import IMPORT_BATCH
from kwire.codec.plan import WIDTH, Op

__all__ = ["BatchMaker", "Buffers", "TooMuchRepeated", "batch_of"]

Buffers: TypeAlias = tuple[Any, Any, Any] | None  # validity, offsets, values

UUID_TEXT: Final = 22


def _wrapped(buffer: Any) -> pa.Buffer | None:
    return None if buffer is None else pa.py_buffer(buffer)


class FilledBuffers:
    """Columns of one batch of the pure backend."""

    def __init__(self, layout: ColumnLayout, columns: list[Buffers]) -> None:
        self.layout = layout
        self.plan = layout.plan
        self.columns = columns
        self.operations = len(self.plan.ops) // WIDTH

    def batch(self, level: int, rows: int, errors: bool, schema: pa.Schema, importer: Any) -> pa.RecordBatch:
        made = [self.column(column, rows) for column in self.layout.columns if column.level == level]
        if level == 0 and self.layout.indexed:
            made.insert(0, pa.array(np.arange(rows, dtype=np.int32)))
        if errors:
            made += [pa.nulls(rows, field.type) for field in ERROR_FIELDS]
        return batch_of(made, schema, rows)

    def offsets(self, column: int, rows: int) -> Any:
        return self.buffers(column)[1]

    def buffers(self, index: int) -> tuple[Any, Any, Any]:
        found = self.columns[index]
        assert found is not None
        return found

    def _scalars(self, index: int, code: int, kind: ArrowType, rows: int) -> ArrowArray:
        validity, offsets, values = self.buffers(index)
        if code in (Op.STRING, Op.BYTES):
            buffers = [_wrapped(validity), _wrapped(offsets), _wrapped(values)]
        elif code == Op.UUID:
            fixed: Any = np.arange(0, UUID_TEXT * (rows + 1), UUID_TEXT, dtype=np.int32)
            buffers = [_wrapped(validity), pa.py_buffer(fixed), _wrapped(values)]
        else:
            buffers = [_wrapped(validity), _wrapped(values)]
        return pa.Array.from_buffers(kind, rows, buffers)

    def length(self, index: int, rows: int) -> int:
        """Return the number of rows below those of a list."""
        return int.from_bytes(memoryview(self.buffers(index)[1]).cast("B")[4 * rows : 4 * rows + 4], sys.byteorder)

    def value(self, index: int, kind: ArrowType, rows: int) -> ArrowArray:
        operation = self.plan.operation(index)
        if operation.code == Op.STRUCT:
            return self.struct(operation.block, kind, rows, self.buffers(index)[0])
        if operation.code != Op.ARRAY:
            return self._scalars(index, operation.code, kind, rows)
        validity, offsets, _ = self.buffers(index)
        below = self.length(index, rows)
        if operation.element == Op.STRUCT:
            elements = self.struct(operation.block, kind.value_type, below)
        else:
            elements = self._scalars(self.operations + index, operation.element, kind.value_type, below)
        return pa.Array.from_buffers(kind, rows, [_wrapped(validity), _wrapped(offsets)], children=[elements])

    def struct(self, block: int, kind: ArrowType, rows: int, validity: Any = None) -> ArrowArray:
        fields = built_operations(self.plan, block)
        children = [self.value(number, kind.field(place).type, rows) for place, number in enumerate(fields)]
        if self.layout.unknown_tags:
            children.append(self.unknown_tags(block, rows))
        return pa.Array.from_buffers(kind, rows, [_wrapped(validity)], children=children)

    def unknown_tags(self, block: int, rows: int) -> ArrowArray:
        first = 2 * self.operations + 3 * block
        validity, offsets, _ = self.buffers(first)
        below = self.length(first, rows)
        element = UNKNOWN_TAGS_TYPE.value_type
        children = [self._scalars(first + 1, Op.INT64, element.field(0).type, below)]
        children.append(self._scalars(first + 2, Op.BYTES, element.field(1).type, below))
        pairs = pa.Array.from_buffers(element, below, [None], children=children)
        return pa.Array.from_buffers(UNKNOWN_TAGS_TYPE, rows, [_wrapped(validity), _wrapped(offsets)], children=[pairs])

    def column(self, column: Column, rows: int) -> ArrowArray:
        """Return a result column on its level's rows; all null if the version lacks it."""
        if column.unknown_tags:
            return self.unknown_tags(self.layout.levels[column.level].block, rows)
        return self.value(column.steps[-1], column.type, rows) if column.steps else pa.nulls(rows, column.type)


def batch_of(arrays: Sequence[ArrowArray], schema: pa.Schema, rows: int) -> pa.RecordBatch:
    """Return arrays as a batch of `rows` rows, even without columns (messages without fields)."""
    if not arrays:
        empty: Any = pa.Array.from_buffers(pa.struct([]), rows, [None], children=[])
        return pa.RecordBatch.from_struct_array(empty)
    return pa.RecordBatch.from_arrays(list(arrays), schema=schema)


class TooMuchRepeated(Exception):
    """Copies of values above an exploded array exceed the limit; `messages` are the rejected ones, in order."""

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
        self, filled: Filled | list[Buffers], rows: int, errors: Sequence[ArrowArray] | None, faultless: bool, limit: RepeatLimit | None
    ) -> pa.RecordBatch:
        """Return the result of one batch.

        Arguments:
            rows: number of messages.
            errors: error columns, one row per message; None for none.
            faultless: all error columns are null.
            limit: for the copies of values above an exploded array.

        Raises:
            TooMuchRepeated: the limit is exceeded.
        """
        if isinstance(filled, list):
            filled = FilledBuffers(self.layout, filled)
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
