"""Record batches to write, as in Kafka's MemoryRecordsBuilder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from kwire.codec.impl import backend, load_twin
from kwire.codec.records.compression import CODECS

if TYPE_CHECKING:
    from kwire.codec._pure.records import Record
    from kwire.codec.records.batch import StoredBatch

__all__ = ["RecordBatch", "Row"]

Row: TypeAlias = "Record | tuple[Any, ...]"

LOG_APPEND_TIME: Final = 0x08
TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
DELETE_HORIZON: Final = 0x40
_CODECS: Final = {name: number for number, name in enumerate(CODECS)}
_FIELDS: Final = (  # what a batch has whether it was read or is to be written
    "base_sequence", "compression", "delete_horizon_ms", "is_control", "is_transactional", "magic", "partition_leader_epoch",
    "producer_epoch", "producer_id", "timestamp_type",
)  # fmt: skip
_SEEN: Final = ("base_offset", "last_offset", "base_timestamp", "max_timestamp")  # what records say of themselves


class RecordBatch:
    """Batch of records to write; in magic 0 and 1, one message per record, or one compressed message for all.

    Arguments:
        records: `Record` objects, or tuples of key, value and optionally timestamp and headers (faster), in the order of their offsets;
            offset -1, as in tuples, means the one after the previous record's.
        magic: 0, 1 or 2.
        compression: ``none``, ``gzip``, ``snappy``, ``lz4`` or ``zstd`` (magic 2 only).
        timestamp_type: ``CreateTime`` or ``LogAppendTime``; ``NoTimestampType`` in magic 0.
        base_offset: by default the first record's offset, or 0.
        last_offset: by default the last record's; it may be higher if compaction removed the last records.
        partition_leader_epoch: epoch of the leader that appended the batch; -1 before.
        base_timestamp: base of the timestamps; by default the first record's, or the delete horizon.
        max_timestamp: milliseconds since 1970; by default the highest of the records. With log append time, the time of all records.
        producer_id, producer_epoch, base_sequence: values of an idempotent or transactional producer.
        delete_horizon_ms: time after which tombstones and markers may be deleted (KIP-534).

    Values are checked when the batch is written; `records` is a list that may be changed.
    """

    __slots__ = (
        "_given", "_looked_at", "_rows", "base_sequence", "compression", "delete_horizon_ms", "is_control", "is_transactional", "magic",
        "partition_leader_epoch", "producer_epoch", "producer_id", "timestamp_type",
    )  # fmt: skip

    def __init__(
        self,
        records: Iterable[Row] = (),
        *,
        magic: int = 2,
        compression: str = "none",
        timestamp_type: str | None = None,
        base_offset: int | None = None,
        last_offset: int | None = None,
        partition_leader_epoch: int = -1,
        base_timestamp: int | None = None,
        max_timestamp: int | None = None,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
        is_transactional: bool = False,
        is_control: bool = False,
        delete_horizon_ms: int | None = None,
    ) -> None:
        self._rows: list[Any] = list(records)
        self._looked_at = False
        self.magic = magic
        self.compression = compression
        self.timestamp_type = timestamp_type or ("CreateTime" if magic else "NoTimestampType")
        self.partition_leader_epoch = partition_leader_epoch
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.base_sequence = base_sequence
        self.is_transactional = is_transactional
        self.is_control = is_control
        self.delete_horizon_ms = delete_horizon_ms
        self._given = base_offset, last_offset, base_timestamp, max_timestamp

    @classmethod
    def of(cls, batch: StoredBatch) -> RecordBatch:
        """Return a batch to write, with the records and fields of one that was read.

        Raises:
            WireError: the records cannot be read.
        """
        fields = {name: getattr(batch, name) for name in _FIELDS}
        fields |= {"records": batch.records, "base_offset": batch.base_offset}
        if batch.magic == 2:
            fields |= {name: getattr(batch, name) for name in _SEEN}
        elif batch.timestamp_type == "LogAppendTime":
            fields["max_timestamp"] = batch.max_timestamp
        return cls(**fields)

    def replace(self, **changes: Any) -> RecordBatch:
        """Return a changed copy; arguments as in the class.

        New `records` or `magic` also change the last offset and the timestamps; a log append time stays.
        """
        fields = {name: getattr(self, name) for name in _FIELDS} | {"records": self._rows}
        given = dict(zip(_SEEN, self._given, strict=True))
        if "records" in changes or "magic" in changes:
            kept = ("base_offset", "max_timestamp") if self.timestamp_type == "LogAppendTime" else ("base_offset",)
            given = {name: given[name] for name in kept}
        return type(self)(**{**fields, **given, **changes})

    @property
    def records(self) -> list[Record]:
        """Records; tuples are converted on first use."""
        if not self._looked_at:
            if any(isinstance(row, tuple) for row in self._rows):
                make = load_twin("codec", "records", backend).Record
                self._rows = [make(-1, *row[2:3] or (-1,), -1, *row[:2], *row[3:]) if isinstance(row, tuple) else row for row in self._rows]
            self._looked_at = True
        return self._rows

    @property
    def attributes(self) -> int:
        """Attribute bits, as they will be stored.

        Raises:
            KeyError: there is no such compression.
        """
        bits = _CODECS[self.compression]
        if self.timestamp_type == "LogAppendTime":
            bits |= LOG_APPEND_TIME
        if self.is_transactional:
            bits |= TRANSACTIONAL
        if self.is_control:
            bits |= CONTROL
        return bits | DELETE_HORIZON if self.delete_horizon_ms is not None else bits

    @property
    def count(self) -> int:
        return len(self._rows)

    @property
    def base_offset(self) -> int:
        given = self._given[0]
        if given is not None:
            return given
        return max(self.records[0].offset, 0) if self.records else 0

    @property
    def last_offset(self) -> int:
        given, last = self._given[1], self.base_offset - 1
        if given is not None:
            return given
        for record in self.records:
            last = last + 1 if record.offset == -1 else record.offset
        return max(last, self.base_offset)

    @property
    def last_offset_delta(self) -> int:
        return self.last_offset - self.base_offset

    @property
    def next_offset(self) -> int:
        return self.last_offset + 1

    @property
    def base_timestamp(self) -> int:
        given = self.delete_horizon_ms if self._given[2] is None else self._given[2]
        if given is not None:
            return given
        return self.records[0].timestamp if self.records else -1

    @property
    def max_timestamp(self) -> int:
        given = self._given[3]
        return max((record.timestamp for record in self.records), default=-1) if given is None else given

    @property
    def last_sequence(self) -> int:
        """Sequence of the last record (0 follows 2147483647); -1 if there is none."""
        return -1 if self.base_sequence < 0 else self.base_sequence + self.last_offset_delta & 0x7FFFFFFF

    def __repr__(self) -> str:
        return (
            f"<RecordBatch magic={self.magic} base_offset={self.base_offset} count={self.count} compression={self.compression!r} "
            f"producer_id={self.producer_id}>"
        )
