"""Connection counts like `PairCounts`, which drop pairs that were idle for some time.

A stream runs for months, and each batch would write every pair ever seen. This class keeps the pairs of the last one to two idle times, in
two generations of counts. When the newer generation is as old as the idle time, it replaces the older one.

Connection ids stay unique: a pair that may have been dropped continues above all earlier numbers.
"""

from __future__ import annotations

from kwire.capture.dividing.pair_counts import PairCounts

__all__ = ["RecentPairs"]


class RecentPairs:
    """Replacement of `PairCounts` in a series; drops a pair after one to two `idle_ns` of capture time without a new connection."""

    __slots__ = ("_base", "_earlier", "_highest", "_idle_ns", "_latest", "_since_ns")

    def __init__(self, idle_ns: int, known: PairCounts | None = None) -> None:
        self._idle_ns = idle_ns
        self._earlier, self._latest = known or PairCounts(), PairCounts()
        self._since_ns: int | None = None
        self._base = 0  # pairs that are not known are counted from here
        self._highest = max((count for _, count in known), default=0) if known is not None else 0

    def __contains__(self, key: bytes) -> bool:
        return key in self._latest or key in self._earlier

    def keep_changes(self) -> None:
        self._earlier.keep_changes()
        self._latest.keep_changes()

    def begin(self, key: bytes) -> int:
        n = self._latest.count_of(key) or self._earlier.count_of(key) or self._base
        self._latest.put(key, n + 1)
        self._highest = max(self._highest, n + 1)
        return n

    def forget(self, now_ns: int) -> None:
        """Drop idle pairs, given the time of the latest packet."""
        if self._since_ns is None:
            self._since_ns = now_ns
        if now_ns - self._since_ns < self._idle_ns:
            return
        if next(iter(self._earlier), None) is not None:
            self._base = self._highest
        # one generation at a time: what began just now is in the later one, and is kept for the idle time at least
        self._earlier, self._latest, self._since_ns = self._latest, PairCounts(), now_ns
