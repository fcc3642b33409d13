"""Standard input as a capture: the bytes of a pipe, with a hint if none arrive."""

from __future__ import annotations

import io
import select
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from kwire.cli.terminal import warn
from kwire.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["HINT_SECONDS", "STANDARD_INPUT", "spooled_input", "waiting_input"]

STANDARD_INPUT: Final = "-"

HINT_SECONDS: Final = 5.0
"""Seconds without a byte after which standard error names a likely cause."""

_HINT: Final = "waiting for packets on standard input (tcpdump sends each packet at once only with -U)"
_BLOCK: Final = 1 << 20


_GATHER_SECONDS: Final = 0.2
"""Limit for gathering the bytes of a pipe, because a batch of rows for each packet would cost milliseconds per row."""
_FEW_BYTES: Final = 4096
_PAUSE_SECONDS: Final = 0.02
"""Pause after a read of few bytes or none; it is too short to fill a pipe of 64 KiB."""


class _GatheredInput(io.RawIOBase):
    """Pipe whose bytes are gathered for up to `_GATHER_SECONDS`; `begun` is set with the first byte."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self._read = getattr(stream, "read1", stream.read)
        self.begun = threading.Event()
        try:
            self._polled = [] if sys.platform == "win32" else [stream.fileno()]  # Windows polls sockets only
        except (AttributeError, OSError):
            self._polled = []

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        found = self._read(len(view))
        self.begun.set()
        size, until = len(found), time.monotonic() + _GATHER_SECONDS
        view[:size] = found
        while found and size < len(view) and self._polled and time.monotonic() < until:
            if select.select(self._polled, [], [], 0)[0]:
                found = self._read(len(view) - size)
                view[size : size + len(found)] = found
                size += len(found)
                if not found or len(found) >= _FEW_BYTES:
                    continue
            time.sleep(_PAUSE_SECONDS)
        return size


@contextmanager
def waiting_input() -> Iterator[BinaryIO]:
    """Open standard input as a binary stream; after `HINT_SECONDS` without a byte a hint goes to stderr, once."""
    stream = _GatheredInput(sys.stdin.buffer)

    def watch() -> None:
        if not stream.begun.wait(HINT_SECONDS):
            warn(_HINT)

    threading.Thread(target=watch, name="kwire-waiting", daemon=True).start()
    try:
        yield cast("BinaryIO", io.BufferedReader(stream))
    finally:
        stream.begun.set()


@contextmanager
def spooled_input() -> Iterator[str]:
    """Copy standard input to a temporary file until it ends, or until Ctrl-C ends a capture that has begun; yield the path."""
    with TemporaryDirectory(prefix="kwire-") as folder:
        path = Path(folder, "standard-input")
        with waiting_input() as stream, path.open("wb") as file:
            try:
                shutil.copyfileobj(cast("io.BufferedReader", stream), file, _BLOCK)
            except KeyboardInterrupt:
                if not file.tell():
                    raise
                with suppress(OSError):
                    warn("standard input ended; analyzing the capture")
        if not path.stat().st_size:
            raise InputError("standard input is empty")
        yield str(path)
