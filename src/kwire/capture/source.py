"""Opening a capture wherever it lies: local disks and object stores through pyarrow.fs, open streams, gzip and zstd.

The bytes are hashed as they are stored, while they are read; tasks that share a series have each file hashed by one of them.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from kwire.capture.formats import compression_of
from kwire.errors import InputError

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileSystem

__all__ = ["CHUNK_BYTES", "CaptureSource", "filesystem_of", "open_capture"]

# What is read at once stays in the processor's caches from the disk to the rows: with 8 MiB a fifth of the time went into memory.
CHUNK_BYTES: Final = 1 << 20
# What is asked of an object store at once: each request takes long to begin.
_REMOTE_READ_BYTES: Final = 8 << 20
# A compressed file that was cut loses what one read asked for: so ask for little.
_COMPRESSED_READ_BYTES: Final = 4096


def filesystem_of(location: str) -> tuple[FileSystem, str]:
    """Split a path or URI into a file system and a path in it.

    Raises:
        InputError: the URI's scheme is not known.
    """
    from pyarrow import ArrowInvalid, fs

    if "://" not in location:
        return fs.LocalFileSystem(), location
    try:
        return fs.FileSystem.from_uri(location)
    except (ArrowInvalid, OSError, ValueError) as error:
        raise InputError(f"{location} cannot be opened: {_first_line(error)}") from error


class _Hashed(io.RawIOBase):
    """Passes bytes through and hashes them; begins again with those that were read to look at."""

    def __init__(self, stored: NativeFile | BinaryIO, live: bool, hashed: bool) -> None:
        super().__init__()
        # read1 gives what a pipe has and does not wait for more
        self._read: Callable[[int], bytes] = getattr(stored, "read1", stored.read) if live else stored.read
        self._hash = hashlib.sha256() if hashed else None
        self._head = b""
        self.count = 0

    def peek(self, size: int) -> bytes:
        while len(self._head) < size and (more := self._take(size - len(self._head))):
            self._head += more
        return self._head

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._head:
            size = len(self._head) if size < 0 else size
            out, self._head = self._head[:size], self._head[size:]
            return out
        return self._take(size)

    def _take(self, size: int) -> bytes:
        found = bytes(self._read(size))
        if self._hash is not None:
            self._hash.update(found)
        self.count += len(found)
        return found

    def hexdigest(self) -> str:
        return "" if self._hash is None else self._hash.hexdigest()


class CaptureSource:
    """The bytes of one capture file, decompressed.

    Attributes:
        damage: why reading ended early, empty while all is well.

    Arguments:
        stored: the bytes as stored.
        live: somebody may still be writing at the other end: give what is there.
        hashed: the hash is wanted.
    """

    def __init__(self, stored: NativeFile | BinaryIO, *, live: bool = False, hashed: bool = True) -> None:
        self._stored = _Hashed(stored, live, hashed)
        self._live = live
        self._plain: Any = self._stored
        self.damage = ""
        self.compression = compression_of(self._stored.peek(4))
        if self.compression:
            import pyarrow

            self._plain = pyarrow.CompressedInputStream(pyarrow.PythonFile(self._stored, mode="r"), self.compression)

    @property
    def stored_bytes(self) -> int:
        """Bytes read so far, as stored."""
        return self._stored.count

    def read(self, size: int) -> bytes:
        """Read `size` bytes, fewer only at the end of the file or where the source is live; none only at the end."""
        step = _COMPRESSED_READ_BYTES if self.compression else size
        parts = []
        while size > 0 and not self.damage:
            try:
                part = self._plain.read(min(size, step))
            except OSError as error:  # pyarrow reports damaged compression as an OSError too
                self.damage = _first_line(error)
                break
            if not part:
                break
            parts.append(part)
            size -= len(part)
            if self._live:
                break
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def sha256(self) -> str:
        """Hash of the whole file as stored, empty where it is not wanted; reads what is left."""
        try:
            while self._stored.read(CHUNK_BYTES):
                pass
        except OSError as error:
            self.damage = self.damage or _first_line(error)
        return self._stored.hexdigest()


@contextmanager
def open_capture(location: str | BinaryIO, *, hashed: bool = True) -> Iterator[CaptureSource]:
    """Open a path, a URI or a binary stream for reading.

    Args:
        location: where it is.
        hashed: its hash is wanted.

    Raises:
        InputError: there is no such file, or it may not be read.
    """
    if not isinstance(location, str):
        yield CaptureSource(location, live=True, hashed=hashed)
        return
    filesystem, path = filesystem_of(location)
    try:
        is_local = filesystem.type_name == "local"
        stored = filesystem.open_input_stream(path, compression=None, buffer_size=None if is_local else _REMOTE_READ_BYTES)
    except FileNotFoundError as error:
        raise InputError(f"{location} does not exist") from error
    except PermissionError as error:
        raise InputError(f"{location} may not be read: permission denied") from error
    except OSError as error:
        raise InputError(f"{location} cannot be opened: {_first_line(error)}") from error
    with stored:
        yield CaptureSource(stored, hashed=hashed)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
