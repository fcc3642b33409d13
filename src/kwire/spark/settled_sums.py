"""Sums of connections that are over: in memory while they are few, in parts of the state from then on, which the driver puts together.

So a task keeps no more of them however long its series is. The parts stay when an analysis is gone on with, as settled rows do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kwire.analysis.partials import Partial, from_bytes, merge, to_bytes
from kwire.capture.file_systems import reason_of
from kwire.errors import InputError
from kwire.spark.output import STATE
from kwire.spark.parts import output_place, write_blob, written_place

__all__ = ["SUMS_BYTES", "SettledSums", "is_sums", "read_sums"]

SUMS_BYTES: Final = 8 << 20
"""So much of sums waits in a task; what is more once equal keys are put together becomes a part."""

_KIND: Final = "sums"


class SettledSums:
    """Takes the sums of connections that are over.

    Args:
        location: the output folder, path or URI.
        name: of the parts, to which a number is added; empty to keep all in memory.

    Attributes:
        parts: those that were written, `_state/NAME`.
    """

    def __init__(self, location: str, name: str = "") -> None:
        self.parts: list[str] = []
        self._location, self._name = location, name
        self._waiting: list[Partial] = []
        self._bytes = 0
        self._limit = SUMS_BYTES

    def add(self, sums: Partial) -> None:
        """Take more sums.

        Raises:
            InputError: the folder cannot be written, the disk is full.
        """
        self._waiting.append(sums)
        self._bytes += _size(sums)
        if self._bytes < self._limit:
            return
        merged = self.take()
        if self._name and _size(merged) > SUMS_BYTES // 2:
            name = f"{self._name}-{len(self.parts):05d}"
            write_blob(self._location, STATE, name, to_bytes(merged))
            self.parts.append(f"{STATE}/{name}")
        else:
            self._waiting, self._bytes = [merged], _size(merged)
            # what is different is not put together time and again
            self._limit = max(SUMS_BYTES, 2 * self._bytes)

    def take(self) -> Partial:
        """Give the sums that are in no part, and forget them."""
        merged = merge(self._waiting)
        self._waiting, self._bytes = [], 0
        return merged


def is_sums(part: str) -> bool:
    """Whether a part, `TABLE/NAME`, holds sums."""
    return part.startswith(f"{STATE}/{_KIND}-")


def read_sums(location: str, fresh: Iterable[str], kept: Iterable[str]) -> Iterator[Partial]:
    """Give the sums in parts.

    Args:
        location: the output folder, path or URI.
        fresh: parts of this run; those that hold no sums are passed over.
        kept: parts of earlier runs.

    Raises:
        InputError: one cannot be read.
    """
    for is_fresh, parts in ((True, fresh), (False, kept)):
        for part in filter(is_sums, parts):
            filesystem, path = written_place(location, part) if is_fresh else output_place(location)
            try:
                with filesystem.open_input_stream(path if is_fresh else f"{path}/{part}", compression=None) as file:
                    yield from_bytes(file.read())
            except OSError as error:
                raise InputError(f"{part} in {location} cannot be read: {reason_of(error)}.") from error


def _size(sums: Partial) -> int:
    return sum(table.nbytes for table in sums.values())
