"""Writing of record batches, by the rules of Kafka's MemoryRecordsBuilder.

An unchanged batch that was read is written with its original bytes. Others are built: uncompressed ones are byte-identical to
Kafka's; compressed ones depend on the codec's library.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final, NoReturn

from kwire.codec._pure import record_writing as general
from kwire.codec._pure.record_writing import Pack, Refused, integer_of
from kwire.codec.impl import Twin, backend, load_twin
from kwire.codec.records.batch import StoredBatch
from kwire.codec.records.compression import CODECS, HIGHEST_CODEC
from kwire.codec.records.drafts import LOG_APPEND_TIME, RecordBatch
from kwire.codec.records.packing import LEVELS, pack
from kwire.errors import EncodeError

__all__ = ["RecordWriter", "encode", "record_writer"]

_TIMESTAMP_TYPES: Final = {0: ("NoTimestampType",), 1: ("CreateTime", "LogAppendTime"), 2: ("CreateTime", "LogAppendTime")}
_HIGHEST: Final = 2**63 - 1
_NUMBERS: Final = (  # name, lowest, highest
    ("partition_leader_epoch", -(2**31), 2**31 - 1), ("producer_id", -1, _HIGHEST), ("producer_epoch", -1, 2**15 - 1),
    ("base_sequence", -1, 2**31 - 1),
)  # fmt: skip
_NUMBERS_GIVEN: Final = (
    ("base_offset", 0, _HIGHEST), ("last_offset", 0, _HIGHEST), ("base_timestamp", -1, _HIGHEST), ("max_timestamp", -1, _HIGHEST),
)  # fmt: skip


def _number(name: str, value: Any, lowest: int, highest: int) -> int:
    wanted = f"expected a whole number from {lowest} to {highest}"
    number = integer_of(value, wanted, f".{name}")
    if not lowest <= number <= highest:
        raise Refused(wanted, f".{name}")
    return number


def _required(batch: RecordBatch) -> tuple[int, ...]:
    """Return the checked values of `_NUMBERS`."""
    return tuple(_number(name, getattr(batch, name), lowest, highest) for name, lowest, highest in _NUMBERS)


def _given(batch: RecordBatch) -> tuple[int | None, ...]:
    """Return the checked values of `_NUMBERS_GIVEN`; None to derive from the records."""
    return tuple(
        None if given is None else _number(name, given, lowest, highest)
        for (name, lowest, highest), given in zip(_NUMBERS_GIVEN, batch._given, strict=True)
    )


def _check_codec(batch: RecordBatch, level: int | None) -> int:
    """Return the number of the codec."""
    if type(batch.magic) is not int or batch.magic not in HIGHEST_CODEC:
        raise Refused("the magic is 0, 1 or 2", ".magic")
    if batch.compression not in CODECS:
        raise Refused(f"unknown compression, there are {', '.join(CODECS)}", ".compression")
    codec = CODECS.index(batch.compression)
    if codec > HIGHEST_CODEC[batch.magic]:
        raise Refused(f"magic {batch.magic} has no {batch.compression}", ".compression")
    if batch.timestamp_type not in _TIMESTAMP_TYPES[batch.magic]:
        raise Refused(f"the timestamp type of magic {batch.magic} is {' or '.join(_TIMESTAMP_TYPES[batch.magic])}", ".timestamp_type")
    if level is not None and codec:
        lowest, highest = LEVELS.get(batch.compression, (0, -1))
        if type(level) is not int or not lowest <= level <= highest:
            known = f"are from {lowest} to {highest}" if batch.compression in LEVELS else "do not exist"
            raise Refused(f"levels of {batch.compression} {known}", ".compression")
    return codec


def _check_producer(batch: RecordBatch) -> None:
    """Check as MemoryRecordsBuilder.validateProducerState, and its constructor for old messages."""
    if batch.magic < 2:
        for name, value, absent in (
            ("partition_leader_epoch", batch.partition_leader_epoch, -1), ("producer_id", batch.producer_id, -1),
            ("producer_epoch", batch.producer_epoch, -1), ("base_sequence", batch.base_sequence, -1),
            ("is_transactional", batch.is_transactional, False), ("is_control", batch.is_control, False),
            ("delete_horizon_ms", batch.delete_horizon_ms, None),
        ):  # fmt: skip
            if value != absent:
                raise Refused(f"magic {batch.magic} has no {name}", f".{name}")
        return
    if batch.producer_id == -1:
        if batch.is_transactional and batch._rows:
            raise Refused("transactional records have a producer id", ".producer_id")
        return
    if batch.producer_epoch == -1:
        raise Refused("a producer with an id has an epoch", ".producer_epoch")
    if batch.base_sequence == -1 and not batch.is_control:
        raise Refused("a producer with an id has a sequence", ".base_sequence")


class RecordWriter:
    """Writer of record batches by one backend."""

    def __init__(self, twin: Twin) -> None:
        module = load_twin("codec", "records", twin)
        self.twin = twin
        self.Record: Any = module.Record
        self._write_batch = module.write_batch
        self._write_messages = module.write_messages

    def encode(self, batches: Iterable[RecordBatch | StoredBatch] | RecordBatch | StoredBatch, *, level: int | None = None) -> bytes:
        """Write record batches of magic 0, 1 and 2, in any mixture, one after another.

        Arguments:
            batches: batches to write, including batches that were read; or a single batch.
            level: compression level within `kwire.codec.records.packing.LEVELS`; Kafka's default if not given.

        Raises:
            EncodeError: Kafka does not allow a value in a batch; the error has a path such as ``batches[0].records[3].key``.
            WireError: the records of a changed batch cannot be read.
            InputError: the library for a codec is not installed.
        """
        if isinstance(batches, RecordBatch | StoredBatch):
            batches = (batches,)
        parts: list[bytes] = []
        for index, batch in enumerate(batches):
            try:
                parts.append(self._encode(batch, level))
            except Refused as refused:
                _raise(refused, index)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _encode(self, batch: Any, level: int | None) -> bytes:
        if isinstance(batch, StoredBatch):
            if batch.fault is not None:
                raise Refused(f"the batch was not read whole ({batch.fault.reason})")
            if not batch.was_changed():
                return bytes(memoryview(batch.data)[batch.position : batch.position + batch.size])
            batch = batch.replace(records=batch.records)
        elif not isinstance(batch, RecordBatch):
            raise Refused(f"expected a RecordBatch, got {type(batch).__name__}")
        codec = _check_codec(batch, level)
        _check_producer(batch)
        if batch.magic < 2:
            return self._encode_messages(batch, codec, level)
        packing: Pack | None = (lambda plain: pack(codec, 2, plain, level)) if codec else None
        base_offset, last_offset, base_timestamp, max_timestamp = batch._given
        horizon = batch.delete_horizon_ms
        if horizon is not None:
            horizon = _number("delete_horizon_ms", horizon, 0, _HIGHEST)
            if base_timestamp is not None and base_timestamp != horizon:
                raise Refused("the base timestamp of a batch with a delete horizon is that horizon", ".base_timestamp")
            base_timestamp = horizon
        arguments = (
            batch._rows, base_offset, batch.partition_leader_epoch, batch.attributes, last_offset, base_timestamp, max_timestamp,
            batch.producer_id, batch.producer_epoch, batch.base_sequence, packing,
        )  # fmt: skip
        written: bytes | None = self._write_batch(*arguments) if self.twin == "native" else None
        if written is None:  # the pure twin's, or it says what is wrong
            leader_epoch, producer_id, producer_epoch, base_sequence = _required(batch)
            base_offset, last_offset, given_timestamp, max_timestamp = _given(batch)
            written = general.write_batch(
                batch._rows, base_offset, leader_epoch, batch.attributes, last_offset, given_timestamp if horizon is None else horizon,
                max_timestamp, producer_id, producer_epoch, base_sequence, packing,
            )  # fmt: skip
        return written

    def _messages(self, records: list[Any], magic: int, attributes: int, base_offset: int | None, relative: bool) -> tuple[bytes, int, int]:
        arguments = (records, magic, attributes, base_offset, relative)
        written: tuple[bytes, int, int] | None = self._write_messages(*arguments) if self.twin == "native" else None
        return general.write_messages(*arguments) if written is None else written

    def _encode_messages(self, batch: RecordBatch, codec: int, level: int | None) -> bytes:
        _required(batch)
        base_offset, last_offset, base_timestamp, max_timestamp = _given(batch)
        magic, time_bit = batch.magic, batch.attributes & LOG_APPEND_TIME
        if base_timestamp is not None:
            raise Refused(f"magic {magic} has no base timestamp", ".base_timestamp")
        if codec and not batch._rows:
            raise Refused("a compressed message holds at least one", ".records")
        records = batch._rows
        if time_bit and max_timestamp is not None:  # Kafka's builder gives it to every message
            records = [self.Record(each.offset, max_timestamp, -1, each.key, each.value, each.headers) for each in batch.records]
        plain, last, highest = self._messages(records, magic, time_bit, base_offset, codec > 0 and magic == 1)
        if records and last_offset is not None and last_offset != last:
            raise Refused(f"the last offset of magic {magic} is that of the last record, {last}", ".last_offset")
        if records and max_timestamp is not None and max_timestamp != highest:
            raise Refused(f"the highest timestamp of the records is {highest}", ".max_timestamp")
        if not codec:
            return plain
        packed = self.Record(last, highest, -1, None, pack(codec, magic, plain, level))
        return self._messages([packed], magic, codec | time_bit, None, False)[0]


def _raise(refused: Refused, index: int) -> NoReturn:
    raise EncodeError(refused.reason, path=f"batches[{index}]{refused.path}") from None


@cache
def record_writer(twin: Twin = backend) -> RecordWriter:
    """Return the writer of record batches of one backend; its methods are those of `kwire.records`.

    Arguments:
        twin: `native` or `pure`.
    """
    return RecordWriter(twin)


encode: Final = record_writer().encode
