"""Compressed files in frames: zstd frames behind each other, and BGZF as `bgzip` writes it (SAM specification, 4.1)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa

__all__ = ["SKIPPABLE", "bgzf", "bgzf_block", "cut", "stored_frame", "zstd", "zstd_frames"]

SKIPPABLE = b"\x5e\x2a\x4d\x18" + struct.pack("<I", 9) + b"an index."
"""A frame that is skipped, as the seekable format of zstd has one at the end, and `pzstd` before each other."""


def cut(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    """The parts between some places."""
    return [data[start:end] for start, end in pairwise([0, *cuts, len(data)])]


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, "zstd", asbytes=True))


def zstd_frames(data: bytes, cuts: Sequence[int]) -> bytes:
    """A file of frames that were cut at some places."""
    return b"".join(map(zstd, cut(data, cuts)))


def stored_frame(data: bytes, block: int = 1000) -> bytes:
    """A zstd frame whose blocks hold the bytes as they are (RFC 8878, 3.1.1): no checksum, a window of 128 KiB, no content size."""
    blocks = [data[at : at + block] for at in range(0, len(data), block)] or [b""]
    headers = (struct.pack("<I", len(each) << 3 | (number == len(blocks) - 1))[:3] for number, each in enumerate(blocks))
    return b"\x28\xb5\x2f\xfd\x00\x38" + b"".join(header + each for header, each in zip(headers, blocks, strict=True))


def bgzf_block(data: bytes, level: int = 6) -> bytes:
    """A member of gzip with its size in the field `BC`; at most 64 KiB."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    packed = packer.compress(data) + packer.flush()
    header = b"\x1f\x8b\x08\x04" + bytes(4) + b"\x00\xff" + b"\x06\x00BC\x02\x00" + struct.pack("<H", len(packed) + 25)
    return header + packed + struct.pack("<II", zlib.crc32(data), len(data))


def bgzf(data: bytes, cuts: Sequence[int], level: int = 6) -> bytes:
    """A file of blocks that were cut at some places, with the empty block at its end."""
    return b"".join(bgzf_block(block, level) for block in [*cut(data, cuts), b""])
