"""Short text and short arrays, which the native twin moves with a fixed size: every length, odd bytes at every place, up to the end."""

from __future__ import annotations

import gc
import struct
from concurrent.futures import ThreadPoolExecutor

import pytest

from kwire.codec.columns import Columns
from kwire.errors import BadUtf8, Truncated

LONGEST = 40  # over the 32 bytes of one move


def varint(value: int) -> bytes:
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + varint(value >> 7)


def compact(text: bytes) -> bytes:
    return varint(len(text) + 1) + text


def heartbeat(group: bytes, member: bytes = b"") -> bytes:
    """HeartbeatRequest v4: the last text ends two bytes before the message does."""
    return compact(group) + bytes(4) + compact(member) + b"\0\0"


@pytest.fixture
def to_arrow(codec):
    return Columns(codec.compiled).to_arrow


def test_text_of_every_length(to_arrow):
    texts = b"abcdefgh" * 10
    messages = [heartbeat(texts[:size], texts[size : 2 * size]) for size in range(LONGEST)]
    found = to_arrow("HeartbeatRequest", messages, 4)
    assert found["group_id"].to_pylist() == [texts[:size].decode() for size in range(LONGEST)]
    assert found["member_id"].to_pylist() == [texts[size : 2 * size].decode() for size in range(LONGEST)]
    assert found["group_instance_id"].null_count == LONGEST


@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 31, 32, 33, LONGEST])
def test_characters_beyond_ascii_at_every_place(to_arrow, size):
    for at in range(size):
        plain = b"x" * size
        bad = plain[:at] + b"\xff" + plain[at + 1 :]
        with pytest.raises(BadUtf8) as caught:
            to_arrow("HeartbeatRequest", [heartbeat(b"fine"), heartbeat(bad, b"padding" * 10)], 4)
        assert (caught.value.offset, caught.value.path, caught.value.index) == (1, "group_id", 1)
        good = plain[:at] + "é".encode() + plain[at + 2 :]
        assert to_arrow("HeartbeatRequest", [heartbeat(good, b"\xc3\xa9")], 4)["group_id"].to_pylist() == [good.decode()]


def test_bytes_behind_a_text_do_not_count(to_arrow):
    """Bytes beyond ASCII right behind a short text are moved with it, and are no part of it."""
    data = heartbeat(b"ab", b"").replace(bytes(4), b"\xff\xfe\xfd\xfc", 1)
    assert to_arrow("HeartbeatRequest", [data], 4).to_pylist() == [
        {"group_id": "ab", "generation_id": -66052, "member_id": "", "group_instance_id": None}
    ]


def offset_fetch(*arrays: list[int]) -> bytes:
    """OffsetFetchRequest v6: the last array ends two bytes before the message does."""
    topics = b"".join(compact(b"t") + varint(len(each) + 1) + struct.pack(f">{len(each)}i", *each) + b"\0" for each in arrays)
    return compact(b"g") + varint(len(arrays) + 1) + topics + b"\0"


@pytest.mark.parametrize("sizes", [range(10), range(120, 135), [0] * 300, [3, 0, 5, 0, 0, 1] * 40])
def test_arrays_of_every_length(to_arrow, sizes):
    arrays = [[(index * 0x01020304 + size) % 2**31 - 2**30 for index in range(size)] for size in sizes]
    whole = to_arrow("OffsetFetchRequest", [offset_fetch(*arrays)], 6)
    assert [topic["partition_indexes"] for topic in whole["topics"][0].as_py()] == arrays
    alone = to_arrow("OffsetFetchRequest", [offset_fetch(each) for each in arrays], 6, ["topics.partition_indexes"])
    assert alone["topics.partition_indexes"].to_pylist() == arrays
    skipped = to_arrow("OffsetFetchRequest", [offset_fetch(each) for each in arrays], 6, ["topics.name"])
    assert skipped["topics.name"].to_pylist() == ["t"] * len(arrays)


@pytest.mark.parametrize("fields", [None, ["group_id"]], ids=["built", "skipped"])
def test_arrays_that_end_behind_the_message(to_arrow, fields):
    data = offset_fetch([1, 2, 3, 4, 5, 6, 7])
    for end in range(7, len(data)):
        with pytest.raises(Truncated):
            to_arrow("OffsetFetchRequest", [data[:end]], 6, fields)


def test_a_column_alone_keeps_what_it_needs(to_arrow):
    """Buffers come back to a pool when the last array lets them go, in whatever thread: not before."""
    arrays = [[index] * 9 for index in range(200)]
    held = to_arrow("OffsetFetchRequest", [offset_fetch(each) for each in arrays], 6)["topics"].values.field("partition_indexes")
    gc.collect()

    def other(number: int) -> int:
        batch = to_arrow("OffsetFetchRequest", [offset_fetch([number] * 9)] * 200, 6)
        return int(batch["topics"].values.field("partition_indexes").values.to_numpy().max())

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(other, range(1000, 1040))) == list(range(1000, 1040))
    assert held.to_pylist() == arrays
