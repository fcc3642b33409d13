"""Sums of closed connections, first in memory, then in files, so that a task's memory does not grow with its series."""

from __future__ import annotations

from typing import Final

from kwire.analysis.key_buckets import whole_of
from kwire.analysis.partials import Partial, merge
from kwire.runs.sums_files import SumsFile, write_sums

__all__ = ["SUMS_BYTES", "SettledSums"]

SUMS_BYTES: Final = 8 << 20
"""Size of sums that a task keeps in memory; if they exceed it after merging equal keys, they are written to a file."""


class SettledSums:
    """Collector of the sums of closed connections; those not divided by key are in `whole` too."""

    def __init__(self, location: str, name: str) -> None:
        self.files: list[SumsFile] = []
        self.whole: Partial = {}
        self._location, self._name = location, name
        self._waiting: list[Partial] = []
        self._bytes = 0
        self._limit = SUMS_BYTES

    def add(self, sums: Partial) -> None:
        self._waiting.append(sums)
        self._bytes += _size(sums)
        if self._bytes < self._limit:
            return
        merged = self.take()
        if _size(merged) > SUMS_BYTES // 2:
            self.files.append(write_sums(self._location, f"{self._name}-{len(self.files):05d}", merged))
            self.whole = whole_of(merge([self.whole, whole_of(merged)]))
        else:
            self._waiting, self._bytes = [merged], _size(merged)
            # what is different is not put together time and again
            self._limit = max(SUMS_BYTES, 2 * self._bytes)

    def take(self) -> Partial:
        """Return and clear the sums that are not in a file."""
        merged = merge(self._waiting)
        self._waiting, self._bytes = [], 0
        return merged


def _size(sums: Partial) -> int:
    return sum(table.nbytes for table in sums.values())
