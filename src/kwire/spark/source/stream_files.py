"""Files that a stream reads, identified by their first bytes.

Rotation renames logs, `copytruncate` copies them, ring captures reuse names, and closed files get compressed. The first decompressed bytes
stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import RawIOBase
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal

from kwire.capture.files.formats import compression_of
from kwire.capture.files.inputs import CaptureFile, expand_inputs
from kwire.capture.files.piece_kinds import kind_of
from kwire.capture.files.series import first_packet_ns
from kwire.capture.files.source import CaptureSource, open_capture
from kwire.errors import InputError
from kwire.files.file_systems import filesystem_of, reason_of
from kwire.spark.source.stream_offsets import HEAD_BYTES, mark_of

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo

__all__ = ["FileWatch", "LogRange", "SeenFile", "head_of", "line_end", "locate", "open_range"]

Kind = Literal["capture", "log", "unreadable"]

_STEP: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class SeenFile:
    """Listed file; `head` has its first `HEAD_BYTES` decompressed bytes, and times are nanoseconds since 1970."""

    file: CaptureFile
    changed_ns: int
    kind: Kind
    compressed: bool
    head: bytes
    began_ns: int | None
    fault: str = ""

    @property
    def mark(self) -> str:
        """Hash that identifies a closed file; for captures without packets, it includes the name."""
        if self.kind == "capture" and self.began_ns is not None:
            return mark_of(self.head, b"%d" % self.began_ns)
        return mark_of(self.head) if self.kind == "log" else mark_of(self.head, self.file.name.encode())

    def begins_as(self, head: int, mark: str) -> bool:
        """Return whether its first `head` bytes have this hash."""
        return 0 < head <= len(self.head) and mark_of(self.head[:head]) == mark


class FileWatch:
    """Listing of files; a file is opened again only after a change."""

    def __init__(self, arguments: tuple[str, ...], wanted: Callable[[str], bool] | None = None) -> None:
        self._arguments = arguments
        self._wanted = wanted
        self._known: dict[str, SeenFile] = {}

    def look(self) -> list[SeenFile]:
        try:
            files, _missing = expand_inputs(self._arguments)
        except InputError:
            files = []
        for argument in self._arguments:
            _check_exists(argument)
        wanted = [file for file in files if self._wanted is None or self._wanted(file.name)]
        infos = _infos(wanted)
        found = {}
        for file in wanted:
            info = infos.get(file.location)
            seen = None if info is None else self._seen(file, info)
            if seen is not None:
                found[file.location] = seen
        self._known = found
        return list(found.values())

    def look_at(self, file: CaptureFile) -> SeenFile | None:
        """Return one listed file, None if it is gone."""
        info = _info(file.location)
        return None if info is None else self._seen(file, info)

    def _seen(self, file: CaptureFile, info: FileInfo) -> SeenFile | None:
        size, changed = info.size or 0, info.mtime_ns or 0
        file = replace(file, size=size)
        before = self._known.get(file.location)
        if before is not None and (before.file.size, before.changed_ns) == (size, changed):
            return before
        try:
            head, compressed = head_of(file.location)
        except InputError:
            return None  # it went between being listed and being opened
        if before is not None and before.kind == "log" and head.startswith(before.head) and before.began_ns is not None:
            return replace(before, file=file, changed_ns=changed, head=head)
        try:
            kind: Kind = "capture" if kind_of(file.location) == "packets" else "log"
        except InputError as error:
            return SeenFile(file, changed, "unreadable", compressed, head, None, str(error))
        return SeenFile(file, changed, kind, compressed, head, first_packet_ns(file.location))


def _check_exists(argument: str) -> None:
    if not any(wild in argument for wild in "*?[") and _info(argument) is None:
        raise InputError(f"{argument} does not exist")


def _infos(files: Sequence[CaptureFile]) -> dict[str, FileInfo]:
    """Return sizes and times by location, one request per folder, because a store needs the same time for one file as for a thousand."""
    from pyarrow.fs import FileSelector

    found: dict[str, FileInfo] = {}
    folders: dict[str, dict[str, str]] = {}
    for file in files:
        _, path = filesystem_of(file.location)
        folders.setdefault(path.rpartition("/")[0], {})[path] = file.location
    for folder, locations in folders.items():
        filesystem, _ = filesystem_of(next(iter(locations.values())))
        try:
            listed = filesystem.get_file_info(FileSelector(folder or ".", allow_not_found=True))
        except OSError as error:
            raise InputError(f"{folder} cannot be listed: {reason_of(error)}") from error
        found |= {locations[info.path]: info for info in listed if info.path in locations}
    return found


def _info(location: str) -> FileInfo | None:
    from pyarrow.fs import FileType

    filesystem, path = filesystem_of(location)
    try:
        info: FileInfo = filesystem.get_file_info(path)
    except OSError as error:
        raise InputError(f"{location} cannot be looked at: {reason_of(error)}") from error
    return None if info.type == FileType.NotFound else info


def head_of(location: str) -> tuple[bytes, bool]:
    """Return the first `HEAD_BYTES` bytes of a file, decompressed, and whether it is compressed."""
    with open_capture(location, hashed=False, block_bytes=_STEP) as source:
        return source.read(HEAD_BYTES), source.compression is not None


def locate(location: str, head: int, mark: str) -> str | None:
    """Find a file that may have been renamed or compressed, by the hash of its first `head` bytes; return None if it is gone."""
    if not head:
        return location if _info(location) is not None else None
    folder = location.rpartition("/")[0]
    for place in chain((location,), _neighbours(folder, location)):
        try:
            found, _ = head_of(place)
        except InputError:
            continue
        if len(found) >= head and mark_of(found[:head]) == mark:
            return place
    return None


def _neighbours(folder: str, location: str) -> Iterator[str]:
    from pyarrow.fs import FileSelector, FileType

    filesystem, path = filesystem_of(folder or ".")
    try:
        infos = filesystem.get_file_info(FileSelector(path, allow_not_found=True))
    except OSError:
        return
    name = location.rpartition("/")[2]
    # a rotated file keeps the beginning of its name
    stem = name.partition(".")[0]
    for info in sorted(infos, key=lambda info: info.mtime_ns or 0, reverse=True):
        if info.type == FileType.File and info.base_name.startswith(stem) and info.base_name != name:
            yield f"{folder}/{info.base_name}" if folder else info.base_name


class LogRange(RawIOBase):
    """Range of a source's bytes; `left` is the number of remaining bytes, None if unknown."""

    def __init__(self, source: CaptureSource, size: int | None) -> None:
        super().__init__()
        self._source = source
        self.left = size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = _STEP if size < 0 else size
        found = self._source.read(wanted if self.left is None else min(wanted, self.left))
        if self.left is not None:
            self.left -= len(found)
        return found


