"""Buffers of columns to Arrow arrays: nested ones as the plan nests them, then one row per message or per element of an exploded array.

Nothing here looks at a value; arrays share the memory that the executor filled, and only columns of the levels above an exploded array are
repeated.
"""

from __future__ import annotations

import sys
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from kwire.codec.arrow_types import UNKNOWN_TAGS_TYPE, ArrowArray, ArrowType
from kwire.codec.column_layout import Column, ColumnLayout, operations_of
from kwire.codec.plan import WIDTH, Flag, Op

__all__ = ["Buffers", "record_batch"]

Buffers: TypeAlias = tuple[Any, Any, Any] | None  # validity, offsets, values

UUID_TEXT: Final = 22


def _wrapped(buffer: Any) -> pa.Buffer | None:
    return None if buffer is None else pa.py_buffer(buffer)


class _Arrays:
    """Makes arrays of the columns of one batch."""

    def __init__(self, layout: ColumnLayout, columns: list[Buffers]) -> None:
        self.layout = layout
        self.plan = layout.plan
        self.columns = columns
        self.operations = len(self.plan.ops) // WIDTH

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
        """Rows below those of a list."""
        return int.from_bytes(memoryview(self.buffers(index)[1]).cast("B")[4 * rows : 4 * rows + 4], sys.byteorder)

    def value(self, index: int, kind: ArrowType, rows: int) -> ArrowArray:
        """The array of one operation."""
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
        fields = [number for number in operations_of(self.plan, block) if not self.plan.operation(number).flags & Flag.SKIP]
        fields.sort(key=lambda number: self.plan.operation(number).slot)
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

    def column(self, column: Column, rows: int) -> ArrowArray | None:
        """The array of a column of the result, on its level's rows; None where the version lacks it."""
        if column.unknown_tags:
            return self.unknown_tags(self.layout.levels[column.level].block, rows)
        if not column.steps:
            return None
        hidden = [validity for step in column.steps[:-1] if (validity := self.buffers(step)[0]) is not None]
        array = self.value(column.steps[-1], column.type, rows)
        for validity in hidden:  # a field of a struct that is null is null
            array = _hide(array, validity, rows)
        return array


def _bits(validity: Any, rows: int) -> np.ndarray[Any, Any]:
    return np.unpackbits(np.frombuffer(validity, np.uint8), count=rows, bitorder="little").astype(bool)


def _hide(array: ArrowArray, validity: Any, rows: int) -> ArrowArray:
    """The array with nulls where a bitmap has them."""
    rows_or_null: Any = pa.array(np.arange(rows), mask=~_bits(validity, rows))
    return array.take(rows_or_null)


class _Explosion:
    """Which row of each level stands in each row of the result."""

    def __init__(self, arrays: _Arrays, layout: ColumnLayout, rows: int) -> None:
        self.rows = [rows]  # of each level
        self.picked: list[np.ndarray[Any, Any] | None] = [None]  # rows of a level in the result, -1 for none; None: each row once, in order
        self.count = rows
        for number, level in enumerate(layout.levels[1:]):
            self._enter(arrays, number, level.steps)

    def _enter(self, arrays: _Arrays, above: int, steps: tuple[int, ...]) -> None:
        _, offsets, _ = arrays.buffers(steps[-1])
        rows = self.rows[above]
        starts = np.frombuffer(offsets, np.int32, rows + 1).astype(np.int64)
        lengths = np.diff(starts)
        self.rows.append(int(starts[-1]))
        picked = self.picked[above]
        if picked is not None:
            # -1, a row that is not there, has no elements either
            lengths = np.append(lengths, 0)[picked]
            starts = starts[picked]
        else:
            starts = starts[:-1]
        counts = np.maximum(lengths, 1)
        repeated = np.repeat(np.arange(self.count), counts)
        self.picked = [repeated if each is None else each[repeated] for each in self.picked]
        if picked is None and lengths.all():
            self.picked.append(None)
        else:
            firsts = np.repeat(np.cumsum(counts) - counts, counts)
            inside = np.arange(len(repeated)) - firsts + starts[repeated]
            self.picked.append(np.where(lengths[repeated] > 0, inside, -1))
        self.count = len(repeated)

    def spread(self, array: ArrowArray, level: int) -> ArrowArray:
        """An array of a level's rows on the rows of the result."""
        picked = self.picked[level]
        if picked is None:
            return array
        missing = picked < 0
        return array.take(pa.array(picked, mask=missing if missing.any() else None))


def record_batch(layout: ColumnLayout, columns: list[Buffers], rows: int, errors: list[ArrowArray] | None = None) -> pa.RecordBatch:
    """The result of one batch.

    Arguments:
        layout: of the columns.
        columns: buffers as an executor filled them.
        rows: messages.
        errors: the error columns, a row per message.
    """
    arrays = _Arrays(layout, columns)
    explosion = _Explosion(arrays, layout, rows)
    made: list[ArrowArray] = []
    if layout.indexed:
        made.append(explosion.spread(pa.array(np.arange(rows, dtype=np.int32)), 0))
    for column in layout.columns:
        array = arrays.column(column, explosion.rows[column.level])
        made.append(pa.nulls(explosion.count, column.type) if array is None else explosion.spread(array, column.level))
    made += [explosion.spread(array, 0) for array in errors or ()]
    schema = layout.schema(errors is not None)
    if not made:  # a message without fields is a row without columns
        empty: Any = pa.Array.from_buffers(pa.struct([]), rows, [None], children=[])
        return pa.RecordBatch.from_struct_array(empty)
    return pa.RecordBatch.from_arrays(made, schema=schema)
