"""How many connections each pair of endpoints has had: kept for the whole series, in memory for the latest pairs and on disk for the rest.

The number makes the id of a connection whose ports are used again, maybe days later, and tells a late packet of a forgotten connection from
the first one of a connection that was there before the capture began. It must not be forgotten, therefore, and must not fill the memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import sqlite3

__all__ = ["RECENT_PAIRS", "PairCounts"]

RECENT_PAIRS: Final = 65_536
"""Pairs that are kept in memory, at some 150 bytes each; when there are more, they go to disk and others begin."""

# Two bits of a filter of 4 MiB tell most pairs that were never seen without a look on disk: all but 1 in 300 beside a million pairs.
_FILTER_BITS: Final = 1 << 25
_CACHE_KIB: Final = 4096


class PairCounts:
    """Counts connections by their endpoints; pickles."""

    __slots__ = ("_disk", "_filter", "_recent")

    def __init__(self) -> None:
        self._recent: dict[bytes, int] = {}
        self._disk: sqlite3.Connection | None = None
        self._filter = bytearray()

    def begin(self, key: bytes) -> int:
        """Count a connection; gives how many its endpoints had before it.

        Args:
            key: its endpoints, as in `PacketColumns.keys`.
        """
        n = self._recent.get(key)
        if n is None:
            n = self._look_up(key) if self._disk is not None else 0
            if len(self._recent) >= RECENT_PAIRS:
                self._spill()
        self._recent[key] = n + 1
        return n

    def __contains__(self, key: bytes) -> bool:
        return key in self._recent or (self._disk is not None and self._look_up(key) > 0)

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        """Give each pair with its count, in the order of the pairs."""
        if self._disk is None:
            yield from sorted(self._recent.items())
            return
        self._spill()
        yield from self._disk.execute("SELECT pair, connections FROM pairs ORDER BY pair")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PairCounts) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def _look_up(self, key: bytes) -> int:
        """The count on disk."""
        assert self._disk is not None
        mixed = hash(key)
        for bit in (mixed % _FILTER_BITS, (mixed >> 32) % _FILTER_BITS):
            if not self._filter[bit >> 3] & 1 << (bit & 7):
                return 0
        found = self._disk.execute("SELECT connections FROM pairs WHERE pair = ?", (key,)).fetchone()
        return 0 if found is None else int(found[0])

    def _spill(self) -> None:
        if self._disk is None:
            self._disk = _database()
            self._filter = bytearray(_FILTER_BITS >> 3)
        for key in self._recent:
            mixed = hash(key)
            for bit in (mixed % _FILTER_BITS, (mixed >> 32) % _FILTER_BITS):
                self._filter[bit >> 3] |= 1 << (bit & 7)
        # in their order, so that neighbours go to the same page, and all at once: each change for itself is written for itself
        self._disk.execute("BEGIN")
        self._disk.executemany("INSERT OR REPLACE INTO pairs VALUES (?, ?)", sorted(self._recent.items()))
        self._disk.execute("COMMIT")
        self._recent = {}

    def __getstate__(self) -> list[bytes]:
        """Packed blocks of pairs: a few bytes a pair, since neighbours in order have most of theirs in common."""
        blocks, lines = [], []
        for key, count in self:
            lines.append(b"%b %d" % (key.hex().encode(), count))
            if len(lines) == RECENT_PAIRS:
                blocks.append(zlib.compress(b"\n".join(lines), 1))
                lines = []
        return [*blocks, zlib.compress(b"\n".join(lines), 1)] if lines else blocks

    def __setstate__(self, blocks: list[bytes]) -> None:
        PairCounts.__init__(self)
        for block in blocks:
            if self._recent:
                self._spill()
            for line in zlib.decompress(block).split(b"\n"):
                key, _, count = line.partition(b" ")
                self._recent[bytes.fromhex(key.decode())] = int(count)


def _database() -> sqlite3.Connection:
    """A database in a temporary file, which goes with it."""
    import sqlite3

    disk = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for setting in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{_CACHE_KIB}"):
        disk.execute(f"PRAGMA {setting}")
    disk.execute("CREATE TABLE pairs (pair BLOB PRIMARY KEY, connections INTEGER NOT NULL) WITHOUT ROWID")
    return disk
