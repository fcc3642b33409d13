"""Counts of the requests that a rehearsed release would reject, in memory and in a file."""

from __future__ import annotations

import threading
from collections import Counter
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


class _Saved(msgspec.Struct, forbid_unknown_fields=True):
    release: str
    others: int
    rejected: list[tuple[Rejected, int]]


class RejectedCounts:
    """Rejected requests by sender, at most 10,000 kinds; thread-safe. A `path` keeps them over restarts.

    Raises:
        InputError: the file has no counts, or those of another release.
    """

    def __init__(self, release: str, path: str | None = None) -> None:
        self._release = release
        self.path = path
        self._lock = threading.Lock()
        self._rejected: Counter[Rejected] = Counter()
        self._others = 0
        self._is_saved = True
        self._saving = threading.Lock()
        if path is not None and Path(path).exists():
            self._load(path)

    def _load(self, path: str) -> None:
        try:
            found = msgspec.json.decode(Path(path).read_bytes(), type=_Saved)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from error
        except msgspec.DecodeError as error:
            raise InputError(f"{path} has no counts of a rehearsal: choose another file ({error})") from error
        if found.release != self._release:
            raise InputError(f"{path} has the counts of {found.release}, not of {self._release}: choose another file")
        self._rejected, self._others = Counter(dict(found.rejected)), found.others

    def continues(self, other: RejectedCounts) -> bool:
        return (self._release, self.path) == (other._release, other.path)

    def count(self, what: Rejected) -> None:
        with self._lock:
            self._is_saved = False
            if what in self._rejected or len(self._rejected) < _MOST_COUNTED:
                self._rejected[what] += 1
            else:
                self._others += 1

    def read(self) -> tuple[Counter[Rejected], int]:
        """Return the counts, and the number of further requests."""
        with self._lock:
            return self._rejected.copy(), self._others

    def save(self) -> None:
        """Replace the file, if there are new counts; raise `OSError` if it cannot be written."""
        with self._saving:
            if self.path is None or self._is_saved:
                return
            self._is_saved = True
            rejected, others = self.read()
            beside = Path(f"{self.path}.new")
            try:
                beside.touch(0o600)
                beside.write_text(encode_json({"release": self._release, "others": others, "rejected": [*rejected.items()]}), "ascii")
                beside.replace(self.path)
            except OSError:
                self._is_saved = False
                raise
