"""How many connections each pair of endpoints has had: kept for the whole series, in memory for the latest pairs and on disk for the rest.

The number makes the id of a connection whose ports are used again, maybe days later, and tells a late packet of a forgotten connection from
the first one of a connection that was there before the capture began. It must not be forgotten, therefore, and must not fill the memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import sqlite3

__all__ = ["RECENT_PAIRS", "PairCounts"]

RECENT_PAIRS: Final = 65_536
"""Pairs that are kept in memory, at some 150 bytes each; when there are more, they go to disk and others begin."""

# Two bits of a filter of 4 MiB tell most pairs that were never seen without a look on disk: all but 1 in 300 beside a million pairs.
_FILTER_BITS: Final = 1 << 25
_CACHE_KIB: Final = 4096
_COUNT_BYTES: Final = 4
_COUNTS: Final = np.dtype("<u4")


class PairCounts:
    """Counts connections by their endpoints; pickles."""

    __slots__ = ("_disk", "_filter", "_recent")

    def __init__(self) -> None:
        self._recent: dict[bytes, int] = {}
        self._disk: sqlite3.Connection | None = None
        self._filter = bytearray()

    def __del__(self) -> None:
        # Python 3.13 warns of a database that is left to the collector
        if (disk := getattr(self, "_disk", None)) is not None:
            disk.close()

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

    def count_of(self, key: bytes) -> int:
        """Give how many connections endpoints had, 0 where they are not known."""
        n = self._recent.get(key)
        if n is None:
            return self._look_up(key) if self._disk is not None else 0
        return n

    def put(self, key: bytes, count: int) -> None:
        """Say how many connections endpoints had."""
        if key not in self._recent and len(self._recent) >= RECENT_PAIRS:
            self._spill()
        self._recent[key] = count

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
        blocks = []
        pairs = iter(self)
        while block := list(islice(pairs, RECENT_PAIRS)):
            blocks.append(_packed(block))
        return blocks

    def __setstate__(self, blocks: list[bytes]) -> None:
        self.__del__()
        PairCounts.__init__(self)
        for block in blocks:
            if self._recent:
                self._spill()
            self._recent.update(_unpacked(block))


def _packed(pairs: list[tuple[bytes, int]]) -> bytes:
    """How many; the size of each pair, one byte each; their counts, four bytes each; the pairs."""
    keys, counts = zip(*pairs, strict=True)
    packed = len(pairs).to_bytes(_COUNT_BYTES, "little") + bytes(map(len, keys)) + np.array(counts, _COUNTS).tobytes() + b"".join(keys)
    return zlib.compress(packed, 1)


def _unpacked(block: bytes) -> Iterator[tuple[bytes, int]]:
    data = zlib.decompress(block)
    many = int.from_bytes(data[:_COUNT_BYTES], "little")
    at = _COUNT_BYTES + many
    counts = np.frombuffer(data, _COUNTS, many, at).tolist()
    at += many * _COUNTS.itemsize
    for size, count in zip(data[_COUNT_BYTES : _COUNT_BYTES + many], counts, strict=True):
        yield data[at : at + size], count
        at += size


def _database() -> sqlite3.Connection:
    """A database in a temporary file, which goes with it."""
    import sqlite3

    disk = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for setting in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{_CACHE_KIB}"):
        disk.execute(f"PRAGMA {setting}")
    disk.execute("CREATE TABLE pairs (pair BLOB PRIMARY KEY, connections INTEGER NOT NULL) WITHOUT ROWID")
    return disk
