"""A part of a stored file, from one offset to another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kwire.capture.dividing.block_hash import BlockDigests
from kwire.capture.files.source import StoredBlocks, open_stored
from kwire.files.file_systems import reason_of

__all__ = ["FilePart", "open_part"]


class FilePart:
    """Stored bytes of a part, in order, with the interface of `file_ranges.PartSource`."""

    def __init__(self, stored: Any, blocks: StoredBlocks | None, start: int, end: int | None) -> None:
        self._stored, self._blocks, self._at, self._end = stored, blocks, start, end
        self.stored_bytes = 0
        self.damage = ""
        self.compression = None
        self.digests: BlockDigests | None = None

    def block_digests(self, size: int) -> bytes:
        return b"" if self.digests is None else self.digests.finish(self._at, size, self.read_at)

    def read(self, size: int) -> bytes:
        if self._end is not None:
            size = min(size, self._end - self._at)
        if size <= 0 or self.damage:
            return b""
        try:
            found: bytes = self._stored.read_at(size, self._at) if self._blocks is None else self._blocks.read(size)
        except OSError as error:
            self.damage = reason_of(error)
            return b""
        self._at += len(found)
        self.stored_bytes += len(found)
        if self.digests is not None:
            self.digests.update(found)
        return found

    def read_at(self, at: int, size: int) -> bytes:
        """Read bytes at an offset of the file, fewer only at its end; keep the position."""
        if self._blocks is not None:
            return self._blocks.read_at(at, size)
        try:
            found: bytes = self._stored.read_at(size, at)
        except OSError:  # who reads on to here says why
            return b""
        return found


@contextmanager
def open_part(location: str, start: int, end: int | None = None) -> Iterator[FilePart]:
    with open_stored(location, streamed=False) as (stored, is_local):
        yield FilePart(stored, None if is_local else StoredBlocks(location, stored, at=start), start, end)
