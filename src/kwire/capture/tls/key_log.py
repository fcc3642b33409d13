"""NSS key logs: lines `LABEL CLIENT_RANDOM SECRET` in hex, as SSLKEYLOGFILE and extract-tls-secrets write them.

    CLIENT_RANDOM <client random> <master secret>                       TLS 1.2
    PMS_CLIENT_RANDOM <client random> <premaster secret>                TLS 1.2
    RSA <first 8 bytes of the encrypted premaster> <premaster secret>   TLS 1.2
    RSA Session-ID:<session id> Master-Key:<master secret>              TLS 1.2
    CLIENT_TRAFFIC_SECRET_0 <client random> <secret>                    TLS 1.3, and six labels more

Lines may end in CR LF, stand twice, be comments or broken: what is not understood is passed over. A secret stays in the file until it is
looked up: what is held is where each line begins, 16 bytes a line, by the first 8 bytes of its second field.
"""

from __future__ import annotations

import os
import re
import weakref
from array import array
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from kwire.errors import InputError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["KeyLine", "KeyLog", "KeyText", "parse_line"]

KeyLine = tuple[str, bytes, bytes]

_LINE: Final = re.compile(
    rb"^[ \t]*([A-Za-z0-9_]{3,40})[ \t]+(?:[Ss]ession-[Ii][Dd]:)?([0-9A-Fa-f]{16,128})[ \t]+(?:[Mm]aster-[Kk]ey:)?"
    rb"([0-9A-Fa-f]{32,256})[ \t\r]*$",
    re.MULTILINE,
)
_NAME_BYTES: Final = 8
_LONGEST_LINE: Final = 512
_READ_TOGETHER: Final = 1 << 14
_READ_BYTES: Final = 1 << 22
_MOST_RECENT: Final = 1 << 16  # lines that wait for being sorted in
_MOST_LINES: Final = 64  # that one client random may have: what a hostile log could repeat


def parse_line(line: bytes) -> KeyLine | None:
    """Label in capitals, second field and secret of a line; None for a comment or what is no such line."""
    found = _LINE.match(line.rstrip(b"\r\n"))
    if found is None or len(found[2]) & 1 or len(found[3]) & 1:
        return None
    return _label(found[1], line), bytes.fromhex(found[2].decode("ascii")), bytes.fromhex(found[3].decode("ascii"))


def _lines_of(name: bytes, places: list[int], read: Callable[[int, int], bytes]) -> list[KeyLine]:
    """The lines of a name; those of one client random mostly stand together, and are read at once.

    Args:
        name: the whole second field.
        places: where lines begin, in order.
        read: gives so many bytes of the file from a place.
    """
    wanted, found = name.hex().encode("ascii"), []
    if places and places[-1] - places[0] <= _READ_TOGETHER:
        places = [places[0], *places[-1:]]
        texts = [read(places[0], places[-1] - places[0] + _LONGEST_LINE)]
        ends = [texts[0].find(b"\n", places[-1] - places[0])]
    else:
        texts = [read(place, _LONGEST_LINE) for place in places]
        ends = [text.find(b"\n") for text in texts]
    for text, end in zip(texts, ends, strict=True):
        for line in _LINE.finditer(text, 0, len(text) if end < 0 else end):
            if line[2].lower() == wanted and not len(line[3]) & 1:
                found.append((_label(line[1], line[0]), name, bytes.fromhex(line[3].decode("ascii"))))
    return found


def _label(label: bytes, line: bytes) -> str:
    text = label.decode("ascii").upper()
    return "SESSION_ID" if text == "RSA" and b":" in line else text


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

    def add(self, text: bytes) -> None:
        """Take the lines of a text."""
        for line in text.splitlines():
            known = parse_line(line) if len(line) < _LONGEST_LINE else None
            if known is None:
                continue
            lines = self._lines.setdefault(known[1][:_NAME_BYTES], {})
            if line in lines:
                continue
            if self._room < len(line) or len(lines) >= _MOST_LINES:
                self.left_out += 1
                continue
            self._room -= len(line)
            lines[line] = None

    def find(self, name: bytes) -> list[KeyLine]:
        """The lines whose second field is `name`."""
        lines = map(parse_line, self._lines.get(name[:_NAME_BYTES], ()))
        return [line for line in lines if line is not None and line[1] == name]

    def __repr__(self) -> str:
        return f"KeyText({len(self._lines)} names)"


