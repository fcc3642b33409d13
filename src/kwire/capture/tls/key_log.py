"""NSS key logs: lines `LABEL CLIENT_RANDOM SECRET` in hex, as SSLKEYLOGFILE and extract-tls-secrets write them (`key_lines`).

Memory has the lines of a small log. Of a large one it has the offset of each line by the first 8 bytes of the line's second field,
16 bytes a line; secrets stay in the file.
"""

from __future__ import annotations

import os
import weakref
from array import array
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from kwire.capture.tls.key_lines import (
    LONGEST_LINE,
    MOST_LINES,
    NAME_BYTES,
    KeyLine,
    has_all_secrets,
    index_lines,
    lines_at,
    lines_of,
    parse_line,
)
from kwire.errors import InputError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["KeyLog", "KeyText"]

_READ_BYTES: Final = 1 << 22
_MOST_RECENT: Final = 1 << 13  # lines in memory
_NONE: Final[dict[int, KeyLine]] = {}

_Stamp = tuple[int, int, int]


def _stamp_of(found: os.stat_result) -> _Stamp:
    """Return values that change when a file is written."""
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read_at(file: BinaryIO, place: int, size: int) -> bytes:
    file.seek(place)
    return file.read(size)


class KeyText:
    """Key log lines in memory, of Decryption Secrets Blocks; lines beyond `most_bytes` are dropped, and `repr` shows none."""

    __slots__ = ("_lines", "_room", "left_out")

    def __init__(self, most_bytes: int = 1 << 26) -> None:
        self._lines: dict[bytes, dict[bytes, None]] = {}
        self._room = most_bytes
        self.left_out = 0

    def add(self, text: bytes) -> None:
        for line in text.splitlines():
            known = parse_line(line)
            if known is None:
                continue
            lines = self._lines.setdefault(known[1][:NAME_BYTES], {})
            if line in lines:
                continue
            if self._room < len(line) or len(lines) >= MOST_LINES:
                self.left_out += 1
                continue
            self._room -= len(line)
            lines[line] = None

    def find(self, name: bytes) -> list[KeyLine]:
        lines = map(parse_line, self._lines.get(name[:NAME_BYTES], ()))
        return [line for line in lines if line is not None and line[1] == name]

    def __repr__(self) -> str:
        return f"KeyText({len(self._lines)} names)"


