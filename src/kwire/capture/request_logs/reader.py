"""Read one file of a request log, a chunk at a time.

A log that is still being written may end inside a line, a character or a gzip member. Entries are read up to its last whole line; the bytes
behind it are kept (`LogPosition`) until the file grows or is complete.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO, Final, Literal, NamedTuple

from kwire.capture.files.source import CaptureSource, open_capture
from kwire.capture.request_logs.folding import MAX_JOINED_LINES, EntryFolder, Item, LineFault

__all__ = ["MAX_LINE_BYTES", "LogFileFacts", "LogPosition", "iter_log", "torn_line"]

# The answer to a Metadata request of a large cluster is a line of some MB; what is longer than this is no line.
MAX_LINE_BYTES: Final = 64 << 20
_CHUNK_BYTES: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"
# So many blank lines are one by one; those behind them, which no entry goes on in, are only counted.
_BLANK_LINES: Final = 2 * MAX_JOINED_LINES
_BLANK: Final = ((b"\n" * _BLANK_LINES, re.compile(rb"\n*")), (b"\r\n" * _BLANK_LINES, re.compile(rb"[\r\n]*")))


class LogPosition(NamedTuple):
    """Progress in a file that may grow."""

    read: int = 0  # bytes of the decompressed file so far
    lines: int = 0  # whole lines so far
    torn: bytes = b""  # bytes behind the last whole line, empty if more than `MAX_LINE_BYTES`
    size: int = 0  # number of these bytes
    has_more: bool = False  # the file has grown since its size was taken, so the line is not torn


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFileFacts:
    """Facts of a request log file; an incomplete one has the position at which a later run continues."""

    location: str
    compression: Literal["gzip", "zstd"] | None
    sha256: str
    stored_bytes: int
    lines: int
    damage: str
    position: LogPosition | None = None


def iter_log(
    location: str | BinaryIO,
    file: int,
    folder: EntryFolder,
    *,
    progress: Callable[[int], None] | None = None,
    lines_before: int = 0,
    limit: int | None = None,
    before: LogPosition | None = None,
) -> Generator[Iterator[Item], None, LogFileFacts]:
    """Read one file of a series of logs, plain, gzip or zstd; the generator returns the facts.

    A file that may grow is read up to `limit` stored bytes; its incomplete last line stays in `LogFileFacts.position`. Entries are created
    on demand, so that a line is used while it is in the CPU cache.
    """
    name = location if isinstance(location, str) else "standard input"
    with open_capture(location, limit=limit) as source:
        lines = _Lines(source, before or LogPosition(lines=lines_before), grows=limit is not None)
        reported = 0
        for chunk in lines:
            items = _items(chunk, file, folder)
            yield items
            for _ in items:  # what the caller left goes through the folder all the same
                pass
            if progress is not None:
                progress(source.stored_bytes - reported)
                reported = source.stored_bytes
        sha256 = source.sha256()  # reads what is left
        has_more = source.has_more()
        return LogFileFacts(
            location=name,
            compression=source.compression,
            sha256=sha256,
            stored_bytes=source.stored_bytes,
            lines=lines.count,
            damage="" if has_more else source.damage,
            position=None if limit is None else lines.position._replace(has_more=has_more),
        )


def torn_line(position: LogPosition, file: int, folder: EntryFolder) -> Iterator[Item]:
    if position.size:
        line = None if position.size > MAX_LINE_BYTES else position.torn if position.lines else position.torn.removeprefix(_BOM)
        yield from _items(_Chunk(position.lines + 1, [line], False), file, folder)


def _items(chunk: _Chunk, file: int, folder: EntryFolder) -> Iterator[Item]:
    read = folder.fast_path()
    waiting = folder.is_waiting
    last = chunk.first + len(chunk.lines) - 1
    for number, line in enumerate(chunk.lines, chunk.first):
        whole = chunk.whole or number < last
        if line is None:
            yield LineFault(file, number, f"it is longer than {MAX_LINE_BYTES >> 20} MB")
            continue
        entry = read(line, number) if whole and not waiting else None
        if entry is not None:
            yield file, entry
        else:
            yield from folder.feed(file, _text(line), number, whole=whole)
            waiting = folder.is_waiting
    folder.skip(file, chunk.blank)


def _text(line: bytes) -> str:
    return line.removesuffix(b"\n").removesuffix(b"\r").lstrip(b"\0").decode("utf-8", "replace")


class _Chunk(NamedTuple):
    """Consecutive lines from number `first` on (None for an overlong one), and the number of blank lines behind them."""

    first: int
    lines: list[bytes | None]
    whole: bool
    blank: int = 0


class _Lines:
    """Reader of a source's lines, chunk by chunk."""

    def __init__(self, source: CaptureSource, before: LogPosition, grows: bool) -> None:
        self._source = source
        self._grows = grows
        self.position = before  # position after the last chunk read
        self.count = before.lines  # lines so far

    def __iter__(self) -> Iterator[_Chunk]:
        read, _, torn, size, _ = self.position
        parts = [torn] if torn else []  # of the line that is not whole yet
        for data, blank, blank_size in self._blocks():
            read += len(data) + blank_size
            lines: list[bytes | None] = [*BytesIO(data)]  # with their ends: that is faster than to split
            end = data.rfind(b"\n") + 1
            size += len(lines[0] or b"") - (end > 0)
            if size <= MAX_LINE_BYTES:
                parts.append(lines[0] or b"")
            if not end:
                continue
            begun = (lines.pop() or b"") if end < len(data) else b""
            lines[0] = b"".join(parts) if size <= MAX_LINE_BYTES else None
            yield self._chunk(lines, True, blank)
            parts, size = [begun], len(begun)
        last = b"".join(parts) if size <= MAX_LINE_BYTES else None
        if self._grows:
            self.position = LogPosition(read, self.count, last or b"", size)
        elif size:
            yield self._chunk([last], False)

    def _blocks(self) -> Iterator[tuple[bytes, int, int]]:
        """Yield bytes of lines, and the number and size of the blank lines behind them, which are only counted."""
        found = self._source.read_behind(self.position.read, _CHUNK_BYTES)
        while found:
            at = 0
            for run, more in _BLANK:
                while (start := found.find(run, at)) >= 0:
                    start += len(run)
                    breaks = more.match(found, start)
                    assert breaks is not None
                    end = found.rfind(b"\n", 0, breaks.end()) + 1
                    yield found[at:start], found.count(b"\n", start, end), end - start
                    at = end
            if at < len(found):
                yield found[at:], 0, 0
            found = self._source.read(_CHUNK_BYTES)

    def _chunk(self, lines: list[bytes | None], whole: bool, blank: int = 0) -> _Chunk:
        first = self.count + 1
        if first == 1 and lines[0] is not None:
            lines[0] = lines[0].removeprefix(_BOM)
        self.count += len(lines) + blank
        return _Chunk(first, lines, whole, blank)
