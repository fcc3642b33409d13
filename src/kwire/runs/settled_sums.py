"""Sums of closed connections, first in memory, then in files, so that a task's memory does not grow with its series."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from kwire.analysis.hourly_days import days_of, of_day, without_days
from kwire.analysis.key_buckets import whole_of
from kwire.analysis.partials import Partial, merge
from kwire.runs.sums_files import SumsFile, write_sums

__all__ = ["MOST_DAYS", "SUMS_BYTES", "SettledSums"]

SUMS_BYTES: Final = 8 << 20
"""Size of sums that a task keeps in memory; if they exceed it after merging equal keys, they are written to a file."""

MOST_DAYS: Final = 100
"""Largest number of days that get files of their own at once; more come only from damaged times."""


class SettledSums:
    """Collector of the sums of closed connections; those not divided by key are in `whole` too.

    With `by_day`, hourly sums get files by day, which a later run need not read again; `days` has the days in all files.
    """

    def __init__(self, location: str, name: str, *, by_day: bool = False) -> None:
        self.files: list[SumsFile] = []
        self.whole: Partial = {}
        self.days: set[str] = set()
        self._location, self._name, self._by_day = location, name, by_day
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
            days = days_of(merged)
            self._write(self.without(merged, days))
            self.days |= days
            self.whole = whole_of(merge([self.whole, whole_of(merged)]))
        else:
            self._waiting, self._bytes = [merged], _size(merged)
            # what is different is not put together time and again
            self._limit = max(SUMS_BYTES, 2 * self._bytes)

    def without(self, sums: Partial, days: Collection[str]) -> Partial:
        """Write the hourly sums of some days to files of their own, and return the rest."""
        if not self._by_day or len(days) > MOST_DAYS:
            return sums
        for day in sorted(days):
            self._write(of_day(sums, day), f"-{day}")
        return without_days(sums, days)

    def _write(self, sums: Partial, suffix: str = "") -> None:
        self.files.append(write_sums(self._location, f"{self._name}-{len(self.files):05d}{suffix}", sums))

    def take(self) -> Partial:
        """Return and clear the sums that are not in a file."""
        merged = merge(self._waiting)
        self._waiting, self._bytes = [], 0
        return merged


def _size(sums: Partial) -> int:
    return sum(table.nbytes for table in sums.values())
