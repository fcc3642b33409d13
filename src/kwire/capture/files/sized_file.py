"""A file of which a planned number of bytes is read, though somebody may still write to it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SizedFile"]


@dataclass(frozen=True, slots=True)
class SizedFile:
    """A capture or request log of which only the first bytes are read: `kwire.tables.series` takes it like a path.

    Attributes:
        location: path or URI.
        size: stored bytes to read.
        before: bytes read by an earlier run of the same series, not read again; None for a new file.
        sizes: bytes of each file of several points, in the order of `kwire.capture.files.capture_points.names_in`.
    """

    location: str
    size: int
    before: int | None = None
    sizes: tuple[int, ...] = ()

    def __fspath__(self) -> str:
        return self.location
