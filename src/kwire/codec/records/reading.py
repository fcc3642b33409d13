"""Record batches from a buffer.

Counts are checked against the bytes left before allocation, and buffers at most double: records take less than `MEMORY_MULTIPLE` bytes per
unpacked byte. A compressed batch unpacks to at most `max_decompressed` bytes, all batches of a call to `max_unpacked`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from kwire.codec._pure.primitives import as_buffer
from kwire.codec._pure.records import Record
from kwire.codec.described import describe
from kwire.codec.impl import Twin, backend, load_twin
from kwire.codec.records.batch import RecordBatches, StoredBatch
from kwire.codec.records.compression import MAX_DECOMPRESSED, UnpackLimit
from kwire.codec.records.places import Flaw, flaw_error
from kwire.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Buffer

__all__ = ["MEMORY_MULTIPLE", "RecordReader", "decode", "record_reader", "scan", "to_arrow"]

MEMORY_MULTIPLE: Final = 48  # the densest there is: headers of two bytes, each a tuple of a name and a null


class RecordReader:
    """Reader of record batches by one backend."""

    def __init__(self, twin: Twin) -> None:
        module = load_twin("codec", "records", twin)
        self.twin = twin
        self.read_records = module.read_records
        self._scan = module.scan
        self.Record: Any = module.Record
        if twin == "native":
            describe(self.Record, Record)
        slots = ("_reader", "_check_crc", "_strict", "_limit", "_records", "fault")
        # The attributes of a header are the twin's; the rest is the same.
        self.StoredBatch: Any = type(
            "StoredBatch", (StoredBatch, module.BatchHeader), {"__slots__": slots, "__module__": StoredBatch.__module__}
        )

    def decode(
        self,
        data: Buffer,
        *,
        max_decompressed: int = MAX_DECOMPRESSED,
        max_unpacked: int | None = None,
        check_crc: bool = True,
        strict: bool = True,
    ) -> RecordBatches:
        """Read record batches of magic 0, 1 and 2, in any mixture: headers at once, records when `StoredBatch.records` is accessed.

        Arguments:
            data: batches as in Produce and Fetch or in a segment file; any contiguous buffer, kept without a copy.
            max_decompressed: maximum unpacked size of the records of one batch.
            max_unpacked: maximum for all batches that are read; by default 128 MiB, or 64 bytes per byte of `data` if that is more
                (`UNPACKED_BYTES`, `UNPACKED_MULTIPLE` in `kwire.codec.records`).
            check_crc: verify checksums: of batches at once, of messages inside compressed ones when they are read.
            strict: raise faults; if False, set `StoredBatch.fault` and `RecordBatches.fault` and return the readable part.

        Returns:
            The batches, without a truncated last one: `RecordBatches.tail_bytes` has its size.

        Raises:
            WireError: malformed batches; the path is such as ``batches[0].records[3].key``. A fault in compressed records has the offset of
                the compressed bytes; its text has the offset in the unpacked ones.
        """
        buffer = as_buffer(data)
        limit = UnpackLimit(max_decompressed, max_unpacked, len(buffer))
        batches, tail, broken = self._scan(buffer, self.StoredBatch, check_crc, strict)
        if broken is not None and strict:
            raise flaw_error(Flaw(*broken), max(len(batches) - 1, 0) if batches and batches[-1].flaw is not None else len(batches))
        for batch in batches:
            batch._reader = self
            batch._check_crc = check_crc
            batch._strict = strict
            batch._limit = limit
            batch._records = None
            batch.fault = None if batch.flaw is None else flaw_error(Flaw(*batch.flaw), batch.index)
        return RecordBatches(batches, tail, None if broken is None else flaw_error(Flaw(*broken), len(batches)))

    def scan(self, data: Buffer, *, check_crc: bool = False) -> RecordBatches:
        """Read only the headers of record batches: sizes, counts, codecs, producers. Nothing is unpacked and no fault raises.

        Arguments:
            data: as for `decode`.
            check_crc: verify the checksums, which reads all bytes.

        Returns:
            The batches up to the first one with an unknown end; faults are in `StoredBatch.fault` and `RecordBatches.fault`.
        """
        return self.decode(data, check_crc=check_crc, strict=False)

    def to_arrow(
        self,
        buffers: Iterable[Any],
        *,
        fields: Sequence[str] | None = None,
        max_decompressed: int = MAX_DECOMPRESSED,
        max_unpacked: int | None = None,
        check_crc: bool = True,
        errors: Literal["raise", "column"] = "raise",
    ) -> pa.RecordBatch:
        """Read the records of many buffers as columns, one row per record, without Python objects.

        Arguments:
            buffers: an iterable of buffers of record batches, or a binary Arrow array; a null gives no rows.
            fields: columns of `kwire.codec.records.columns.COLUMNS`; None for all. Without any column of `OF_RECORDS`, compressed batches
                of magic 2 are not unpacked: their headers give the number of rows, and faults of their records are not detected.
            max_decompressed: maximum unpacked size of the records of one batch.
            max_unpacked: maximum for all batches; by default 128 MiB, or 64 bytes per byte of input if that is more. Batches that are not
                unpacked count with 7 bytes a record, the smallest size.
            check_crc: compare the checksums.
            errors: ``raise``, or ``column`` for one row of nulls per malformed batch, with its fault in column ``error``.

        Returns:
            A `pyarrow.RecordBatch`. ``buffer`` and ``batch`` are indexes from 0; ``sequence`` and ``producer_id`` are -1 if there is none;
            control records are rows too, marked by ``is_control``.

        Raises:
            WireError: a malformed batch (with ``errors="raise"``); the path begins with ``buffers[i]``.
            InputError: pyarrow or the library for a codec is not installed.
        """
        try:
            from kwire.codec.records.columns import OF_RECORDS, chosen, collect
        except ImportError as error:
            raise InputError("Columns of records need pyarrow: run pip install 'kwire[arrow]'.") from error
        wanted = chosen(fields)
        columns = load_twin("codec", "record_columns", self.twin).Columns(
            "key" in wanted, "value" in wanted, "headers" in wanted, not OF_RECORDS.isdisjoint(wanted)
        )
        batch: pa.RecordBatch = collect(columns, buffers, wanted, max_decompressed, max_unpacked, check_crc, errors)
        return batch


@cache
def record_reader(twin: Twin = backend) -> RecordReader:
    """Return the reader of record batches of one backend; its methods are those of `kwire.records`.

    Arguments:
        twin: `native` or `pure`.
    """
    return RecordReader(twin)


_READER: Final = record_reader()

decode: Final = _READER.decode
scan: Final = _READER.scan
to_arrow: Final = _READER.to_arrow
