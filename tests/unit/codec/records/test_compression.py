"""Payloads and the bytes they become: framings, limits, broken ones, and what is said when a library is missing."""

from __future__ import annotations

import gzip
import random
import struct
import sys
import tracemalloc

import cramjam
import pytest

from kwire.codec.records.compression import CODECS, MAX_DECOMPRESSED, unpack
from kwire.codec.records.packing import LEVELS, pack
from kwire.errors import BadCompression, InputError, LimitExceeded

PLAIN = b"".join(b"record %d;" % number for number in range(500))
XERIAL = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)


def snappy(plain: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(plain))


def chunk(plain: bytes) -> bytes:
    packed = snappy(plain)
    return struct.pack(">i", len(packed)) + packed


PAYLOADS = {
    "gzip": (1, gzip.compress(PLAIN)),
    "gzip members": (1, gzip.compress(PLAIN[:100]) + gzip.compress(PLAIN[100:])),
    "gzip padded": (1, gzip.compress(PLAIN) + bytes(8)),
    "snappy raw": (2, snappy(PLAIN)),
    "snappy xerial": (2, XERIAL + chunk(PLAIN[:999]) + chunk(PLAIN[999:])),
    "snappy xerial twice": (2, XERIAL + chunk(PLAIN[:999]) + XERIAL + chunk(PLAIN[999:])),
    "lz4": (3, bytes(cramjam.lz4.compress(PLAIN))),
    "zstd": (4, bytes(cramjam.zstd.compress(PLAIN))),
}


@pytest.mark.parametrize("name", PAYLOADS)
def test_payloads(name):
    codec, payload = PAYLOADS[name]
    assert bytes(unpack(codec, 2, payload, MAX_DECOMPRESSED, 0, "")) == PLAIN
    assert bytes(unpack(codec, 2, memoryview(payload), len(PLAIN), 0, "")) == PLAIN


@pytest.mark.parametrize("name", PAYLOADS)
def test_one_byte_more_than_the_limit(name):
    codec, payload = PAYLOADS[name]
    with pytest.raises(LimitExceeded) as caught:
        unpack(codec, 2, payload, len(PLAIN) - 1, 61, "batches[0].records")
    assert (caught.value.offset, caught.value.path) == (61, "batches[0].records")


@pytest.mark.parametrize("name", PAYLOADS)
def test_payloads_that_are_cut_or_empty(name):
    codec, payload = PAYLOADS[name]
    for cut in (payload[:-12], payload[:5], payload[:1], b""):
        if name == "snappy xerial" and not cut:
            continue
        with pytest.raises(BadCompression) as caught:
            unpack(codec, 2, cut, MAX_DECOMPRESSED, 61, "batches[0].records")
        assert "payload cannot be unpacked" in str(caught.value)


def test_an_old_lz4_frame_has_a_wrong_header_checksum():
    """Messages of clients before 0.10 (KAFKA-3160); Kafka's readers hold those of magic 1, which came with 0.10, to the checksum."""
    frame = bytearray(cramjam.lz4.compress(PLAIN))
    at = 6 + (8 if frame[4] & 8 else 0)
    frame[at] ^= 0xFF
    assert bytes(unpack(3, 0, bytes(frame), MAX_DECOMPRESSED, 0, "")) == PLAIN
    for magic in (1, 2):
        with pytest.raises(BadCompression):
            unpack(3, magic, bytes(frame), MAX_DECOMPRESSED, 0, "")


@pytest.mark.parametrize(("codec", "compress"), [(1, gzip.compress), (2, snappy), (3, cramjam.lz4.compress), (4, cramjam.zstd.compress)])
def test_a_bomb_costs_the_limit(codec, compress):
    limit, bomb = 4 << 20, bytes(compress(bytes(100 << 20)))
    unpack(codec, 2, PAYLOADS["gzip" if codec == 1 else "zstd" if codec == 4 else "lz4" if codec == 3 else "snappy raw"][1], limit, 0, "")
    tracemalloc.start()
    try:
        with pytest.raises(LimitExceeded):
            unpack(codec, 2, bomb, limit, 0, "")
        assert tracemalloc.get_traced_memory()[1] < 2 * limit + (1 << 20)
    finally:
        tracemalloc.stop()


def test_snappy_that_claims_what_it_cannot_hold():
    """A length of 2^31 in front of nothing reserves nothing."""
    tracemalloc.start()
    try:
        with pytest.raises(BadCompression, match="claims more than snappy can pack"):
            unpack(2, 2, b"\x80\x80\x80\x80\x08" + bytes(20), 1 << 40, 0, "")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["snappy raw", "snappy xerial", "lz4", "zstd"])
def test_a_missing_library(monkeypatch, name):
    codec, payload = PAYLOADS[name]
    monkeypatch.setitem(sys.modules, "cramjam", None)
    with pytest.raises(InputError, match=r"cramjam package: run pip install 'kwire\[records\]'\.$"):
        unpack(codec, 2, payload, MAX_DECOMPRESSED, 0, "")


def test_gzip_needs_no_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "cramjam", None)
    assert unpack(1, 2, gzip.compress(PLAIN), MAX_DECOMPRESSED, 0, "") == PLAIN


NOISE = random.Random(6).randbytes(200_000)


@pytest.mark.parametrize("plain", [b"", b"x", PLAIN, PLAIN * 40, NOISE, bytes(65_536), NOISE[:65_537]], ids=len)
@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_what_is_packed_is_unpacked(codec, plain):
    """Several blocks of lz4, several chunks of snappy, and what does not become smaller."""
    for magic in (0, 1, 2) if codec < 4 else (2,):
        for level in (None, *LEVELS.get(CODECS[codec], ())):
            assert bytes(unpack(codec, magic, pack(codec, magic, plain, level), MAX_DECOMPRESSED, 0, "")) == plain


def test_lz4_blocks_stand_alone_and_are_plain_where_that_is_shorter():
    """Kafka refuses blocks that depend on each other; its frames have no checksums but the header's, and no size."""
    frame = pack(3, 2, NOISE[:70_000] + bytes(61_072))
    assert frame[:7] == bytes.fromhex("04224d18 60 40 82")
    first = int.from_bytes(frame[7:11], "little")
    assert first == 65_536 | 1 << 31
    assert frame[11 : 11 + 65_536] == NOISE[:65_536]
    second = int.from_bytes(frame[11 + 65_536 : 15 + 65_536], "little")
    assert second < 10_000
    assert frame[15 + 65_536 + second :] == bytes(4)
    assert bytes(cramjam.lz4.decompress(frame)) == NOISE[:70_000] + bytes(61_072)


def test_snappy_chunks_are_those_of_xerial():
    stream = pack(2, 2, PLAIN * 10)
    assert stream[:16] == XERIAL
    at, sizes = 16, []
    while at < len(stream):
        size = int.from_bytes(stream[at : at + 4], "big")
        sizes.append(len(bytes(cramjam.snappy.decompress_raw(stream[at + 4 : at + 4 + size]))))
        at += 4 + size
    assert sizes == [32_768] * (len(PLAIN) * 10 // 32_768) + [len(PLAIN) * 10 % 32_768]
