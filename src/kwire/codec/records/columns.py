"""Records as Arrow columns."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow as pa

from kwire.codec._pure.primitives import Buffer, as_buffer
from kwire.codec.binary_chunks import messages_in
from kwire.codec.column_arrays import batch_of
from kwire.codec.column_nodes import IMPORT_BATCH, Kind, Node, null_nodes
from kwire.codec.records.compression import UnpackLimit
from kwire.codec.records.places import Flaw, flaw_error
from kwire.errors import InputError, WireError

__all__ = ["COLUMNS", "OF_RECORDS", "SCALARS", "BufferedColumns", "chosen", "collect"]

# In the order in which the twins number and fill them.
SCALARS: Final[dict[str, pa.DataType]] = {
    "buffer": pa.int32(), "batch": pa.int32(), "magic": pa.int8(), "base_offset": pa.int64(), "partition_leader_epoch": pa.int32(),
    "attributes": pa.int16(), "is_transactional": pa.bool_(), "is_control": pa.bool_(), "producer_id": pa.int64(),
    "producer_epoch": pa.int16(), "sequence": pa.int32(), "offset": pa.int64(), "timestamp": pa.int64(),
}  # fmt: skip
_TYPES: Final[dict[str, Any]] = {
    **SCALARS, "key": pa.binary(), "value": pa.binary(), "headers": pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
    "error": pa.string(),
}  # fmt: skip
COLUMNS: Final = tuple(_TYPES)
OF_RECORDS: Final = frozenset(("sequence", "offset", "timestamp", "key", "value", "headers"))
"""Columns that are read out of records; the others are in the headers of batches."""
_NUMBERS: Final = {name: number for number, name in enumerate(COLUMNS)}
_HEADER_KEY: Final = len(COLUMNS) - 1  # columns behind those of records: keys and values of headers
_ALWAYS: Final = ("buffer", "batch")  # known of a batch that cannot be read too


class _Faults:
    """Unpacker for a backend that keeps or raises the faults of batches."""

    def __init__(self, limit: UnpackLimit, strict: bool) -> None:
        self.limit = limit
        self.strict = strict
        self.found: dict[int, str] = {}

    def unpack(self, buffer: int, batch: int, codec: int, magic: int, payload: Buffer, offset: int) -> Buffer:
        return self.limit.unpack(codec, magic, payload, offset, f"buffers[{buffer}].batches[{batch}].records")

    def claim(self, buffer: int, batch: int, size: int, offset: int) -> None:
        self.limit.claim(size, offset, f"buffers[{buffer}].batches[{batch}].count")

    def error(self, buffer: int, batch: int, flaw: tuple[int, ...], unpacked_from: int) -> WireError:
        return flaw_error(Flaw(*flaw), batch, unpacked_from, f"buffers[{buffer}].")

    def refuse(self, error: WireError, row: int) -> None:
        if self.strict:
            raise error
        self.found[row] = str(error)


class BufferedColumns:
    """Adapter of the pure backend's `Columns` to the native interface."""

    def __init__(self, columns: Any) -> None:
        self._columns = columns
        self._bad: list[int] = []  # rows that stand for batches that cannot be read

    def add_all(self, buffers: list[Buffer | None], check_crc: bool, faults: _Faults) -> None:
        for index, data in enumerate(buffers):
            if data is not None:
                self._columns.add(index, data, check_crc, faults)
        self._bad = list(faults.found)

    def finish(self, nodes: list[Node], schema: pa.Schema, importer: Any) -> pa.RecordBatch:
        rows, headers, scalars, keys, values, header_offsets, header_keys, header_values = self._columns.finish()
        made: list[Any] = []
        whole = None  # validity of what a bad batch lacks
        if self._bad:
            flags: Any = np.ones(rows, np.uint8)
            flags[self._bad] = 0
            whole = _bits(flags, rows)
        for field in schema:
            if field.name in SCALARS:
                content = scalars[_NUMBERS[field.name]]
                data = _bits(content, rows) if field.type == pa.bool_() else pa.py_buffer(content)
                array: Any = pa.Array.from_buffers(field.type, rows, [None if field.name in _ALWAYS else whole, data])
            elif field.name == "headers":
                pair = pa.StructArray.from_arrays(
                    [_texts(pa.string(), headers, header_keys), _texts(pa.binary(), headers, header_values)], names=["key", "value"]
                )
                array = pa.Array.from_buffers(field.type, rows, [whole, pa.py_buffer(header_offsets)], children=[pair])
            elif field.name == "error":
                array = pa.nulls(rows, field.type)
            else:
                array = _texts(field.type, rows, keys if field.name == "key" else values)
            made.append(array)
        return batch_of(made, schema, rows)


def _bits(flags: Any, count: int) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.frombuffer(flags, np.uint8, count), bitorder="little").tobytes())


def _texts(kind: Any, count: int, buffers: tuple[Any, Any, Any]) -> Any:
    present = np.frombuffer(buffers[0], np.uint8, count)
    nulls = count - int(np.count_nonzero(present))
    validity = _bits(buffers[0], count) if nulls else None
    return pa.Array.from_buffers(kind, count, [validity, pa.py_buffer(buffers[1]), pa.py_buffer(buffers[2])], null_count=nulls)


@cache
def _result(wanted: tuple[str, ...]) -> tuple[list[Node], pa.Schema]:
    nodes: list[Node] = [(Kind.STRUCT, -1, len(wanted))]
    for name in wanted:
        if name == "headers":
            nodes += [(Kind.LIST, _NUMBERS[name], 1), (Kind.STRUCT, -1, 2), (Kind.TEXT, _HEADER_KEY, 0), (Kind.TEXT, _HEADER_KEY + 1, 0)]
        elif name == "error":
            nodes += null_nodes(_TYPES[name])
        else:
            nodes.append((Kind.TEXT if name in ("key", "value") else Kind.PLAIN, _NUMBERS[name], 0))
    return nodes, pa.schema([(name, _TYPES[name]) for name in wanted])


def chosen(fields: Any) -> tuple[str, ...]:
    """Return the requested columns.

    Raises:
        InputError: records have no such column.
    """
    wanted = COLUMNS if fields is None else tuple(fields)
    if unknown := [name for name in wanted if name not in COLUMNS]:
        raise InputError(f"Records have no column {unknown[0]!r}; there are {', '.join(COLUMNS)}.")
    return wanted


def collect(
    columns: Any, buffers: Any, wanted: tuple[str, ...], max_decompressed: int, max_unpacked: int | None, check_crc: bool, errors: str
) -> pa.RecordBatch:
    """Fill a backend's columns from buffers and make a `pyarrow.RecordBatch`; arguments as in `to_arrow`."""
    if errors not in ("raise", "column"):
        raise ValueError(f"errors must be 'raise' or 'column', not {errors!r}")
    given = [None if data is None else as_buffer(data) for data in messages_in(buffers)]
    limit = UnpackLimit(max_decompressed, max_unpacked, sum(len(data) for data in given if data is not None))
    faults = _Faults(limit, errors == "raise")
    columns.add_all(given, check_crc, faults)
    nodes, schema = _result(wanted)
    batch: pa.RecordBatch = columns.finish(nodes, schema, IMPORT_BATCH)
    if not faults.found or "error" not in wanted:
        return batch
    texts = pa.array([faults.found.get(row) for row in range(batch.num_rows)], pa.string())
    made: list[Any] = [texts if name == "error" else batch.column(number) for number, name in enumerate(wanted)]
    return pa.RecordBatch.from_arrays(made, schema=schema)
