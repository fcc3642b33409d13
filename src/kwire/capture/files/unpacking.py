"""Unpacking of gzip and zstd files, member by member: bytes unpacked before an error are kept.

A file has any number of members (zstd: frames). Zeros behind the last one are ignored, since tapes and block devices pad with them. Other
trailing bytes and a truncated or damaged member raise an error, after all bytes before it were returned.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import Any, Final, Literal, Protocol

from kwire.capture.files.formats import compression_of, is_skippable_frame

__all__ = ["StoredMembers", "Unpacked"]

_READ_BYTES: Final = 1 << 16
_FIRST_READ_BYTES: Final = 1 << 12  # members may be small, and bytes read behind one are read again
_GZIP: Final = 16 + zlib.MAX_WBITS
# Arrow loses the whole read if a frame is cut or damaged, so read little.
_ZSTD_READ_BYTES: Final = 4096
_LAST_BLOCK: Final = 1
_RLE_BLOCK: Final = 1
_RESERVED_BLOCK: Final = 3


class StoredMembers(Protocol):
    """Stored bytes that can be peeked."""

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes or more, fewer only at the end."""

    def read(self, size: int) -> bytes: ...
    def put_back(self, data: bytes) -> None: ...


class Unpacked:
    """Unpacked bytes of a file."""

    def __init__(self, stored: StoredMembers, kind: Literal["gzip", "zstd"]) -> None:
        self._stored, self._kind = stored, kind
        self._unpack: Callable[[int], bytes] | None = None  # the member that is read
        if kind == "zstd":
            import pyarrow

            self._frames = _ZstdFrames(stored)
            self._plain = pyarrow.CompressedInputStream(pyarrow.PythonFile(self._frames, mode="r"), kind)

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes; raise OSError if the next bytes are not a whole, undamaged member."""
        while self._unpack is not None or self._begin():
            if self._unpack is not None and (found := self._unpack(size)):
                return found
            self._unpack = None
        return b""

    def _unpack_frame(self, size: int) -> bytes:
        return bytes(self._plain.read(min(size, _ZSTD_READ_BYTES)))

    def _begin(self) -> bool:
        while is_skippable_frame(self._stored.peek(8)):
            size = 8 + int.from_bytes(self._stored.peek(8)[4:8], "little")
            while size and (skipped := self._stored.read(min(size, _READ_BYTES))):
                size -= len(skipped)
        if compression_of(self._stored.peek(4)) == self._kind:
            if self._kind == "zstd":
                self._frames.begin()
            self._unpack = self._unpack_frame if self._kind == "zstd" else _GzipMember(self._stored).unpack
            return True
        while rest := self._stored.read(_READ_BYTES):
            if rest.strip(b"\0"):
                raise OSError(f"other bytes follow the {self._kind} data")
        return False


class _GzipMember:
    def __init__(self, stored: StoredMembers) -> None:
        self._stored = stored
        self._zlib = zlib.decompressobj(_GZIP)
        self._fed = b""
        self._asked = _FIRST_READ_BYTES
        self._error = ""

    def unpack(self, size: int) -> bytes:
        while not self._zlib.eof:
            if self._error:
                raise OSError(self._error)
            fed = self._fed or self._stored.read(self._asked)
            self._asked = min(2 * self._asked, _READ_BYTES)
            before = self._zlib.copy()
            try:
                found = self._zlib.decompress(fed, size)
            except zlib.error as error:
                found, self._error = _before_error(before, fed), f"{error}"
            else:
                self._fed = self._zlib.unconsumed_tail
                self._stored.put_back(self._zlib.unused_data)  # none before the end of the member
                if not fed and not found:
                    self._error = "the gzip data is cut short"
            if found:
                return found
        return b""


def _before_error(inflate: Any, data: bytes) -> bytes:
    """Unpack byte by byte until the error."""
    parts = []
    try:
        for at in range(len(data)):
            parts.append(inflate.decompress(data[at : at + 1]))
    except zlib.error:
        pass
    return b"".join(parts)


class _ZstdFrames(io.RawIOBase):
    """Stored bytes of one frame at a time, bounded by the headers of its blocks (RFC 8878, 3.1.1)."""

    def __init__(self, stored: StoredMembers) -> None:
        super().__init__()
        self._stored = stored
        self._left = self._checksum = 0
        self._ended = True

    def begin(self) -> None:
        descriptor = (self._stored.peek(5)[4:5] or b"\0")[0]
        is_single, content = descriptor >> 5 & 1, descriptor >> 6
        self._left = 5 + (1 - is_single) + (0, 1, 2, 4)[descriptor & 3] + (is_single, 2, 4, 8)[content]
        self._checksum, self._ended = descriptor & 4, False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._left and not self._ended:
            block = int.from_bytes(self._stored.peek(3)[:3], "little")
            kind = block >> 1 & 3
            self._ended = block & _LAST_BLOCK == 1 or kind == _RESERVED_BLOCK
            self._left = 3 + (1 if kind == _RLE_BLOCK else block >> 3) + (self._checksum if self._ended else 0)
        found = self._stored.read(min(size, self._left))
        self._left -= len(found)
        return found
