"""Offsets of a stream, as the JSON in Spark's checkpoint.

For each series, an offset has the finished files, the position in the growing log, and the pieces of its batch, so that a repeated batch
reads the same pieces. Files are identified by their first bytes, because rotation gives the name of one file to the next. The state of each
series is too large for an offset, so the state folder has it (`stream_state`), and the offset its version.
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
"""Number of first bytes that identify a file: they include the first packet with its time, or the first line of a log."""

_VERSION: Final = 2


def mark_of(*parts: bytes) -> str:
    """Hash the identity of a file to 48 bits, enough for a folder without millions of files."""
    return urlsafe_b64encode(hashlib.blake2b(b"\0".join(parts), digest_size=6).digest()).decode()


@dataclass(frozen=True, slots=True)
class Piece:
    """File, or lines of a log, that a batch reads.

    Its kind is `capture`, `log`, `lost` (the rest of a log is gone), `late` (a file came after its successor), `grown` (since it was
    read) or `end` of the series. A log is read from `start` to `stop`, decompressed, None for its end; for a capture `stop` is its stored
    size. Nothing of a file is read after its `last` piece.
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
    """Position in a growing log; `at` is the end of the last whole line, in decompressed bytes."""

    location: str
    head: int
    mark: str
    at: int


@dataclass(frozen=True, slots=True)
class LastFile:
    """Newest finished file of a series.

    `head` is 0 for a capture without packets, because all such files begin alike; `size` is None if it is compressed.
    """

    location: str
    head: int
    mark: str
    size: int | None
    began_ns: int | None


@dataclass(frozen=True, slots=True)
class SeriesOffset:
    """Position in a series.

    `done` has hashes of the present files that were read. The latest batch began with the state of version `base` and wrote version
    `state`. Pieces of batches between them are read `again` without returning rows; those batches wrote no state, because no query read all
    their rows.
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
    """Position in a stream; all batches need the same `asked`, the options that affect rows."""

    stream: str
    asked: Mapping[str, str] = field(default_factory=dict)
    batch: int = 0
    series: Mapping[str, SeriesOffset] = field(default_factory=dict)

    def advanced(self, series: Mapping[str, SeriesOffset]) -> StreamOffset:
        """Return the offset after one more batch, with these series changed."""
        return replace(self, batch=self.batch + 1, series={**self.series, **series})

    def to_json(self) -> dict[str, Any]:
        """Return the JSON for Spark's checkpoint; equal offsets have equal JSON."""
        found: dict[str, Any] = msgspec.to_builtins(self, order="deterministic")
        return {"v": _VERSION, **found}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], asked: Mapping[str, str]) -> StreamOffset:
        """Read an offset that Spark has stored; `asked` are the options of the query now."""
        try:
            found = msgspec.convert(value if value.get("v") == _VERSION else None, cls)
        except msgspec.ValidationError as error:
            raise InputError("this version of kwire cannot read the checkpoint's offset; start with a new checkpoint.") from error
        for name, before in found.asked.items():
            if asked[name] != before:
                then, now = before or "left out", asked[name] or "left out"
                raise InputError(f"the checkpoint belongs to a query with {name}={then}, but it is {now} now; use a new checkpoint.")
        return found
