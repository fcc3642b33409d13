"""Messages to Arrow columns, without a Python object per message or field: `kwire.to_arrow` and `kwire.arrow_schema`.

A message with text that is not UTF-8 is malformed, as Arrow's strings cannot hold it. Counts are checked against the bytes left before
allocation, and buffers at most double: a batch takes less than `MEMORY_MULTIPLE` bytes per byte of input and `ROW_BYTES` per message, plus
space for 64 rows in each array. Copies of values above an exploded array take at most `max_repeated` more bytes: by default
`MEMORY_MULTIPLE` bytes per byte of input, or `REPEATED_BYTES` if larger. Spark takes no dictionaries, so they are copies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

import pyarrow as pa

from kwire.codec.arrow_types import ArrowArray
from kwire.codec.binary_chunks import BinaryChunk, chunks_of, messages_of
from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.column_arrays import BatchMaker, TooMuchRepeated
from kwire.codec.column_explosion import RepeatLimit
from kwire.codec.column_layout import ERROR_FIELDS, column_layout
from kwire.codec.impl import load_twin
from kwire.codec.plan import Plan
from kwire.errors import Fault, WireError, wire_error

__all__ = ["MAX_LAYOUTS", "MEMORY_MULTIPLE", "REPEATED_BYTES", "ROW_BYTES", "Columns", "arrow_schema", "to_arrow"]

MAX_LAYOUTS: Final = 1024
MEMORY_MULTIPLE: Final = 48  # arrays in arrays that each claim all bytes left, twice for growth, and once more while it grows
ROW_BYTES: Final = 512  # the widest message without a byte of arrays, and its fault
REPEATED_BYTES: Final = 64 << 20  # of copies, however small the input

Errors = Literal["raise", "column"]


class Columns:
    """Converter of a catalog's messages to columns."""

    def __init__(self, source: CompiledCatalog) -> None:
        self._source = source
        self._make_reader = load_twin("codec", "columns", source.twin).ColumnReader
        self._readers: dict[tuple[Any, ...], tuple[Any, BatchMaker]] = {}

    def _reader(self, name: str, version: int, fields: Sequence[str] | None, unknown_tags: bool, explode: bool) -> tuple[Any, BatchMaker]:
        if isinstance(fields, str):
            raise TypeError(f"fields takes a sequence of paths, not the text {fields!r}")
        key = (name, version, None if fields is None else tuple(fields), unknown_tags, explode)
        found = self._readers.get(key)
        if found is None:
            self._source.plan(name, version)  # refuses unknown names and versions
            layout = column_layout(self._source.message(name), version, key[2], unknown_tags, explode)
            found = self._make_reader(layout), BatchMaker(layout)
            if len(self._readers) >= MAX_LAYOUTS:
                self._readers.pop(next(iter(self._readers)), None)
            self._readers[key] = found
        return found

    def arrow_schema(
        self,
        name: str,
        version: int,
        fields: Sequence[str] | None = None,
        *,
        errors: Errors = "raise",
        unknown_tags: bool = False,
        explode: bool = True,
    ) -> pa.Schema:
        """Return the schema of `to_arrow` for these arguments; as Spark DDL: `kwire.codec.arrow_types.spark_ddl`.

        Arguments:
            name, version, fields, errors, unknown_tags, explode: as for `to_arrow`.
        """
        shown = _shows_errors(errors)
        _, maker = self._reader(name, version, fields, unknown_tags, explode)
        return maker.schema_with_errors if shown else maker.schema

    def to_arrow(
        self,
        name: str,
        buffers: Iterable[Any] | BinaryChunk,
        version: int,
        fields: Sequence[str] | None = None,
        *,
        errors: Errors = "raise",
        unknown_tags: bool = False,
        explode: bool = True,
        max_repeated: int | None = None,
    ) -> pa.RecordBatch:
        """Decode messages of one kind and version to columns: ``to_arrow("MetadataResponse", bodies, 12, ("topics.name",))``.

        Arguments:
            name: name of the message.
            buffers: one message each: contiguous buffers, or an Arrow array of any binary type; None and null give a row of nulls.
            version: the version they are in.
            fields: paths such as ``topics.partitions.leader_id``; arrays that they lead into are exploded (`kwire.codec.column_layout`).
            errors: behavior for a malformed message: `raise`, or `column` for a row of nulls with the columns `error` (name of the
                `Fault`), `error_offset` (in its message) and `error_path`, which are null for valid messages.
            unknown_tags: add to each struct, including the message, a column `unknown_tagged_fields` with the tagged fields that the
                version does not define. If False, they are skipped.
            explode: if False, return one row per message even with `fields`; its structs have only the selected fields of the version.
            max_repeated: limit of the bytes of copied values above exploded arrays; by default 48 per byte of input, or 64 MiB if that is
                more.

        Raises:
            WireError: a message breaks a rule, bytes left over included; its `index` says which. `LimitExceeded` where its copies take more
                than `max_repeated`.
            KwireError: no such message, a path names no field of it, or a column would be larger than 2 GiB.
        """
        shown = _shows_errors(errors)
        reader, maker = self._reader(name, version, fields, unknown_tags, explode)
        messages: list[Any] | None = None
        chunks: list[BinaryChunk] = []
        if isinstance(buffers, (pa.Array, pa.ChunkedArray, BinaryChunk)):
            chunks = [buffers] if isinstance(buffers, BinaryChunk) else chunks_of(buffers)
            count = sum(chunk.length for chunk in chunks)
            filled, faults = reader.read_chunks(chunks, not shown)
        else:
            if isinstance(buffers, (bytes, bytearray, memoryview)):
                raise TypeError("buffers takes a list of messages; put the one message into a list")
            messages = list(buffers)
            count = len(messages)
            filled, faults = reader.read(messages, not shown)
        if faults and not shown:
            raise _error_of(faults[0], maker.layout.plan)

        def most() -> int:
            return max(REPEATED_BYTES, MEMORY_MULTIPLE * _size_of(messages, chunks)) if max_repeated is None else max_repeated

        limit = RepeatLimit(REPEATED_BYTES if max_repeated is None else max_repeated, most)
        try:
            return maker.batch(filled, count, _error_columns(faults, count) if shown else None, not faults, limit)
        except TooMuchRepeated as error:
            refused = [(index, int(Fault.LIMIT_EXCEEDED), 0, "") for index in error.messages]
        if not shown:
            raise _error_of(refused[0], maker.layout.plan, f"values repeated for each element would take more than {most()} bytes")
        del filled
        if messages is None:
            messages = [message for chunk in chunks for message in messages_of(chunk)]
        for index, *_ in refused:
            messages[index] = None
        filled, faults = reader.read(messages, False)
        return maker.batch(filled, count, _error_columns(faults + refused, count), False, None)


