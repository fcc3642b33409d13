"""Record batches to be written: hand-worked bytes, defaults, what a batch cannot carry and where it says so."""

from __future__ import annotations

import struct
import sys
import zlib
from typing import Any

import crc32c
import pytest

from kwire.codec import message_class
from kwire.codec.records import RecordBatch, control_record, read_control, record_reader, record_writer
from kwire.codec.records.writing import RecordWriter
from kwire.errors import BadChecksum, EncodeError, InputError

HEAD = struct.Struct(">qiibIhiqqqhii")


@pytest.fixture
def writer(twin) -> RecordWriter:
    return record_writer(twin)


def head(data: bytes) -> dict[str, int]:
    names = "base_offset length epoch magic crc attributes last_delta base_time max_time producer_id producer_epoch base_sequence count"
    return dict(zip(names.split(), HEAD.unpack_from(data), strict=True))


def refusal(writer: RecordWriter, *batches: Any, level: int | None = None) -> EncodeError:
    with pytest.raises(EncodeError) as caught:
        writer.encode(batches, level=level)
    return caught.value


def test_a_batch_by_hand(writer):
    records = [
        writer.Record(key=b"k", value=b"v", timestamp=1000),
        writer.Record(value=b"", timestamp=1300, headers=[("h", b"x"), ("ü", None)]),
    ]
    data = writer.encode(RecordBatch(records, base_offset=7, partition_leader_epoch=3, producer_id=5, producer_epoch=1, base_sequence=9))
    first = bytes.fromhex("10 00 00 00 02 6b 02 76 00".replace(" ", ""))
    # length 17; attributes; 300 and 1 as zigzag; null; empty; two headers
    second = bytes.fromhex("22 00 d804 02 01 00 04 02 68 02 78 04 c3bc 01".replace(" ", ""))
    second = bytes(((len(second) - 1) * 2,)) + second[1:]
    checked = struct.pack(">hiqqqhii", 0, 1, 1000, 1300, 5, 1, 9, 2) + first + second
    assert data == struct.pack(">qiibI", 7, 9 + len(checked), 3, 2, crc32c.crc32c(checked)) + checked


def test_what_records_say_themselves(writer):
    record = writer.Record
    data = writer.encode(RecordBatch([record(10, 500), record(timestamp=900), record(15, 700), record(-1, -1)]))
    found = head(data)
    assert (found["base_offset"], found["last_delta"], found["base_time"], found["max_time"], found["count"]) == (10, 6, 500, 900, 4)
    assert [(each.offset, each.timestamp) for each in record_reader(writer.twin).decode(data)[0].records] == [
        (10, 500), (11, 900), (15, 700), (16, -1),
    ]  # fmt: skip


def test_a_batch_says_beforehand_what_it_will_be(writer):
    record = writer.Record
    batch = RecordBatch(
        [record(10, 500, value=b"a"), record(timestamp=900)], compression="zstd", producer_id=1, producer_epoch=0, base_sequence=2**31 - 1,
        is_transactional=True,
    )  # fmt: skip
    read = record_reader(writer.twin).decode(writer.encode(batch))[0]
    for name in (
        "magic", "attributes", "compression", "timestamp_type", "base_offset", "last_offset", "last_offset_delta", "next_offset", "count",
        "base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "last_sequence", "is_transactional",
        "is_control", "delete_horizon_ms", "partition_leader_epoch",
    ):  # fmt: skip
        assert getattr(batch, name) == getattr(read, name), name
    assert repr(batch) == "<RecordBatch magic=2 base_offset=10 count=2 compression='zstd' producer_id=1>"


def test_tuples(writer):
    headers = [("h", b"1")]
    rows = [(b"k", b"v"), (None, b"w", 5), (b"x", None, 6, headers), (b"y", b"", 7, ())]
    record = writer.Record
    records = [
        record(key=b"k", value=b"v"), record(value=b"w", timestamp=5), record(key=b"x", timestamp=6, headers=headers),
        record(key=b"y", value=b"", timestamp=7),
    ]  # fmt: skip
    batch = RecordBatch(rows)
    assert writer.encode(batch) == writer.encode(RecordBatch(records))
    assert [(each.key, each.value, each.timestamp, each.headers) for each in batch.records] == [
        (each.key, each.value, each.timestamp, each.headers) for each in records
    ]
    assert writer.encode(batch) == writer.encode(RecordBatch(records))


def test_any_buffer_is_a_key_or_a_value(writer):
    plain = [(b"key", b"value", 1, [("h", b"x")])]
    for kind in (bytearray, memoryview):
        assert writer.encode(RecordBatch([(kind(b"key"), kind(b"value"), 1, [("h", kind(b"x"))])])) == writer.encode(RecordBatch(plain))
    assert writer.encode(RecordBatch([(memoryview(b"k.e.y.")[::2], b"")])) == writer.encode(RecordBatch([(b"key", b"")]))


