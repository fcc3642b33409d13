"""Search for independent frames of a compressed file from any offset, so that several tasks can read it.

zstd (RFC 8878): `pzstd`, the seekable format and concatenated files have many frames. The end of a frame follows from its block headers,
without unpacking. BGZF (SAM specification, 4.1; `bgzip`): gzip members of up to 64 KiB, each with its size in its header. Other gzip files
lack the size of a member and are read by one task.

Payload may look like a frame: Kafka's batches are compressed with zstd too, and incompressible data is stored unchanged. So a candidate is
accepted only if its sizes lead to another frame or to the end of the file. That is strong evidence, but not proof: a border becomes final
when the range before it ends there (`kwire.capture.dividing.packet_routing.join_ranges`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from kwire.capture.files.formats import ZSTD_MAGIC, compression_of, is_skippable_frame

__all__ = ["MAX_FRAME_BYTES", "CompressedFrames", "frames_of"]

MAX_FRAME_BYTES: Final = 64 << 20
"""Largest stored first frame of a zstd file that is divided; a file with a longer one is read by one task."""

FrameKind = Literal["zstd", "bgzf"]

_BLOCK_MAX: Final = 128 << 10
# A gzip header with extra fields alone, and the first of them BGZF's, as `bgzip` writes it. MTIME, XFL and OS may be anything.
_BGZF: Final = b"\x1f\x8b\x08\x04"
_BGZF_FIELD: Final = b"\x06\x00BC\x02\x00"
_BGZF_HEADER_BYTES: Final = 18
# So much of blocks that fit each other is no accident: a frame in payload is cut by the headers of packets long before.
_WALKED_BYTES: Final = 4 << 20
# So many blocks of BGZF in a row, or all up to the end of the file.
_CHAINED: Final = 4
_READ_BYTES: Final = 1 << 20


class CompressedFrames:
    def __init__(self, read: Callable[[int, int], bytes], size: int, kind: FrameKind) -> None:
        self._read, self._size, self._kind = read, size, kind
        self._magic = ZSTD_MAGIC if kind == "zstd" else _BGZF
        self._start, self._window = 0, b""

    def after(self, start: int, end: int) -> int | None:
        """Find the first frame that begins in [`start`, `end`)."""
        at = start
        while at < end:
            data = self._read(at, min(_READ_BYTES, end + len(self._magic) - 1 - at))
            found = data.find(self._magic)
            while found >= 0:
                if at + found < end and self._leads_on(at + found):
                    return at + found
                found = data.find(self._magic, found + 1)
            if len(data) < len(self._magic):
                return None
            at += len(data) - len(self._magic) + 1
        return None

    def has_several(self) -> bool:
        """Return whether another frame follows the first within `MAX_FRAME_BYTES`."""
        at, frames = 0, 0
        while at < self._size and frames < 2:
            frames += self._bytes(at, 4) == self._magic  # else it is one that is skipped, an index
            end = self._end_of(at, MAX_FRAME_BYTES)
            if end is None or end - at >= MAX_FRAME_BYTES:
                break
            at = end
        return frames > 1

    def _leads_on(self, at: int) -> bool:
        """Return whether the sizes at this offset lead to another frame, the end of the file, or far enough."""
        following = at
        for _ in range(1 if self._kind == "zstd" else _CHAINED):
            end = self._end_of(following, _WALKED_BYTES)
            if end is None or end > self._size:
                return False
            if end == self._size or end - at >= _WALKED_BYTES:
                return True
            following = end
        return self._begins_at(following)

    def _begins_at(self, at: int) -> bool:
        return self._bytes(at, 4) == self._magic or self._is_skippable(at)

    def _is_skippable(self, at: int) -> bool:
        return self._kind == "zstd" and is_skippable_frame(self._bytes(at, 4))

    def _end_of(self, at: int, most: int) -> int | None:
        """Return the end of the frame at this offset, or an offset in it at least `most` bytes away; None without a frame."""
        if self._kind == "bgzf":
            head = self._bytes(at, _BGZF_HEADER_BYTES)
            is_block = head[:4] == _BGZF and head[10:16] == _BGZF_FIELD
            return at + int.from_bytes(head[16:18], "little") + 1 if is_block and len(head) == _BGZF_HEADER_BYTES else None
        if self._is_skippable(at):
            return at + 8 + int.from_bytes(self._bytes(at + 4, 4), "little")
        return self._end_of_zstd(at, most)

    def _end_of_zstd(self, start: int, most: int) -> int | None:
        head = self._bytes(start, 5)
        if head[:4] != ZSTD_MAGIC or len(head) < 5 or head[4] & 0x08:
            return None
        descriptor = head[4]
        is_single, content = descriptor >> 5 & 1, descriptor >> 6
        at = start + 5 + (1 - is_single) + (0, 1, 2, 4)[descriptor & 3] + (is_single, 2, 4, 8)[content]
        while at - start < most:
            block = self._bytes(at, 3)
            if len(block) < 3:
                return None
            header = int.from_bytes(block, "little")
            kind, size = header >> 1 & 3, header >> 3
            if kind == 3 or size > _BLOCK_MAX:
                return None
            at += 3 + (1 if kind == 1 else size)  # a block of one byte, repeated
            if header & 1:
                return at + (4 if descriptor & 4 else 0)
        return at

    def _bytes(self, at: int, count: int) -> bytes:
        if not self._start <= at <= at + count <= self._start + len(self._window):
            self._start, self._window = at, self._read(at, _READ_BYTES)
        return self._window[at - self._start : at - self._start + count]


def frames_of(read: Callable[[int, int], bytes], size: int) -> CompressedFrames | None:
    """Return the frames of a file; None if it is not compressed, or they cannot be found."""
    head = read(0, _BGZF_HEADER_BYTES)
    if compression_of(head) == "zstd":
        return CompressedFrames(read, size, "zstd")
    if head[:4] == _BGZF and head[10:16] == _BGZF_FIELD:
        return CompressedFrames(read, size, "bgzf")
    return None
