"""Number of connections of each pair of endpoints in a series; recent pairs are in memory, the rest on disk.

The number is part of the connection id, because ports may be used again days later. It also distinguishes a late packet of an ended
connection from the first packet of a connection older than the capture. So it must be kept without filling the memory.

A stream writes the counts after every batch, so it keeps immutable blocks and the changes since the last block (`keep_changes`). As in a
log-structured merge tree, blocks of similar size are merged up to a size that fits the memory; all are rewritten when half of their
contents is outdated.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from kwire.files.scratch_disk import scratch_disk

if TYPE_CHECKING:
    import sqlite3

__all__ = ["RECENT_PAIRS", "PairCounts", "SealedPairs"]

RECENT_PAIRS: Final = 65_536
"""Number of pairs in memory, at about 150 bytes each; when it is exceeded, they are written to disk."""

_SEALED_PAIRS: Final = 16_384  # changes that become a block
_MERGED_PAIRS: Final = 1 << 18  # of the largest block, which is merged in memory
# Two bits of a filter of 4 MiB tell most pairs that were never seen without a look on disk: all but 1 in 300 beside a million pairs.
_FILTER_BITS: Final = 1 << 25
_CACHE_KIB: Final = 4096
_COUNT_BYTES: Final = 4
_COUNTS: Final = np.dtype("<u4")
_MOST_BLOCK_BYTES: Final = _COUNT_BYTES + _MERGED_PAIRS * (1 + _COUNT_BYTES + 37)  # pairs of IPv6


class SealedPairs(bytes):
    """Immutable packed block of pairs, which is stored once, in its own file."""

    __slots__ = ()


class PairCounts:
    __slots__ = ("_changed", "_disk", "_distinct", "_filter", "_recent", "_sealed", "_sizes")

    def __init__(self) -> None:
        self._recent: dict[bytes, int] = {}
        self._disk: sqlite3.Connection | None = None
        self._filter = bytearray()
        # where changes are kept: blocks, later ones counting before earlier ones, and the counts that changed since
        self._sealed: list[SealedPairs] | None = None
        self._sizes: list[int] = []  # pairs of each block
        self._distinct = 0  # pairs when no block held one twice
        self._changed: dict[bytes, int] = {}

    def __del__(self) -> None:
        # Python 3.13 warns of a database that is left to the collector
        if (disk := getattr(self, "_disk", None)) is not None:
            disk.close()

    def begin(self, key: bytes) -> int:
        """Count a connection; return the number of earlier ones of its endpoints (a key of `PacketColumns.keys`)."""
        n = self._recent.get(key)
        if n is None:
            n = self._look_up(key) if self._disk is not None else 0
            if len(self._recent) >= RECENT_PAIRS:
                self._spill()
        self._recent[key] = n + 1
        if self._sealed is not None:
            self._keep(key, n + 1)
        return n

    def all_recent(self) -> dict[bytes, int] | None:
        """Return the counts if all are in memory and no changes are kept, as the native carry does; else None."""
        return self._recent if self._disk is None and self._sealed is None else None

    def count_of(self, key: bytes) -> int:
        n = self._recent.get(key)
        if n is None:
            return self._look_up(key) if self._disk is not None else 0
        return n

    def put(self, key: bytes, count: int) -> None:
        if key not in self._recent and len(self._recent) >= RECENT_PAIRS:
            self._spill()
        self._recent[key] = count
        if self._sealed is not None:
            self._keep(key, count)

    def _keep(self, key: bytes, count: int) -> None:
        self._changed[key] = count
        if len(self._changed) >= _SEALED_PAIRS:
            self._seal()

    def keep_changes(self) -> None:
        """From now on, keep immutable blocks (`SealedPairs`) and the changes since as the state."""
        if self._sealed is None and self._disk is None and len(self._recent) < _SEALED_PAIRS:
            self._sealed, self._changed = [], dict(self._recent)
        elif self._sealed is None:
            self._seal_all()

    def _seal_all(self) -> None:
        blocks = self._blocks()
        self._sealed = [SealedPairs(block) for block in blocks]
        self._sizes = [_size_of(block) for block in blocks]
        self._distinct = sum(self._sizes)
        self._changed = {}

    def _seal(self) -> None:
        """Make a block of the changes, merged with earlier blocks that are not twice as large."""
        assert self._sealed is not None
        pairs = self._changed
        while self._sizes and self._sizes[-1] < 2 * len(pairs) and self._sizes[-1] + len(pairs) <= _MERGED_PAIRS:
            self._sizes.pop()
            pairs = dict(_unpacked(self._sealed.pop())) | pairs
        self._sealed.append(SealedPairs(_packed(sorted(pairs.items()))))
        self._sizes.append(len(pairs))
        self._changed = {}
        if sum(self._sizes) > 2 * (self._distinct + _MERGED_PAIRS):
            self._seal_all()

    def __contains__(self, key: bytes) -> bool:
        return key in self._recent or (self._disk is not None and self._look_up(key) > 0)

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        if self._disk is None:
            yield from sorted(self._recent.items())
            return
        self._spill()
        yield from self._disk.execute("SELECT pair, connections FROM pairs ORDER BY pair")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PairCounts) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def _look_up(self, key: bytes) -> int:
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
        import sqlite3

        with scratch_disk(sqlite3.Error):
            # in their order, so that neighbours go to the same page, and all at once: each change for itself is written for itself
            self._disk.execute("BEGIN")
            self._disk.executemany("INSERT OR REPLACE INTO pairs VALUES (?, ?)", sorted(self._recent.items()))
            self._disk.execute("COMMIT")
        self._recent = {}

    def __getstate__(self) -> list[bytes] | tuple[list[SealedPairs], bytes, int]:
        """Pack sorted pairs into blocks; with `keep_changes`, return the sealed blocks and one block of the changes."""
        if self._sealed is None:
            return self._blocks()
        return list(self._sealed), _packed(sorted(self._changed.items())) if self._changed else b"", self._distinct

    def _blocks(self) -> list[bytes]:
        blocks = []
        pairs = iter(self)
        while block := list(islice(pairs, RECENT_PAIRS)):
            blocks.append(_packed(block))
        return blocks

    def __setstate__(self, state: list[bytes] | tuple[list[SealedPairs], bytes, int]) -> None:
        self.__del__()
        PairCounts.__init__(self)
        blocks, changed, self._distinct = state if isinstance(state, tuple) else (state, b"", 0)
        for block in blocks:
            pairs = _unpacked(block)
            while part := dict(islice(pairs, RECENT_PAIRS)):
                if self._recent:
                    self._spill()
                self._recent = part
        if isinstance(state, tuple):
            self._sealed = list(state[0])
            self._sizes = [_size_of(block) for block in self._sealed]
            self._changed = dict(_unpacked(changed)) if changed else {}
            if len(self._recent) + len(self._changed) > RECENT_PAIRS:
                self._spill()
            self._recent |= self._changed


def _packed(pairs: list[tuple[bytes, int]]) -> bytes:
    """Pack the number of pairs; the size of each, one byte; their counts, four bytes each; the pairs."""
    keys, counts = zip(*pairs, strict=True)
    packed = len(pairs).to_bytes(_COUNT_BYTES, "little") + bytes(map(len, keys)) + np.array(counts, _COUNTS).tobytes() + b"".join(keys)
    return zlib.compress(packed, 1)


def _size_of(block: bytes) -> int:
    return int.from_bytes(zlib.decompressobj().decompress(block, _COUNT_BYTES), "little")


def _unpacked(block: bytes) -> Iterator[tuple[bytes, int]]:
    unpacking = zlib.decompressobj()
    data = unpacking.decompress(block, _MOST_BLOCK_BYTES)
    many = int.from_bytes(data[:_COUNT_BYTES], "little")
    if not unpacking.eof or len(data) < _COUNT_BYTES * (many + 1) + many:
        raise ValueError("a block of pairs is too long, or cut off")
    at = _COUNT_BYTES + many
    counts = np.frombuffer(data, _COUNTS, many, at).tolist()
    at += many * _COUNTS.itemsize
    for size, count in zip(data[_COUNT_BYTES : _COUNT_BYTES + many], counts, strict=True):
        yield data[at : at + size], count
        at += size


def _database() -> sqlite3.Connection:
    import sqlite3

    with scratch_disk(sqlite3.Error):
        disk = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for setting in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{_CACHE_KIB}"):
            disk.execute(f"PRAGMA {setting}")
        disk.execute("CREATE TABLE pairs (pair BLOB PRIMARY KEY, connections INTEGER NOT NULL) WITHOUT ROWID")
    return disk
