"""Pairs responses with requests: in order, checked by correlation id; by id over both queues after a gap or a disagreement.

A broker answers a connection's requests in the order in which they came, and that order is the first rule, for correlation ids repeat and
do not rise (Java begins with 1, goes on with 0, and takes its SASL ids from the top). The id checks it. What does not fit stays in its
queue: a response whose request is not there may belong to a lost one, or to none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from kwire.protocol.events import RequestCompleted
from kwire.protocol.frames import Frame

__all__ = ["MAX_HELD", "MAX_HELD_BYTES", "MAX_WAITING", "MAX_WAITING_BYTES", "ORDINARY_TEXT", "Outcome", "Pairing", "Waiting", "kept_bytes"]

# Responses without a request that are kept until something says what they are.
MAX_HELD: Final = 64
# What is kept of each: a response that is still to find its request needs its first fields.
MAX_HELD_BYTES: Final = 1 << 16
# Requests that wait at once. Clients have a handful in flight; a capture of one direction alone would let them pile up.
MAX_WAITING: Final = 4096
# What they may keep together beyond what every request keeps: long texts, and what their answers will be read with (`kept_bytes`). One that
# keeps more by itself waits alone.
MAX_WAITING_BYTES: Final = 16 << 20
# Texts up to this many characters are part of what every request keeps.
ORDINARY_TEXT: Final = 255
_PER_PARTITION: Final = 256  # bytes of a `PartitionUse` with its texts


@dataclass(slots=True)
class Waiting:
    """A request that waits for its response.

    Attributes:
        row: what is known of the request; None for a raw SASL token, which is answered by a frame without correlation id.
        losses: gaps in both directions when the request was complete; a difference at its response leaves the latency unknown.
        response_breaks: how often the border of responses had been lost by then.
        may_be_silent: a Produce whose acks could not be read; it may get no response.
        overtaken_by: later requests that were answered before this one although nothing was lost. Alone it says little: a 0.9 broker passes
            over an ApiVersions request without a word and answers what was pipelined behind it.
        note: what is kept of the request for `kwire.protocol.observation`.
        kept: bytes that it keeps beyond what every request keeps.
    """

    row: RequestCompleted | None
    losses: int
    response_breaks: int
    may_be_silent: bool = False
    overtaken_by: int = 0
    note: Any = None
    kept: int = 0

    @property
    def correlation_id(self) -> int | None:
        return None if self.row is None else self.row.correlation_id


@dataclass(slots=True)
class Outcome:
    """What became of a request or a response.

    Attributes:
        kind: `answered` (both), `given_up` (a request whose response is lost), `orphan` (a response alone).
    """

    kind: Literal["answered", "given_up", "orphan"]
    waiting: Waiting | None
    frame: Frame | None


@dataclass(slots=True)
class _Held:
    frame: Frame
    correlation_id: int | None


def kept_bytes(row: RequestCompleted, note: Any) -> int:
    """How many bytes a request keeps while it waits, beyond what every request keeps; no less than they take on the wire.

    Arguments:
        note: what `kwire.protocol.observation.note_request` gave: a frame, partitions, or nothing.
    """
    texts = sum(
        len(text) for text in (row.client_id, row.group_id, row.transactional_id, row.first_topic) if text and len(text) > ORDINARY_TEXT
    )
    if note is None:
        return texts
    return texts + (len(note[0]) if isinstance(note, tuple) else len(note) * _PER_PARTITION)


class Pairing:
    """The two queues of a connection.

    Attributes:
        waiting: requests without response, in the order of sending.
        last_answered: correlation id of the latest answered request, to tell an answer that comes twice.
    """

    __slots__ = ("_held", "_kept", "last_answered", "waiting")

    def __init__(self) -> None:
        self.waiting: list[Waiting] = []
        self._held: list[_Held] = []
        self._kept = 0  # of all that wait
        self.last_answered: int | None = None

    @property
    def holds(self) -> bool:
        """Whether responses are kept that have not found their request."""
        return bool(self._held)

    def expect(self, waiting: Waiting) -> list[Outcome]:
        """A request was sent that will be answered."""
        self.waiting.append(waiting)
        self._kept += waiting.kept
        outcomes: list[Outcome] = []
        while len(self.waiting) > MAX_WAITING or (self._kept > MAX_WAITING_BYTES and len(self.waiting) > 1):
            first = self.waiting.pop(0)
            self._kept -= first.kept
            outcomes.append(Outcome("given_up", first, None))
        return outcomes or (self._settle(0) if self._held else [])

    def put_back(self, waiting: list[Waiting]) -> None:
        """These are the requests that wait."""
        self.waiting = waiting
        self._kept = sum(each.kept for each in waiting)

    def answer(self, frame: Frame, correlation_id: int | None, response_breaks: int, keep: int = MAX_HELD_BYTES) -> list[Outcome]:
        """A response came.

        Arguments:
            correlation_id: None where its bytes were lost.
            response_breaks: how often the border of responses was lost so far.
            keep: bytes that are kept of a response that finds no request yet.
        """
        self._held.append(_Held(frame, correlation_id))
        outcomes = self._settle(response_breaks)
        if self._held and self._held[-1].frame is frame and len(frame.payload) > keep:
            frame.payload, frame.damaged = frame.payload[:keep], True
        while len(self._held) > MAX_HELD:
            outcomes.append(Outcome("orphan", None, self._held.pop(0).frame))
        return outcomes

    def end(self) -> list[Outcome]:
        """Nothing more will come: what waits is unanswered, what is held has no request."""
        outcomes = [Outcome("orphan", None, held.frame) for held in self._held]
        outcomes += [Outcome("given_up", waiting, None) for waiting in self.waiting]
        self._held.clear()
        self.waiting.clear()
        self._kept = 0
        return outcomes

    def _settle(self, response_breaks: int) -> list[Outcome]:
        outcomes: list[Outcome] = []
        index = 0
        while index < len(self._held) and self.waiting:
            held = self._held[index]
            found = self._find(held)
            if found is None:
                index += 1
                continue
            # The broker answers in order, so what came before this response and found no request will find none.
            outcomes += [Outcome("orphan", None, each.frame) for each in self._held[:index]]
            del self._held[: index + 1]
            index = 0
            overtaken: list[Waiting] = []
            for each in self.waiting[:found]:
                lost = response_breaks > each.response_breaks or each.may_be_silent or each.row is None
                if lost:
                    self._kept -= each.kept
                    outcomes.append(Outcome("given_up", each, None))
                else:
                    each.overtaken_by += 1
                    overtaken.append(each)
            answered = self.waiting[found]
            self.waiting[: found + 1] = overtaken
            self._kept -= answered.kept
            self.last_answered = answered.correlation_id
            outcomes.append(Outcome("answered", answered, held.frame))
        return outcomes

    def _find(self, held: _Held) -> int | None:
        """Index of the request that a response answers."""
        first = self.waiting[0]
        if held.correlation_id is None or (first.row is not None and first.correlation_id == held.correlation_id):
            return 0
        if first.row is None:
            # A raw token is answered by whatever comes next. Only the last token of GSSAPI may get no answer; then the response to the
            # Kafka request behind it comes.
            follower = next((index for index, each in enumerate(self.waiting) if each.row is not None), None)
            if follower is not None and held.frame.length >= 6 and self.waiting[follower].correlation_id == held.correlation_id:
                return follower
            return 0
        for index, each in enumerate(self.waiting):
            if each.row is not None and each.correlation_id == held.correlation_id:
                return index
        return None
