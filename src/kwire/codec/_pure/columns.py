"""Columns of the pure backend, made by pyarrow from decoded objects."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from kwire.codec._pure.objects import Decoder, make_classes
from kwire.codec._pure.primitives import as_buffer
from kwire.codec.arrow_types import ArrowArray
from kwire.codec.binary_chunks import BinaryChunk, messages_of
from kwire.codec.column_arrays import batch_of
from kwire.codec.column_layout import ERROR_FIELDS, UNKNOWN_TAGS, Column, ColumnLayout, built_operations
from kwire.codec.plan import Op
from kwire.codec.uuids import Uuid
from kwire.errors import KwireError, WireError

__all__ = ["ColumnReader"]


class _Filled:
    """Columns of messages, None for a row of nulls; see `kwire.codec.column_explosion.Filled`."""

    def __init__(self, layout: ColumnLayout, messages: list[Any]) -> None:
        self._layout = layout
        self._plan = plan = layout.plan
        self._rows = [messages]  # of each level
        self._offsets: dict[int, Any] = {}
        self._fields = [  # of each block, as pyarrow gets them
            [(plan.attribute(block, number), plan.operation(number)) for number in built_operations(plan, block)]
            for block in range(len(plan.blocks))
        ]
        for number, (above, level) in enumerate(pairwise(layout.levels)):
            arrays = [each or () for each in self._held(number, above.block, level.steps)]
            self._offsets[level.steps[-1]] = np.cumsum([0, *map(len, arrays)], dtype=np.int32)
            self._rows.append([element for elements in arrays for element in elements])

    def _held(self, level: int, block: int, steps: tuple[int, ...]) -> list[Any]:
        """Yield the values of the fields at the end of the steps, row by row."""
        held = self._rows[level]
        for number in steps:
            name, block = self._plan.attribute(block, number), self._plan.operation(number).block
            held = [None if each is None else getattr(each, name) for each in held]
        return held

    def _plain(self, value: Any, code: int, block: int, element: int = 0) -> Any:
        """Convert a value for pyarrow; a struct becomes a tuple."""
        if value is None:
            return None
        if code == Op.ARRAY:
            return [self._plain(each, element, block) for each in value] if element in (Op.STRUCT, Op.UUID) else value
        if code != Op.STRUCT:
            return str(Uuid(value)) if code == Op.UUID else value
        made = [self._plain(getattr(value, name), each.code, each.block, each.element) for name, each in self._fields[block]]
        return (*made, getattr(value, UNKNOWN_TAGS)) if self._layout.unknown_tags else tuple(made)

    def _column(self, column: Column) -> ArrowArray:
        rows, block = self._rows[column.level], self._layout.levels[column.level].block
        if column.unknown_tags:
            values = [None if row is None else getattr(row, UNKNOWN_TAGS) for row in rows]
        elif not column.steps:
            return pa.nulls(len(rows), column.type)
        else:
            last = self._plan.operation(column.steps[-1])
            held = self._held(column.level, block, column.steps)
            values = [self._plain(each, last.code, last.block, last.element) for each in held]
        try:
            made = pa.array(values, column.type)
        except pa.ArrowCapacityError:
            made = None
        if not isinstance(made, pa.Array):  # pyarrow makes chunks of what is too large for one
            raise KwireError("a column of the batch would exceed 2 GiB: pass fewer messages at a time")
        return made

    def batch(self, level: int, rows: int, errors: bool, schema: pa.Schema, importer: Any) -> pa.RecordBatch:
        made = [self._column(column) for column in self._layout.columns if column.level == level]
        if level == 0 and self._layout.indexed:
            made.insert(0, pa.array(np.arange(rows, dtype=np.int32)))
        if errors:
            made += [pa.nulls(rows, field.type) for field in ERROR_FIELDS]
        return batch_of(made, schema, rows)

    def offsets(self, column: int, rows: int) -> Any:
        return self._offsets[column]


class ColumnReader:
    """Reader of messages into columns."""

    def __init__(self, layout: ColumnLayout) -> None:
        self._layout = layout
        self._decoder = Decoder(layout.plan, make_classes(layout.plan.layouts))

    def read(self, buffers: list[Any], stop: bool) -> tuple[_Filled, list[tuple[int, int, int, str]]]:
        """Read messages, None for a row of nulls; return the columns and the faults as (row, code, offset, path).

        A faulty message is a row of nulls. With `stop`, reading ends at the first fault and the columns are meaningless.
        """
        messages: list[Any] = []
        faults: list[tuple[int, int, int, str]] = []
        for row, data in enumerate([None if each is None else as_buffer(each) for each in buffers]):
            message = None
            if data is not None:
                try:
                    message = self._decoder.decode_whole(data)
                except WireError as error:
                    faults.append((row, int(error.code), error.offset, error.path))
                    if stop:
                        break
            messages.append(message)
        return _Filled(self._layout, messages), faults

    def read_chunks(self, chunks: list[BinaryChunk], stop: bool) -> tuple[_Filled, list[tuple[int, int, int, str]]]:
        return self.read([message for chunk in chunks for message in messages_of(chunk)], stop)