def _size_of(messages: list[Any] | None, chunks: list[BinaryChunk]) -> int:
    if messages is None:
        return sum(memoryview(message).nbytes for chunk in chunks for message in messages_of(chunk) if message is not None)
    return sum(memoryview(message).nbytes for message in messages if message is not None)


def _error_of(fault: tuple[int, int, int, str], plan: Plan, reason: str = "") -> WireError:
    index, code, offset, path = fault
    error = wire_error(code, offset, path, plan.message, plan.api_key, plan.version, reason)
    error.index = index
    error.add_note(f"in message {index} of the batch")
    return error


def _shows_errors(errors: str) -> bool:
    if errors not in ("raise", "column"):
        raise ValueError(f"errors is 'raise' or 'column', not {errors!r}")
    return errors == "column"


def _error_columns(faults: list[tuple[int, int, int, str]], count: int) -> list[ArrowArray]:
    if not faults:
        return [pa.nulls(count, field.type) for field in ERROR_FIELDS]
    codes: list[str | None] = [None] * count
    offsets: list[int | None] = [None] * count
    paths: list[str | None] = [None] * count
    for row, code, offset, path in faults:
        codes[row], offsets[row], paths[row] = Fault(code).name, offset, path
    return [pa.array(codes, pa.string()), pa.array(offsets, pa.int64()), pa.array(paths, pa.string())]


_COLUMNS: Final = Columns(compiled())

arrow_schema: Final = _COLUMNS.arrow_schema
to_arrow: Final = _COLUMNS.to_arrow
