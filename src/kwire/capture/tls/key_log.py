"""NSS key logs: lines `LABEL CLIENT_RANDOM SECRET` in hex, as SSLKEYLOGFILE and extract-tls-secrets write them (`key_lines`).

What is held of a log is where each line begins, 16 bytes a line, by the first 8 bytes of its second field; a small one is held itself,
and the secrets of a large one stay in the file until they are looked up.
"""

from __future__ import annotations

import os
import weakref
from array import array
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from kwire.capture.impl import key_lines
from kwire.capture.tls.key_lines import LONGEST_LINE, MOST_LINES, NAME_BYTES, KeyLine, Stamp, lines_at, places_of, stamp_of
from kwire.errors import InputError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["KeyLog", "KeyText"]

_READ_BYTES: Final = 1 << 22
_MOST_RECENT: Final = 1 << 16  # lines that wait for being sorted in
_MOST_HELD: Final = 1 << 24  # bytes of a log that is held
_GIVEN_TOGETHER: Final = 256  # names that a log gives secrets of before it looks whether its file has changed


def _read_at(file: BinaryIO, place: int, size: int) -> bytes:
    file.seek(place)
    return file.read(size)


class KeyText:
    """Key log lines that are held in memory, as a Decryption Secrets Block has them; shows no line.

    Args:
        most_bytes: how much is held; what comes behind it is left out.
    """

    __slots__ = ("_lines", "_room", "left_out")

    def __init__(self, most_bytes: int = 1 << 26) -> None:
        self._lines: dict[bytes, dict[bytes, None]] = {}
        self._room = most_bytes
        self.left_out = 0

    @property
    def has_lines(self) -> bool:
        """Whether any text had some."""
        return bool(self._lines)

    def add(self, text: bytes) -> None:
        """Take the lines of a text."""
        parse_line = key_lines().parse_line
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
        """The lines whose second field is `name`."""
        lines = map(key_lines().parse_line, self._lines.get(name[:NAME_BYTES], ()))
        return [line for line in lines if line is not None and line[1] == name]

    def __repr__(self) -> str:
        return f"KeyText({len(self._lines)} names)"


class KeyLog:
    """A key log file, which may grow; read when a name is first asked for, and read on when one is asked for of which it has not all.

    Args:
        location: path or URI.

    Raises:
        InputError: by `find`: it cannot be read.
    """

    def __init__(self, location: str) -> None:
        self.location = location
        self._read_to = 0
        self._stamp: Stamp | None = None  # of the file when it was read to its end
        self._recent: dict[int, list[int]] = {}
        self._recent_lines = 0
        self._names: np.ndarray[Any, Any] | None = None  # sorted
        self._places: np.ndarray[Any, Any] | None = None
        self._runs: list[tuple[array[int], array[int]]] = []  # not sorted in yet
        self._descriptor = -1  # of the file, where lines are read when they are asked for
        self._closing: weakref.finalize[..., KeyLog] | None = None
        self._held: bytearray | None = bytearray()
        self._left_to_give = 0  # names, before the file is asked whether it has changed

    def secrets(self, name: bytes) -> dict[str, bytes] | None:
        """The secrets of a name by label, of a log that is held and whose file has not changed; None where `find` is to be asked.

        A log that has all secrets of TLS 1.3's records, or the one of TLS 1.2, has no more to say of the name: its file is not asked each
        time whether it has changed.
        """
        if not self._left_to_give or self._held is None:
            return None
        self._left_to_give -= 1
        found: dict[str, bytes]
        found, is_all = key_lines().held_secrets(self._held, name, self._recent, self._names, self._places)
        if not is_all:
            if self._stamp_now() != self._stamp:
                return None
            self._left_to_give = _GIVEN_TOGETHER
        return found

    def find(self, name: bytes) -> list[KeyLine]:
        """The lines whose second field is `name`."""
        known: tuple[list[KeyLine], bool] | None = key_lines().known_lines(
            self._descriptor, self._stamp, name, self._recent, self._names, self._places
        )
        if known is not None and known[1]:
            return known[0]  # also where another file has its name now
        stamp = self._stamp_now()
        if stamp is not None and stamp == self._stamp:
            return self._known(name) if known is None else known[0]
        with closing(self._open()) as file:
            if stamp is not None and self._stamp is not None and stamp[0] != self._stamp[0]:
                self.__init__(self.location)  # type: ignore[misc] # another file has its name now
            self._read_on(file)
            if stamp is None:
                self._held = None
                return lines_at(name, self._places_of(name), lambda place, size: _read_at(file, place, size))
            self._keep_open(os.dup(file.fileno()))
            self._stamp, self._left_to_give = stamp, _GIVEN_TOGETHER
        return self._known(name)

    def _known(self, name: bytes) -> list[KeyLine]:
        """What the file had when it was last read; a line that has changed since then is left out."""
        descriptor = self._descriptor
        if descriptor < 0:
            return []
        return lines_at(name, self._places_of(name), lambda place, size: os.pread(descriptor, size, place))

    def _keep_open(self, descriptor: int) -> None:
        """Read lines from this descriptor; it is closed with the log."""
        if self._closing is not None:
            self._closing()
        self._descriptor, self._closing = descriptor, weakref.finalize(self, os.close, descriptor)

    def _stamp_now(self) -> Stamp | None:
        """What changes when a file of this machine is written; None elsewhere."""
        if "://" in self.location:
            return None
        try:
            return stamp_of(os.stat(self.location))  # noqa: PTH116 - once a connection
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

    def _places_of(self, name: bytes) -> list[int]:
        return places_of(int.from_bytes(name[:NAME_BYTES], "big"), self._recent, self._names, self._places)

    def _read_on(self, file: BinaryIO) -> None:
        size = file.seek(0, 2)
        if size < self._read_to or (size == self._read_to and self._held):  # written over: begin again
            self.__init__(self.location)  # type: ignore[misc]
        if size == self._read_to:
            return
        file.seek(self._read_to)
        rest = b""
        if self._held is not None:
            del self._held[self._read_to :]
        while chunk := file.read(_READ_BYTES):
            if self._held is not None and max(size, len(self._held) + len(chunk)) <= _MOST_HELD:
                self._held += chunk
            else:
                self._held = None
            rest = self._take(rest + chunk)
        if rest:
            self._take_lines(rest, len(rest))  # the last line, whose end may still come: it stays unread until then
        if self._runs:
            self._sort()

    def _take(self, text: bytes) -> bytes:
        """Index the whole lines of a text; gives what is left of it."""
        whole = text.rfind(b"\n") + 1
        if not whole:
            kept = text[-LONGEST_LINE:]
            self._read_to += len(text) - len(kept)
            return kept
        self._take_lines(text, whole)
        self._read_to += whole
        return text[whole:]

    def _take_lines(self, text: bytes, size: int) -> None:
        names, places = array("Q"), array("Q")
        key_lines().index_lines(text, size, self._read_to, names, places)
        if size > _READ_BYTES // 2:
            self._runs.append((names, places))
            return
        for name, place in zip(names, places, strict=True):
            known = self._recent.setdefault(name, [])
            if place not in known and len(known) < MOST_LINES:
                known.append(place)
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
