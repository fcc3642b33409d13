"""Record batches read from a buffer: headers at once, records on demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kwire.codec.records.compression import CODECS, UnpackLimit, unpack
from kwire.codec.records.drafts import CONTROL, DELETE_HORIZON, LOG_APPEND_TIME, TRANSACTIONAL, RecordBatch
from kwire.codec.records.java_long import java_long
from kwire.codec.records.places import Flaw, flaw_error
from kwire.errors import WireError

if TYPE_CHECKING:
    from kwire.codec._pure.primitives import Buffer
    from kwire.codec._pure.records import Record
    from kwire.codec.records.reading import RecordReader

__all__ = ["RecordBatches", "StoredBatch"]

_SLOTS: tuple[str, ...] = ()  # of this class; the class that is made of it and of a twin's header has the attributes
_CODEC: Final = 0x07


class StoredBatch:
    """Record batch of magic 2 as read, or a message of magic 0 or 1, which Kafka treats as a batch.

    Attributes:
        position: offset in the buffer.
        size: size of the whole batch as stored.
        index: number of the batch in the buffer.
        crc: as stored: CRC-32C in magic 2, CRC-32 before.
        partition_leader_epoch, producer_id, producer_epoch, base_sequence: -1 if there is none.
        base_timestamp: base of the records' timestamps; the message's own before magic 2.
        max_timestamp: milliseconds since 1970; -1 in magic 0.
        last_offset_delta: last offset minus first.
        stored_offset: offset in the header: the first record's in magic 2, the last one's in a compressed message.
        fault: fault found (only with ``strict=False``), or None.
    """

    __slots__ = _SLOTS

    _reader: RecordReader
    _check_crc: bool
    _strict: bool
    _limit: UnpackLimit
    _records: list[Record] | None
    fault: WireError | None
    data: Buffer
    flaw: Flaw | None
    position: int
    size: int
    index: int
    magic: int
    crc: int
    attributes: int
    partition_leader_epoch: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    base_timestamp: int
    max_timestamp: int
    last_offset_delta: int
    stored_offset: int
    stored_count: int
    payload_start: int
    payload_end: int

    @property
    def compression(self) -> str:
        """``none``, ``gzip``, ``snappy``, ``lz4`` or ``zstd``; ``unknown`` for a codec that Kafka does not have."""
        codec = self.attributes & _CODEC
        return CODECS[codec] if codec < len(CODECS) else "unknown"

    @property
    def timestamp_type(self) -> str:
        """Kafka's name: ``NoTimestampType`` (magic 0), ``CreateTime`` or ``LogAppendTime``."""
        if self.magic == 0:
            return "NoTimestampType"
        return "LogAppendTime" if self.attributes & LOG_APPEND_TIME else "CreateTime"

    @property
    def is_transactional(self) -> bool:
        return self.magic == 2 and bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        return self.magic == 2 and bool(self.attributes & CONTROL)

    @property
    def delete_horizon_ms(self) -> int | None:
        """Time after which the batch's tombstones may be deleted, held by the base timestamp (KIP-534)."""
        return self.base_timestamp if self.magic == 2 and self.attributes & DELETE_HORIZON else None

    @property
    def count(self) -> int | None:
        """Number of records; None in magic 0 and 1, as in Kafka, because a compressed message does not store it."""
        return self.stored_count if self.magic == 2 else None

    @property
    def base_offset(self) -> int:
        """Offset of the first record; unpacks a compressed batch of magic 0 or 1.

        Raises:
            WireError: the batch cannot be unpacked.
        """
        if self.magic == 2 or not self.attributes & _CODEC:
            return self.stored_offset
        records = self.records
        return records[0].offset if records else self.stored_offset

    @property
    def last_offset(self) -> int:
        """Offset of the last record, which compaction may have removed."""
        return java_long(self.stored_offset + self.last_offset_delta)

    @property
    def next_offset(self) -> int:
        return java_long(self.last_offset + 1)

    @property
    def last_sequence(self) -> int:
        """Sequence of the last record (0 follows 2147483647); -1 if there is none."""
        return -1 if self.base_sequence < 0 else self.base_sequence + self.last_offset_delta & 0x7FFFFFFF

    @property
    def records(self) -> list[Record]:
        """Records, read and unpacked on first use.

        Raises:
            WireError: unreadable records; `LimitExceeded` if the batches read so far exceed the unpacked limit. With ``strict=False`` the
                records before the fault are returned and `fault` is set.
            InputError: the library for this codec is not installed.
        """
        if self._records is None:
            self._records = self._read(self._limit.unpack)
        return self._records

    def _unpack_again(self, codec: int, magic: int, payload: Buffer, offset: int, path: str) -> Buffer:
        """Unpack without counting against the limit again."""
        return unpack(codec, magic, payload, self._limit.each, offset, path)

    def _read(self, unpack: Callable[[int, int, Buffer, int, str], Buffer]) -> list[Record]:
        codec = self.attributes & _CODEC
        if self.flaw is not None and self.fault is not None and codec >= len(CODECS):
            return []
        data, start, end, unpacked_from = self.data, self.payload_start, self.payload_end, -1
        if codec and self.magic == 2 and self.stored_count == 0:
            return []
        if codec:
            unpacked_from = start
            try:
                data = unpack(codec, self.magic, memoryview(data)[start:end], start, f"batches[{self.index}].records")
            except WireError as error:
                if self._strict:
                    raise
                self.fault = self.fault or error
                return []
            start, end = 0, len(data)
        made: list[Record]
        made, flaw = self._reader.read_records(self, data, start, end, self._check_crc, self._strict)
        if flaw is not None:
            found = flaw_error(Flaw(*flaw), self.index, unpacked_from)
            if self._strict:
                raise found
            self.fault = self.fault or found
        return made

    def was_changed(self) -> bool:
        """Return whether the list of `records` or, in the pure backend, one of them was changed."""
        return self._records is not None and self._read(self._unpack_again) != self._records

    def replace(self, **changes: Any) -> RecordBatch:
        """Return a changed copy for writing; arguments as in `RecordBatch`.

        New `records` also change the last offset and the timestamps. Records in a batch with log append time get the log's timestamps,
        because the producer's are lost.

        Raises:
            WireError: the records cannot be read.
        """
        return RecordBatch.of(self).replace(**changes)

    def __repr__(self) -> str:
        return (
            f"<StoredBatch magic={self.magic} position={self.position} size={self.size} stored_offset={self.stored_offset} "
            f"count={self.count} compression={self.compression!r}>"
        )


class RecordBatches(list[StoredBatch]):
    """Batches of a buffer.

    Attributes:
        tail_bytes: size of a truncated last batch, as brokers send it in a Fetch response (KIP-74); else 0.
        fault: fault that made the rest of the buffer unreadable (only with ``strict=False``), or None.
    """

    def __init__(self, batches: list[StoredBatch], tail_bytes: int, fault: WireError | None = None) -> None:
        super().__init__(batches)
        self.tail_bytes = tail_bytes
        self.fault = fault
