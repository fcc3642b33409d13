"""Record batches that other Kafka libraries misread or read out of bounds: what kwire makes of the same bytes, as objects and columns."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from kwire.codec._pure.checksums import crc32c_by_table
from kwire.errors import BadChecksum, BadLength, BadVarint, Fault, Truncated, WireError

MINUS_1 = "01"  # zigzag varints
MINUS_2_31 = "ffffffff0f"
PLUS_300 = "d804"


def batch(record: str, count: int = 1, base_timestamp: int = 1700000000123) -> bytes:
    """A batch of magic 2 at offset 50 around records in hex, with the checksum it should have."""
    checked = struct.pack(">hiqqqhii", 0, 0, base_timestamp, base_timestamp, -1, -1, -1, count) + bytes.fromhex(record)
    return struct.pack(">qiibI", 50, 9 + len(checked), 7, 2, crc32c_by_table(checked)) + checked


def rows(record_codec: Any, data: bytes) -> list[tuple[int, int]]:
    """Offset and time of each record, the same from objects and columns."""
    objects = [(each.offset, each.timestamp) for read in record_codec.decode(data) for each in read.records]
    columns = record_codec.to_arrow([data], fields=("offset", "timestamp")).to_pylist()
    assert [(each["offset"], each["timestamp"]) for each in columns] == objects
    return objects


def refuses(record_codec: Any, data: bytes, kind: type[WireError], offset: int, path: str) -> None:
    """Reading fails at this place, in all ways."""
    with pytest.raises(kind) as caught:
        [each.records for each in record_codec.decode(data)]
    assert (caught.value.offset, caught.value.path) == (offset, path)
    with pytest.raises(kind) as caught:
        record_codec.to_arrow([data])
    assert (caught.value.offset, caught.value.path) == (offset, f"buffers[0].{path}")


def test_milliseconds_are_kept(record_codec):
    # kio cuts times to whole seconds, and writes a batch back that it then calls corrupt.
    assert rows(record_codec, batch("0c" + "00" + "00" + "00" + "01" + "01" + "00")) == [(50, 1700000000123)]


@pytest.mark.parametrize(
    ("record", "row"),
    [
        # aiokafka's VarInt32 reads -1 as -2^31, its VarInt64 300 as 278; kafka-protocol-rs once read time deltas in 32 bits.
        ("0c" + "00" + "00" + MINUS_1 + "01" + "01" + "00", (49, 1700000000123)),
        ("0e" + "00" + PLUS_300 + "00" + "01" + "01" + "00", (50, 1700000000423)),
        ("0c" + "00" + MINUS_1 + "00" + "01" + "01" + "00", (50, 1700000000122)),
        ("14" + "00" + "00" + MINUS_2_31 + "01" + "01" + "00", (50 - 2**31, 1700000000123)),
        ("14" + "00" + "8080808040" + "00" + "01" + "01" + "00", (50, 1700000000123 + 2**33)),
    ],
)
def test_deltas(record_codec, record, row):
    assert rows(record_codec, batch(record)) == [row]


def test_a_batch_of_26_bytes(record_codec):
    # aiokafka believes its length of 14 and reads a header of 61 bytes.
    data = struct.pack(">qiib", 50, 14, 7, 2) + bytes(9)
    assert len(data) == 26
    refuses(record_codec, data, BadLength, 8, "batches[0].size")


@pytest.mark.parametrize("size", [1, 11, 16, 17, 60])
def test_fewer_bytes_than_a_header(record_codec, size):
    # aiokafka reads a header of 61 bytes out of any of them; kio says "checksum mismatch" of a batch that a broker cut.
    whole = batch("0c" + "00" + "00" + "00" + "01" + "01" + "00")
    for data, count in ((whole[:size], 0), (whole + whole[:size], 1)):
        read = record_codec.decode(data)
        assert (len(read), read.tail_bytes, read.fault) == (count, size, None)
        assert record_codec.to_arrow([data]).num_rows == count


@pytest.mark.parametrize(
    ("record", "kind", "at", "path"),
    [
        # Key lengths of 64 bits (2^63-1, and the highest of 32) overflow aiokafka's bounds check.
        ("26" + "00" + "00" + "00" + "fe" + "ff" * 8 + "01" + "01" + "00" + "00" * 5, BadVarint, 65, ".key"),
        ("26" + "00" + "00" + "00" + "feffffff0f" + "00" * 11, Truncated, 70, ".key"),
        # The key of a header that is longer than its record, which aiokafka does not check.
        ("14" + "00" + "00" + "00" + "01" + "01" + "02" + "7e" + "61" + "0100", Truncated, 69, ".headers[0].key"),
        # A varint that begins in the record and ends behind the buffer: checked for one byte, read up to ten.
        ("0c" + "00" + "00" + "00" + "808080", Truncated, 65, ".key"),
    ],
)
def test_lengths_inside_a_record(record_codec, record, kind, at, path):
    refuses(record_codec, batch(record), kind, at, f"batches[0].records[0]{path}")


@pytest.mark.parametrize("count", [0x7FFFFFFF, 2])
def test_a_count_of_records_that_cannot_be(record_codec, count):
    # kafka-protocol-rs made room for the count of the header.
    refuses(record_codec, batch("0c" + "00" + "00" + "00" + "01" + "01" + "00", count), Truncated, 57, "batches[0].count")


def test_a_corrupt_batch_can_be_skipped(record_codec):
    # What users of aiokafka asked for: the offsets of the corrupt batch, and the batches around it.
    good = batch("0c" + "00" + "00" + "00" + "01" + "01" + "00")
    bad = good[:-1] + b"\x02"
    refuses(record_codec, good + bad + good, BadChecksum, len(good) + 17, "batches[1].crc")
    read = record_codec.decode(good + bad + good, strict=False)
    assert [(each.base_offset, each.last_offset, each.fault and each.fault.code) for each in read] == [
        (50, 50, None), (50, 50, Fault.BAD_CHECKSUM), (50, 50, None),
    ]  # fmt: skip
    assert [each["offset"] for each in record_codec.to_arrow([good + bad + good], errors="column").to_pylist()] == [50, None, 50]


def test_a_reversed_buffer_is_refused(record_codec):
    # kio does not look at strides and reads past the buffer.
    view = memoryview(batch("0c" + "00" + "00" + "00" + "01" + "01" + "00"))[::-1]
    for read in (record_codec.decode, lambda data: record_codec.to_arrow([data])):
        with pytest.raises(BufferError):
            read(view)
