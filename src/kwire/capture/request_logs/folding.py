"""Conversion of lines to entries: joins entries across line breaks and files, and reports unreadable lines.

An entry in a text form continues in the next line if a client id or an error message has a line break. A file rotated by size may end
inside a line, and the next one begins with its rest. Container runtimes split long lines (`line_parts`). A line that begins an entry ends
the pending one.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from datetime import timezone, tzinfo
from typing import Final, NamedTuple

from kwire.capture.request_logs.entry import LogEntry, UnreadableLine, WantedBodies
from kwire.capture.request_logs.json_form import MARK
from kwire.capture.request_logs.line_parts import LineParts
from kwire.capture.request_logs.lines import goes_on, read_line, starts_entry

__all__ = ["MAX_JOINED_LINES", "EntryFolder", "LineFault"]

MAX_JOINED_LINES: Final = 64


class LineFault(NamedTuple):
    """Unreadable line that looks like an entry."""

    file: int  # index of its file in the series
    line: int  # its number there, from 1
    reason: str  # one clause
    torn: bool = False  # the file ends inside it


Item = tuple[int, LogEntry] | LineFault


class _Held(NamedTuple):
    file: int
    line: int
    lines: tuple[str, ...]
    torn: bool

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


Wanted = Callable[[int, int], WantedBodies | None]
ReadLine = Callable[[bytes, int], LogEntry | None]


def typed_reader(zone: tzinfo, wanted: Wanted) -> ReadLine | None:
    """Load the reader of typed lines with the first log, because captures do not need msgspec; return None if it is not installed."""
    if importlib.util.find_spec("msgspec") is None:
        return None
    from kwire.capture.request_logs.typed_lines import line_reader

    return line_reader(zone, wanted)


def _never(_line: bytes, _number: int) -> LogEntry | None:
    return None


class EntryFolder:
    """State between two lines or files; `foreign` counts lines of other loggers by file index."""

    __slots__ = ("_held", "_parts", "_read", "_wanted", "_zone", "foreign")

    def __init__(self, zone: tzinfo = timezone.utc, wanted: Wanted | None = None) -> None:
        self._zone = zone
        self._wanted = wanted
        self._held: _Held | None = None
        self._parts = LineParts()
        self.foreign: dict[int, int] = {}
        self._read: ReadLine | None = None

    @property
    def is_waiting(self) -> bool:
        """True if an entry is incomplete: the next line belongs to `feed`."""
        return self._held is not None or bool(self._parts.waiting)

    def fast_path(self) -> ReadLine:
        """Return the reader of whole typed lines, for use while no entry is pending; it returns None for lines that need `feed`."""
        if self._read is None:
            self._read = (None if self._wanted is None else typed_reader(self._zone, self._wanted)) or _never
        return self._read

    def feed(self, file: int, line: str, number: int, *, whole: bool = True) -> Iterator[Item]:
        """Add a line (not `whole`: the incomplete last one of a file); yield entries with the index of their first file, and faults."""
        if not whole:
            yield from self._feed(file, line, number, whole=False)
            return
        try:
            for each in self._parts.take(file, line, number, self._is_torn):
                yield from self._feed(each.file, each.text, each.line)
        except UnreadableLine as error:
            yield LineFault(file, number, str(error))

    def _feed(self, file: int, line: str, number: int, *, whole: bool = True) -> Iterator[Item]:
        held = self._held
        if held is None and whole and line.startswith("{"):  # JSON never goes on in the next line
            try:
                entry = read_line(line, number, self._zone)
            except UnreadableLine as error:
                yield LineFault(file, number, str(error), False)
                return
            if entry is not None:
                yield file, entry
            else:
                self._count(file, 1)
            return
        if held is not None:
            self._held = None
            if held.torn:
                joined = self._joined(held, line)
                if joined is not None:
                    yield held.file, joined
                    return
                yield from self._settle(held)
            elif starts_entry(line) or len(held.lines) >= MAX_JOINED_LINES:
                yield from self._settle(held)
            else:
                more = held._replace(lines=(*held.lines, line), torn=not whole)
                if goes_on(more.text):
                    self._held = more
                else:
                    yield from self._settle(more)
                return
        if not whole or goes_on(line):
            self._held = _Held(file, number, (line,), not whole)
        else:
            yield from self._settle(_Held(file, number, (line,), False))

    def skip(self, file: int, lines: int) -> None:
        """Count blank lines that follow `MAX_JOINED_LINES` others; no entry continues there."""
        self._count(file, lines)

    def waiting_file(self, default: int) -> int:
        """Return the index of the first file with an incomplete line, or the default."""
        files = [each.file for each in (self._held, *self._parts.waiting.values()) if each is not None]
        return min(files, default=default)

    def finish(self) -> Iterator[Item]:
        for each in self._parts.waiting.values():
            yield from self._feed(each.file, each.text, each.line)
        self._parts = LineParts()
        held, self._held = self._held, None
        if held is not None:
            yield from self._settle(held)

    def _joined(self, held: _Held, line: str) -> LogEntry | None:
        """Return the entry that ends in the first line of the next file; None if both are separate."""
        if starts_entry(held.text) and (MARK in line or self._try(line, 1) is not None):
            return None
        return self._try(held.text + line, held.line)

    def _is_torn(self, line: str) -> bool:
        try:
            read_line(line, 1, self._zone)
        except UnreadableLine:
            return True
        return False

    def _try(self, text: str, number: int) -> LogEntry | None:
        try:
            return read_line(text, number, self._zone)
        except UnreadableLine:
            return None

    def _settle(self, held: _Held) -> Iterator[Item]:
        try:
            entry = read_line(held.text, held.line, self._zone)
        except UnreadableLine as error:
            yield LineFault(held.file, held.line, str(error), held.torn)
            self._count(held.file, len(held.lines) - 1)
            return
        if entry is not None:
            yield held.file, entry
        else:
            self._count(held.file, len(held.lines))

    def _count(self, file: int, lines: int) -> None:
        if lines:
            self.foreign[file] = self.foreign.get(file, 0) + lines
