"""Record batches made by hand: what the vectors do not have, what rivals break on, and where a fault is placed."""

from __future__ import annotations

import copy
import gzip
import pickle
import struct
import zlib
from typing import Any

import pytest

from kafka_bytes import varint
from kwire.codec._pure.checksums import crc32c_by_table
from kwire.codec.impl import load_twin
from kwire.codec.records import read_control
from kwire.errors import (
    BadChecksum,
    BadLength,
    BadUtf8,
    BadVarint,
    Fault,
    LimitExceeded,
    NullNotAllowed,
    TrailingBytes,
    Truncated,
    UnsupportedVersion,
)  # fmt: skip

V2 = struct.Struct(">hiqqqhii")


def content(value: bytes | None) -> bytes:
    return varint(-1) if value is None else varint(len(value)) + value


def record(delta: int = 0, key: bytes | None = None, value: bytes | None = b"v", headers: bytes = b"\0", time_delta: int = 0) -> bytes:
    body = b"\0" + varint(time_delta) + varint(delta) + content(key) + content(value) + headers
    return varint(len(body)) + body


def batch(
    records: bytes,
    count: int = 1,
    attributes: int = 0,
    producer: tuple[int, int, int] = (-1, -1, -1),
    times: tuple[int, int] = (1000, 2000),
    last_offset_delta: int = 0,
) -> bytes:
    checked = V2.pack(attributes, last_offset_delta, *times, *producer, count) + records
    return struct.pack(">qiibI", 50, 9 + len(checked), 7, 2, crc32c_by_table(checked)) + checked


def raises(record_codec: Any, data: bytes, kind: type[Exception], offset: int, path: str) -> Any:
    """Reading `data` fails so, the checksums aside."""
    with pytest.raises(kind) as caught:
        [each.records for each in record_codec.decode(data, check_crc=False)]
    assert (caught.value.offset, caught.value.path) == (offset, path)
    return caught.value


def test_a_batch(record_codec):
    data = batch(record(0, b"k") + record(1, time_delta=5), 2, last_offset_delta=1)
    (read,) = record_codec.decode(data)
    assert (read.position, read.size, read.count, read.base_offset, read.last_offset) == (0, len(data), 2, 50, 51)
    assert [(each.offset, each.timestamp, each.sequence, each.key, each.value, each.headers) for each in read.records] == [
        (50, 1000, -1, b"k", b"v", ()),
        (51, 1005, -1, None, b"v", ()),
    ]
    assert read.records is read.records


def test_any_buffer_is_read(record_codec):
    data = batch(record())
    for buffer in (bytearray(data), memoryview(data), memoryview(bytearray(data))):
        assert record_codec.decode(buffer)[0].records == record_codec.decode(data)[0].records
    with pytest.raises(TypeError):
        record_codec.decode("text")


def test_log_append_time_is_the_batch_s_last_time(record_codec):
    (read,) = record_codec.decode(batch(record(time_delta=3), attributes=0x08))
    assert (read.timestamp_type, read.records[0].timestamp) == ("LogAppendTime", 2000)


def test_time_deltas_have_64_bits(record_codec):
    (read,) = record_codec.decode(batch(record(time_delta=1 << 40)))
    assert read.records[0].timestamp == 1000 + (1 << 40)


def test_sequences_go_from_the_highest_int_to_0(record_codec):
    (read,) = record_codec.decode(batch(record(0) + record(1), 2, producer=(9, 0, 0x7FFFFFFF), last_offset_delta=1))
    assert [each.sequence for each in read.records] == [0x7FFFFFFF, 0]
    assert (read.producer_id, read.last_sequence) == (9, 0)


@pytest.mark.parametrize(
    ("base", "delta", "last", "following"),
    [(2**63 - 1, 1, -(2**63), 1 - 2**63), (2**63 - 2, 1, 2**63 - 1, -(2**63)), (-(2**63), -1, 2**63 - 1, -(2**63))],
)
def test_offsets_wrap_around_as_javas_long_does(record_codec, base, delta, last, following):
    """`DefaultRecordBatch.lastOffset` and `nextOffset`, and the offset of a record; the checksum does not cover the base offset."""
    data = struct.pack(">q", base) + batch(record(delta), last_offset_delta=delta)[8:]
    (read,) = record_codec.decode(data)
    assert (read.base_offset, read.last_offset, read.next_offset, read.records[0].offset) == (base, last, following, last)


def test_record_headers_keep_nulls_and_order(record_codec):
    headers = varint(3) + content(b"b") + content(None) + content("ä".encode()) + content(b"") + content(b"b") + content(b"x")
    (read,) = record_codec.decode(batch(record(headers=headers)))
    assert read.records[0].headers == (("b", None), ("ä", b""), ("b", b"x"))


