"""What records cost in memory: a stated multiple of their bytes, whatever these say, and no more than the limit for what is compressed."""

from __future__ import annotations

import gzip
import struct
import tracemalloc
from collections.abc import Callable
from typing import Any

import crc32c
import pytest

from kafka_bytes import varint
from kwire.codec.impl import load_twin
from kwire.codec.records import MEMORY_MULTIPLE, record_reader
from kwire.errors import BadCompression, LimitExceeded, Truncated, UnsupportedVersion, WireError

SIZE = 50_000  # bytes of records
ONCE = 300_000  # what a call costs whatever the bytes are: room for the first rows, text of an error, modules that Arrow loads


def record(rest: bytes) -> bytes:
    """A record; `rest` is its key, value and headers."""
    return varint(3 + len(rest)) + b"\0\0\0" + rest


def batch(records: bytes, count: int, codec: int = 0) -> bytes:
    checked = struct.pack(">hiqqqhii", codec, count - 1, 0, 0, -1, -1, -1, count) + records
    return struct.pack(">qiibI", 0, 9 + len(checked), 0, 2, crc32c.crc32c(checked)) + checked


def repeated(each: bytes) -> bytes:
    return batch(each * (SIZE // len(each)), SIZE // len(each))


def one_record(header: bytes) -> bytes:
    return batch(record(b"\1\1" + varint(SIZE // len(header)) + header * (SIZE // len(header))), 1)


MESSAGE = struct.pack(">qiI", 0, 14, 0) + bytes(2) + b"\xff" * 8  # magic 0, key and value null
DENSE = {
    "records of nulls": repeated(record(b"\1\1\0")),
    "records with a key and a value": repeated(record(b"\4ab\4cd\0")),
    "records with a header": repeated(record(b"\1\1\2\0\1")),
    "one record of headers": one_record(b"\0\1"),
    "headers with names": one_record(b"\4ab\1"),
    "headers with names and values": one_record(b"\4ab\4cd"),
    "one value": batch(record(b"\1" + varint(SIZE) + bytes(SIZE) + b"\0"), 1),
    "messages of magic 0": MESSAGE * (SIZE // len(MESSAGE)),
}


@pytest.fixture(params=["native", pytest.param("pure", marks=pytest.mark.whole)])
def peak_of(request: pytest.FixtureRequest) -> Callable[..., int]:
    """`peak_of(data, form)`: bytes that reading takes at most, as `columns` or as `objects`; what the pool had is given back before."""
    reader = record_reader(request.param)
    forget = load_twin("codec", "record_columns", "native").free_kept

    def read(data: bytes, form: str, limit: int) -> Any:
        if form == "columns":
            return reader.to_arrow([data], errors="column", check_crc=False, max_decompressed=limit)
        return [each.records for each in reader.decode(data, strict=False, check_crc=False, max_decompressed=limit)]

    def peak(data: bytes, form: str, limit: int = 1 << 30) -> int:
        read(DENSE["one value"][:70], form, limit)  # what is made once
        read(batch(b"", 1), form, limit)
        forget()
        tracemalloc.start()
        try:
            read(data, form, limit)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return peak


DENSEST = ("records of nulls", "one record of headers")


@pytest.mark.parametrize("form", ["columns", "objects"])
@pytest.mark.parametrize("case", [case if case in DENSEST else pytest.param(case, marks=pytest.mark.whole) for case in DENSE])
def test_memory_is_a_multiple_of_the_input(peak_of, case, form):
    assert peak_of(DENSE[case], form) < MEMORY_MULTIPLE * len(DENSE[case]) + ONCE


@pytest.mark.parametrize("form", ["columns", "objects"])
def test_counts_that_lie_reserve_nothing(peak_of, form):
    for data in (
        batch(bytes(100), 2**31 - 1),  # records
        batch(record(b"\1\1" + varint(2**31 - 1) + bytes(20)), 1),  # headers
        batch(varint(2**31 - 1) + bytes(100), 1),  # bytes of a record
        batch(record(varint(2**31 - 1) + bytes(100)), 1),  # bytes of a key
    ):
        assert peak_of(data, form) < ONCE


def test_counts_that_lie_are_faults(twin):
    with pytest.raises(Truncated, match=r"batches\[0\].count"):
        record_reader(twin).decode(batch(bytes(100), 2**31 - 1))[0].records  # noqa: B018 - reading it raises
    with pytest.raises(WireError, match=r"buffers\[0\].batches\[0\].records\[0\].headers"):
        record_reader(twin).to_arrow([batch(record(b"\1\1" + varint(2**31 - 1) + bytes(20)), 1)])


@pytest.mark.parametrize("form", ["columns", "objects"])
def test_what_was_compressed_costs_a_multiple_of_what_it_unpacks_to(peak_of, form):
    each = record(b"\1\1\0")
    data = batch(gzip.compress(each * (SIZE // len(each))), SIZE // len(each), codec=1)
    assert len(data) < 1000
    assert peak_of(data, form, SIZE) < (MEMORY_MULTIPLE + 2) * SIZE + ONCE


@pytest.mark.parametrize("form", ["columns", "objects"])
def test_a_bomb_costs_the_limit(peak_of, form):
    data = batch(gzip.compress(record(b"\1\1\0") * (4 << 20)), 4 << 20, codec=1)  # 32 MiB
    limit = 1 << 20
    assert peak_of(data, form, limit) < 2 * limit + len(data) + ONCE
    with pytest.raises(LimitExceeded):
        record_reader("native").to_arrow([data], max_decompressed=limit)


def test_compressed_messages_do_not_nest(twin):
    """A set of messages in a message, again and again: only the outermost may be compressed, as in Kafka."""
    inner = MESSAGE
    for _ in range(50):
        packed = gzip.compress(inner)
        body = b"\0\1" + b"\xff" * 4 + struct.pack(">i", len(packed)) + packed
        inner = struct.pack(">qiI", 0, 4 + len(body), 0) + body
    with pytest.raises(LimitExceeded, match="compressed message inside a compressed message"):
        record_reader(twin).to_arrow([inner], check_crc=False)
    with pytest.raises((BadCompression, LimitExceeded, UnsupportedVersion)):
        record_reader(twin).decode(inner, check_crc=False)[0].records  # noqa: B018 - reading it raises