class KeyLog:
    """Key log file, which may grow: it is read at the first `find`, and again while secrets are missing."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._read_to = 0
        self._stamp: _Stamp | None = None  # of the file when it was read to its end
        self._recent: dict[int, dict[int, KeyLine]] = {}  # by name and offset
        self._recent_lines = 0
        self._last: list[KeyLine] = []  # a last line without its end, which may still grow
        self._names: np.ndarray[Any, Any] | None = None  # sorted
        self._places: np.ndarray[Any, Any] | None = None
        self._runs: list[tuple[array[int], array[int]]] = []  # not sorted in yet
        self._descriptor = -1  # of the file, where lines are read when they are asked for
        self._closing: weakref.finalize[..., KeyLog] | None = None

    def find(self, name: bytes) -> list[KeyLine]:
        found = self._known(name) if self._stamp is not None else []
        if has_all_secrets(found) and _stamp_of(os.fstat(self._descriptor)) == self._stamp:
            return found  # also if another file has its name now
        stamp = self._stamp_now()
        if stamp is not None and stamp == self._stamp:
            return found
        with closing(self._open()) as file:
            if stamp is not None and self._stamp is not None and stamp[0] != self._stamp[0]:
                self.__init__(self.location)  # type: ignore[misc] # another file has its name now
            self._read_on(file, stamp is None)
            if stamp is None:
                return self._known(name, lambda place, size: _read_at(file, place, size))
            self._keep_open(os.dup(file.fileno()))
            self._stamp = stamp
        return self._known(name)

    def _known(self, name: bytes, read: Callable[[int, int], bytes] | None = None) -> list[KeyLine]:
        """Return the lines the file had when it was last read; one that is not in memory and has changed since then is left out."""
        number = int.from_bytes(name[:NAME_BYTES], "big")
        recent = [line for line in (*self._recent.get(number, _NONE).values(), *self._last) if line[1] == name]
        if self._names is None:
            return recent
        descriptor = self._descriptor
        return lines_at(name, self._places_of(number), read or (lambda place, size: os.pread(descriptor, size, place))) + recent

    def _keep_open(self, descriptor: int) -> None:
        if self._closing is not None:
            self._closing()
        self._descriptor, self._closing = descriptor, weakref.finalize(self, os.close, descriptor)

    def _stamp_now(self) -> _Stamp | None:
        if "://" in self.location:
            return None
        try:
            return _stamp_of(os.stat(self.location))  # noqa: PTH116 - once a connection
        except OSError:
            return None

    def _open(self) -> BinaryIO:
        from kwire.files.file_systems import filesystem_of, reason_of

        try:
            filesystem, path = filesystem_of(self.location)
            file: Any = filesystem.open_input_file(path) if "://" in self.location else Path(path).open("rb")  # noqa: SIM115 - by the caller
        except (OSError, ValueError) as error:
            raise InputError(f"the key log {self.location} cannot be read: {reason_of(error)}") from error
        found: BinaryIO = file
        return found

    def _places_of(self, number: int) -> list[int]:
        """Return the offsets of lines that may have a name, at most `MOST_LINES`."""
        assert self._names is not None
        assert self._places is not None
        at = int(self._names.searchsorted(self._names.dtype.type(number)))
        end = int(self._names[at : at + MOST_LINES].searchsorted(self._names.dtype.type(number), "right"))
        found: list[int] = self._places[at : at + end].tolist()
        return found

    def _read_on(self, file: BinaryIO, is_remote: bool) -> None:
        size = file.seek(0, 2)
        if size < self._read_to or (size == self._read_to and not is_remote):  # written over: begin again
            self.__init__(self.location)  # type: ignore[misc]
        self._last = []
        if size == self._read_to:
            return
        file.seek(self._read_to)
        rest = b""
        while chunk := file.read(_READ_BYTES):
            rest = self._take(rest + chunk)
        self._last = [line for line in (parse_line(rest),) if line is not None]
        if self._runs:
            self._sort()

    def _take(self, text: bytes) -> bytes:
        """Index the whole lines of a text and return the rest."""
        whole = text.rfind(b"\n") + 1
        if not whole:
            kept = text[-LONGEST_LINE:]
            self._read_to += len(text) - len(kept)
            return kept
        self._take_lines(text, whole)
        self._read_to += whole
        return text[whole:]

    def _take_lines(self, text: bytes, size: int) -> None:
        if size > _READ_BYTES // 2:
            names, places = array("Q"), array("Q")
            index_lines(text, size, self._read_to, names, places)
            self._runs.append((names, places))
            return
        for place, line in lines_of(text, size, self._read_to):
            known = self._recent.setdefault(int.from_bytes(line[1][:NAME_BYTES], "big"), {})
            if len(known) < MOST_LINES:
                known[place] = line
                self._recent_lines += 1
        if self._recent_lines > _MOST_RECENT:
            pairs = [(name, each) for name, known in self._recent.items() for each in known]
            self._runs.append((array("Q", [pair[0] for pair in pairs]), array("Q", [pair[1] for pair in pairs])))
            self._recent, self._recent_lines = {}, 0

    def _sort(self) -> None:
        import numpy as np

        names = [np.frombuffer(run[0], np.uint64) for run in self._runs]
        places = [np.frombuffer(run[1], np.uint64) for run in self._runs]
        if self._names is not None and self._places is not None:
            names.insert(0, self._names)
            places.insert(0, self._places)
        joined, self._runs = np.concatenate(names), []
        del names
        order = np.argsort(joined, kind="stable")
        self._names = joined[order]
        self._places = np.concatenate(places)[order]

    def __repr__(self) -> str:
        return f"KeyLog({self.location!r})"
