"""A capture file of which a given number of bytes is read: what is there when a run is planned, though somebody may still write to it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SizedFile"]


@dataclass(frozen=True, slots=True)
class SizedFile:
    """A capture whose bytes beyond a size are left for later: `kwire.tables.series` takes it where it takes a path.

    Attributes:
        location: path or URI.
        size: how many bytes of it are read, as stored.
        before: how many of them an earlier run of the same series has read; their packets are not read again.
    """

    location: str
    size: int
    before: int = 0

    def __fspath__(self) -> str:
        return self.location
