"""Counts of the requests that a rehearsed release would reject, in memory and in a file."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from kwire.errors import InputError
from kwire.json_encoding import encode_json
from kwire.proxy.config_table import msgspec

__all__ = ["Rejected", "RejectedCounts"]

_MOST_COUNTED: Final = 10_000


class Rejected(NamedTuple):
    software_name: str
    software_version: str
    client_id: str
    address: str
    api_key: int
    api_version: int


_Counts = Counter[Rejected | None]
"""Requests by sender; None: those beyond the limit."""


class _Saved(msgspec.Struct, forbid_unknown_fields=True):
    release: str
    others: int
    rejected: list[tuple[Rejected, int]]


class RejectedCounts:
    """Rejected requests by sender, at most 10,000 kinds; thread-safe. A `path` keeps them over restarts.

    Several processes may have one `path`, as during a restart: each adds to the file what it counted since it last saved.

    Raises:
        InputError: the file has no counts, or those of another release.
    """

    def __init__(self, release: str, path: str | None = None) -> None:
        self._release = release
        self.path = path
        self._lock = threading.Lock()
        self._saving = threading.Lock()
        self._version = _version(path)
        self._counts = _Counts() if path is None else self._load(path)
        self._unsaved = _Counts()

    def _load(self, path: str) -> _Counts:
        try:
            found = msgspec.json.decode(Path(path).read_bytes(), type=_Saved)
        except FileNotFoundError:
            return _Counts()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from error
        except msgspec.DecodeError as error:
            raise InputError(f"{path} has no counts of a rehearsal: choose another file ({error})") from error
        if found.release != self._release:
            raise InputError(f"{path} has the counts of {found.release}, not of {self._release}: choose another file")
        counts = _Counts(dict(found.rejected))
        if found.others:
            counts[None] = found.others
        return counts

    def continues(self, other: RejectedCounts) -> bool:
        return (self._release, self.path) == (other._release, other.path)

    def count(self, what: Rejected) -> None:
        with self._lock:
            for counts in (self._counts, self._unsaved):
                _add(counts, what, 1)

    def read(self) -> tuple[Counter[Rejected], int]:
        """Return the counts, and the number of further requests."""
        with self._lock:
            return _split(self._counts)

    def save(self) -> None:
        """Add new counts to the file, and read those that other processes added.

        Raises:
            OSError: the file cannot be written.
            InputError: it has been replaced by one without counts of this release.
        """
        with self._saving:
            if self.path is None or not (self._unsaved or self._version != _version(self.path)):
                return
            with self._lock:
                unsaved, self._unsaved = self._unsaved, _Counts()
            try:
                with _locked(f"{self.path}.lock"):
                    counts = _merged(self._load(self.path), unsaved)
                    if unsaved:
                        self._write(self.path, counts)
                    self._version = _version(self.path)
            except (OSError, InputError):
                with self._lock:
                    self._unsaved.update(unsaved)
                raise
            with self._lock:
                self._counts = _merged(counts, self._unsaved)

    def _write(self, path: str, counts: _Counts) -> None:
        rejected, others = _split(counts)
        beside = Path(f"{path}.{os.getpid()}.new")
        try:
            beside.touch(0o600)
            beside.write_text(encode_json({"release": self._release, "others": others, "rejected": [*rejected.items()]}), "ascii")
            beside.replace(path)
        except OSError:
            with suppress(OSError):
                beside.unlink()
            raise


def _add(counts: _Counts, what: Rejected | None, count: int) -> None:
    counts[what if what in counts or len(counts) < _MOST_COUNTED else None] += count


def _merged(counts: _Counts, more: _Counts) -> _Counts:
    for what, count in more.items():
        _add(counts, what, count)
    return counts


def _split(counts: _Counts) -> tuple[Counter[Rejected], int]:
    return Counter({what: count for what, count in counts.items() if what is not None}), counts[None]


def _version(path: str | None) -> tuple[int, int] | None:
    """Return the identity of a file's content, which `save` replaces as a whole."""
    with suppress(OSError):
        if path is not None:
            found = Path(path).stat()
            return found.st_ino, found.st_mtime_ns
    return None


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Keep other processes out; on Windows, processes do not overlap."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
