"""First events of a connection as packed bytes, until they show a protocol.

A tracker takes kilobytes of memory. So the events of a connection with only a few bytes in one direction, or none, are stored as its
attachment. `RowSink` and its native backend create the tracker and replay them at the next bytes, or at the end. The rows are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Final

__all__ = ["MAX_FIRST_BYTES", "begin", "place_of", "replay", "with_closed", "with_data"]

# What is kept of a connection: no answer to a request fits beside the request, most requests fit alone.
MAX_FIRST_BYTES: Final = 384

# Place of the first packet and its file, and the side that had opened the connection by then (-1: unknown)
_HEAD: Final = Struct("<qb")
# Time and place, size of the bytes that follow, direction and kind
_EVENT: Final = Struct("<qqHB")
_CLOSED: Final = 2
_RESET: Final = 4


def begin(place: int, opened_by: int | None) -> bytes:
    return _HEAD.pack(place, -1 if opened_by is None else opened_by)


def place_of(kept: bytes) -> int:
    place: int = _HEAD.unpack_from(kept)[0]
    return place


def with_data(kept: bytes, opened_by: int | None, direction: int, data: bytes, time_ns: int, place: int) -> bytes | None:
    """Append bytes; return None if they do not fit, the other direction sent bytes before, or the SYN came late."""
    if len(kept) + _EVENT.size + len(data) > MAX_FIRST_BYTES or _HEAD.unpack_from(kept)[1] != (-1 if opened_by is None else opened_by):
        return None
    at = _HEAD.size
    while at < len(kept):
        _, _, size, kind = _EVENT.unpack_from(kept, at)
        if kind == 1 - direction:
            return None
        at += _EVENT.size + size
    return kept + _EVENT.pack(time_ns, place, len(data), direction) + data


def with_closed(kept: bytes, direction: int, reset: bool, time_ns: int, place: int) -> bytes | None:
    if len(kept) + _EVENT.size > MAX_FIRST_BYTES:
        return None
    return kept + _EVENT.pack(time_ns, place, 0, direction | _CLOSED | _RESET * reset)


def replay(kept: bytes) -> tuple[int, int | None, Iterator[tuple[int, bytes | None, bool, int, int]]]:
    """Return the place of the beginning, the side that opened the connection, and the events.

    An event consists of direction, bytes (None for the end of the direction), reset, time and place.
    """
    if len(kept) < _HEAD.size:
        raise ValueError("first events are cut")
    place, opened_by = _HEAD.unpack_from(kept)
    return place, None if opened_by < 0 else opened_by, _events(kept)


def _events(kept: bytes) -> Iterator[tuple[int, bytes | None, bool, int, int]]:
    at = _HEAD.size
    while at < len(kept):
        if len(kept) - at < _EVENT.size:
            raise ValueError("first events are cut")
        time_ns, place, size, kind = _EVENT.unpack_from(kept, at)
        at += _EVENT.size
        if len(kept) - at < size:
            raise ValueError("first events are cut")
        yield kind & 1, None if kind & _CLOSED else kept[at : at + size], bool(kind & _RESET), time_ns, place
        at += size