def test_a_batch_of_no_records(record_codec):
    """As compaction leaves one, to keep a producer's last sequence."""
    (read,) = record_codec.decode(batch(b"", 0, producer=(4, 1, 9), last_offset_delta=3))
    assert (read.records, read.last_offset, read.last_sequence) == ([], 53, 12)


def test_the_end_of_a_transaction(record_codec):
    (read,) = record_codec.decode(batch(record(key=bytes((0, 0, 0, 0)), value=bytes((0, 0, 0, 0, 0, 17))), attributes=0x30))
    assert (read.is_control, read.is_transactional) == (True, True)
    assert read_control(read.records[0]) == (0, "ABORT", 0, 17, None)


@pytest.mark.parametrize(("key", "value", "path"), [(b"\0\0\0", b"", "key"), (None, b"", "key"), (b"\0\0\0\1", b"\0\0\0\0\0", "value")])
def test_a_control_record_that_is_cut(record_codec, key, value, path):
    (read,) = record_codec.decode(batch(record(key=key, value=value), attributes=0x20))
    with pytest.raises(Truncated) as caught:
        read_control(read.records[0])
    assert caught.value.path == path


def test_a_control_type_of_the_future(record_codec):
    (read,) = record_codec.decode(batch(record(key=b"\0\1\0\x63"), attributes=0x20))
    assert read_control(read.records[0])[:3] == (99, "UNKNOWN", 1)


def test_a_last_batch_that_is_cut_is_left_out_and_told(record_codec):
    data = batch(record())
    for end in (1, 11, 12, 16, 17, 60, len(data) - 1):
        read = record_codec.decode(data + data[:end])
        assert (len(read), read.tail_bytes, read.fault) == (1, end, None)
    assert record_codec.decode(b"").tail_bytes == 0


