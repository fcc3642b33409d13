"""Beginnings of passing frames, kept until a tracker reports the end of each frame."""

from __future__ import annotations

from kwire.protocol.events import FrameSeen

__all__ = ["LENGTH", "FrameBeginnings"]

LENGTH = 4


class FrameBeginnings:
    """One direction of a connection, with the first `kept` bytes of at most one frame; `at` is the offset of the next byte."""

    __slots__ = ("_beginning", "_frame_at", "_kept", "at")

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self.at = 0
        self._frame_at = 0
        self._beginning = b""  # from `_frame_at` on

    def take(self, event: FrameSeen, data: bytes) -> tuple[bytes, int]:
        """Return the first bytes of a frame with its length, empty if they are not kept, and the offset of its end.

        `data` holds the latest bytes before `came`; it is empty if bytes of the other direction completed the frame.
        """
        begin = event.stream_offset
        end = begin + (event.length if event.kind != "length" else 0) + (0 if event.kind == "proxy" else LENGTH)
        kept = b"" if event.kind == "proxy" else self._first(data, begin, min(end - begin, self._kept))
        self._beginning = self._beginning[max(end - self._frame_at, 0) :]
        self._frame_at = end
        return kept, end

    def _first(self, data: bytes, begin: int, size: int) -> bytes:
        if begin >= self.at:
            return data[begin - self.at : begin - self.at + size]
        if begin < self._frame_at:
            return b""
        found = self._beginning[begin - self._frame_at :][:size]
        return found + data[: max(size - len(found), 0)] if self._is_whole else found

    @property
    def _is_whole(self) -> bool:
        return self._frame_at + len(self._beginning) == self.at

    def missed(self, count: int) -> None:
        self.at += count
        self._frame_at, self._beginning = self.at, b""

    def came(self, data: bytes) -> None:
        """Keep the bytes of an unfinished frame; call it after `take` for all events of `data`."""
        if self._frame_at >= self.at:
            self._beginning = data[self._frame_at - self.at :][: self._kept]
        elif self._is_whole:
            self._beginning += data[: self._kept - len(self._beginning)]
        self.at += len(data)