def test_an_empty_batch(writer):
    """As compaction leaves it: 61 bytes that keep offsets and the producer's sequence."""
    data = writer.encode(RecordBatch(base_offset=100, last_offset=109, producer_id=1, producer_epoch=2, base_sequence=3, max_timestamp=4))
    assert len(data) == 61
    found = head(data)
    assert (found["last_delta"], found["base_time"], found["max_time"], found["count"]) == (9, -1, 4, 0)
    assert head(writer.encode(RecordBatch()))["base_offset"] == 0
    assert writer.encode([]) == b""


def test_messages_by_hand(writer):
    for magic in (0, 1):
        time = -1 if magic == 0 else 1000
        data = writer.encode(RecordBatch([writer.Record(5, time, key=b"k"), writer.Record(timestamp=time, value=b"v")], magic=magic))
        expected = b""
        for offset, key, value in ((5, b"\0\0\0\1k", b"\xff\xff\xff\xff"), (6, b"\xff\xff\xff\xff", b"\0\0\0\1v")):
            checked = bytes((magic, 0)) + (struct.pack(">q", time) if magic else b"") + key + value
            expected += struct.pack(">qiI", offset, 4 + len(checked), zlib.crc32(checked)) + checked
        assert data == expected


@pytest.mark.parametrize("magic", [0, 1])
def test_offsets_of_compressed_messages(writer, magic):
    """From 0 on inside and the last one outside in magic 1 (KIP-31), absolute in magic 0."""
    batch = RecordBatch([writer.Record(40), writer.Record(44)], magic=magic, compression="gzip")
    outer = writer.encode(batch)
    assert struct.unpack_from(">q", outer)[0] == 44
    inner = zlib.decompress(outer[len(outer) - struct.unpack_from(">i", outer, 22 + 8 * magic)[0] :], 31)
    size = len(inner) // 2
    assert [struct.unpack_from(">q", inner, at)[0] for at in (0, size)] == ([40, 44] if magic == 0 else [0, 4])
    assert [each.offset for each in record_reader(writer.twin).decode(outer)[0].records] == [40, 44]


def record_cases(record: Any) -> list[tuple[list[Any], str, str]]:
    return [
        ([record(3), record(3)], "records[1].offset", "offset 3 is not above 3"),
        ([record(3), record(2)], "records[1].offset", "offset 2 is not above 3"),
        ([record(0), record(2**31)], "records[1].offset", "more than 2^31-1"),
        ([record(2**63 - 1), record()], "records[1].offset", "no offset is left"),
        ([record(-2)], "records[0].offset", "from 0 to 2^63-1"),
        ([record(0, -2)], "records[0].timestamp", "or -1"),
        ([record(), record(key="text")], "records[1].key", "expected bytes or None, got str"),
        ([record(value=[1])], "records[0].value", "expected bytes or None, got list"),
        ([record(headers=[("a", b"1"), ("b", "2")])], "records[0].headers[1].value", "got str"),
        ([record(headers=[(b"a", b"1")])], "records[0].headers[0].key", "expected a string, got bytes"),
        ([record(headers=[("\ud800", b"1")])], "records[0].headers[0].key", "surrogate"),
        ([record(headers=["ab"])], "records[0].headers[0]", "a pair of a name and a value"),
        ([record(headers=[("a", b"1", 2)])], "records[0].headers[0]", "a pair of a name and a value"),
        ([(b"k",)], "records[0]", "expected a key, a value"),
        ([(b"k", b"v", 1, (), 5)], "records[0]", "expected a key, a value"),
        ([(b"k", b"v", 2**63)], "records[0].timestamp", "or -1"),
        ([(b"k", b"v", 1.0)], "records[0].timestamp", "or -1"),
        ([(b"k", b"v", "1")], "records[0].timestamp", "or -1"),
        ([(b"k", b"v", 1, 5)], "records[0].headers", "got int"),
        ([b"kv"], "records[0]", "expected a Record, got bytes"),
        ([None], "records[0]", "expected a Record, got NoneType"),
    ]


@pytest.mark.parametrize("number", range(21))
def test_records_that_cannot_be_written(writer, number):
    cases = record_cases(writer.Record)
    assert len(cases) == 21
    records, path, reason = cases[number]
    error = refusal(writer, RecordBatch([(b"a", b"b")]), RecordBatch(records))
    assert error.path == f"batches[1].{path}"
    assert reason in error.reason
    assert str(error) == f"{error.reason} in {error.path}"


