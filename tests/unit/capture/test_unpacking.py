"""Compressed files give all that was unpacked before an error (kwire.capture.files.unpacking)."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest

from kwire.capture.files.source import CaptureSource
from kwire.tables.series_rows import read_series

NOISE = random.Random(1).randbytes(5000)
ONE, TWO = NOISE + bytes(200_000) + NOISE, b"second" * 100


def zstd(data: bytes) -> bytes:
    return bytes(pyarrow.Codec("zstd").compress(data))


PACK = {"gzip": lambda data: gzip.compress(data, mtime=0), "zstd": zstd}
SKIPPABLE = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"


def unpacked(stored: bytes) -> tuple[bytes, str]:
    source = CaptureSource(io.BytesIO(stored))
    found = b"".join(iter(lambda: source.read(3000), b""))
    return found, source.damage


@pytest.mark.parametrize("kind", PACK)
def test_whole_files(kind: str) -> None:
    pack = PACK[kind]
    for stored, data in (
        (pack(ONE), ONE),
        (pack(ONE) + pack(TWO) + pack(b"") + pack(ONE), ONE + TWO + ONE),
        (b"".join(pack(ONE[at : at + 7]) for at in range(0, 7000, 7)), ONE[:7000]),
        (pack(ONE) + bytes(70_000), ONE),
        (pack(b""), b""),
    ):
        assert unpacked(stored) == (data, "")
    assert unpacked(SKIPPABLE + zstd(ONE) + SKIPPABLE + zstd(TWO) + SKIPPABLE) == (ONE + TWO, "")


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("behind", [b"text", b"\x1f", bytes(9) + b"x", bytes(70_000) + b"x"])
def test_other_bytes_behind_the_last_member(kind: str, behind: bytes) -> None:
    assert unpacked(PACK[kind](ONE) + PACK[kind](TWO) + behind) == (ONE + TWO, f"other bytes follow the {kind} data")


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("size", [4, 5, 9, 12, 15])
def test_a_member_that_was_begun(kind: str, size: int) -> None:
    found, damage = unpacked(PACK[kind](ONE) + PACK[kind](NOISE)[:size])
    assert found == ONE
    assert damage


def test_a_gzip_member_is_unpacked_up_to_its_damage() -> None:
    stored = bytearray(gzip.compress(ONE, mtime=0))
    assert unpacked(bytes(stored[:-1])) == (ONE, "the gzip data is cut short")
    stored[-8] ^= 1  # the checksum
    found, damage = unpacked(bytes(stored))
    assert found == ONE
    assert "incorrect data check" in damage
    # a stored block of 5 bytes, one that was never written (type 3), RFC 1951
    head = gzip.compress(b"", mtime=0)[:10]
    found, damage = unpacked(head + b"\x00\x05\x00\xfa\xff" + b"hello" + b"\x07" + bytes(100))
    assert found == b"hello"
    assert "invalid block type" in damage


DATA = Path(__file__).parents[2] / "captures" / "data"


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK)
@pytest.mark.parametrize(("behind", "is_cut"), [(bytes(512), False), (b"text", True), (b"\x1f\x8b\x08\x00\x0b", True)])
@pytest.mark.parametrize("name", ["nanosecond.pcap.gz", "old-0.10-requests.log.gz"])
def test_captures_and_logs_lose_nothing(name: str, behind: bytes, is_cut: bool, pack: Callable[[bytes], bytes]) -> None:
    plain = gzip.decompress((DATA / name).read_bytes())
    with read_series([io.BytesIO(plain)], "s", ()) as rows:
        whole = rows.table("requests").to_pylist()
    with read_series([io.BytesIO(pack(plain) + behind)], "s", ()) as rows:
        assert rows.table("requests").to_pylist() == whole
        rules = {row["rule"] for row in rows.table("violations").to_pylist()}
        assert ("capture_cut" in rules) == is_cut
