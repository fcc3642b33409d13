"""Columns of records in the pure backend."""

from __future__ import annotations

from array import array
from typing import Any, Final, Protocol

from kwire.codec._pure.primitives import Buffer
from kwire.codec._pure.record_layout import COUNT_AT, LEAST_RECORD, BatchHeader, RawRecord, read_raw, scan
from kwire.codec.records.places import Flaw, Place
from kwire.errors import Fault, WireError

__all__ = ["Columns"]

MOST: Final = 0x7FFFFFFF  # bytes of content in a column: Arrow's offsets are int32
# Array types of the scalar columns, in the order of kwire.codec.records.columns.
_TYPES: Final = "iibqihbbqhiqq"
_CODEC: Final = 0x07
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20

TextBuffers = tuple[Any, Any, Any]


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


class _Texts:
    def __init__(self) -> None:
        self.present = bytearray()
        self.offsets = array("i", [0])
        self.content = bytearray()

    def add(self, value: bytes | None) -> None:
        self.present.append(value is not None)
        self.content += value or b""
        self.offsets.append(len(self.content))

    def buffers(self) -> TextBuffers:
        return bytes(self.present), self.offsets.tobytes(), bytes(self.content)


class Columns:
    """Columns of the records of many buffers.

    Arguments:
        keys, values, headers: keep these columns.
        records: unpack compressed batches of magic 2; else a batch has as many rows as its header says.
    """

    def __init__(self, keys: bool = True, values: bool = True, headers: bool = True, records: bool = True) -> None:
        self._keeps = keys, values, headers
        self._reads_records = records
        self._rows = 0
        self._scalars = tuple(array(kind) for kind in _TYPES)
        self._keys, self._values, self._header_keys, self._header_values = _Texts(), _Texts(), _Texts(), _Texts()
        self._header_offsets = array("i", [0])
        self._finished = False

    def add(self, buffer: int, data: Buffer, check_crc: bool, faults: Faults) -> None:
        """Add the records of the batches in `data`, buffer number `buffer`; a truncated last batch is dropped.

        Arguments:
            faults: unpacks batches, makes errors, and decides whether they stop the work or become a row of nulls.
        """
        if self._finished:
            raise ValueError("the columns were taken already")
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
        if not any(self._keeps):
            return True
        used = max(len(texts.content) for texts in (self._keys, self._values, self._header_keys, self._header_values))
        return used + size <= MOST

    def _add_flawed(self, error: WireError, buffer: int, batch: int, faults: Faults) -> None:
        faults.refuse(error, self._rows)
        self._add_row((buffer, batch, *(0 for _ in _TYPES[2:])), None, None, ())

    def _add_row(
        self, scalars: tuple[int, ...], key: bytes | None, value: bytes | None, headers: tuple[tuple[str, bytes | None], ...]
    ) -> None:
        for column, each in zip(self._scalars, scalars, strict=True):
            column.append(each)
        keeps_keys, keeps_values, keeps_headers = self._keeps
        if keeps_keys:
            self._keys.add(key)
        if keeps_values:
            self._values.add(value)
        for name, content in headers if keeps_headers else ():
            self._header_keys.add(name.encode())
            self._header_values.add(content)
        self._header_offsets.append(len(self._header_keys.present))
        self._rows += 1

    def finish(self) -> tuple[int, int, tuple[Any, ...], TextBuffers, TextBuffers, Any, TextBuffers, TextBuffers]:
        """Return rows, record headers, and the buffers: scalars; keys, values; offsets of header lists; header names and values.

        Texts are three buffers each: a byte per value for non-null, Arrow's offsets, content.
        """
        self._finished = True
        return (
            self._rows, len(self._header_keys.present), tuple(column.tobytes() for column in self._scalars), self._keys.buffers(),
            self._values.buffers(), self._header_offsets.tobytes(), self._header_keys.buffers(), self._header_values.buffers(),
        )  # fmt: skip
