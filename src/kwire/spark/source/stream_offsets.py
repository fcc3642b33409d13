"""Offsets of a stream, as the JSON in Spark's checkpoint.

An offset has, for each series, the files that are done, the position in the growing log, and the pieces of its own batch: a batch that runs
again reads the same pieces. Files are identified by their first bytes, because rotation gives the name of one file to the next. The carry
of
each series is too big for an offset: it is in the state folder (`stream_state`), and its version here.
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from kwire.errors import InputError

__all__ = ["HEAD_BYTES", "LastFile", "LogPlace", "Piece", "SeriesOffset", "StreamOffset", "mark_of"]

HEAD_BYTES: Final = 4096
"""So many of the first bytes tell one file from another: they hold the first packet with its time, or the first line of a log."""

_VERSION: Final = 2


def mark_of(*parts: bytes) -> str:
    """Hash what identifies a file: 48 bits, as a folder does not hold millions of files."""
    return urlsafe_b64encode(hashlib.blake2b(b"\0".join(parts), digest_size=6).digest()).decode()


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or some lines of a log, that a batch reads.

    Attributes:
        location: place when the batch was planned.
        kind: `capture`; `log`; `lost` for a log whose rest is gone, `late` for a file that came after its successor, `grown` for one that
            has grown since it was read; `end` for the end of the series.
        head, mark: number of its first bytes, and their mark (`mark_of`).
        start, stop: range of decompressed bytes of a log, to its end if `stop` is None. For a capture `stop` is its stored size.
        last: nothing more of this file is read later.
    """

    location: str
    kind: str
    head: int = 0
    mark: str = ""
    start: int = 0
    stop: int | None = None
    last: bool = True


@dataclass(frozen=True, slots=True)
class LogPlace:
    """Position in the growing log; `at` is the end of the last whole line, in decompressed bytes."""

    location: str
    head: int
    mark: str
    at: int


@dataclass(frozen=True, slots=True)
class LastFile:
    """The newest file of a series that is done.

    `head` is 0 for a capture without packets, as all of these begin alike; `size` is None if it is compressed.
    """

    location: str
    head: int
    mark: str
    size: int | None
    began_ns: int | None


@dataclass(frozen=True, slots=True)
class SeriesOffset:
    """Position in a series.

    Attributes:
        done: marks of the present files that are read.
        last: the newest of these.
        changed_ns: time of the last change of the files that are read.
        base: version of the state that the latest batch began with, 0 for none.
        state: version that it left: the number of that batch.
        again: pieces of batches between the state `base` and the latest batch: they are read once more, without their rows, because nobody
            asked for all rows of those batches and so no state was left.
    """

    done: frozenset[str] = frozenset()
    last: LastFile | None = None
    log: LogPlace | None = None
    changed_ns: int = 0
    base: int = 0
    state: int = 0
    again: tuple[tuple[Piece, ...], ...] = ()
    read: tuple[Piece, ...] = ()
    over: bool = False


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """Position in a stream; all batches need the same `asked`, the options that decide the rows."""

    stream: str
    asked: Mapping[str, str] = field(default_factory=dict)
    batch: int = 0
    series: Mapping[str, SeriesOffset] = field(default_factory=dict)

    def advanced(self, series: Mapping[str, SeriesOffset]) -> StreamOffset:
        """Return the offset behind one more batch, with these series changed."""
        return replace(self, batch=self.batch + 1, series={**self.series, **series})

    def to_json(self) -> dict[str, Any]:
        """Return the JSON that Spark stores, the same for equal offsets."""
        found: dict[str, Any] = msgspec.to_builtins(self, order="deterministic")
        return {"v": _VERSION, **found}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], asked: Mapping[str, str]) -> StreamOffset:
        """Read an offset that Spark has stored; `asked` are the options of the query now."""
        try:
            found = msgspec.convert(value if value.get("v") == _VERSION else None, cls)
        except msgspec.ValidationError as error:
            raise InputError("the checkpoint holds no offset that this version of kwire reads; begin with a new checkpoint.") from error
        for name, before in found.asked.items():
            if asked[name] != before:
                then, now = before or "left out", asked[name] or "left out"
                raise InputError(f"the checkpoint is of a query with the option {name}={then}, which is {now} now; begin with a new one.")
        return found
