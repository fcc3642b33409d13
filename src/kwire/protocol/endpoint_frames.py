"""Frames received by an endpoint. Unlike a tap (`tracking.frames`), it receives every byte, so an invalid length is final."""

from __future__ import annotations

from kwire.errors import BadLength
from kwire.protocol.tracking.frames import MAX_FRAME

__all__ = ["EndpointFrames", "framed"]

_LENGTH = 4


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(_LENGTH, "big") + payload


class EndpointFrames:
    """Splitter of received bytes into frames of at most `max_frame` bytes, the length excluded (`socket.request.max.bytes` of brokers).

    `zero_length_answers` reads a length of 0 as 4, which the KIP-35 draft's "header with Length=0" literally means.
    """

    __slots__ = ("_buffer", "_position", "max_frame", "zero_length_answers")

    def __init__(self, max_frame: int = MAX_FRAME, *, zero_length_answers: bool = False) -> None:
        self.max_frame = max_frame
        self.zero_length_answers = zero_length_answers
        self._buffer = bytearray()
        self._position = 0

    def feed(self, data: bytes | bytearray | memoryview) -> list[bytes]:
        """Return the frames that these bytes complete, without their lengths; an invalid length raises `BadLength`."""
        self._buffer += data
        frames: list[bytes] = []
        start, size = 0, len(self._buffer)
        while size - start >= _LENGTH:
            length = int.from_bytes(self._buffer[start : start + _LENGTH], "big", signed=True)
            if not 0 <= length <= self.max_frame:
                raise BadLength(f"frame length {length} is not between 0 and {self.max_frame}", offset=self._position + start)
            if length == 0 and self.zero_length_answers:
                length = _LENGTH
            end = start + _LENGTH + length
            if end > size:
                break
            frames.append(bytes(self._buffer[start + _LENGTH : end]))
            start = end
        del self._buffer[:start]
        self._position += start
        return frames

    def __repr__(self) -> str:
        # Frames may hold SASL tokens.
        return f"EndpointFrames({len(self._buffer)} bytes waiting)"
