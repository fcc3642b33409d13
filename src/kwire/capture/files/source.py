"""Opening of captures on disks, object stores (`kwire.files.file_systems`) and streams, with gzip and zstd.

Stored bytes are hashed while they are read; if several tasks share a series, one task hashes each file. Files are read block by block,
never as a whole.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol

from kwire.capture import impl
from kwire.capture.files.formats import compression_of
from kwire.capture.files.unpacking import Unpacked
from kwire.errors import InputError, KwireError
from kwire.files.file_systems import filesystem_of, reason_of

if TYPE_CHECKING:
    from pyarrow import NativeFile

__all__ = ["CHUNK_BYTES", "HEAD_BYTES", "CaptureSource", "StoredBlocks", "StoredBytes", "open_capture", "open_stored", "quiet"]

# What is read at once stays in the processor's caches from the disk to the rows: with 8 MiB a fifth of the time went into memory.
CHUNK_BYTES: Final = 1 << 20
# What is asked of an object store at once: each request takes long to begin.
_BLOCK_BYTES: Final = 8 << 20
HEAD_BYTES: Final = 1 << 18
"""Size of the first request to an object store, if the beginning of a file may suffice."""
# Seconds between tries at a block, after the store's own client has given up its tries.
_PAUSES: Final = (0.5, 2.0)


class StoredBytes(Protocol):
    def read(self, size: int, /) -> bytes:
        """Read up to `size` bytes; return no bytes only at the end."""


class StoredBlocks:
    """File on a store, read block by block; only a failed block is retried, and a permanent failure raises KwireError."""

    def __init__(self, location: str, file: Any, block_bytes: int = _BLOCK_BYTES, at: int = 0) -> None:
        self._location, self._file, self._block_bytes = location, file, block_bytes
        self._at = at
        self._block = b""
        self._used = 0

    def read(self, size: int) -> bytes:
        if self._used == len(self._block):
            self._block = self.read_at(self._at, self._block_bytes)
            self._used = 0
            self._at += len(self._block)
        found = self._block[self._used : self._used + size]
        self._used += len(found)
        return found

    def read_at(self, at: int, size: int) -> bytes:
        """Read bytes from any offset without moving the position of `read`."""
        for pause in (*_PAUSES, None):
            try:
                return bytes(self._file.read_at(size, at))
            except OSError as error:
                if pause is None:
                    raise KwireError(f"cannot continue reading {self._location} at byte {at}: {reason_of(error)}") from error
                time.sleep(pause)
        raise AssertionError


class _Hashed:
    """Reader that hashes bytes on the way, beginning with those already read."""

    def __init__(self, stored: NativeFile | BinaryIO | StoredBytes, live: bool, hashed: bool, limit: int | None) -> None:
        self._limit = limit
        # read1 gives what a pipe has and does not wait for more
        self._read: Callable[[int], bytes] = getattr(stored, "read1", stored.read) if live else stored.read
        self._into: Callable[[memoryview], int] | None = None if live else getattr(stored, "readinto", None)
        self._hash = hashlib.sha256() if hashed else None
        self._head = b""
        self.count = 0

    def peek(self, size: int) -> bytes:
        while len(self._head) < size and (more := self._take(size - len(self._head))):
            self._head += more
        return self._head

    def put_back(self, data: bytes) -> None:
        self._head = data + self._head

    def read(self, size: int) -> bytes:
        if self._head:
            out, self._head = self._head[:size], self._head[size:]
            return out
        return self._take(size)

    @property
    def fills(self) -> bool:
        return not self._head and self._into is not None

    def fill(self, buffer: memoryview) -> int:
        """Read into a buffer; return the number of bytes, 0 only at the end."""
        assert self._into is not None
        if self._limit is not None:
            buffer = buffer[: self._limit - self.count]
        count = self._into(buffer) if buffer else 0
        if self._hash is not None:
            self._hash.update(buffer[:count])
        self.count += count
        return count

    def has_more(self) -> bool:
        """Return whether the file is longer than the limit."""
        return self._limit is not None and self.count >= self._limit and bool(self._read(1))

    def _take(self, size: int) -> bytes:
        if self._limit is not None:
            size = min(size, self._limit - self.count)
            if not size:
                return b""
        found = bytes(self._read(size))
        if self._hash is not None:
            self._hash.update(found)
        self.count += len(found)
        return found

    def hexdigest(self) -> str:
        return "" if self._hash is None else self._hash.hexdigest()


class CaptureSource:
    """Decompressed bytes of one capture file. If it is `live`, it may still be written, so `read` returns the bytes available."""

    def __init__(
        self, stored: NativeFile | BinaryIO | StoredBytes, *, live: bool = False, hashed: bool = True, limit: int | None = None
    ) -> None:
        self._stored = _Hashed(stored, live, hashed, limit)
        self._live = live
        self.damage = ""
        self.compression = compression_of(self._stored.peek(4))
        self._plain = Unpacked(self._stored, self.compression) if self.compression else self._stored

    @property
    def stored_bytes(self) -> int:
        return self._stored.count

    def read(self, size: int) -> bytes:
        """Read `size` bytes, fewer only at the end or from a live source; return no bytes only at the end."""
        parts = []
        while size > 0 and not self.damage:
            try:
                part = self._plain.read(size)
            except OSError as error:
                self.damage = reason_of(error)
                break
            if not part:
                break
            parts.append(part)
            size -= len(part)
            if self._live:
                break
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_on(self, rest: bytes, size: int) -> bytes:
        """Return `rest` and the next bytes of `read`; empty only at the end."""
        if self.compression or not self._stored.fills:
            more = self.read(size)
            return rest + more if rest else more
        try:
            return impl.packets.read_on(rest, self._stored.fill, size)  # type: ignore[no-any-return]
        except OSError as error:
            self.damage = reason_of(error)
            return rest

    def read_stored(self, size: int) -> bytes:
        return self._stored.read(size)

    def read_behind(self, position: int, size: int) -> bytes:
        """Read past a position in steps of `size` bytes, as a reader of the whole file does; return the bytes after it, empty at the
        end."""
        while found := self.read(size):
            if len(found) > position:
                return found[position:]
            position -= len(found)
        return b""

    def has_more(self) -> bool:
        """Return whether the file is longer than `limit`; call it once, after reading up to the limit."""
        return self._stored.has_more()

    def sha256(self) -> str:
        """Return the hash of the whole stored file, empty if not requested; reads the rest."""
        try:
            while self._stored.read(CHUNK_BYTES):
                pass
        except OSError as error:
            self.damage = self.damage or reason_of(error)
        return self._stored.hexdigest()


@contextmanager
def open_capture(
    location: str | BinaryIO, *, hashed: bool = True, block_bytes: int = _BLOCK_BYTES, limit: int | None = None
) -> Iterator[CaptureSource]:
    """Open a path, a URI or a binary stream; `limit` is the number of stored bytes to read from a path or URI. Raises InputError: the file
    is missing or unreadable."""
    if not isinstance(location, str):
        yield CaptureSource(location, live=True, hashed=hashed)
        return
    with open_stored(location) as (stored, is_local):
        yield CaptureSource(stored if is_local else StoredBlocks(location, stored, block_bytes), hashed=hashed, limit=limit)


@contextmanager
def open_stored(location: str, *, streamed: bool = True) -> Iterator[tuple[NativeFile, bool]]:
    """Open a path or URI; return Arrow's file, and whether it is on a local disk. Raises InputError: the file is missing or unreadable."""
    filesystem, path = filesystem_of(location)
    try:
        is_local = filesystem.type_name == "local"
        stored = filesystem.open_input_stream(path, compression=None) if is_local and streamed else filesystem.open_input_file(path)
    except FileNotFoundError as error:
        raise InputError(f"{location} does not exist") from error
    except PermissionError as error:
        raise InputError(f"cannot read {location}: permission denied") from error
    except OSError as error:
        raise InputError(f"{location} cannot be opened: {reason_of(error)}") from error
    with stored:
        yield stored, is_local


def quiet(_count: int) -> None:
    """Ignore progress."""
