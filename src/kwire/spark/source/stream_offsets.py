"""How far a stream has come, as the JSON that Spark keeps in its checkpoint.

An offset says, of each series, which files that lie there are done, how far the log that grows is read, and which pieces its own batch
reads: a batch that is done again reads the same pieces, whatever has come since. Files are known by their first bytes and not by their
names, because rotation gives the name of one file to the next. What goes on from batch to batch beyond that, the carry of each series, is
too big for an offset and lies in the state folder (`stream_state`); here stands which version of it.
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from kwire.errors import InputError

__all__ = ["HEAD_BYTES", "MARK_CHARS", "LastFile", "LogPlace", "Piece", "SeriesOffset", "StreamOffset", "mark_of"]

HEAD_BYTES: Final = 4096
"""So many of the first bytes tell one file from another: they hold the first packet with its time, or the first line of a log."""
MARK_CHARS: Final = 8
"""Length of a file's mark."""

_VERSION: Final = 1


def mark_of(*parts: bytes) -> str:
    """Hash what a file is known by: 48 bits, for a folder does not hold millions of files."""
    return urlsafe_b64encode(hashlib.blake2b(b"\0".join(parts), digest_size=6).digest()).decode()


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or some lines of a log, that a batch reads.

    Attributes:
        location: where it was when the batch was planned.
        kind: `capture`; `log`; `lost` for a log of which the rest is gone, `late` for a file that came after one that follows it, `grown`
            for one that has grown since it was read; `end` where the series is over.
        head, mark: so many of its first bytes have this mark (`mark_of`).
        start, stop: the range of decompressed bytes of a log; `stop` is None for its end. Of a capture `stop` is its stored size.
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
    """How far the log that grows is read.

    Attributes:
        location: where it was.
        head, mark: as of `Piece`.
        at: behind the last whole line that was read, in decompressed bytes.
    """

    location: str
    head: int
    mark: str
    at: int


@dataclass(frozen=True, slots=True)
class LastFile:
    """The newest file of a series that is done.

    Attributes:
        location: where it was.
        head, mark: as of `Piece`; `head` is 0 of a capture without packets, which begins as all others do.
        size: in bytes; None where it is compressed.
        began_ns: time of its first packet or entry, nanoseconds since 1970; None where it has none.
    """

    location: str
    head: int
    mark: str
    size: int | None
    began_ns: int | None


@dataclass(frozen=True, slots=True)
class SeriesOffset:
    """How far a series is read.

    Attributes:
        done: the marks of the files that lie there and are read.
        last: of these, the newest.
        log: the log that is followed.
        changed_ns: when something of the series was changed last, as far as it is read.
        base: version of the state that the latest batch of this series began with, 0 for none.
        state: version that it left: the number of that batch.
        again: pieces of batches between the state `base` and the latest batch: they are read once more, without their rows, because nobody
            asked for all rows of those batches and so no state was left.
        read: pieces of the latest batch.
        over: the series is taken to be over.
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
    """How far a stream is read.

    Attributes:
        stream: names the folder of its states.
        asked: the options that decide which rows there are, as text by name; all batches have to have the same.
        batch: how many batches there were.
        series: by name.
    """

    stream: str
    asked: Mapping[str, str] = field(default_factory=dict)
    batch: int = 0
    series: Mapping[str, SeriesOffset] = field(default_factory=dict)

    def advanced(self, series: Mapping[str, SeriesOffset]) -> StreamOffset:
        """The offset behind one more batch, in which these series got further."""
        return replace(self, batch=self.batch + 1, series={**self.series, **series})

    def to_json(self) -> dict[str, Any]:
        """Give what Spark writes down."""
        series = {name: _plain(found) for name, found in self.series.items()}
        return {"v": _VERSION, "stream": self.stream, "asked": dict(self.asked), "batch": self.batch, "series": series}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], asked: Mapping[str, str]) -> StreamOffset:
        """Read an offset.

        Args:
            value: what Spark wrote down.
            asked: the options of the query now.

        Raises:
            InputError: it is of another version, of another source or of a query with other options.
        """
        if value.get("v") != _VERSION:
            raise InputError("the checkpoint holds no offset that this version of kwire reads; begin with a new checkpoint.")
        for name, before in value["asked"].items():
            if asked[name] != before:
                then, now = before or "left out", asked[name] or "left out"
                raise InputError(f"the checkpoint is of a query with the option {name}={then}, which is {now} now; begin with a new one.")
        return cls(value["stream"], value["asked"], value["batch"], {name: _series(found) for name, found in value["series"].items()})


def _plain(series: SeriesOffset) -> dict[str, Any]:
    found: dict[str, Any] = {"done": "".join(sorted(series.done)), "changed_ns": series.changed_ns, "state": series.state}
    found |= {"base": series.base, "read": [_piece(piece) for piece in series.read]}
    if series.last is not None:
        found["last"] = asdict(series.last)
    if series.log is not None:
        found["log"] = asdict(series.log)
    if series.again:
        found["again"] = [[_piece(piece) for piece in batch] for batch in series.again]
    if series.over:
        found["over"] = True
    return found


def _piece(piece: Piece) -> dict[str, Any]:
    return {name: value for name, value in asdict(piece).items() if value != getattr(_NO_PIECE, name)}


_NO_PIECE: Final = Piece("", "")


def _series(found: Mapping[str, Any]) -> SeriesOffset:
    marks = found["done"]
    return SeriesOffset(
        done=frozenset(marks[at : at + MARK_CHARS] for at in range(0, len(marks), MARK_CHARS)),
        last=LastFile(**found["last"]) if "last" in found else None,
        log=LogPlace(**found["log"]) if "log" in found else None,
        changed_ns=found["changed_ns"],
        base=found["base"],
        state=found["state"],
        again=tuple(map(_pieces, found.get("again", ()))),
        read=_pieces(found["read"]),
        over=found.get("over", False),
    )


def _pieces(found: Sequence[Mapping[str, Any]]) -> tuple[Piece, ...]:
    return tuple(Piece(**{"location": "", "kind": "", **piece}) for piece in found)
