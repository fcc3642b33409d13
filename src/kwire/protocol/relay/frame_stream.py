"""One direction of a relay: gathers what a verdict needs, and counts what passes.

    length    4 bytes
    token     2 bytes more, where a raw SASL token may stand
    head      what the verdict needs
    error     the error code too, of the responses whose form depends on it
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
    """The state of one direction.

    Attributes:
        kept: bytes of the current frame, its length first, that have not gone out.
        parked: bytes behind a frame that is held.
        stage: what is waited for.
        left: bytes until the end of a frame that passes.
        drops: these bytes go nowhere.
        owed: of the request that passes, what it is owed.
        silent: the frame that is gathered is a Produce with acks 0.
        seen: the first bytes of a frame that passes, without its length, for counters.
        size: bytes of a frame that passes, its length among them.
        is_over: the end of the direction was given on.
    """

    __slots__ = ("_need", "_spare", "direction", "drops", "is_over", "kept", "left", "owed", "parked", "seen", "silent", "size", "stage")

    def __init__(self, direction: Direction) -> None:
        self.direction = direction
        self.parked = bytearray()
        self.is_over = False
        self.silent = False
        self.kept = bytearray()
        self.restart()

    def restart(self) -> None:
        """A frame begins."""
        self.kept.clear()
        self.stage: Stage = "length"
        self.left = 0
        self.drops = False
        self.owed: Owed | None = None
        self.seen = b""
        self.size = 0
        self._need = LENGTH
        self._spare = 0  # bytes beyond `_need` that are gathered if they are there

    @property
    def length(self) -> int:
        """Of the current frame, as its first 4 bytes say."""
        return int.from_bytes(self.kept[:LENGTH], "big", signed=True)

    @property
    def is_ready(self) -> bool:
        """Whether what is waited for is there."""
        return not self.left and len(self.kept) >= self._need

    @property
    def is_inside(self) -> bool:
        """Whether a frame has begun and not ended."""
        return bool(self.left or self.kept or self.parked)

    @property
    def is_passing(self) -> bool:
        """Whether a part of a frame has gone out and the rest has not."""
        return bool(self.left) and not self.drops

    @property
    def bytes_kept(self) -> int:
        return len(self.kept) + len(self.parked)

    def want(self, stage: Stage, size: int) -> None:
        """Wait for the first `size` bytes of the frame, or for all of a shorter one."""
        self.stage = stage
        self._need = LENGTH + min(size, self.length)
        self._spare = 0

    def want_more(self, most: int) -> None:
        """Wait for any more bytes of the frame, up to `most`."""
        self._need = len(self.kept) + 1
        self._spare = min(_CHUNK, LENGTH + min(most, self.length) - self._need)

    def gather(self, data: memoryview) -> int:
        """Take bytes for what is waited for; gives how many."""
        taken = min(self._need + self._spare - len(self.kept), len(data))
        self.kept += data[:taken]
        return taken

    def pass_on(self, owed: Owed | None) -> None:
        """What was kept has gone out, and the rest of the frame may follow as it comes."""
        self.size = LENGTH + self.length
        self.left = self.size - len(self.kept)
        self.seen = bytes(self.kept[LENGTH : LENGTH + MOST_OBSERVED])
        self.owed = owed
        self.kept.clear()

    def see(self, data: memoryview) -> None:
        """These bytes of a frame pass."""
        self.left -= len(data)
        if len(self.seen) < MOST_OBSERVED:
            self.seen += bytes(data[: MOST_OBSERVED - len(self.seen)])

    def drop(self) -> None:
        """The frame goes nowhere."""
        self.pass_on(None)
        self.drops = True

    def take_frame(self) -> bytes:
        """The whole frame, without its length."""
        frame = bytes(memoryview(self.kept)[LENGTH:])
        self.kept.clear()
        return frame
