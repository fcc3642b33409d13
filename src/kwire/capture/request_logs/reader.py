"""Reads one file of a request log, a chunk at a time: memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, Literal, NamedTuple

from kwire.capture.request_logs.folding import EntryFolder, Item, LineFault
from kwire.capture.source import CaptureSource, open_capture

__all__ = ["MAX_LINE_BYTES", "LogFileFacts", "iter_log"]

# The answer to a Metadata request of a large cluster is a line of some MB; what is longer than this is no line.
MAX_LINE_BYTES: Final = 64 << 20
_CHUNK_BYTES: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFileFacts:
    """What is known of a file of a request log after it was read.

    Attributes:
        location: path or URI as given.
        compression: ``gzip``, ``zstd`` or None.
        sha256: of the file as stored.
        stored_bytes: size of the file as stored.
        lines: how many it has.
        damage: why it could not be read to its end, empty when all went well.
    """

    location: str
    compression: Literal["gzip", "zstd"] | None
    sha256: str
    stored_bytes: int
    lines: int
    damage: str


def iter_log(
    location: str | BinaryIO, file: int, folder: EntryFolder, *, progress: Callable[[int], None] | None = None, lines_before: int = 0
) -> Generator[Iterator[Item], None, LogFileFacts]:
    """Read one file of a series of logs.

    Args:
        location: path, URI or open binary stream; plain, gzip or zstd.
        file: its number in the series, from 0.
        folder: what the files before it left; changed in place.
        progress: called with the number of bytes of the stored file that were read since its last call.
        lines_before: of a stream that begins inside a log, how many lines it has before.

    Yields:
        The entries and faults of each chunk, each made when it is asked for, so that a line is used while the processor has it at hand; the
        generator returns the facts.

    Raises:
        InputError: there is no such file, or it may not be read.
    """
    name = location if isinstance(location, str) else "standard input"
    with open_capture(location) as source:
        lines = _Lines(source, lines_before)
        reported = 0
        for chunk in lines:
            items = _items(chunk, file, folder)
            yield items
            for _ in items:  # what the caller left goes through the folder all the same
                pass
            if progress is not None:
                progress(source.stored_bytes - reported)
                reported = source.stored_bytes
        return LogFileFacts(
            location=name,
            compression=source.compression,
            sha256=source.sha256(),
            stored_bytes=source.stored_bytes,
            lines=lines.count,
            damage=source.damage,
        )


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


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").lstrip(b"\0").decode("utf-8", "replace")


class _Chunk(NamedTuple):
    """Lines one after the other: number of the first, the lines (None for one that is too long), and whether the last is whole."""

    first: int
    lines: list[bytes | None]
    whole: bool


class _Lines:
    """The lines of a source, chunk by chunk."""

    def __init__(self, source: CaptureSource, count: int) -> None:
        self._source = source
        self.count = count

    def __iter__(self) -> Iterator[_Chunk]:
        parts: list[bytes] = []  # of the line that is not whole yet
        size = 0
        while data := self._source.read(_CHUNK_BYTES):
            lines: list[bytes | None] = [*data.split(b"\n")]
            first, rest = lines[0] or b"", len(lines) > 1
            if not self.count and not parts:
                first = first.removeprefix(_BOM)
            size += len(first)
            if size <= MAX_LINE_BYTES:
                parts.append(first)
            if not rest:
                continue
            lines[0] = b"".join(parts) if size <= MAX_LINE_BYTES else None
            begun = lines.pop() or b""
            yield self._chunk(lines, True)
            parts, size = [begun], len(begun)
        if size:
            yield self._chunk([b"".join(parts) if size <= MAX_LINE_BYTES else None], False)

    def _chunk(self, lines: list[bytes | None], whole: bool) -> _Chunk:
        first = self.count + 1
        self.count += len(lines)
        return _Chunk(first, lines, whole)
