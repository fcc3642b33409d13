"""State shared by both directions of a relay: plan, limits, owed answers, held frames, and the current call's `Moves`."""

from __future__ import annotations

from kwire.errors import EncodeError, WireError
from kwire.protocol.events import Direction
from kwire.protocol.relay.counters import RelayCounters
from kwire.protocol.relay.frame_stream import FrameStream, Stage
from kwire.protocol.relay.heads import LENGTH, is_refused_version
from kwire.protocol.relay.limits import MOST_EXPLAINED
from kwire.protocol.relay.moves import Buffer, CloseReason, Closing, Held, Moves
from kwire.protocol.relay.observed import UNKNOWN, Software
from kwire.protocol.relay.owed import Owed, OwedQueue
from kwire.protocol.relay.plan import RelayPlan
from kwire.protocol.relay.raw_tokens import RawTokens

__all__ = ["ConnectionState", "int32", "split_head"]


def int32(data: Buffer, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big", signed=True)


class ConnectionState:
    """State of one relay."""

    __slots__ = (
        "closing", "counters", "held", "max_frame", "max_held", "moves", "owed", "plan", "requests", "software", "tokens",
    )  # fmt: skip

    def __init__(self, plan: RelayPlan, max_frame: int, max_held: int, counters: RelayCounters | None) -> None:
        self.plan = plan
        self.max_frame = max_frame
        self.max_held = max_held
        self.closing: Closing | None = None
        self.requests = 0
        self.held: dict[Direction, Held | None] = {"request": None, "response": None}
        self.owed = OwedQueue()
        self.tokens = RawTokens()
        self.moves = Moves()  # of the current call
        self.counters = counters
        self.software: Software = (UNKNOWN, UNKNOWN)  # in the client's last forwarded ApiVersions request

    def close(self, reason: CloseReason, direction: Direction, value: int = 0, api_version: int | None = None, cause: str = "") -> None:
        if self.closing is None:
            self.closing = Closing(reason, direction, value, api_version, cause)

    def check_length(self, stream: FrameStream, shortest: int) -> bool:
        length = stream.length
        if shortest <= length <= self.max_frame:
            return True
        reason: CloseReason = "length_negative" if length < 0 else "length_too_large" if length > self.max_frame else "length_too_short"
        self.close(reason, stream.direction, length)
        return False

    def gather_whole(self, stream: FrameStream, stage: Stage) -> None:
        """Buffer the frame until it is whole; nothing is reserved for it."""
        if LENGTH + stream.length > self.max_held:
            self.close("held_too_large", stream.direction, LENGTH + stream.length)
        else:
            stream.want(stage, stream.length)

    def hold(self, direction: Direction, held: Held) -> None:
        self.held[direction] = held
        self.moves.held.append(held)

    def edited(self, direction: Direction, action: int, held: Held) -> list[Buffer] | None:
        """Edit the frame with program number `action`; on failure set the reason to close and return None."""
        try:
            return list(self.plan.programs[action - 1].pieces(held.frame))
        except (WireError, EncodeError) as error:
            if direction == "response" and is_refused_version(held.api_key, held.frame):
                return [held.frame]
            cause = str(error) if len(held.frame) <= MOST_EXPLAINED else ""
            self.close("program_failed", direction, held.api_key, held.api_version, cause)
            return None

    def fits(self, direction: Direction, pieces: list[Buffer], shortest: int) -> bool:
        size = sum(map(len, pieces))
        if size > self.max_frame:
            self.close("program_too_large", direction, size)
        elif size < shortest:
            self.close("length_too_short", direction, size)
        return shortest <= size <= self.max_frame

    def answer(self, correlation_id: int, frame: bytes) -> None:
        """Queue an answer behind all earlier owed answers."""
        self.owed.add(Owed("answer", correlation_id=correlation_id, frame=frame))
        self.send_answers()

    def send_answers(self) -> None:
        for frame in self.owed.take_answers():
            self.moves.to_client.append(len(frame).to_bytes(4, "big") + frame)


def split_head(pieces: list[Buffer], size: int) -> tuple[bytearray, list[Buffer]]:
    head = bytearray(sum(map(len, pieces)).to_bytes(LENGTH, "big"))
    rest: list[Buffer] = []
    for piece in pieces:
        taken = max(LENGTH + size - len(head), 0)
        head += piece[:taken]
        if len(piece) > taken:
            rest.append(memoryview(piece)[taken:])
    return head, rest