def test_checksums(record_codec):
    data = bytearray(batch(record()) + batch(record()))
    data[-1] ^= 1
    with pytest.raises(BadChecksum) as caught:
        record_codec.decode(data)
    assert (caught.value.path, caught.value.offset) == ("batches[1].crc", len(data) // 2 + 17)
    assert len(record_codec.decode(data, check_crc=False)) == 2
    lenient = record_codec.decode(data, strict=False)
    assert [each.fault and each.fault.code for each in lenient] == [None, Fault.BAD_CHECKSUM]


@pytest.mark.parametrize(
    ("data", "crc"),
    # RFC 3720, B.4, and the check value that catalogues of CRCs give
    [(b"", 0), (b"123456789", 0xE3069283), (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43), (bytes(range(32)), 0x46DD794E)],
)
def test_crc32c(twin, data, crc):
    module = load_twin("codec", "records", twin)
    assert (module.crc32c(data), crc32c_by_table(data)) == (crc, crc)


def test_crc32c_of_every_length(twin):
    """The stripes of the native twin begin at 384 and 6144 bytes."""
    module = load_twin("codec", "records", twin)
    data = bytes(index * 7 & 0xFF for index in range(20000))
    for size in (*range(70), 383, 384, 385, 391, 767, 768, 6143, 6144, 6145, 6528, 12288, 19999):
        expected = crc32c_by_table(data[3 : 3 + size])
        assert module.crc32c(data[3 : 3 + size]) == expected
        if twin == "native":
            assert module.crc32c_by_tables(data[3 : 3 + size]) == expected


# What a batch header can say that no batch is. `12345` and a batch of 26 bytes make aiokafka read out of bounds.


def test_fewer_bytes_than_a_header(record_codec):
    read = record_codec.decode(b"12345")
    assert (len(read), read.tail_bytes) == (0, 5)


@pytest.mark.parametrize("length", [-1, 0, 13, -0x80000000])
def test_lengths_that_nothing_has(record_codec, length):
    raises(record_codec, bytes(8) + struct.pack(">i", length) + bytes(60), BadLength, 8, "batches[0].size")


@pytest.mark.parametrize(("magic", "least"), [(1, 22), (2, 49)])
def test_lengths_shorter_than_the_header(record_codec, magic, least):
    frame = bytes(8) + struct.pack(">i", least - 1) + bytes((0, 0, 0, 0, magic)) + bytes(60)
    raises(record_codec, frame, BadLength, 8, "batches[0].size")


def test_the_longest_length_is_a_cut_batch(record_codec):
    assert record_codec.decode(bytes(8) + b"\x7f\xff\xff\xff" + bytes(4) + b"\2" + bytes(60)).tail_bytes == 77


def test_an_unknown_magic_ends_the_buffer(record_codec):
    good = batch(record())
    error = raises(record_codec, good + good[:16] + b"\7" + good[17:], UnsupportedVersion, len(good) + 16, "batches[1].magic")
    assert "unknown magic 7" in str(error)
    read = record_codec.decode(good + good[:16] + b"\7" + good[17:], strict=False)
    assert (len(read), read.fault.code) == (1, Fault.UNSUPPORTED_VERSION)


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_an_unknown_codec(record_codec, codec):
    data = batch(record(), attributes=codec)
    raises(record_codec, data, UnsupportedVersion, 21, "batches[0].attributes")
    (read,) = record_codec.decode(data, strict=False)
    assert (read.compression, read.records, read.fault.code) == ("unknown", [], Fault.UNSUPPORTED_VERSION)


@pytest.mark.parametrize(("count", "kind"), [(-1, BadLength), (-0x80000000, BadLength), (0x7FFFFFFF, Truncated), (3, Truncated)])
def test_counts_are_held_against_the_bytes_left(record_codec, count, kind):
    raises(record_codec, batch(record(), count), kind, 57, "batches[0].count")


def test_more_records_than_the_count(record_codec):
    data = batch(record(), 1)
    raises(record_codec, batch(record() + b"\0", 1), TrailingBytes, len(data), "batches[0].records")


def with_body(body: bytes) -> bytes:
    """A batch of one record with this body, padded so that its count is believed."""
    return batch(varint(len(body)) + body)


HUGE = b"\xfe\xff\xff\xff\x0f"  # 2^31-1
OVER = b"\xff\xff\xff\xff\x1f"
LONG = b"\xff" * 9 + b"\x01"


@pytest.mark.parametrize(
    ("body", "kind", "at", "path"),
    [
        (b"\0\0\0" + HUGE + b"\0\0", Truncated, 8, ".key"),
        (b"\0\0\0" + LONG, BadVarint, 3, ".key"),
        (b"\0\0\0" + OVER, BadVarint, 3, ".key"),
        (b"\0\0\0\1" + HUGE + b"\0\0", Truncated, 9, ".value"),
        (b"\0" + b"\xff" * 9 + b"\x02" + b"\0\0\0", BadVarint, 1, ".timestamp"),
        (b"\0" + b"\xff" * 8, Truncated, 1, ".timestamp"),
        (b"\0\0" + OVER + b"\0\0\0", BadVarint, 2, ".offset"),
        (b"\0\0\0\1\1" + HUGE, Truncated, 5, ".headers"),
        (b"\0\0\0\1\1\1\0\0", BadLength, 5, ".headers"),
        (b"\0\0\0\1\1\4\2a\1\1\1", BadLength, 9, ".headers[1].key"),
        (b"\0\0\0\1\1\2\x0aab", Truncated, 7, ".headers[0].key"),
        (b"\0\0\0\1\1\2\2a\x0abc", Truncated, 9, ".headers[0].value"),
        (b"\0\0\0\1\1\2\2\xff\1", BadUtf8, 7, ".headers[0].key"),
        (b"\0\0\0\1\1\0\0\0", TrailingBytes, 6, ""),
        (b"\0\0\0\1\1\x80", Truncated, 5, ".headers"),
        (b"\0\0\0\x80\x80\x80\x80", Truncated, 3, ".key"),
    ],
)
def test_records_that_are_broken(record_codec, body, kind, at, path):
    raises(record_codec, with_body(body), kind, 61 + 1 + at, f"batches[0].records[0]{path}")


@pytest.mark.parametrize(
    ("records", "kind", "at"),
    [(b"\1" * 7, BadLength, 0), (HUGE + bytes(7), Truncated, 5), (OVER + bytes(7), BadVarint, 0), (b"\0" * 7, Truncated, 1)],
)
def test_lengths_of_records(record_codec, records, kind, at):
    path = "batches[0].records[0]" + (".attributes" if records == b"\0" * 7 else "")
    raises(record_codec, batch(records), kind, 61 + at, path)


def test_the_second_of_three_records_is_broken(record_codec):
    first = record()
    data = batch(first + b"\1" + record() + bytes(10), 3)
    raises(record_codec, data, BadLength, 61 + len(first), "batches[0].records[1]")
    (read,) = record_codec.decode(data, strict=False)
    assert (len(read.records), read.fault.path) == (1, "batches[0].records[1]")


def test_header_names_that_are_not_utf8_are_replaced_on_request(record_codec):
    (read,) = record_codec.decode(with_body(b"\0\0\0\1\1\2\2\xff\1"), strict=False)
    assert read.records[0].headers == (("�", None),)
    assert read.fault is None


def test_a_long_run_of_continued_bytes_costs_nothing(record_codec):
    """A megabyte of them takes a reader with unbounded varints half a minute."""
    raises(record_codec, with_body(b"\0\0\0" + b"\xff" * 1_000_000), BadVarint, 61 + 4 + 3 - 1, "batches[0].records[0].key")


# Magic 0 and 1.


def message(offset: int, magic: int, value: bytes | None, attributes: int = 0, timestamp: int = 5, key: bytes | None = None) -> bytes:
    def sized(each: bytes | None) -> bytes:
        return b"\xff\xff\xff\xff" if each is None else struct.pack(">i", len(each)) + each

    checked = bytes((magic, attributes)) + (struct.pack(">q", timestamp) if magic else b"") + sized(key) + sized(value)
    return struct.pack(">qiI", offset, 4 + len(checked), zlib.crc32(checked)) + checked


def gzipped(*messages: bytes) -> bytes:
    return gzip.compress(b"".join(messages))


def test_offsets_inside_a_compressed_message(record_codec):
    relative = message(102, 1, gzipped(*(message(index, 1, b"x") for index in range(3))), 1)
    # what a producer sends: no broker has given offsets yet
    produced = message(0, 1, gzipped(*(message(index, 1, b"x") for index in range(3))), 1)
    absolute = message(102, 0, gzipped(message(100, 0, b"x"), message(102, 0, b"x")), 1)
    read = record_codec.decode(relative + produced + absolute)
    assert [[each.offset for each in one.records] for one in read] == [[100, 101, 102], [0, 1, 2], [100, 102]]
    assert [(one.base_offset, one.last_offset) for one in read] == [(100, 102), (0, 0), (100, 102)]


def test_log_append_time_of_the_outer_message(record_codec):
    inner = message(0, 1, b"x", timestamp=5) + message(1, 1, b"y", timestamp=6)
    created, appended = record_codec.decode(message(1, 1, gzipped(inner), 1, 900) + message(1, 1, gzipped(inner), 9, 900))
    assert [each.timestamp for each in created.records] == [5, 6]
    assert [each.timestamp for each in appended.records] == [900, 900]


def test_a_compressed_message_inside_a_compressed_message(record_codec):
    data = message(0, 1, gzipped(message(0, 1, gzipped(message(0, 1, b"x")), 1)), 1)
    error = raises(record_codec, data, LimitExceeded, 34, "batches[0].records[0].attributes")
    assert "compressed message inside a compressed message (byte 17 of the unpacked records)" in str(error)


def test_messages_inside_that_are_broken(record_codec):
    inner = message(0, 1, b"x")
    bad_crc = bytearray(inner)
    bad_crc[-1] ^= 1
    for packed, kind, path in (
        (inner[:-1], Truncated, "records[0]"),
        (inner + inner[:16], Truncated, "records[1]"),
        (message(0, 0, b"x"), UnsupportedVersion, "records[0].magic"),
        (b"", Truncated, "records"),
    ):
        raises(record_codec, message(0, 1, gzipped(packed), 1), kind, 34, f"batches[0].{path}")
    with pytest.raises(BadChecksum) as caught:
        assert record_codec.decode(message(0, 1, gzipped(inner, bytes(bad_crc)), 1))[0].records
    assert caught.value.path == "batches[0].records[1].crc"


def test_a_compressed_message_without_a_value(record_codec):
    raises(record_codec, message(0, 1, None, 1), NullNotAllowed, 30, "batches[0].records")


@pytest.mark.parametrize(
    ("tail", "kind", "at", "path"),
    [
        (b"\0\0\0\5ab\0\0", Truncated, 4, ".key"),
        (b"\xff\xff\xff\xff\0\0\0\5ab", Truncated, 8, ".value"),
        (b"\xff\xff\xff\xff\xff\xff\xff\xffab", TrailingBytes, 8, ""),
    ],
)
def test_messages_that_are_broken(record_codec, tail, kind, at, path):
    data = struct.pack(">qiI", 0, 6 + len(tail), 0) + b"\0\0" + tail
    raises(record_codec, data, kind, 18 + at, f"batches[0].records[0]{path}")


def test_magics_in_one_buffer(record_codec):
    data = message(1, 0, b"a") + batch(record()) + message(2, 1, b"b") + batch(record())
    assert [one.magic for one in record_codec.decode(data)] == [0, 2, 1, 2]


# Objects.


def test_records_are_values(record_codec):
    made = record_codec.Record(offset=1, key=b"k", headers=[("a", None)])
    assert made == record_codec.Record(1, -1, -1, b"k", None, (("a", None),))
    assert made != record_codec.Record(2, -1, -1, b"k", None, (("a", None),))
    assert made != 1
    assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == made
    assert repr(made) == "Record(offset=1, timestamp=-1, sequence=-1, key=b'k', value=None, headers=(('a', None),))"
    with pytest.raises(TypeError):
        hash(made)
