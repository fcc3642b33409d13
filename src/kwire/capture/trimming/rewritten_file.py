"""Output file that is written under a temporary name, changed at any offset, and renamed when complete."""

from __future__ import annotations

import os
from contextlib import suppress
from io import IOBase
from pathlib import Path
from typing import BinaryIO, Final, Literal, cast

from kwire.errors import InputError
from kwire.files.private_files import new_file

__all__ = ["RewrittenFile"]

_COPY_BYTES: Final = 1 << 20

Compression = Literal["gzip", "zstd"] | None


class RewrittenFile:
    """Output file; raises InputError if it exists and may not be overwritten, or cannot be written."""

    def __init__(self, path: str, *, overwrite: bool = False) -> None:
        self.path = Path(path)
        self._aside = self.path.with_name(f".{self.path.name}.kwire-{os.getpid()}")
        self.size = 0
        if self.path.is_dir():
            raise InputError(f"{path} is a folder; name a file")
        if self.path.exists() and not overwrite:
            raise InputError(f"{path} exists already; use --overwrite to replace it, or another name")
        try:
            self._file: BinaryIO = new_file(self._aside, buffering=0)
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}") from error

    def append(self, data: bytes | bytearray) -> None:
        self._write(self.size, data)
        self.size += len(data)

    def patch(self, at: int, data: bytes | bytearray | memoryview) -> None:
        self._write(at, data)

    def _write(self, at: int, data: bytes | bytearray | memoryview) -> None:
        view = memoryview(data)
        try:
            self._file.seek(at)
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}") from error

    def read(self, at: int, size: int) -> bytes:
        self._file.seek(at)
        return self._file.read(size)

    def publish(self, compression: Compression) -> None:
        """Compress the file and give it its name."""
        try:
            if compression is not None:
                self._pack(compression)
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._aside.replace(self.path)
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror or error}") from error

    def _pack(self, compression: Literal["gzip", "zstd"]) -> None:
        import pyarrow

        packed = self._aside.with_name(f"{self._aside.name}-packed")
        try:
            with new_file(packed) as plain, pyarrow.CompressedOutputStream(cast("IOBase", plain), compression) as stream:
                at = 0
                while part := self.read(at, _COPY_BYTES):
                    stream.write(part)
                    at += len(part)
            packed.replace(self._aside)
        finally:
            packed.unlink(missing_ok=True)
        self._file.close()
        self._file = self._aside.open("r+b", buffering=0)

    def abandon(self) -> None:
        """Remove the file, if it exists. Never raises, because it runs after another error or after `publish`."""
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._aside.unlink(missing_ok=True)
