"""The beginnings of frames that pass, kept until a tracker says where each ends."""

from __future__ import annotations

from kwire.protocol.events import FrameSeen

__all__ = ["LENGTH", "FrameBeginnings"]

LENGTH = 4


class FrameBeginnings:
    """One direction of a connection. At most one frame's beginning is kept at a time.

    Arguments:
        kept: bytes of a frame, its length among them.

    Attributes:
        at: offset of the next byte that comes.
    """

    __slots__ = ("_beginning", "_frame_at", "_kept", "at")

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self.at = 0
        self._frame_at = 0
        self._beginning = b""  # from `_frame_at` on

    def take(self, event: FrameSeen, data: bytes) -> tuple[bytes, int]:
        """A frame that ends in the bytes that came last.

        Arguments:
            event: of the tracker for these bytes.
            data: the bytes, before `came`; empty where bytes of the other direction made the tracker see the frame.

        Returns:
            Its first bytes with the length, empty where they are not kept, and the offset of its end.
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
        """Whether what is kept reaches to the next byte that comes."""
        return self._frame_at + len(self._beginning) == self.at

    def missed(self, count: int) -> None:
        """Bytes are missing; the frame in which they are has no beginning any more."""
        self.at += count
        self._frame_at, self._beginning = self.at, b""

    def came(self, data: bytes) -> None:
        """Keep what belongs to the frame that is not over; call it once the events for `data` are dealt with."""
        if self._frame_at >= self.at:
            self._beginning = data[self._frame_at - self.at :][: self._kept]
        elif self._is_whole:
            self._beginning += data[: self._kept - len(self._beginning)]
        self.at += len(data)
