"""Record batches of magic 2 with their checksums: as columns, as objects, headers only; against the readers of aiokafka and kafka-python.

Batches are written byte by byte. A message of the table is a record.
"""

from __future__ import annotations

import struct
import warnings
from collections.abc import Callable
from typing import Any

import crc32c
import pytest
from aiokafka.record._crecords import DefaultRecordBatch

import frames
from java_decoder import HAS_JAVA
from kwire.codec.records import record_reader

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python reads its schemas with a call that 3.11 deprecates
    from kafka.record import MemoryRecords

RECORDS = 20_000  # of a run
JAVA_REPEATS = 20
SHAPES = {  # records of a batch, bytes of a value, headers of a record
    "100 x 90 B": (100, 90, 0),
    "1000 x 1 KB": (1000, 1000, 0),
    "10000 x 60 B": (10000, 60, 0),
    "1000 x 90 B, 3 headers": (1000, 90, 3),
}


def varint(value: int) -> bytes:
    """A zigzag varint."""
    return frames.varint(value << 1 if value >= 0 else (-value << 1) - 1)


def batch(records: int, size: int, headers: int) -> bytes:
    """A batch; every second record has a key."""
    body = bytearray()
    for index in range(records):
        key = varint(-1) if index % 2 else varint(10) + b"key-%06d" % index
        value = (b"value %06d " % index * (size // 13 + 1))[:size]
        named = b"".join(varint(8) + b"header-%d" % each + varint(5) + b"abcde" for each in range(headers))
        record = b"\0" + varint(3 * index) + varint(index) + key + varint(size) + value + varint(headers) + named
        body += varint(len(record)) + record
    checked = struct.pack(">hiqqqhii", 0, records - 1, 1700000000000, 1700000000000 + 3 * records, -1, -1, -1, records) + body
    return struct.pack(">qiibI", 1000, 9 + len(checked), 7, 2, crc32c.crc32c(checked)) + checked


def native_columns(batches: list[bytes]) -> int:
    return int(record_reader("native").to_arrow(batches).num_rows)


def objects(twin: Any) -> Callable[[list[bytes]], int]:
    decode = record_reader(twin).decode

    def read(batches: list[bytes]) -> int:
        seen = 0
        for data in batches:
            for each in decode(data):
                for _record in each.records:
                    seen += 1
        return seen

    return read


def native_headers(batches: list[bytes]) -> int:
    decode = record_reader("native").decode
    return sum(each.count for data in batches for each in decode(data, check_crc=False))


def aiokafka(batches: list[bytes]) -> int:
    seen = 0
    for data in batches:
        each = DefaultRecordBatch(data)
        assert each.validate_crc()
        for _record in each:
            seen += 1
    return seen


def aiokafka_lists(batches: list[bytes]) -> int:
    """What a user of aiokafka does to come to columns."""
    offsets, times, keys, values, headers = [], [], [], [], []
    for data in batches:
        each = DefaultRecordBatch(data)
        assert each.validate_crc()
        for record in each:
            offsets.append(record.offset)
            times.append(record.timestamp)
            keys.append(record.key)
            values.append(record.value)
            headers.append(record.headers)
    return len(values)


def kafka_python(batches: list[bytes]) -> int:
    seen = 0
    for data in batches:
        for each in MemoryRecords(data):
            assert each.validate_crc()
            for _record in each:
                seen += 1
    return seen


READERS = {
    "native": native_columns,
    "native objects": objects("native"),
    "native headers": native_headers,
    "pure": objects("pure"),
    "aiokafka": aiokafka,
    "aiokafka lists": aiokafka_lists,
    "kafka-python": kafka_python,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("who", [*READERS, *(["java"] if HAS_JAVA else [])])
def test_records(race, java, who, shape):
    count, size, headers = SHAPES[shape]
    batches = [batch(count, size, headers)] * (RECORDS // count)
    batches = [bytes(bytearray(each)) for each in batches]  # each in its own memory
    if who == "java":
        run = java("records", batches, JAVA_REPEATS)
        assert run() == RECORDS * JAVA_REPEATS
        race(f"records {shape}", who, run, RECORDS * JAVA_REPEATS, sum(map(len, batches)) * JAVA_REPEATS)
        return
    read = READERS[who]
    if who in ("pure", "kafka-python"):
        batches = batches[: max(1, 2000 // count)]
    expected = count * len(batches)
    assert read(batches) == expected
    race(f"records {shape}", who, lambda: read(batches), expected, sum(map(len, batches)))