@pytest.mark.parametrize(
    ("fields", "path", "reason"),
    [
        ({"magic": 3}, "magic", "0, 1 or 2"),
        ({"compression": "brotli"}, "compression", "there are none, gzip, snappy, lz4, zstd"),
        ({"compression": "zstd", "magic": 1}, "compression", "magic 1 has no zstd"),
        ({"timestamp_type": "Now"}, "timestamp_type", "CreateTime or LogAppendTime"),
        ({"timestamp_type": "CreateTime", "magic": 0}, "timestamp_type", "NoTimestampType"),
        ({"producer_id": 2**63}, "producer_epoch", "has an epoch"),
        ({"producer_id": 2**63, "producer_epoch": 0, "base_sequence": 0}, "producer_id", "a whole number from -1 to"),
        ({"producer_id": 1, "producer_epoch": 2**15, "base_sequence": 0}, "producer_epoch", "a whole number from -1 to 32767"),
        ({"producer_id": 1, "producer_epoch": 0}, "base_sequence", "has a sequence"),
        ({"is_transactional": True}, "producer_id", "transactional records have a producer id"),
        ({"partition_leader_epoch": 2**31}, "partition_leader_epoch", "a whole number"),
        ({"partition_leader_epoch": None}, "partition_leader_epoch", "a whole number"),
        ({"partition_leader_epoch": 1.0}, "partition_leader_epoch", "a whole number"),
        ({"base_offset": -1}, "base_offset", "a whole number from 0"),
        ({"base_offset": 8}, "records[0].offset", "offset 5 is below the base offset 8"),
        ({"last_offset": 4}, "last_offset", "below that of the last record, 5"),
        ({"last_offset": 2**40}, "last_offset", "not 0 to 2^31-1 after"),
        ({"base_timestamp": "now"}, "base_timestamp", "a whole number"),
        ({"max_timestamp": 2**63}, "max_timestamp", "a whole number"),
        ({"delete_horizon_ms": -1}, "delete_horizon_ms", "a whole number from 0"),
        ({"delete_horizon_ms": 5, "base_timestamp": 6}, "base_timestamp", "is that horizon"),
        ({"magic": 1, "producer_id": 1}, "producer_id", "magic 1 has no producer_id"),
        ({"magic": 1, "is_control": True}, "is_control", "magic 1 has no is_control"),
        ({"magic": 1, "delete_horizon_ms": 3}, "delete_horizon_ms", "magic 1 has no delete_horizon_ms"),
        ({"magic": 0}, "records[0].timestamp", "magic 0 has no timestamps"),
        ({"magic": 1, "base_timestamp": 3}, "base_timestamp", "magic 1 has no base timestamp"),
        ({"magic": 1, "last_offset": 9}, "last_offset", "is that of the last record, 5"),
        ({"magic": 1, "max_timestamp": 9}, "max_timestamp", "the highest timestamp of the records is 1"),
        ({"magic": 1, "base_offset": 8}, "records[0].offset", "below the base offset 8"),
    ],
)
def test_batches_that_cannot_be_written(writer, fields, path, reason):
    error = refusal(writer, RecordBatch([writer.Record(5, 1, value=b"v")], **fields))
    assert (error.path, reason in error.reason) == (f"batches[0].{path}", True), error


def test_old_messages_have_no_headers(writer):
    for magic in (0, 1):
        error = refusal(writer, RecordBatch([(b"k", b"v", -1, [("h", b"")])], magic=magic))
        assert (error.path, error.reason) == ("batches[0].records[0].headers", f"magic {magic} has no record headers")
    assert refusal(writer, RecordBatch(magic=1, compression="gzip")).path == "batches[0].records"


def test_what_is_no_batch(writer):
    assert refusal(writer, b"bytes").reason == "expected a RecordBatch, got bytes"


@pytest.mark.parametrize(("compression", "level"), [("gzip", 0), ("gzip", 10), ("lz4", 18), ("zstd", 23), ("snappy", 1)])
def test_levels(writer, compression, level):
    assert refusal(writer, RecordBatch([(b"k", b"v")], compression=compression), level=level).path == "batches[0].compression"
    assert writer.encode(RecordBatch([(b"k", b"v")]), level=level) == writer.encode(RecordBatch([(b"k", b"v")]))


def test_levels_of_zstd_below_zero(writer):
    batch = RecordBatch([(b"k", b"v" * 1000)], compression="zstd")
    assert record_reader(writer.twin).decode(writer.encode(batch, level=-5))[0].records[0].value == b"v" * 1000


def test_log_append_time(writer):
    """Readers see one time in all records; the producer's own stay in the bytes of magic 2 only."""
    rows = [(b"a", b"", 100), (b"b", b"", 300)]
    for magic in (1, 2):
        data = writer.encode(RecordBatch(rows, magic=magic, timestamp_type="LogAppendTime", max_timestamp=900, compression="gzip"))
        batch = record_reader(writer.twin).decode(data)[0]
        assert (batch.timestamp_type, batch.max_timestamp) == ("LogAppendTime", 900)
        assert [each.timestamp for each in batch.records] == [900, 900]
    assert batch.base_timestamp == 100


