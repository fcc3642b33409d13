"""Records as Arrow columns: the twin fills buffers, which become arrays without a copy."""

from __future__ import annotations

from typing import Any, Final

from kwire.codec._pure.primitives import Buffer, as_buffer
from kwire.codec.records.compression import unpack
from kwire.codec.records.places import Flaw, flaw_error
from kwire.errors import InputError, WireError

__all__ = ["COLUMNS", "SCALARS", "collect"]

# Name and Arrow type of the scalar columns, in the order in which the twins fill them.
SCALARS: Final = {
    "buffer": "int32", "batch": "int32", "magic": "int8", "base_offset": "int64", "partition_leader_epoch": "int32", "attributes": "int16",
    "is_transactional": "bool_", "is_control": "bool_", "producer_id": "int64", "producer_epoch": "int16", "sequence": "int32",
    "offset": "int64", "timestamp": "int64",
}  # fmt: skip
COLUMNS: Final = (*SCALARS, "key", "value", "headers", "error")
_ALWAYS: Final = ("buffer", "batch")  # known of a batch that cannot be read too


class _Faults:
    """Unpacks for a twin and keeps, or raises, what is wrong with a batch."""

    def __init__(self, limit: int, strict: bool) -> None:
        self.limit = limit
        self.strict = strict
        self.found: dict[int, str] = {}

    def unpack(self, buffer: int, batch: int, codec: int, magic: int, payload: Buffer, offset: int) -> Buffer:
        return unpack(codec, magic, payload, self.limit, offset, f"buffers[{buffer}].batches[{batch}].records")

    def error(self, buffer: int, batch: int, flaw: tuple[int, ...], unpacked_from: int) -> WireError:
        return flaw_error(Flaw(*flaw), batch, unpacked_from, f"buffers[{buffer}].")

    def refuse(self, error: WireError, row: int) -> None:
        if self.strict:
            raise error
        self.found[row] = str(error)


def collect(columns: Any, buffers: Any, fields: Any, limit: int, check_crc: bool, errors: str) -> Any:
    """Fill a twin's `Columns` from buffers and make a `pyarrow.RecordBatch` of them; arguments as for `to_arrow`."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise InputError("Columns of records need pyarrow: run pip install 'kwire[arrow]'.") from error
    if errors not in ("raise", "column"):
        raise ValueError(f"errors must be 'raise' or 'column', not {errors!r}")
    wanted = COLUMNS if fields is None else tuple(fields)
    if unknown := [name for name in wanted if name not in COLUMNS]:
        raise InputError(f"Records have no column {unknown[0]!r}; there are {', '.join(COLUMNS)}.")
    faults = _Faults(limit, errors == "raise")
    for index, data in enumerate(buffers):
        if isinstance(data, pa.Scalar):
            data = data.as_buffer()  # type: ignore[attr-defined]
        if data is not None:
            columns.add(index, as_buffer(data), check_crc, faults)
    return _record_batch(pa, columns.finish(), wanted, faults.found)


def _record_batch(pa: Any, filled: Any, wanted: tuple[str, ...], faults: dict[int, str]) -> Any:
    import numpy

    rows, headers, scalars, keys, values, header_offsets, header_keys, header_values = filled

    def bits(flags: Any) -> Any:
        return pa.py_buffer(numpy.packbits(flags, bitorder="little"))

    def texts(kind: Any, count: int, buffers: Any) -> Any:
        present = numpy.frombuffer(buffers[0], numpy.uint8, count)
        nulls = count - int(numpy.count_nonzero(present))
        validity = bits(present) if nulls else None
        return pa.Array.from_buffers(kind, count, [validity, pa.py_buffer(buffers[1]), pa.py_buffer(buffers[2])], null_count=nulls)

    whole = None  # validity of what a batch that cannot be read lacks
    if faults:
        flags = numpy.ones(rows, numpy.uint8)
        flags[list(faults)] = 0
        whole = bits(flags)
    made = []
    for name in wanted:
        if name in SCALARS:
            content = scalars[tuple(SCALARS).index(name)]
            kind = getattr(pa, SCALARS[name])()
            data = bits(numpy.frombuffer(content, numpy.uint8, rows)) if SCALARS[name] == "bool_" else pa.py_buffer(content)
            array = pa.Array.from_buffers(kind, rows, [None if name in _ALWAYS else whole, data])
        elif name in ("key", "value"):
            array = texts(pa.binary(), rows, keys if name == "key" else values)
        elif name == "headers":
            pair = pa.StructArray.from_arrays(
                [texts(pa.string(), headers, header_keys), texts(pa.binary(), headers, header_values)], names=["key", "value"]
            )
            array = pa.Array.from_buffers(pa.list_(pair.type), rows, [whole, pa.py_buffer(header_offsets)], children=[pair])
        elif faults:
            array = pa.array([faults.get(row) for row in range(rows)], pa.string())
        else:
            array = pa.nulls(rows, pa.string())
        made.append(array)
    return pa.RecordBatch.from_arrays(made, names=list(wanted))
