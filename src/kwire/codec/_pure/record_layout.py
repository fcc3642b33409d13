"""Layout of record batches and messages in a buffer: headers, records, record headers (Kafka's DefaultRecordBatch and LegacyRecord).

    magic 2    base offset int64, length int32, leader epoch int32, magic int8, CRC-32C uint32 of all that follows, attributes int16,
               last offset delta int32, base timestamp int64, max timestamp int64, producer id int64, producer epoch int16,
               base sequence int32, count int32, then the records, compressed together or not
    record     length varint, attributes int8, timestamp delta varlong, offset delta varint, key, value, headers (lengths: zigzag varints)
    magic 0,1  offset int64, length int32, CRC-32 uint32 of all that follows, magic int8, attributes int8, timestamp int64 (magic 1 only),
               key and value with int32 lengths; the value of a compressed message is a set of messages

A fault is a `Flaw`; both backends find the same one, the first in the order of these lines.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Final, TypeVar

from kwire.codec._pure.checksums import crc32c
from kwire.codec._pure.primitives import Break, Buffer, read_varlong, read_zigzag
from kwire.codec.records.compression import HIGHEST_CODEC
from kwire.codec.records.java_long import java_long
from kwire.codec.records.places import Flaw, Place
from kwire.errors import Fault

__all__ = ["COUNT_AT", "LEAST_RECORD", "BatchHeader", "RawRecord", "read_raw", "scan"]

_FRAMING: Final = 12  # offset and length: what stands before the bytes that the length counts
_HEAD: Final = 17
_MAGIC_AT: Final = 16
_RECORDS_AT: Final = 61
COUNT_AT: Final = 57
_LEAST_LENGTH: Final = {0: 14, 1: 22, 2: _RECORDS_AT - _FRAMING}
LEAST_RECORD: Final = 7  # length, attributes, two deltas, key length, value length, number of headers: a byte each
_V2: Final = struct.Struct(">q4xixIhiqqqhii")
_CODEC: Final = 0x07
_LOG_APPEND_TIME: Final = 0x08

# To look into an enumeration takes longer than to read a field.
_RECORD, _ATTRIBUTES, _TIMESTAMP, _OFFSET = Place.RECORD, Place.RECORD_ATTRIBUTES, Place.RECORD_TIMESTAMP, Place.RECORD_OFFSET
_KEY, _VALUE, _HEADERS = Place.RECORD_KEY, Place.RECORD_VALUE, Place.RECORD_HEADERS
_HEADER_KEY, _HEADER_VALUE = Place.RECORD_HEADER_KEY, Place.RECORD_HEADER_VALUE
_LOWEST: Final = -(1 << 63)
_HIGHEST: Final = (1 << 63) - 1
_NULL: Final = 1  # the length -1 as a zigzag varint

Header = TypeVar("Header", bound="BatchHeader")
Made = TypeVar("Made")


class BatchHeader:
    """Header of a batch, or of a message of magic 0 or 1, which Kafka treats as a batch; `flaw` is its fault as six numbers.

    `stored_offset` is the first record's offset in magic 2, the last one's in a compressed message; `stored_count` is -1 for a message.
    """

    __slots__ = (
        "attributes", "base_sequence", "base_timestamp", "crc", "data", "flaw", "index", "last_offset_delta", "magic", "max_timestamp",
        "partition_leader_epoch", "payload_end", "payload_start", "position", "producer_epoch", "producer_id", "size", "stored_count",
        "stored_offset",
    )  # fmt: skip

    data: Buffer
    index: int
    flaw: Flaw | None
    position: int
    size: int
    payload_start: int
    payload_end: int
    magic: int
    crc: int
    attributes: int
    stored_offset: int
    stored_count: int
    last_offset_delta: int
    partition_leader_epoch: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int


def _int32(data: Buffer, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big", signed=True)


def _int64_at(data: Buffer, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "big", signed=True)


def _whole_batch(data: Buffer, at: int) -> tuple[int, int] | Flaw | None:
    """Return size and magic of the batch at `at`; None if it is truncated, as brokers may send it (KIP-74), or absent."""
    left = len(data) - at
    if left < _FRAMING:
        return None
    length = _int32(data, at + 8)
    if length < _LEAST_LENGTH[0]:
        return Flaw(Fault.BAD_LENGTH, at + 8, Place.SIZE)
    if left < _HEAD:
        return None
    magic = data[at + _MAGIC_AT]
    if magic not in _LEAST_LENGTH:
        return Flaw(Fault.UNSUPPORTED_VERSION, at + _MAGIC_AT, Place.MAGIC, detail=magic)
    if length < _LEAST_LENGTH[magic]:
        return Flaw(Fault.BAD_LENGTH, at + 8, Place.SIZE)
    return (_FRAMING + length, magic) if length <= left - _FRAMING else None


def _read_head(header: BatchHeader, check_crc: bool) -> Flaw | None:
    data, at = header.data, header.position
    end = header.payload_end = at + header.size
    codec_at = at + 21 if header.magic == 2 else at + 17
    if header.magic == 2:
        (
            header.stored_offset, header.partition_leader_epoch, header.crc, header.attributes, header.last_offset_delta,
            header.base_timestamp, header.max_timestamp, header.producer_id, header.producer_epoch, header.base_sequence,
            header.stored_count,
        ) = _V2.unpack_from(data, at)  # fmt: skip
        header.payload_start = at + _RECORDS_AT
        if check_crc and (computed := crc32c(memoryview(data)[at + 21 : end])) != header.crc:
            return Flaw(Fault.BAD_CHECKSUM, at + 17, Place.CRC, detail=computed)
    else:
        header.stored_offset = _int64_at(data, at)
        header.crc = int.from_bytes(data[at + 12 : at + 16], "big")
        header.attributes = data[at + 17]
        header.last_offset_delta = 0
        header.base_timestamp = header.max_timestamp = _int64_at(data, at + 18) if header.magic else -1
        header.partition_leader_epoch = header.producer_id = header.producer_epoch = header.base_sequence = header.stored_count = -1
        header.payload_start = at + (26 if header.magic else 18)
        if check_crc and (computed := zlib.crc32(memoryview(data)[at + 16 : end])) != header.crc:
            return Flaw(Fault.BAD_CHECKSUM, at + 12, Place.CRC, detail=computed)
    codec = header.attributes & _CODEC
    if codec > HIGHEST_CODEC[header.magic]:
        return Flaw(Fault.UNSUPPORTED_VERSION, codec_at, Place.ATTRIBUTES, detail=codec)
    if header.magic < 2 and codec:
        # The payload is the value; a key is of no use here, and Kafka does not look at it.
        try:
            start, size = _body(data, header.payload_start, end)[2:]
        except _Broken as error:
            header.payload_start = end
            return error.flaw(0)
        if size < 0:
            header.payload_start = end
            return Flaw(Fault.NULL_NOT_ALLOWED, end - 4, Place.RECORDS)
        header.payload_start = start
    return None


def scan(data: Buffer, kind: type[Header], check_crc: bool, strict: bool) -> tuple[list[Header], int, Flaw | None]:
    """Return the batch headers of a buffer, the size of a truncated last batch, and the flaw that stopped the scan."""
    batches: list[Header] = []
    at = 0
    while True:
        found = _whole_batch(data, at)
        if found is None or isinstance(found, Flaw):
            return batches, len(data) - at, found
        header = kind.__new__(kind)
        header.data, header.index, header.position = data, len(batches), at
        header.size, header.magic = found
        header.flaw = _read_head(header, check_crc)
        batches.append(header)
        if header.flaw is not None and strict:
            return batches, 0, header.flaw
        at += header.size


class _Broken(Exception):
    def __init__(self, code: Fault, offset: int, place: Place, header: int = 0, detail: int = 0) -> None:
        super().__init__()
        self.code, self.offset, self.place, self.header, self.detail = code, offset, place, header, detail

    def flaw(self, record: int) -> Flaw:
        return Flaw(self.code, self.offset, self.place, record, self.header, self.detail)


def _content(data: Buffer, at: int, end: int, nullable: bool) -> tuple[int, int]:
    """Return start and length of a key or value; any negative length is null (-1), as in Kafka."""
    length, start = read_zigzag(data, at, end)
    if length < 0:
        if not nullable:
            raise Break(Fault.BAD_LENGTH, at)
        return start, -1
    if length > end - start:
        raise Break(Fault.TRUNCATED, start)
    return start, length


RawRecord = tuple[int, int, int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]
Make = Callable[[int, int, int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]], Made]


def _read_record(header: BatchHeader, data: Buffer, at: int, end: int, errors: str, make: Make[Made]) -> tuple[Made, int]:
    """Read a record; return it and the position after it. One-byte varints are read inline."""
    place = _RECORD
    headers: list[tuple[str, bytes | None]] = []
    key = value = None
    try:
        length, pos = read_zigzag(data, at, end)
        if length < 0:
            raise Break(Fault.BAD_LENGTH, at)
        if length > end - pos:
            raise Break(Fault.TRUNCATED, pos)
        end = pos + length
        place = _ATTRIBUTES
        if pos == end:
            raise Break(Fault.TRUNCATED, pos)
        pos += 1
        place = _TIMESTAMP
        if pos < end and (byte := data[pos]) < 0x80:
            timestamp, pos = (byte >> 1) ^ -(byte & 1), pos + 1
        else:
            timestamp, pos = read_varlong(data, pos, end)
        place = _OFFSET
        if pos < end and (byte := data[pos]) < 0x80:
            delta, pos = (byte >> 1) ^ -(byte & 1), pos + 1
        else:
            delta, pos = read_zigzag(data, pos, end)
        place = _KEY
        if pos < end and data[pos] == _NULL:
            pos += 1
        else:
            start, size = _content(data, pos, end, True)
            pos = start + max(size, 0)
            key = None if size < 0 else bytes(data[start:pos])
        place = _VALUE
        start, size = _content(data, pos, end, True)
        at = pos = start + max(size, 0)
        value = None if size < 0 else bytes(data[start:pos])
        place = _HEADERS
        if pos < end and data[pos] == 0:
            pos += 1
        else:
            count, pos = read_zigzag(data, pos, end)
            if count < 0:
                raise Break(Fault.BAD_LENGTH, at)
            if 2 * count > end - pos:  # two lengths of a byte each
                raise Break(Fault.TRUNCATED, at)
            for _ in range(count):
                place = _HEADER_KEY
                start, size = _content(data, pos, end, False)
                try:
                    name = str(data[start : start + size], "utf-8", errors)
                except UnicodeDecodeError:
                    raise Break(Fault.BAD_UTF8, start) from None
                place = _HEADER_VALUE
                start, size = _content(data, start + size, end, True)
                pos = start + max(size, 0)
                headers.append((name, None if size < 0 else bytes(data[start:pos])))
        place = _RECORD
        if pos != end:
            raise Break(Fault.TRAILING_BYTES, pos)
    except Break as fault:
        at_header = place in (_HEADER_KEY, _HEADER_VALUE)
        raise _Broken(fault.code, fault.offset, place, len(headers) if at_header else 0) from None
    timestamp = header.max_timestamp if header.attributes & _LOG_APPEND_TIME else header.base_timestamp + timestamp
    offset = header.stored_offset + delta
    if not (_LOWEST <= timestamp <= _HIGHEST and _LOWEST <= offset <= _HIGHEST):
        timestamp, offset = java_long(timestamp), java_long(offset)
    # sequence numbers go from 2^31-1 to 0
    sequence = -1 if header.base_sequence < 0 else header.base_sequence + delta & 0x7FFFFFFF
    return make(offset, timestamp, sequence, key, value, tuple(headers)), end


def _body(data: Buffer, at: int, end: int) -> tuple[int, int, int, int]:
    """Return start and size (-1 for null) of a message's key and value."""
    found: list[int] = []
    for place in (Place.RECORD_KEY, Place.RECORD_VALUE):
        if end - at < 4:
            raise _Broken(Fault.TRUNCATED, at, place)
        size = max(_int32(data, at), -1)
        at += 4
        if size > end - at:
            raise _Broken(Fault.TRUNCATED, at, place)
        found += at, size
        at += max(size, 0)
    if at != end:
        raise _Broken(Fault.TRAILING_BYTES, at, Place.RECORD)
    return found[0], found[1], found[2], found[3]


