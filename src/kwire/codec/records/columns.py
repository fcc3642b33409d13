"""Records as Arrow columns."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import pyarrow as pa

from kwire.codec._pure.primitives import Buffer, as_buffer
from kwire.codec.binary_chunks import messages_in
from kwire.codec.column_nodes import IMPORT_BATCH, Kind, Node, null_nodes
from kwire.codec.records.compression import UnpackLimit
from kwire.codec.records.places import Flaw, flaw_error
from kwire.errors import InputError, WireError

__all__ = ["ALWAYS", "COLUMNS", "OF_RECORDS", "SCALARS", "chosen", "collect"]

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
"""Columns that are read from records; the others are in the headers of batches."""
_NUMBERS: Final = {name: number for number, name in enumerate(COLUMNS)}
_HEADER_KEY: Final = len(COLUMNS) - 1  # columns behind those of records: keys and values of headers
ALWAYS: Final = ("buffer", "batch")  # known of a batch that cannot be read too


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
    """Return the requested columns; raise InputError for one that records do not have."""
    wanted = COLUMNS if fields is None else tuple(fields)
    if unknown := [name for name in wanted if name not in COLUMNS]:
        raise InputError(f"Records have no column {unknown[0]!r}; choose from {', '.join(COLUMNS)}.")
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
