"""Record batches from a buffer.

Counts are checked against the bytes left before allocation, and buffers at most double: records take less than `MEMORY_MULTIPLE` bytes per
unpacked byte. A compressed batch unpacks to at most `max_decompressed` bytes, all batches of a call to `max_unpacked`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from kwire.codec._pure.primitives import as_buffer
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
        slots = ("_reader", "_check_crc", "_strict", "_limit", "_records", "fault")
        # The attributes of a header are the twin's; the rest is the same.
        self.StoredBatch: Any = type(
            "StoredBatch", (StoredBatch, module.BatchHeader), {"__slots__": slots, "__module__": StoredBatch.__module__}
        )

    def decode(
        self,
        data: Any,
        *,
        max_decompressed: int = MAX_DECOMPRESSED,
        max_unpacked: int | None = None,
        check_crc: bool = True,
        strict: bool = True,
    ) -> RecordBatches:
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

    def to_arrow(
        self,
        buffers: Any,
        *,
        fields: Any = None,
        max_decompressed: int = MAX_DECOMPRESSED,
        max_unpacked: int | None = None,
        check_crc: bool = True,
        errors: str = "raise",
    ) -> Any:
        try:
            from kwire.codec.records.columns import OF_RECORDS, BufferedColumns, chosen, collect
        except ImportError as error:
            raise InputError("Columns of records need pyarrow: run pip install 'kwire[arrow]'.") from error
        wanted = chosen(fields)
        columns = load_twin("codec", "record_columns", self.twin).Columns(
            "key" in wanted, "value" in wanted, "headers" in wanted, not OF_RECORDS.isdisjoint(wanted)
        )
        if self.twin == "pure":
            columns = BufferedColumns(columns)
        return collect(columns, buffers, wanted, max_decompressed, max_unpacked, check_crc, errors)


@cache
def record_reader(twin: Twin = backend) -> RecordReader:
    return RecordReader(twin)


def decode(
    data: Buffer,
    *,
    max_decompressed: int = MAX_DECOMPRESSED,
    max_unpacked: int | None = None,
    check_crc: bool = True,
    strict: bool = True,
) -> RecordBatches:
    """Read record batches of magic 0, 1 and 2, in any mixture: the headers now, the records of a batch when `StoredBatch.records` is read.

    Arguments:
        data: the batches, one after another, as in Produce and Fetch or in a segment file; any contiguous buffer. It is kept, not copied.
        max_decompressed: bytes that the records of one batch may unpack to.
        max_unpacked: bytes that the records of all batches that are read may unpack to; by default 128 MiB, or 64 bytes for each byte of
            `data` where that is more (`UNPACKED_BYTES`, `UNPACKED_MULTIPLE` in `kwire.codec.records`).
        check_crc: compare the checksums: of the batches now, of messages inside compressed ones when they are read.
        strict: raise what is wrong; else put it into `StoredBatch.fault` and `RecordBatches.fault` and give what can be read.

    Returns:
        The batches. A last one that is cut is left out: `RecordBatches.tail_bytes` has its size.

    Raises:
        WireError: the bytes are no record batches; the path is such as ``batches[0].records[3].key``. A fault in compressed records has the
            offset of the compressed bytes; its text says where among the unpacked ones.
    """
    return record_reader().decode(data, max_decompressed=max_decompressed, max_unpacked=max_unpacked, check_crc=check_crc, strict=strict)


def scan(data: Buffer, *, check_crc: bool = False) -> RecordBatches:
    """Read only the headers of record batches: sizes, counts, codecs, producers; nothing is unpacked and no fault raises.

    Arguments:
        data: as for `decode`.
        check_crc: compare the checksums, which costs a pass over all bytes.

    Returns:
        The batches up to the first whose end is unknown; the faults are in `StoredBatch.fault` and `RecordBatches.fault`.
    """
    return record_reader().decode(data, check_crc=check_crc, strict=False)


def to_arrow(
    buffers: Iterable[Any],
    *,
    fields: Sequence[str] | None = None,
    max_decompressed: int = MAX_DECOMPRESSED,
    max_unpacked: int | None = None,
    check_crc: bool = True,
    errors: Literal["raise", "column"] = "raise",
) -> pa.RecordBatch:
    """Read the records of many buffers as columns, without an object for any record; a row is a record.

    Arguments:
        buffers: an iterable of buffers of record batches, or a binary Arrow array; a null gives no rows.
        fields: names of the columns wanted, of those in `kwire.codec.records.columns.COLUMNS`; all when None. Keys, values and headers that
            are not wanted are not kept. Where nothing of `OF_RECORDS` there is wanted, compressed batches of magic 2 are not unpacked:
            they have as many rows as their headers say, and what is wrong with their records stays unseen.
        max_decompressed: bytes that the records of one batch may unpack to.
        max_unpacked: bytes that the records of all batches may unpack to; by default 128 MiB, or 64 bytes for each byte of input where
            that is more. Batches that are not unpacked count with 7 bytes a record, the fewest there are.
        check_crc: compare the checksums.
        errors: ``raise`` or ``column``: a batch that cannot be read is then one row of nulls whose column ``error`` says why.

    Returns:
        A `pyarrow.RecordBatch`. Columns ``buffer`` and ``batch`` are indexes from 0; ``sequence`` and ``producer_id`` are -1 where there is
        none; control records are among the rows, ``is_control`` marks them.

    Raises:
        WireError: a batch cannot be read (with ``errors="raise"``); the path begins with ``buffers[i]``.
        InputError: pyarrow or the library for a codec is not installed.
    """
    reader = record_reader()
    batch: pa.RecordBatch = reader.to_arrow(
        buffers, fields=fields, max_decompressed=max_decompressed, max_unpacked=max_unpacked, check_crc=check_crc, errors=errors
    )
    return batch
