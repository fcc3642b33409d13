"""Columns of the pure backend, filled from decoded objects.

Columns of a plan (a tree, see `kwire.codec.column_layout.tree_of`) with n operations: the value of operation i is column i, the elements
of an array of scalars are column n + i, the unknown tags of block b are 2n + 3b (a list), 2n + 3b + 1 (tag) and 2n + 3b + 2 (value).
"""

from __future__ import annotations

import struct
from array import array
from typing import Any, Final

from kwire.codec._pure.objects import Decoder, make_classes
from kwire.codec._pure.primitives import as_buffer
from kwire.codec.binary_chunks import BinaryChunk, messages_of
from kwire.codec.column_layout import UNKNOWN_TAGS, ColumnLayout, operations_of
from kwire.codec.plan import WIDTH, Flag, Op
from kwire.codec.uuids import Uuid
from kwire.errors import KwireError, WireError

__all__ = ["ColumnReader"]

MOST: Final = 0x7FFFFFFF - 64  # rows or bytes in one column: Arrow's offsets are int32

_FORMATS: Final[dict[int, str]] = {
    Op.INT8: "b", Op.INT16: "h", Op.UINT16: "i", Op.INT32: "i", Op.UINT32: "q", Op.INT64: "q", Op.FLOAT64: "d",
}  # fmt: skip


def _bitmap(bits: list[bool]) -> bytes:
    packed = bytearray((len(bits) + 7) // 8)
    for index, bit in enumerate(bits):
        packed[index >> 3] |= bit << (index & 7)
    return bytes(packed)


class _Values:
    """A growing column; `code` is the `Op` of its values (STRUCT and ARRAY have none)."""

    def __init__(self, code: int) -> None:
        self.code = code
        self.valid: list[bool] = []
        self.offsets = array("i", [0])
        self.values: list[Any] = []

    def add(self, value: Any) -> None:
        self.valid.append(value is not None)
        if self.code in (Op.STRING, Op.BYTES):
            content = b"" if value is None else value.encode() if self.code == Op.STRING else value
            self.end_at(self.offsets[-1] + len(content))
            self.values.append(content)
        elif self.code == Op.UUID:
            self.values.append(bytes(22) if value is None else str(Uuid(value)).encode())
        elif self.code not in (Op.STRUCT, Op.ARRAY):
            self.values.append(0 if value is None else value)

    def end_at(self, offset: int) -> None:
        """Record where the content of the last row ends."""
        if offset > MOST:
            raise KwireError("a column of the batch would hold more than 2 GiB: give fewer messages at a time")
        self.offsets.append(offset)

    def buffers(self) -> tuple[Any, Any, Any]:
        validity = None if all(self.valid) else _bitmap(self.valid)
        if self.code in (Op.STRING, Op.BYTES):
            return validity, self.offsets, b"".join(self.values)
        if self.code == Op.ARRAY:
            return validity, self.offsets, None
        if self.code == Op.STRUCT:
            return validity, None, None
        if self.code == Op.UUID:
            return validity, None, b"".join(self.values)
        if self.code == Op.BOOL:
            return validity, None, _bitmap(self.values)
        return validity, None, struct.pack(f"={len(self.values)}{_FORMATS[self.code]}", *self.values)


class _Columns:
    def __init__(self, layout: ColumnLayout) -> None:
        self.plan = layout.plan
        self.unknown_tags = layout.unknown_tags
        self.operations = len(self.plan.ops) // WIDTH
        self.columns: list[_Values | None] = [None] * (2 * self.operations + 3 * len(self.plan.blocks))
        # of each block that is built: its fields as (column, attribute, operation)
        self.fields: dict[int, list[tuple[int, str, Any]]] = {}
        self._open(0)

    def _open(self, block: int) -> None:
        self.fields[block] = []
        for number in operations_of(self.plan, block):
            operation = self.plan.operation(number)
            if operation.flags & Flag.SKIP:
                continue
            self.fields[block].append((number, self.plan.attribute(block, number), operation))
            self.columns[number] = _Values(operation.code)
            if operation.block >= 0:
                self._open(operation.block)
            elif operation.code == Op.ARRAY:
                self.columns[self.operations + number] = _Values(operation.element)
        if self.unknown_tags:
            first = 2 * self.operations + 3 * block
            self.columns[first : first + 3] = [_Values(Op.ARRAY), _Values(Op.INT64), _Values(Op.BYTES)]

    def __getitem__(self, index: int) -> _Values:
        column = self.columns[index]
        assert column is not None
        return column

    def add(self, block: int, target: Any) -> None:
        """Add a row: the attributes of an object, or nulls for None."""
        for number, name, operation in self.fields[block]:
            value = None if target is None else getattr(target, name)
            self[number].add(value)
            if operation.code == Op.STRUCT:
                self.add(operation.block, value)
            elif operation.code == Op.ARRAY:
                self[number].end_at(self[number].offsets[-1] + len(value or ()))
                for element in value or ():
                    if operation.element == Op.STRUCT:
                        self.add(operation.block, element)
                    else:
                        self[self.operations + number].add(element)
        if self.unknown_tags:
            tags = None if target is None else getattr(target, UNKNOWN_TAGS)
            first = 2 * self.operations + 3 * block
            self[first].add(tags)
            self[first].end_at(self[first].offsets[-1] + len(tags or ()))
            for tag, content in tags or ():
                self[first + 1].add(tag)
                self[first + 2].add(content)


class ColumnReader:
    """Reader of messages into columns."""

    def __init__(self, layout: ColumnLayout) -> None:
        self.layout = layout
        self._decoder = Decoder(layout.plan, make_classes(layout.plan.layouts))

    def __reduce__(self) -> tuple[Any, ...]:
        return ColumnReader, (self.layout,)

    def read(self, buffers: list[Any], stop: bool) -> tuple[list[Any], list[tuple[int, int, int, str]]]:
        """Read messages; None in `buffers` is a row of nulls.

        Returns:
            The buffers of each column (validity, offsets, values; None if absent) and faults (row, code, offset, path). A faulty message
            is a row of nulls. With `stop`, reading ends at the first fault and the columns are meaningless.

        Raises:
            KwireError: a column exceeds Arrow's int32 offsets.
            BufferError: a buffer is not contiguous.
        """
        columns = _Columns(self.layout)
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
            columns.add(0, message)
        return [None if each is None else each.buffers() for each in columns.columns], faults

    def read_chunks(self, chunks: list[BinaryChunk], stop: bool) -> tuple[list[Any], list[tuple[int, int, int, str]]]:
        return self.read([message for chunk in chunks for message in messages_of(chunk)], stop)
