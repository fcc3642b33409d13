"""One direction of a relay: buffers the bytes that decide an action, and counts passing bytes.

    length    4 bytes
    token     2 bytes more, where a raw SASL token may be
    head      bytes of the verdict
    error     the error code too, for responses whose form depends on it
    raw       all of a raw token
    whole     all of a frame that is held

While a frame passes, its bytes are counted and not kept (`left`).
"""

from __future__ import annotations

from typing import Literal

from kwire.protocol.events import Direction
from kwire.protocol.relay.heads import LENGTH
from kwire.protocol.relay.observed import MOST_OBSERVED
from kwire.protocol.relay.owed import Owed

__all__ = ["FrameStream", "Stage"]

Stage = Literal["length", "token", "head", "error", "raw", "whole"]
_CHUNK = 256  # bytes that are gathered at once while the acks of a Produce are looked for


class FrameStream:
    """State of one direction."""

    __slots__ = ("_need", "_spare", "direction", "drops", "is_over", "kept", "left", "owed", "parked", "seen", "silent", "size", "stage")

    def __init__(self, direction: Direction) -> None:
        self.direction = direction
        self.parked = bytearray()  # bytes behind a held frame
        self.is_over = False  # the end of the direction was passed on
        self.silent = False  # the gathered frame is a Produce with acks 0
        self.kept = bytearray()  # unsent bytes of the current frame, its length first
        self.restart()

    def restart(self) -> None:
        self.kept.clear()
        self.stage: Stage = "length"
        self.left = 0  # bytes until the end of a passing frame
        self.drops = False
        self.owed: Owed | None = None  # answer owed for the passing request
        self.seen = b""  # first bytes of a passing frame, for counters
        self.size = 0  # of a passing frame, with its length
        self._need = LENGTH
        self._spare = 0  # bytes beyond `_need` that are gathered if they are there

    @property
    def length(self) -> int:
        return int.from_bytes(self.kept[:LENGTH], "big", signed=True)

    @property
    def is_ready(self) -> bool:
        return not self.left and len(self.kept) >= self._need

    @property
    def is_inside(self) -> bool:
        return bool(self.left or self.kept or self.parked)

    @property
    def bytes_kept(self) -> int:
        return len(self.kept) + len(self.parked)

    def want(self, stage: Stage, size: int) -> None:
        self.stage = stage
        self._need = LENGTH + min(size, self.length)
        self._spare = 0

    def want_more(self, most: int) -> None:
        self._need = len(self.kept) + 1
        self._spare = min(_CHUNK, LENGTH + min(most, self.length) - self._need)

    def gather(self, data: memoryview) -> int:
        taken = min(self._need + self._spare - len(self.kept), len(data))
        self.kept += data[:taken]
        return taken

    def pass_on(self, owed: Owed | None) -> None:
        self.size = LENGTH + self.length
        self.left = self.size - len(self.kept)
        self.seen = bytes(self.kept[LENGTH : LENGTH + MOST_OBSERVED])
        self.owed = owed
        self.kept.clear()

    def see(self, data: memoryview) -> None:
        self.left -= len(data)
        if len(self.seen) < MOST_OBSERVED:
            self.seen += bytes(data[: MOST_OBSERVED - len(self.seen)])

    def drop(self) -> None:
        self.pass_on(None)
        self.drops = True

    def take_frame(self) -> bytes:
        frame = bytes(memoryview(self.kept)[LENGTH:])
        self.kept.clear()
        return frame
