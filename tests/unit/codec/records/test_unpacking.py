"""What the compressed batches of one call may unpack to together, and what is not unpacked at all."""

from __future__ import annotations

import gzip
import struct
import tracemalloc
from typing import Any

import crc32c
import pytest

from kafka_bytes import varint
from kwire.codec.impl import load_twin
from kwire.codec.records import MAX_DECOMPRESSED, UNPACKED_BYTES, UNPACKED_MULTIPLE, record_reader
from kwire.codec.records.compression import UnpackLimit
from kwire.errors import BadCompression, BadLength, LimitExceeded

MIB = 1 << 20


@pytest.fixture(params=["native", "pure"])
def reader(request: pytest.FixtureRequest) -> Any:
    return record_reader(request.param)


def record(rest: bytes) -> bytes:
    """A record; `rest` is its key, value and headers."""
    return varint(3 + len(rest)) + b"\0\0\0" + rest


def batch(payload: bytes, count: int, codec: int = 1, producer_id: int = -1) -> bytes:
    checked = struct.pack(">hiqqqhii", codec, max(count - 1, 0), 0, 0, producer_id, -1, -1, count) + payload
    return struct.pack(">qiibI", 40, 9 + len(checked), 0, 2, crc32c.crc32c(checked)) + checked


def of_value(size: int) -> bytes:
    """A record of a null key and a value of zeros, without headers: `size` bytes and at most 12 more."""
    return record(b"\1" + varint(size) + bytes(size) + b"\0")


def packed(size: int) -> bytes:
    """A batch of one such record, compressed a thousand times."""
    return batch(gzip.compress(of_value(size)), 1)


def test_the_default_is_a_floor_and_a_multiple_of_the_input():
    assert (UNPACKED_BYTES, UNPACKED_MULTIPLE) == (128 * MIB, 64)
    assert UnpackLimit(MAX_DECOMPRESSED, None, 57_630).total == 128 * MIB
    assert UnpackLimit(MAX_DECOMPRESSED, None, 10 * MIB).total == 640 * MIB
    assert UnpackLimit(MAX_DECOMPRESSED, 5, 10 * MIB).total == 5


