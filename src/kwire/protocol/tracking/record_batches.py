"""Checks of headers of record batches: lengths, magic, codec, count and claimed sizes, without unpacking or reading records."""

from __future__ import annotations

from typing import Any, Final

from kwire.codec._pure.primitives import Break, read_zigzag
from kwire.codec.records import StoredBatch, scan
from kwire.errors import Fault
from kwire.protocol.tracking.reading import Fact, RequestReading, api_label

__all__ = ["fetched_batches_broken", "produced_batches_broken"]

_LENGTH_AT: Final = 8  # of a batch's length, in all forms
_LEAST_RECORD: Final = 7  # length, attributes, two deltas, key length, value length, header count: a byte each
# A payload that unpacks to more than a default producer's largest request, and to hundreds of times its size, may be made to fill memory.
_LARGE: Final = 1 << 20
_SUSPICIOUS_RATIO: Final = 200
_CODEC_MAGIC: Final = {1: ("gzip", b"\x1f\x8b"), 3: ("lz4", b"\x04\x22\x4d\x18"), 4: ("zstd", b"\x28\xb5\x2f\xfd")}


def produced_batches_broken(reading: RequestReading) -> list[Fact]:
    """Return the rules violated by the record batches of a decoded Produce request, at most one per batch."""
    label = f"{api_label(reading.api_key, reading.api_version)} request"
    broken: list[Fact] = []
    for topic in reading.message.topic_data:
        for partition in topic.partition_data:
            if partition.records:
                broken += _of_records(partition.records, label, False)
    return broken


def fetched_batches_broken(message: Any, label: str) -> list[Fact]:
    """Return the rules violated by the record batches of a decoded Fetch response; a partition's last batch may be cut (KIP-74)."""
    broken: list[Fact] = []
    for topic in message.responses:
        for partition in topic.partitions:
            if partition.records:
                broken += _of_records(partition.records, label, True)
    return broken


def _of_records(records: bytes, label: str, may_end_early: bool) -> list[Fact]:
    batches = scan(records)
    broken: list[Fact] = []
    for batch in batches:
        fact = _of_batch(records, batch)
        if fact is not None:
            broken.append((fact[0], {"message": label, **fact[1]}))
    start = batches[-1].position + batches[-1].size if batches else 0
    if batches.fault is not None and batches.fault.code == Fault.UNSUPPORTED_VERSION:
        broken.append(("batch_magic_unknown", {"message": label, "magic": records[batches.fault.offset]}))
    elif batches.fault is None and batches.tail_bytes and may_end_early:
        broken.append(("batch_partial", {"message": label}))
    elif batches.tail_bytes:
        length = int.from_bytes(records[start + _LENGTH_AT : start + _LENGTH_AT + 4], "big", signed=True)
        broken.append(("batch_length_impossible", {"message": label, "length": length, "available": batches.tail_bytes}))
    return broken


def _of_batch(records: bytes, batch: StoredBatch) -> tuple[str, dict[str, Any]] | None:
    codec = batch.attributes & 7
    if batch.fault is not None and batch.fault.code == Fault.UNSUPPORTED_VERSION:
        return "batch_codec_unknown", {"codec": codec}
    if batch.magic != 2:
        return None
    start, end = batch.payload_start, batch.payload_end
    payload, count = end - start, batch.stored_count
    if count < 0 or (codec == 0 and count * _LEAST_RECORD > payload):
        return "batch_count_impossible", {"count": count, "available": payload}
    if codec in _CODEC_MAGIC and payload:
        name, mark = _CODEC_MAGIC[codec]
        if records[start : start + len(mark)] != mark[:payload]:
            return "batch_payload_unreadable", {"codec": name}
        unpacked = _claimed_size(codec, records[start:end])
        if unpacked > max(_LARGE, payload * _SUSPICIOUS_RATIO):
            return "batch_unpacks_too_large", {"size": payload, "unpacked": unpacked}
    if codec == 0 and count:
        try:
            length, first = read_zigzag(records, start, end)
        except Break:
            return "batch_record_impossible", {"length": "unreadable", "available": payload}
        if length < _LEAST_RECORD - 1 or length > end - first:
            return "batch_record_impossible", {"length": length, "available": payload}
    return None


def _claimed_size(codec: int, payload: bytes) -> int:
    """Return the unpacked size that a payload claims, or 0: gzip's trailer, the optional sizes of LZ4 and Zstandard frames."""
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