def _read_message(data: Buffer, at: int, end: int, offset: int, timestamp: int) -> RawRecord:
    key_at, key_size, value_at, value_size = _body(data, at, end)
    key = None if key_size < 0 else bytes(data[key_at : key_at + key_size])
    value = None if value_size < 0 else bytes(data[value_at : value_at + value_size])
    return offset, timestamp, -1, key, value, ()


def _read_inner(header: BatchHeader, data: Buffer, at: int, end: int, check_crc: bool) -> tuple[RawRecord, int]:
    """Read a message inside a compressed one (Kafka's DeepRecordsIterator), with its stored offset; return the position after it too."""
    if end - at < _HEAD:
        raise _Broken(Fault.TRUNCATED, at, Place.RECORD)
    length, magic = _int32(data, at + 8), data[at + _MAGIC_AT]
    if magic != header.magic:
        raise _Broken(Fault.UNSUPPORTED_VERSION, at + _MAGIC_AT, Place.RECORD_MAGIC, detail=magic)
    if length < _LEAST_LENGTH[magic]:
        raise _Broken(Fault.BAD_LENGTH, at + 8, Place.RECORD_SIZE)
    if length > end - at - _FRAMING:
        raise _Broken(Fault.TRUNCATED, at + _FRAMING, Place.RECORD)
    stop = at + _FRAMING + length
    if check_crc:
        computed = zlib.crc32(memoryview(data)[at + _MAGIC_AT : stop])
        if computed != int.from_bytes(data[at + 12 : at + 16], "big"):
            raise _Broken(Fault.BAD_CHECKSUM, at + 12, Place.RECORD_CRC, detail=computed)
    if data[at + 17] & _CODEC:
        raise _Broken(Fault.LIMIT_EXCEEDED, at + 17, Place.RECORD_ATTRIBUTES)
    timestamp = -1
    if magic == 1:
        timestamp = header.max_timestamp if header.attributes & _LOG_APPEND_TIME else _int64_at(data, at + 18)
    return _read_message(data, at + (26 if magic else 18), stop, _int64_at(data, at), timestamp), stop