def test_many_small_bombs_are_one_large_one(reader):
    """10 batches of 16 KB that become 16 MiB each: 160 MiB, of which 128 are allowed, so 7, as each has some bytes more."""
    data = packed(16 * MIB) * 10
    assert len(data) < 200_000
    batches = reader.decode(data)
    for each in batches[:7]:
        assert len(each.records[0].value) == 16 * MIB
        each.records.clear()  # what was read counts, kept or not
    with pytest.raises(LimitExceeded, match=f"the batches together unpack to more than {UNPACKED_BYTES} bytes") as caught:
        batches[7].records  # noqa: B018 - reading it raises
    assert caught.value.path == "batches[7].records"
    for buffers in ([data], [data[: len(data) // 2], data[len(data) // 2 :]]):
        with pytest.raises(LimitExceeded, match="the batches together unpack to more than 20000000 bytes"):
            reader.to_arrow(buffers, max_unpacked=20_000_000)


def test_each_call_has_its_own_limit(reader):
    data = packed(1000)
    for _ in range(3):
        assert reader.to_arrow([data], max_unpacked=1100).num_rows == 1
        assert len(reader.decode(data, max_unpacked=1100)[0].records) == 1
    with pytest.raises(LimitExceeded):
        reader.to_arrow([data, data], max_unpacked=1100)


def test_a_batch_is_counted_once(reader):
    """`was_changed`, which encoding asks, reads the records again."""
    [each] = reader.decode(packed(1000), max_unpacked=1100)
    assert each.records is each.records
    assert not each.was_changed()
    assert not each.was_changed()


def test_without_strict_the_batches_beyond_the_limit_have_a_fault(reader):
    data = packed(1000) + batch(of_value(1000), 1, codec=0) + packed(1000) + batch(of_value(5), 1, codec=0)
    batches = reader.decode(data, strict=False, max_unpacked=1500)
    assert [len(each.records) for each in batches] == [1, 1, 0, 1]
    assert [None if each.fault is None else each.fault.code.name for each in batches] == [None, None, "LIMIT_EXCEEDED", None]
    rows = reader.to_arrow([data], errors="column", max_unpacked=1500, fields=["batch", "error"]).num_rows
    assert rows == 4
    errors = reader.to_arrow([data], errors="column", max_unpacked=1500).column("error").to_pylist()
    assert [error is None for error in errors] == [True, True, False, True]


def test_a_refused_batch_counts_with_what_was_unpacked_of_it(reader):
    """Else a row of refused batches would be unpacked for ever."""
    data = packed(1000) + packed(10) + packed(10)
    batches = reader.decode(data, strict=False, max_decompressed=900, max_unpacked=930)
    assert [len(each.records) for each in batches] == [0, 1, 0]
    assert "together" not in batches[0].fault.reason
    assert "together unpack to more than 930 bytes" in batches[2].fault.reason


def test_what_is_not_asked_for_is_not_kept(reader):
    headers = b"\2" + varint(1) + b"h" + varint(2 * MIB) + bytes(2 * MIB)
    data = batch(record(b"\1" + varint(MIB) + bytes(MIB) + headers) * 3, 3, codec=0)
    forget = load_twin("codec", "record_columns", "native").free_kept
    plain = {"check_crc": False, "fields": ["offset", "timestamp", "producer_id"]}
    reader.to_arrow([data], **plain)  # so much room is made as the last call took
    forget()
    tracemalloc.start()
    try:
        made = reader.to_arrow([data], **plain)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert made.to_pylist() == [{"offset": 40, "timestamp": 0, "producer_id": -1}] * 3
    assert peak < (MIB if reader.twin == "native" else 2 * len(data))  # the pure twin makes records of a batch and lets go of them
    whole = reader.to_arrow([data], fields=["headers", "value"]).to_pylist()
    assert [(len(row["value"]), [(each["key"], len(each["value"])) for each in row["headers"]]) for row in whole] == [
        (MIB, [("h", 2 * MIB)])
    ] * 3


@pytest.mark.parametrize("field", ["key", "value", "headers"])
def test_one_kept_column_is_the_same_as_among_all(reader, field):
    record_of = record(b"\2k\4vw\2\2h\2x") + record(b"\1\1\4\2h\1\2i\0") + record(b"\0\0\0")
    data = batch(record_of, 3, codec=0) + batch(gzip.compress(record_of), 3)
    assert reader.to_arrow([data], fields=[field]).column(0).equals(reader.to_arrow([data]).column(field))


def test_names_of_headers_are_checked_though_they_are_not_asked_for(reader):
    data = batch(record(b"\1\1\2\2\xff\1"), 1, codec=0)
    for fields in (None, ["offset"], ["key"]):
        error = reader.to_arrow([data], fields=None if fields is None else [*fields, "error"], errors="column").column("error")[0].as_py()
        assert "headers[0].key" in error


BATCHES = ["batch", "magic", "base_offset", "producer_id"]


def test_columns_of_batches_need_no_unpacking(reader):
    """Not even of what could not be unpacked: rows are as many as the header says."""
    data = batch(b"this is not gzip", 3, producer_id=7)
    expected = [{"batch": 0, "magic": 2, "base_offset": 40, "producer_id": 7}] * 3
    assert reader.to_arrow([data], fields=BATCHES).to_pylist() == expected
    for field in ("offset", "timestamp", "sequence", "key", "value", "headers"):
        with pytest.raises(BadCompression):
            reader.to_arrow([data], fields=[*BATCHES, field])
    mixed = batch(of_value(3), 1, codec=0) + data + packed(9)
    assert reader.to_arrow([mixed], fields=["batch"]).to_pydict() == {"batch": [0, 1, 1, 1, 2]}


def test_counts_that_lie_are_bounded_where_nothing_is_unpacked(reader):
    """A record takes 7 bytes at least, so 2^31-1 of them cannot be in what a batch may unpack to."""
    with pytest.raises(LimitExceeded) as caught:
        reader.to_arrow([batch(b"", 2**31 - 1)], fields=BATCHES)
    assert (caught.value.path, caught.value.offset) == ("buffers[0].batches[0].count", 57)
    with pytest.raises(BadLength, match=r"batches\[0\].count"):
        reader.to_arrow([batch(b"", -2)], fields=BATCHES)
    assert reader.to_arrow([batch(b"", 100)], fields=BATCHES, max_decompressed=700).num_rows == 100
    rows = reader.to_arrow([batch(b"", 100) * 2], fields=[*BATCHES, "error"], max_unpacked=1399, errors="column").to_pylist()
    assert [row["batch"] for row in rows] == [0] * 100 + [1]
    assert "699 are allowed" in rows[-1]["error"]


def test_messages_of_magic_1_are_unpacked_for_columns_of_batches(reader):
    """Their headers do not say how many they are, nor their first offset."""
    body = b"\1\0" + struct.pack(">q", 5) + b"\xff\xff\xff\xff" + b"\0\0\0\1v"
    inner = struct.pack(">qiI", 0, 4 + len(body), 0) + body
    payload = gzip.compress(inner + inner)
    body = b"\1\1" + struct.pack(">q", 5) + b"\xff\xff\xff\xff" + struct.pack(">i", len(payload)) + payload
    data = struct.pack(">qiI", 9, 4 + len(body), 0) + body
    assert reader.to_arrow([data], fields=["magic", "base_offset"], check_crc=False).to_pylist() == [{"magic": 1, "base_offset": 9}] * 2
