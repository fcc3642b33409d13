"""Columns of records in the pure backend."""

from __future__ import annotations

from array import array
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa

from kwire.codec._pure.primitives import Buffer
from kwire.codec._pure.record_layout import COUNT_AT, LEAST_RECORD, BatchHeader, RawRecord, read_raw, scan
from kwire.codec.column_arrays import batch_of
from kwire.codec.records.columns import ALWAYS, SCALARS
from kwire.codec.records.places import Flaw, Place
from kwire.errors import Fault, WireError

__all__ = ["Columns"]

MOST: Final = 0x7FFFFFFF  # bytes of content in a column: Arrow's offsets are int32
# Array types of the scalar columns, in the order of kwire.codec.records.columns.
_TYPES: Final = "iibqihbbqhiqq"
_CODEC: Final = 0x07
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20


class Faults(Protocol):
    """Handler of compressed and malformed batches."""

    def unpack(self, buffer: int, batch: int, codec: int, magic: int, payload: Buffer, offset: int) -> Buffer: ...
    def claim(self, buffer: int, batch: int, size: int, offset: int) -> None: ...
    def error(self, buffer: int, batch: int, flaw: tuple[int, ...], unpacked_from: int) -> WireError: ...
    def refuse(self, error: WireError, row: int) -> None: ...


def _shared(buffer: int, header: BatchHeader, base: int) -> tuple[int, ...]:
    """Return the values that all rows of a batch share."""
    bits = header.attributes if header.magic == 2 else 0
    return (
        buffer, header.index, header.magic, base, header.partition_leader_epoch, header.attributes, bool(bits & _TRANSACTIONAL),
        bool(bits & _CONTROL), header.producer_id, header.producer_epoch,
    )  # fmt: skip


def _as_tuple(*fields: Any) -> RawRecord:
    return fields


class Columns:
    """Columns of the records of many buffers; without `records` a compressed batch has as many rows as its header says."""

    def __init__(self, keys: bool = True, values: bool = True, headers: bool = True, records: bool = True) -> None:
        self._kept = {name for name, keeps in (("key", keys), ("value", values), ("headers", headers)) if keeps}
        self._reads_records = records
        self._rows = 0
        self._bad: list[int] = []  # rows that stand for batches that cannot be read
        self._scalars = tuple(array(kind) for kind in _TYPES)
        self._held: dict[str, list[Any]] = {"key": [], "value": [], "headers": []}
        self._used = [0, 0, 0, 0]  # bytes in keys, values, and keys and values of headers
        self._finished = False

    def add_all(self, buffers: list[Buffer | None], check_crc: bool, faults: Faults) -> None:
        """Add the records of all batches of buffers; a truncated last batch is dropped."""
        if self._finished:
            raise ValueError("the columns were taken already")
        for buffer, data in enumerate(buffers):
            if data is not None:
                batches, _, broken = scan(data, BatchHeader, check_crc, False)
                for header in batches:
                    self._add_batch(buffer, header, check_crc, faults)
                if broken is not None:
                    self._add_flawed(faults.error(buffer, len(batches), broken, -1), buffer, len(batches), faults)

    def _add_batch(self, buffer: int, header: BatchHeader, check_crc: bool, faults: Faults) -> None:
        codec = header.attributes & _CODEC
        flaw, unpacked_from = header.flaw, -1
        records: list[RawRecord] = []
        if flaw is None:
            data, start, end = header.data, header.payload_start, header.payload_end
            if codec and header.magic == 2 and header.stored_count == 0:
                return
            if codec and header.magic == 2 and not self._reads_records:
                self._count_batch(buffer, header, faults)
                return
            if codec:
                unpacked_from = start
                try:
                    data = faults.unpack(buffer, header.index, codec, header.magic, memoryview(data)[start:end], start)
                except WireError as error:
                    self._add_flawed(error, buffer, header.index, faults)
                    return
                start, end = 0, len(data)
            # a message counts with its header, as in the native twin
            size = end - start if codec or header.magic == 2 else header.size
            records, flaw = read_raw(header, data, start, end, check_crc, "strict", _as_tuple)
            if not self._fits(size) and (flaw is None or flaw.place != Place.COUNT):
                flaw = Flaw(Fault.LIMIT_EXCEEDED, start, Place.RECORDS)
        if flaw is not None:
            self._add_flawed(faults.error(buffer, header.index, flaw, unpacked_from), buffer, header.index, faults)
            return
        base = records[0][0] if records and header.magic < 2 else header.stored_offset
        shared = _shared(buffer, header, base)
        for offset, timestamp, sequence, key, value, headers in records:
            self._add_row((*shared, sequence, offset, timestamp), key, value, headers)

    def _count_batch(self, buffer: int, header: BatchHeader, faults: Faults) -> None:
        count, at = header.stored_count, header.position + COUNT_AT
        if count < 0:
            flaw = Flaw(Fault.BAD_LENGTH, at, Place.COUNT)
            self._add_flawed(faults.error(buffer, header.index, flaw, -1), buffer, header.index, faults)
            return
        try:
            faults.claim(buffer, header.index, count * LEAST_RECORD, at)
        except WireError as error:
            self._add_flawed(error, buffer, header.index, faults)
            return
        row = (*_shared(buffer, header, header.stored_offset), 0, 0, 0)
        for _ in range(count):
            self._add_row(row, None, None, ())

    def _fits(self, size: int) -> bool:
        return not self._kept or max(self._used) + size <= MOST

    def _add_flawed(self, error: WireError, buffer: int, batch: int, faults: Faults) -> None:
        faults.refuse(error, self._rows)
        self._bad.append(self._rows)
        self._add_row((buffer, batch, *(0 for _ in _TYPES[2:])), None, None, None)

    def _add_row(
        self, scalars: tuple[int, ...], key: bytes | None, value: bytes | None, headers: tuple[tuple[str, bytes | None], ...] | None
    ) -> None:
        for column, each in zip(self._scalars, scalars, strict=True):
            column.append(each)
        if "key" in self._kept:
            self._held["key"].append(key)
            self._used[0] += len(key or b"")
        if "value" in self._kept:
            self._held["value"].append(value)
            self._used[1] += len(value or b"")
        if "headers" in self._kept:
            self._held["headers"].append(headers)
            for name, content in headers or ():
                self._used[2] += len(name.encode())
                self._used[3] += len(content or b"")
        self._rows += 1

    def finish(self, nodes: Any, schema: pa.Schema, importer: Any) -> pa.RecordBatch:
        """Return the columns of the schema; nothing can be added afterwards."""
        self._finished = True
        bad = np.zeros(self._rows, bool)
        bad[self._bad] = True
        scalars = dict(zip(SCALARS, self._scalars, strict=True))
        made: list[Any] = []
        for field in schema:
            if field.name in SCALARS:
                values = np.asarray(scalars[field.name])
                mask = bad if self._bad and field.name not in ALWAYS else None
                made.append(pa.array(values.astype(bool) if field.type == pa.bool_() else values, field.type, mask=mask))
            elif field.name == "error":
                made.append(pa.nulls(self._rows, field.type))
            else:
                made.append(pa.array(self._held[field.name], field.type))
        return batch_of(made, schema, self._rows)
