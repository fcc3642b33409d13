"""What both directions of a relay share: the plan and limits, what is owed, what is held, and the moves of the current call."""

from __future__ import annotations

from typing import Final

from kwire.errors import EncodeError, WireError
from kwire.protocol.events import Direction
from kwire.protocol.relay.counters import RelayCounters
from kwire.protocol.relay.frame_stream import FrameStream, Stage
from kwire.protocol.relay.heads import LENGTH
from kwire.protocol.relay.moves import Buffer, CloseReason, Closing, Held, Moves
from kwire.protocol.relay.observed import UNKNOWN, Software
from kwire.protocol.relay.owed import Owed, OwedQueue
from kwire.protocol.relay.plan import RelayPlan
from kwire.protocol.relay.raw_tokens import RawTokens

__all__ = ["ConnectionState", "int32", "split_head"]

_LARGEST_ID: Final = (1 << 31) - 1


def int32(data: Buffer, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big", signed=True)


class ConnectionState:
    """The state of one relay.

    Attributes:
        closing: why the connection must be closed.
        renumber: requests get correlation ids of the relay's own.
        authenticating: from SaslHandshake on until the next request to the broker that is not part of it.
        requests: of the client, so far.
        held: the frame that is held in each direction.
        moves: of the current call.
        counters: what counts exchanges, None for nothing.
        software: of the client, as its last ApiVersions request that is through says.
    """

    __slots__ = (
        "_next_id", "authenticating", "closing", "counters", "held", "max_frame", "max_held", "moves", "owed", "plan", "renumber",
        "requests", "software", "tokens",
    )  # fmt: skip

    def __init__(self, plan: RelayPlan, max_frame: int, max_held: int, renumber: bool, counters: RelayCounters | None) -> None:
        self.plan = plan
        self.max_frame = max_frame
        self.max_held = max_held
        self.renumber = renumber
        self.closing: Closing | None = None
        self.authenticating = False
        self.requests = 0
        self.held: dict[Direction, Held | None] = {"request": None, "response": None}
        self.owed = OwedQueue()
        self.tokens = RawTokens()
        self.moves = Moves()
        self.counters = counters
        self.software: Software = (UNKNOWN, UNKNOWN)
        self._next_id = 0

    def close(self, reason: CloseReason, direction: Direction, value: int = 0) -> None:
        """The first reason counts."""
        if self.closing is None:
            self.closing = Closing(reason, direction, value)

    def check_length(self, stream: FrameStream, shortest: int) -> bool:
        """Whether the length of the frame that begins may be."""
        length = stream.length
        if shortest <= length <= self.max_frame:
            return True
        reason: CloseReason = "length_negative" if length < 0 else "length_too_large" if length > self.max_frame else "length_too_short"
        self.close(reason, stream.direction, length)
        return False

    def gather_whole(self, stream: FrameStream, stage: Stage) -> None:
        """Keep the frame that has begun until it is whole; nothing is reserved for it."""
        if LENGTH + stream.length > self.max_held:
            self.close("held_too_large", stream.direction, LENGTH + stream.length)
        else:
            stream.want(stage, stream.length)

    def hold(self, direction: Direction, held: Held) -> None:
        self.held[direction] = held
        self.moves.held.append(held)

    def edited(self, direction: Direction, action: int, held: Held) -> list[Buffer] | None:
        """The frame as program number `action` has it; None, with a reason to close, where it fails."""
        try:
            return list(self.plan.programs[action - 1].pieces(held.frame))
        except (WireError, EncodeError):
            self.close("program_failed", direction, held.api_key)
            return None

    def fits(self, direction: Direction, pieces: list[Buffer], shortest: int) -> bool:
        """Whether a frame that was edited or released may be so long."""
        size = sum(map(len, pieces))
        if size > self.max_frame:
            self.close("program_too_large", direction, size)
        elif size < shortest:
            self.close("length_too_short", direction, size)
        return shortest <= size <= self.max_frame

    def new_id(self) -> int:
        """The next correlation id of the relay's own; none is negative, as Kafka's own never are."""
        number = self._next_id
        self._next_id = 0 if number == _LARGEST_ID else number + 1
        return number

    def answer(self, correlation_id: int, frame: bytes) -> None:
        """The relay answers a request itself, behind all that is owed before."""
        self.owed.add(Owed("answer", correlation_id=correlation_id, frame=frame))
        self.send_answers()

    def send_answers(self) -> None:
        """Send own answers that nothing stands before."""
        for frame in self.owed.take_answers():
            self.moves.to_client.append(len(frame).to_bytes(4, "big") + frame)


def split_head(pieces: list[Buffer], size: int) -> tuple[bytearray, list[Buffer]]:
    """A frame's length and its first `size` bytes, to be changed, and the pieces behind them."""
    head = bytearray(sum(map(len, pieces)).to_bytes(LENGTH, "big"))
    rest: list[Buffer] = []
    for piece in pieces:
        taken = max(LENGTH + size - len(head), 0)
        head += piece[:taken]
        if len(piece) > taken:
            rest.append(memoryview(piece)[taken:])
    return head, rest