def test_a_batch_that_was_read_and_changed(writer):
    reader = record_reader(writer.twin)
    data = writer.encode(RecordBatch([(b"a", b"1", 5), (b"b", b"2", 6)], producer_id=1, producer_epoch=2, base_sequence=3, base_offset=40))
    batch = reader.decode(data)[0]
    del batch.records[0]
    again = reader.decode(writer.encode([batch]))[0]
    assert [(each.offset, each.key) for each in again.records] == [(41, b"b")]
    assert (again.base_offset, again.producer_id, again.base_timestamp, again.max_timestamp) == (40, 1, 6, 6)
    batch.records.append(writer.Record(key=b"c"))
    assert [each.offset for each in reader.decode(writer.encode(batch))[0].records] == [41, 42]


def test_a_record_that_was_read_and_changed():
    """Records of the pure twin may be changed, those of the native one may not."""
    writer, reader = record_writer("pure"), record_reader("pure")
    batch = reader.decode(writer.encode(RecordBatch([(b"a", b"1", 5)])))[0]
    batch.records[0].value = b"2"
    assert reader.decode(writer.encode(batch))[0].records[0].value == b"2"


def test_replace(writer):
    reader = record_reader(writer.twin)
    data = writer.encode(RecordBatch([(b"a", b"1", 5)], base_offset=3, compression="gzip"))
    batch = reader.decode(data)[0]
    plain = batch.replace(compression="none")
    assert isinstance(plain, RecordBatch)
    assert writer.encode(plain) == writer.encode(RecordBatch([(b"a", b"1", 5)], base_offset=3))
    assert reader.decode(writer.encode(plain.replace(magic=1)))[0].magic == 1
    assert writer.encode(batch) == data  # it has not changed


def test_a_batch_that_could_not_be_read_is_not_written(writer):
    data = bytearray(writer.encode(RecordBatch([(b"a", b"1")])))
    data[-1] ^= 1
    batches = record_reader(writer.twin).decode(data, strict=False)
    assert isinstance(batches[0].fault, BadChecksum)
    assert refusal(writer, *batches).path == "batches[0]"
    unchecked = record_reader(writer.twin).decode(data, check_crc=False)
    assert writer.encode(unchecked) == bytes(data)  # nobody looked


@pytest.mark.parametrize("compression", ["snappy", "lz4", "zstd"])
def test_a_missing_library(writer, monkeypatch, compression):
    monkeypatch.setitem(sys.modules, "cramjam", None)
    with pytest.raises(InputError, match=r"cramjam package: run pip install 'kwire\[records\]'\.$"):
        writer.encode(RecordBatch([(b"k", b"v")], compression=compression))


def test_large_values_and_many_records(writer):
    """Room grows while the batch is written, and what the first record looks like is no promise."""
    rows = [(b"", b"")] + [(b"k" * 300, bytes(70_000), 2**62, [("h" * 200, bytes(200))] * 3)] * 40 + [(None, None)] * 3000
    batch = record_reader(writer.twin).decode(writer.encode(RecordBatch(rows)))[0]
    assert [(each.key, each.value) for each in batch.records] == [row[:2] for row in rows]
    assert batch.last_offset == len(rows) - 1


@pytest.mark.parametrize(
    ("kind", "fields", "path"),
    [
        ("Commit", {"coordinator_epoch": 1}, "control_type"),
        ("COMMIT", {}, "coordinator_epoch"),
        ("ABORT", {"coordinator_epoch": -1}, "coordinator_epoch"),
        ("ABORT", {"coordinator_epoch": 1, "message": 5}, "message"),
        ("LEADER_CHANGE", {}, "message"),
        ("LEADER_CHANGE", {"coordinator_epoch": 1, "message": message_class("LeaderChangeMessage")()}, "coordinator_epoch"),
        ("SNAPSHOT_HEADER", {"message": message_class("LeaderChangeMessage")()}, "message"),
    ],
)
def test_control_records_that_cannot_be_made(kind, fields, path):
    with pytest.raises(EncodeError) as caught:
        control_record(kind, **fields)
    assert caught.value.path == path


def test_the_end_of_a_transaction(writer):
    commit = control_record("COMMIT", coordinator_epoch=17, timestamp=5)
    batch = RecordBatch([commit], is_control=True, is_transactional=True, producer_id=4242, producer_epoch=3, base_offset=500)
    [read] = record_reader(writer.twin).decode(writer.encode(batch))
    assert (read.is_control, read.is_transactional, read.base_sequence) == (True, True, -1)
    assert read_control(read.records[0]) == (1, "COMMIT", 0, 17, None)
