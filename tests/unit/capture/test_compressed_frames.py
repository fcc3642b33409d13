"""Frames of compressed files are found from any offset, and what only looks like one is not."""

from __future__ import annotations

import gzip
import random

import pytest

from compressed_files import SKIPPABLE, bgzf, bgzf_block, stored_frame, zstd, zstd_frames
from kwire.capture.dividing import compressed_frames
from kwire.capture.dividing.compressed_frames import CompressedFrames, frames_of

NOISE = random.Random(4).randbytes(6000)
# a frame that begins and ends like one of the file's own, and is payload
INNER = zstd(b"payload of a batch " * 9) + b"behind it"


def frames(data: bytes) -> CompressedFrames:
    found = frames_of(lambda at, count: data[at : at + count], len(data))
    assert found is not None
    return found


def starts_of(data: bytes) -> list[int]:
    """All frames that are found, each from the byte behind the one before."""
    found, at = [], frames(data).after(0, len(data))
    while at is not None:
        found.append(at)
        at = frames(data).after(at + 1, len(data))
    return found


def sums(lengths: list[int]) -> list[int]:
    return [sum(lengths[:count]) for count in range(len(lengths))]


def test_frames_of_zstd() -> None:
    parts = [zstd(NOISE[:100]), zstd(b""), zstd(bytes(300_000)), stored_frame(NOISE), zstd(NOISE)]
    assert starts_of(b"".join(parts)) == sums(list(map(len, parts)))


def test_a_frame_that_is_skipped_is_none_to_begin_at() -> None:
    one = zstd(NOISE)
    data = SKIPPABLE + one + SKIPPABLE + one + SKIPPABLE
    first = len(SKIPPABLE)
    assert starts_of(data) == [first, 2 * first + len(one)]


def test_blocks_of_bgzf() -> None:
    parts = [bgzf_block(NOISE), bgzf_block(b""), bgzf_block(b"x" * 60_000), bgzf_block(NOISE[:5]), bgzf_block(b"")]
    assert starts_of(b"".join(parts)) == sums(list(map(len, parts)))


@pytest.mark.parametrize("inner", [INNER, INNER[:4], INNER[:30], b"\x28\xb5\x2f\xfd" * 5, zstd(NOISE)[:-9]])
def test_a_frame_in_payload_leads_nowhere(inner: bytes) -> None:
    """Kafka's batches are frames of zstd too, and stay as they are where the file's frames cannot make them smaller."""
    parts = [stored_frame(NOISE[:200] + inner + NOISE[:300]), zstd(NOISE)]
    assert starts_of(b"".join(parts)) == [0, len(parts[0])]
    blocks = [bgzf_block(NOISE[:200] + bgzf_block(NOISE) + NOISE[:300], 0), bgzf_block(NOISE), bgzf_block(b"")]
    assert starts_of(b"".join(blocks)) == sums(list(map(len, blocks)))


def test_no_frame_begins_where_the_part_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed_frames, "_READ_BYTES", 50)  # a magic number lies across what two reads give
    parts = [zstd(NOISE), zstd(NOISE[:1000]), zstd(b"last")]
    data = b"".join(parts)
    second = len(parts[0])
    for start in range(second - 60, second + 1):
        assert frames(data).after(start, second + 1) == second
        assert frames(data).after(start, second) is None
    assert frames(data).after(second + 1, second + 5) is None


@pytest.mark.parametrize(
    ("data", "several"),
    [
        (zstd(NOISE), False),
        (zstd(NOISE) + SKIPPABLE, False),
        (SKIPPABLE + zstd(NOISE), False),
        (zstd_frames(NOISE, [3000]), True),
        (SKIPPABLE + zstd(NOISE) + SKIPPABLE + zstd(NOISE), True),
        (zstd(NOISE) + b"behind it", False),
        (bgzf(NOISE, [3000]), True),
    ],
)
def test_files_of_several_frames(data: bytes, several: bool) -> None:
    assert frames(data).has_several() is several


def test_a_frame_that_is_too_long_is_not_walked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed_frames, "MAX_FRAME_BYTES", 2000)
    assert not frames(stored_frame(NOISE) + zstd(NOISE)).has_several()
    assert frames(stored_frame(NOISE[:1000]) + zstd(NOISE)).has_several()


def test_other_files_have_no_frames_that_could_be_found() -> None:
    for data in (gzip.compress(NOISE) + gzip.compress(NOISE), NOISE, b"", b"\x28\xb5"):
        assert frames_of(lambda at, count, data=data: data[at : at + count], len(data)) is None  # type: ignore[misc]
