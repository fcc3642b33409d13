"""Connections of each pair of endpoints, counted as `PairCounts` does, but pairs that were idle for a named time are forgotten.

A stream runs for months, and keeps a few bytes for every pair that it ever saw; each batch writes them all. With this it keeps the pairs of
the last one to two idle times: there are two generations of counts, and when the later one is as old as the idle time it becomes the
earlier one, which goes.

No id of a connection is given twice: a pair that may have been forgotten is counted from above all numbers that were ever given.
"""

from __future__ import annotations

from kwire.capture.dividing.pair_counts import PairCounts

__all__ = ["RecentPairs"]


class RecentPairs:
    """Takes the place of `PairCounts` in a series; pickles.

    Args:
        idle_ns: a pair without a new connection for so long, in time of the capture, may be forgotten; after twice as long it is.
        known: what was counted so far.
    """

    __slots__ = ("_base", "_earlier", "_highest", "_idle_ns", "_latest", "_since_ns")

    def __init__(self, idle_ns: int, known: PairCounts | None = None) -> None:
        self._idle_ns = idle_ns
        self._earlier, self._latest = known or PairCounts(), PairCounts()
        self._since_ns: int | None = None
        self._base = 0  # pairs that are not known are counted from here
        self._highest = max((count for _, count in known), default=0) if known is not None else 0

    def __getstate__(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __setstate__(self, state: tuple[object, ...]) -> None:
        for name, value in zip(self.__slots__, state, strict=True):
            setattr(self, name, value)

    def __contains__(self, key: bytes) -> bool:
        return key in self._latest or key in self._earlier

    def keep_changes(self) -> None:
        """Pickle from now on as `PairCounts.keep_changes` has it."""
        self._earlier.keep_changes()
        self._latest.keep_changes()

    def begin(self, key: bytes) -> int:
        """Count a connection; gives its number among those of its endpoints, as `PairCounts.begin`.

        Args:
            key: its endpoints, as in `PacketColumns.keys`.
        """
        n = self._latest.count_of(key) or self._earlier.count_of(key) or self._base
        self._latest.put(key, n + 1)
        self._highest = max(self._highest, n + 1)
        return n

    def forget(self, now_ns: int) -> None:
        """Forget pairs that were idle for too long.

        Args:
            now_ns: time of the latest packet, nanoseconds since 1970.
        """
        if self._since_ns is None:
            self._since_ns = now_ns
        if now_ns - self._since_ns < self._idle_ns:
            return
        if next(iter(self._earlier), None) is not None:
            self._base = self._highest
        # one generation at a time: what began just now is in the later one, and is kept for the idle time at least
        self._earlier, self._latest, self._since_ns = self._latest, PairCounts(), now_ns