@contextmanager
def open_range(location: str, start: int, stop: int | None) -> Iterator[LogRange]:
    """Open the decompressed bytes of a file from `start` to `stop` (None for its end)."""
    size = None if stop is None else stop - start
    filesystem, path = filesystem_of(location)
    try:
        file = filesystem.open_input_file(path)
    except FileNotFoundError as error:
        raise InputError(f"{location} does not exist") from error
    except OSError as error:
        raise InputError(f"{location} cannot be opened: {reason_of(error)}") from error
    with file:
        compressed = compression_of(file.read(4)) is not None
        file.seek(0 if compressed else start)
        source = CaptureSource(file, hashed=False)
        left = start if compressed else 0
        while left and (passed := source.read(min(left, 1 << 20))):
            left -= len(passed)
        yield LogRange(source, size)


def line_end(location: str, start: int, stop: int, most: int | None) -> int:
    """Find the end of the last whole line within `most` bytes, or `start` if there is none; one longer line is allowed."""
    limit = stop if most is None else min(stop, start + most)
    filesystem, path = filesystem_of(location)
    with filesystem.open_input_file(path) as file:
        at = limit
        while at > start:
            block = max(start, at - _STEP)
            found = _read_at(file, at - block, block).rfind(b"\n")
            if found >= 0:
                return block + found + 1
            at = block
        while limit < stop:  # the first line alone is longer than what is wanted
            block_bytes = _read_at(file, min(_STEP, stop - limit), limit)
            found = block_bytes.find(b"\n")
            if found >= 0:
                return limit + found + 1
            limit += len(block_bytes) or stop
    return start


def _read_at(file: Any, size: int, at: int) -> bytes:
    return bytes(file.read_at(size, at))
