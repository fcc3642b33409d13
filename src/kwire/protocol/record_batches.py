"""Looks at the headers of record batches: lengths, magic, codec, count and claimed sizes, without unpacking or reading records.

    magic 2    base offset int64, length int32, leader epoch int32, magic int8, crc uint32, attributes int16, ... count int32, records
    magic 0,1  offset int64, size int32, crc uint32, magic int8, attributes int8, ...

A Produce request holds whole batches; only a Fetch response may end in a part of one.
"""

from __future__ import annotations

from typing import Any, Final

from kwire.protocol.reading import Fact, RequestReading, api_label

__all__ = ["fetched_batches_broken", "produced_batches_broken"]

_LENGTH_AT: Final = 8
_MAGIC_AT: Final = 16
_HEAD: Final = 17  # up to and with the magic, which is at the same place in all forms
_ATTRIBUTES_AT: Final = {0: 17, 1: 17, 2: 21}
_COUNT_AT: Final = 57
_RECORDS_AT: Final = 61
_SHORTEST: Final = {0: 14, 1: 22, 2: _RECORDS_AT - 12}  # length field of an empty batch, or of a message with null key and value
_HIGHEST_CODEC: Final = {0: 3, 1: 3, 2: 4}  # lz4; zstd came with magic 2
_LEAST_RECORD: Final = 7  # length, attributes, two deltas, key length, value length, header count: a byte each
# A payload that unpacks to more than a default producer's largest request, and to hundreds of times its size, may be made to fill memory.
_LARGE: Final = 1 << 20
_SUSPICIOUS_RATIO: Final = 200
_CODEC_MAGIC: Final = {1: ("gzip", b"\x1f\x8b"), 3: ("lz4", b"\x04\x22\x4d\x18"), 4: ("zstd", b"\x28\xb5\x2f\xfd")}


def produced_batches_broken(reading: RequestReading) -> list[Fact]:
    """The rules that the record batches of a decoded Produce request break, one fact a batch at most."""
    label = f"{api_label(reading.api_key, reading.api_version)} request"
    broken: list[Fact] = []
    for topic in reading.message.topic_data:
        for partition in topic.partition_data:
            if partition.records:
                broken += _of_records(partition.records, label, False)
    return broken


def fetched_batches_broken(message: Any, label: str) -> list[Fact]:
    """The rules that the record batches of a decoded Fetch response break; the last batch of a partition may be cut (KIP-74)."""
    broken: list[Fact] = []
    for topic in message.responses:
        for partition in topic.partitions:
            if partition.records:
                broken += _of_records(partition.records, label, True)
    return broken


def _of_records(records: bytes, label: str, may_end_early: bool) -> list[Fact]:
    broken: list[Fact] = []
    start = 0
    while start < len(records):
        available = len(records) - start
        length = int.from_bytes(records[start + _LENGTH_AT : start + 12], "big", signed=True)
        magic = records[start + _MAGIC_AT] if available >= _HEAD else None
        if magic is not None and magic not in _SHORTEST:
            broken.append(("batch_magic_unknown", {"message": label, "magic": magic}))
            break
        if may_end_early and (magic is None or (length >= _SHORTEST[magic] and 12 + length > available)):
            broken.append(("batch_partial", {"message": label}))
            break
        if magic is None or length < _SHORTEST[magic] or 12 + length > available:
            broken.append(("batch_length_impossible", {"message": label, "length": length, "available": available}))
            break
        fact = _of_batch(records, start, start + 12 + length, magic)
        if fact is not None:
            broken.append((fact[0], {"message": label, **fact[1]}))
        start += 12 + length
    return broken


def _of_batch(records: bytes, start: int, end: int, magic: int) -> tuple[str, dict[str, Any]] | None:
    codec = records[start + _ATTRIBUTES_AT[magic] + (1 if magic == 2 else 0)] & 7
    if codec > _HIGHEST_CODEC[magic]:
        return "batch_codec_unknown", {"codec": codec}
    if magic != 2:
        return None
    payload = end - start - _RECORDS_AT
    count = int.from_bytes(records[start + _COUNT_AT : start + _RECORDS_AT], "big", signed=True)
    if count < 0 or (codec == 0 and count * _LEAST_RECORD > payload):
        return "batch_count_impossible", {"count": count, "available": payload}
    if codec in _CODEC_MAGIC and payload:
        name, mark = _CODEC_MAGIC[codec]
        if records[start + _RECORDS_AT : start + _RECORDS_AT + len(mark)] != mark[:payload]:
            return "batch_payload_unreadable", {"codec": name}
        unpacked = _claimed_size(codec, records[start + _RECORDS_AT : end])
        if unpacked > max(_LARGE, payload * _SUSPICIOUS_RATIO):
            return "batch_unpacks_too_large", {"size": payload, "unpacked": unpacked}
    if codec == 0 and count:
        length, size = _zigzag(records, start + _RECORDS_AT, end)
        if length is None or length < _LEAST_RECORD - 1 or length > payload - size:
            return "batch_record_impossible", {"length": "unreadable" if length is None else length, "available": payload}
    return None


def _claimed_size(codec: int, payload: bytes) -> int:
    """The unpacked size that a payload states, 0 where it states none: gzip's trailer, the optional sizes of LZ4 and Zstandard frames."""
    if codec == 1:
        return int.from_bytes(payload[-4:], "little")
    if codec == 3:
        return int.from_bytes(payload[6:14], "little") if payload[4:5] and payload[4] & 0x08 else 0
    if len(payload) < 6:
        return 0
    single, flag = payload[4] >> 5 & 1, payload[4] >> 6
    start = 5 + (1 - single) + (0, 1, 2, 4)[payload[4] & 3]
    size = (single, 2, 4, 8)[flag]
    return int.from_bytes(payload[start : start + size], "little") + (256 if size == 2 else 0)


def _zigzag(data: bytes, start: int, end: int) -> tuple[int | None, int]:
    """A signed varint, as records use it, and its size."""
    value = shift = 0
    for position in range(start, min(start + 5, end)):
        value |= (data[position] & 0x7F) << shift
        if data[position] < 0x80:
            return (value >> 1) ^ -(value & 1), position - start + 1
        shift += 7
    return None, 0
