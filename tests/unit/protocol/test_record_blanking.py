"""Record batches without contents: Kafka's own batches keep counts, sizes and checksums, and lose keys, values and headers."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from kwire.codec import records
from kwire.codec.records.compression import unpack
from kwire.protocol.secrets.record_blanking import blank_records
from kwire.protocol.secrets.record_repacking import repack

Vectors = Callable[[str], list[dict[str, Any]]]


def _message(value: bytes, magic: int, codec: int = 0, offset: int = 0) -> bytes:
    body = bytes((magic, codec)) + (bytes(8) if magic else b"") + b"\xff\xff\xff\xff" + len(value).to_bytes(4, "big") + value
    return offset.to_bytes(8, "big") + (len(body) + 4).to_bytes(4, "big") + zlib.crc32(body).to_bytes(4, "big") + body


def test_batches_of_kafka_keep_their_shape_and_lose_their_contents(vectors: Vectors) -> None:
    checked = 0
    for vector in vectors("records-sample"):
        data = bytes.fromhex(vector["hex"])
        blanked = bytes(blank_records(data))
        assert len(blanked) == len(data)
        for before, after in zip(records.decode(data, strict=False), records.decode(blanked, strict=False), strict=True):
            assert (after.size, after.stored_count, after.attributes) == (before.size, before.stored_count, before.attributes)
            assert (before.fault is None) == (after.fault is None), "a right checksum stays right"
            if before.fault is not None or (after.magic == 2 and after.compression != "none"):
                continue
            for old, new in zip(before.records, after.records, strict=True):
                checked += 1
                assert new.offset == old.offset
                assert new.timestamp == old.timestamp
                if before.is_control:
                    assert new.key == old.key
                    continue
                assert new.key == (None if old.key is None else b"x" * len(old.key))
                assert new.value == (None if old.value is None else b"x" * len(old.value))
                assert [len(name.encode()) for name, _ in new.headers] == [len(name.encode()) for name, _ in old.headers]
                assert all(value is None or set(value) <= {0x78} for _, value in new.headers)
    assert checked > 50


@pytest.mark.parametrize("magic", [0, 1])
def test_compressed_messages_still_tell_how_many_they_hold(magic: int) -> None:
    inner = b"".join(_message(f"secret {number} {'tail' * number}".encode(), magic, offset=number) for number in range(40))
    outer = _message(gzip.compress(inner), magic, 1, offset=39)
    blanked = bytes(blank_records(outer))
    assert len(blanked) == len(outer)
    (batch,) = records.decode(blanked)
    assert [record.value for record in batch.records] == [b"x" * len(f"secret {number} {'tail' * number}") for number in range(40)]


@pytest.mark.parametrize("codec", [1, 3, 4])
def test_a_payload_that_does_not_begin_as_its_codec_has_it_goes_as_a_whole(codec: int) -> None:
    """A batch of magic 2 whose attributes say gzip, LZ4 or zstd, and whose payload is neither."""
    head = bytes(8) + (49 + 20).to_bytes(4, "big") + bytes(4) + b"\2" + bytes(5) + bytes((codec,)) + bytes(34) + b"\0\0\0\1"
    assert len(head) == 61
    assert blank_records(head + b"open sesame, said he") == head + b"x" * 20


def test_a_compressed_payload_of_magic_2_keeps_only_how_it_is_packed(vectors: Vectors) -> None:
    seen = set()
    for vector in vectors("records-sample"):
        data = bytes.fromhex(vector["hex"])
        blanked = bytes(blank_records(data))
        for batch in records.decode(data, strict=False):
            if batch.magic == 2 and batch.compression != "none" and batch.fault is None:
                seen.add(batch.compression)
                before, after = data[batch.payload_start : batch.payload_end], blanked[batch.payload_start : batch.payload_end]
                kept = sum(a == b for a, b in zip(before, after, strict=True))
                assert kept <= 24 + before.count(b"x")
    assert seen == {"gzip", "snappy", "lz4", "zstd"}


def test_a_batch_that_is_cut_keeps_no_records() -> None:
    whole = _message(b"the secret", 1)
    for size in range(len(whole)):
        blanked = bytes(blank_records(whole[:size]))
        assert len(blanked) == size
        assert b"secret" not in blanked


def test_bytes_that_are_no_batch_keep_only_where_one_would_begin() -> None:
    data = bytes(8) + b"\x7f\xff\xff\xff" + b"secret secret secret"
    assert bytes(blank_records(data)) == data[:17] + b"x" * (len(data) - 17)


@pytest.mark.parametrize(("codec", "magic"), [(1, 1), (2, 1), (3, 0), (3, 1)])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 7, 19, 60, 61, 62, 63, 64, 255, 300, 1000])
def test_packing_fits_any_larger_size(codec: int, magic: int, size: int) -> None:
    data = b"".join(b"%03d " % (number * 7 % 1000) + b"x" * (number % 90) for number in range(120))
    least = {1: 510, 2: 950, 3: 990}[codec]
    packed = repack(codec, magic, data, bytes(least + size))
    assert packed is not None
    assert len(packed) == least + size
    assert bytes(unpack(codec, magic, packed, 1 << 20, 0, "")) == data


def test_what_does_not_fit_is_not_packed() -> None:
    data = bytes(range(256)) * 4
    assert [repack(codec, 1, data, bytes(40)) for codec in (1, 2, 3)] == [None, None, None]