def _read_records(header: BatchHeader, data: Buffer, start: int, end: int, errors: str, make: Make[Made]) -> tuple[list[Made], Flaw | None]:
    made: list[Made] = []
    count = header.stored_count
    if count == 0:  # as Kafka: what follows is not looked at
        return made, None
    if count < 0:
        return made, Flaw(Fault.BAD_LENGTH, header.position + COUNT_AT, Place.COUNT)
    if count * LEAST_RECORD > end - start:
        return made, Flaw(Fault.TRUNCATED, header.position + COUNT_AT, Place.COUNT)
    try:
        for _ in range(count):
            record, start = _read_record(header, data, start, end, errors, make)
            made.append(record)
    except _Broken as error:
        return made, error.flaw(len(made))
    return made, None if start == end else Flaw(Fault.TRAILING_BYTES, start, Place.RECORDS)


def _read_messages(header: BatchHeader, data: Buffer, start: int, end: int, check_crc: bool) -> tuple[list[RawRecord], Flaw | None]:
    made: list[RawRecord] = []
    try:
        if not header.attributes & _CODEC:
            return [_read_message(data, start, end, header.stored_offset, header.max_timestamp)], None
        if start == end:
            return made, Flaw(Fault.TRUNCATED, start, Place.RECORDS)
        while start < end:
            record, start = _read_inner(header, data, start, end, check_crc)
            made.append(record)
    except _Broken as error:
        return made, error.flaw(len(made))
    # Magic 1 stores offsets from 0 on inside and the last message's offset outside (KIP-31). A producer's set, which no broker has given
    # offsets yet, comes out negative; Kafka then takes the stored ones.
    base = java_long(header.stored_offset - made[-1][0])
    if header.magic == 1 and base > 0:
        made = [(java_long(each[0] + base), *each[1:]) for each in made]
    return made, None


def read_raw(
    header: BatchHeader, data: Buffer, start: int, end: int, check_crc: bool, errors: str, make: Make[Made]
) -> tuple[list[Made], Flaw | None]:
    """Return the results of `make` for the records of a batch, and the first fault; arguments as in `read_records`."""
    if header.magic == 2:
        return _read_records(header, data, start, end, errors, make)
    messages, flaw = _read_messages(header, data, start, end, check_crc)
    return [make(*each) for each in messages], flaw