class KeyLog:
    """A key log file, which may grow; read when a name is first asked for, and read on when one is asked for that it has not.

    Args:
        location: path or URI.

    Raises:
        InputError: by `find`: it cannot be read.
    """

    def __init__(self, location: str) -> None:
        self.location = location
        self._read_to = 0
        self._stamp: tuple[int, int, int] | None = None  # of the file when it was read to its end
        self._recent: dict[int, list[int]] = {}
        self._recent_lines = 0
        self._names: np.ndarray[Any, Any] | None = None  # sorted
        self._places: np.ndarray[Any, Any] | None = None
        self._runs: list[tuple[array[int], array[int]]] = []  # not sorted in yet
        self._descriptor = -1  # of the file, where lines are read when they are asked for
        self._closing: weakref.finalize[..., KeyLog] | None = None

    def find(self, name: bytes) -> list[KeyLine]:
        """The lines whose second field is `name`."""
        number, stamp = int.from_bytes(name[:_NAME_BYTES], "big"), self._stamp_now()
        if stamp is None or stamp != self._stamp:
            with closing(self._open()) as file:
                if stamp is not None and self._stamp is not None and stamp[0] != self._stamp[0]:
                    self.__init__(self.location)  # type: ignore[misc] # another file has its name now
                self._read_on(file)
                if stamp is None:
                    return _lines_of(name, self._places_of(number), lambda place, size: _read_at(file, place, size))
                self._keep_open(os.dup(file.fileno()))
                self._stamp = stamp
        places = self._places_of(number)
        return _lines_of(name, places, lambda place, size: os.pread(self._descriptor, size, place)) if places else []

    def _keep_open(self, descriptor: int) -> None:
        """Read lines from this descriptor; it is closed with the log."""
        if self._closing is not None:
            self._closing()
        self._descriptor, self._closing = descriptor, weakref.finalize(self, os.close, descriptor)

    def _stamp_now(self) -> tuple[int, int, int] | None:
        """What changes when a file of this machine is written; None elsewhere."""
        if "://" in self.location:
            return None
        try:
            found = os.stat(self.location)  # noqa: PTH116 - once a connection
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _open(self) -> BinaryIO:
        from kwire.capture.file_systems import filesystem_of, reason_of

        try:
            filesystem, path = filesystem_of(self.location)
            file: Any = filesystem.open_input_file(path) if "://" in self.location else Path(path).open("rb")  # noqa: SIM115 - by the caller
        except (OSError, ValueError) as error:
            raise InputError(f"the key log {self.location} cannot be read: {reason_of(error)}") from error
        found: BinaryIO = file
        return found

    def _places_of(self, name: int) -> list[int]:
        found: list[int] = []
        if self._names is not None and self._places is not None:
            import numpy as np

            at = int(self._names.searchsorted(np.uint64(name)))
            while at < len(self._names) and int(self._names[at]) == name and len(found) < _MOST_LINES:
                found.append(int(self._places[at]))
                at += 1
        return (found + self._recent.get(name, []))[:_MOST_LINES]

    def _read_on(self, file: BinaryIO) -> None:
        size = file.seek(0, 2)
        if size < self._read_to:  # written over: begin again
            self.__init__(self.location)  # type: ignore[misc]
        if size == self._read_to:
            return
        file.seek(self._read_to)
        rest = b""
        while chunk := file.read(_READ_BYTES):
            rest = self._take(rest + chunk)
        if rest and parse_line(rest) is not None:
            self._add_line(_LINE.match(rest), 0)  # the last line, whose end may still come: it stays unread until then
        if self._runs:
            self._sort()

    def _take(self, text: bytes) -> bytes:
        """Index the whole lines of a text; gives what is left of it."""
        whole = text.rfind(b"\n") + 1
        if not whole:
            kept = text[-_LONGEST_LINE:]
            self._read_to += len(text) - len(kept)
            return kept
        is_bulk = whole > _READ_BYTES // 2
        names, places = array("Q"), array("Q")
        for found in _LINE.finditer(text, 0, whole):
            if is_bulk:
                names.append(int(found[2][: 2 * _NAME_BYTES], 16))
                places.append(self._read_to + found.start())
            else:
                self._add_line(found, found.start())
        if names:
            self._runs.append((names, places))
        self._read_to += whole
        return text[whole:]

    def _add_line(self, found: re.Match[bytes] | None, at: int) -> None:
        if found is None:
            return
        places = self._recent.setdefault(int(found[2][: 2 * _NAME_BYTES], 16), [])
        place = self._read_to + at
        if place not in places and len(places) < _MOST_LINES:
            places.append(place)
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
