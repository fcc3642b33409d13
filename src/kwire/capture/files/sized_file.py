"""File read up to a planned size, because it may still be written."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SizedFile"]


@dataclass(frozen=True, slots=True)
class SizedFile:
    """Capture or request log of which only the first bytes are read; `kwire.tables.series` accepts it like a path."""

    location: str  # path or URI
    size: int  # stored bytes to read
    before: int | None = None  # bytes read by an earlier run of the same series, not read again; None for a new file
    sizes: tuple[int, ...] = ()  # bytes of each file of several points, in the order of `kwire.capture.files.capture_points.names_in`

    def __fspath__(self) -> str:
        return self.location
