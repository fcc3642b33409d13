"""A file of which a given number of bytes is read: what is there when a run is planned, though somebody may still write to it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SizedFile"]


@dataclass(frozen=True, slots=True)
class SizedFile:
    """A capture or a request log whose bytes beyond a size are left for later: `kwire.tables.series` takes it where it takes a path.

    Attributes:
        location: path or URI.
        size: how many bytes of it are read, as stored.
        before: how many of them an earlier run of the same series has read, whose packets or lines are not read again; None for a file
            that no run has read.
        sizes: of captures of several points the bytes of each file, in the order of `kwire.capture.files.capture_points.names_in`.
    """

    location: str
    size: int
    before: int | None = None
    sizes: tuple[int, ...] = ()

    def __fspath__(self) -> str:
        return self.location
