"""Bytes with their offsets in files, so that a change in a stream can be written back to its packets."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

__all__ = ["NOWHERE", "LocatedBytes", "Place", "StreamTail"]


class Place(NamedTuple):
    """Offset in one of the files; `file` is -1 if unknown."""

    file: int
    at: int

    def behind(self, count: int) -> Place:
        return Place(self.file, self.at + count)


NOWHERE: Final = Place(-1, 0)


class LocatedBytes(bytes):
    """Bytes with their place in a file, which slices keep. `known` maps offsets to the places of later stretches."""

    place: Place
    elsewhere: dict[int, Place]
    plain: int

    @classmethod
    def of(cls, data: bytes, place: Place) -> LocatedBytes:
        made = cls(data)
        made.place = place
        made.plain = len(data)
        made.elsewhere = {}
        return made

    def __getitem__(self, key: Any) -> Any:
        found = bytes.__getitem__(self, key)
        if not isinstance(key, slice):
            return found
        start = key.indices(len(self))[0]
        place = self.place.behind(start) if start < self.plain else self.elsewhere.get(start, NOWHERE)
        return LocatedBytes.of(found, place)


class StreamTail:
    """Latest bytes of one direction of a connection, with their places."""

    def __init__(self) -> None:
        self.position = 0
        self._parts: deque[tuple[int, LocatedBytes]] = deque()
        self._bytes = 0

    def add(self, data: bytes, most: int) -> None:
        """Append bytes; drop the oldest beyond `most`."""
        if isinstance(data, LocatedBytes):
            self._parts.append((self.position, data))
            self._bytes += len(data)
        self.position += len(data)
        while self._bytes > most:
            self._bytes -= len(self._parts.popleft()[1])

    def lose(self, count: int) -> None:
        self.position += count

    def read(self, offset: int, size: int) -> bytes:
        """Return up to `size` bytes from an offset on: fewer if one is missing."""
        found = []
        for start, data in self._parts:
            if start + len(data) <= offset:
                continue
            if start > offset or not size:
                break
            part = bytes.__getitem__(data, slice(offset - start, offset - start + size))
            found.append(part)
            offset += len(part)
            size -= len(part)
        return b"".join(found)

    def places(self, offset: int, size: int) -> Iterator[tuple[Place, int, int]]:
        """Yield each contiguous part of a range: its place in the file, and its bounds in the range."""
        end = offset + size
        for start, data in self._parts:
            first, last = max(start, offset), min(start + len(data), end)
            if first < last:
                yield data.place.behind(first - start), first - offset, last - offset

    def forget(self, offset: int) -> None:
        while self._parts and self._parts[0][0] + len(self._parts[0][1]) <= offset:
            self._bytes -= len(self._parts.popleft()[1])
