"""Records as Arrow columns: what a row is, what a bad batch becomes, and who owns the memory."""

from __future__ import annotations

import gc
import gzip
import struct
import zlib
from typing import Any

import pyarrow as pa
import pytest

from kwire.errors import BadChecksum, InputError, LimitExceeded, UnsupportedVersion


def message(offset: int, value: bytes, attributes: int = 0, magic: int = 0) -> bytes:
    """A message of magic 0: the shortest batch there is."""
    checked = bytes((magic, attributes)) + b"\xff\xff\xff\xff" + struct.pack(">i", len(value)) + value
    return struct.pack(">qiI", offset, 4 + len(checked), zlib.crc32(checked)) + checked


def broken(data: bytes) -> bytes:
    return data[:-1] + bytes((data[-1] ^ 1,))


def test_rows_of_many_buffers(record_codec):
    read = record_codec.to_arrow([message(1, b"a") + message(2, b"bb"), None, message(3, b"")])
    assert read.to_pydict() == {
        "buffer": [0, 0, 2], "batch": [0, 1, 0], "magic": [0, 0, 0], "base_offset": [1, 2, 3], "partition_leader_epoch": [-1, -1, -1],
        "attributes": [0, 0, 0], "is_transactional": [False, False, False], "is_control": [False, False, False],
        "producer_id": [-1, -1, -1], "producer_epoch": [-1, -1, -1], "sequence": [-1, -1, -1], "offset": [1, 2, 3],
        "timestamp": [-1, -1, -1], "key": [None, None, None], "value": [b"a", b"bb", b""], "headers": [[], [], []],
        "error": [None, None, None],
    }  # fmt: skip


def test_types(record_codec):
    types = {field.name: str(field.type) for field in record_codec.to_arrow([]).schema}
    assert types == {
        "buffer": "int32", "batch": "int32", "magic": "int8", "base_offset": "int64", "partition_leader_epoch": "int32",
        "attributes": "int16", "is_transactional": "bool", "is_control": "bool", "producer_id": "int64", "producer_epoch": "int16",
        "sequence": "int32", "offset": "int64", "timestamp": "int64", "key": "binary", "value": "binary",
        "headers": "list<item: struct<key: string, value: binary>>", "error": "string",
    }  # fmt: skip


def test_no_rows(record_codec):
    for buffers in ([], [b""], [None], pa.array([], pa.binary())):
        read = record_codec.to_arrow(buffers)
        read.validate(full=True)
        assert read.num_rows == 0


def test_no_columns(record_codec):
    read = record_codec.to_arrow([message(1, b"a") + message(2, b"b")], fields=[])
    assert (read.num_rows, read.num_columns) == (2, 0)


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_buffers_of_an_arrow_array(record_codec, kind):
    buffers = pa.array([b"skipped", message(1, b"a"), None, message(2, b"b")], kind)[1:]
    read = record_codec.to_arrow(buffers, fields=["offset", "buffer"])
    assert read.to_pydict() == {"offset": [1, 2], "buffer": [0, 2]}


def test_a_column_that_is_not_there(record_codec):
    with pytest.raises(InputError, match=r"Records have no column 'topic'; choose from buffer, batch, .*error\.$"):
        record_codec.to_arrow([], fields=["topic"])
    with pytest.raises(ValueError, match="errors must be"):
        record_codec.to_arrow([], errors="ignore")


def test_a_bad_batch_raises(record_codec):
    with pytest.raises(BadChecksum) as caught:
        record_codec.to_arrow([message(1, b"a"), message(2, b"b") + broken(message(3, b"c"))])
    assert (caught.value.path, caught.value.offset) == ("buffers[1].batches[1].crc", 27 + 12)


def test_a_bad_batch_is_a_row_of_nulls(record_codec):
    packed = message(9, gzip.compress(message(8, b"x") + broken(message(9, b"y"))), 1)
    buffers = [message(1, b"a") + broken(message(2, b"b")) + message(3, b"c"), packed, message(4, b"d") + b"\0" * 16 + b"\7" + bytes(20)]
    read = record_codec.to_arrow(buffers, errors="column")
    read.validate(full=True)
    rows = read.to_pylist()
    assert [(row["buffer"], row["batch"], row["offset"], row["value"]) for row in rows] == [
        (0, 0, 1, b"a"), (0, 1, None, None), (0, 2, 3, b"c"), (1, 0, None, None), (2, 0, 4, b"d"), (2, 1, None, None),
    ]  # fmt: skip
    assert {name for name, value in rows[1].items() if value is not None} == {"buffer", "batch", "error"}
    # the rows of a batch that turns out bad are taken back
    assert [row["error"] and row["error"].rpartition(" in ")[2] for row in rows] == [
        None, "buffers[0].batches[1].crc", None, "buffers[1].batches[0].records[1].crc", None, "buffers[2].batches[1].size",
    ]  # fmt: skip


def test_a_batch_above_the_limit(record_codec):
    packed = message(9, gzip.compress(message(9, bytes(1000))), 1)
    with pytest.raises(LimitExceeded) as caught:
        record_codec.to_arrow([packed], max_decompressed=1000)
    assert caught.value.path == "buffers[0].batches[0].records"
    assert record_codec.to_arrow([packed], max_decompressed=2000).num_rows == 1


def test_checksums_can_be_left_out(record_codec):
    assert record_codec.to_arrow([broken(message(1, b"a"))], check_crc=False)["value"].to_pylist() == [b"`"]


def test_an_unknown_codec(record_codec):
    with pytest.raises(UnsupportedVersion):
        record_codec.to_arrow([message(1, b"a", 4)])


def test_columns_keep_their_memory(record_codec):
    """Memory is used again when nobody looks at it any more, and not before."""

    def read(value: bytes) -> Any:
        return record_codec.to_arrow([message(index, value) for index in range(2000)], fields=["value", "offset"])

    kept = [read(bytes((65 + turn,)) * 40)["value"] for turn in range(5)]
    for _ in range(5):
        read(b"z" * 40)
    gc.collect()
    assert [set(each.to_pylist()) for each in kept] == [{bytes((65 + turn,)) * 40} for turn in range(5)]


def test_values_at_the_border_of_a_move(record_codec):
    """Short values are moved 32 bytes at a time: never past the end of the input, and none leaves a trace in the next."""
    values = [bytes((index,)) * size for index in range(3) for size in (0, 1, 31, 32, 33, 40)]
    read = record_codec.to_arrow([b"".join(message(index, value) for index, value in enumerate(values))])
    assert read["value"].to_pylist() == values
