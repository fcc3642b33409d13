"""Pairing of responses with requests: in order, checked by correlation id; by id alone after a gap or a mismatch.

A broker answers a connection's requests in order. Order is the first rule, because correlation ids repeat and do not always rise: Java
begins with 1, continues with 0, and counts SASL ids down from the top. The id is the check. An unmatched message stays in its queue,
because its counterpart may be lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, Literal

from kwire.protocol.events import RequestCompleted
from kwire.protocol.row_columns import REQUEST_BODIES
from kwire.protocol.tracking.frames import Frame
from kwire.protocol.tracking.waiting_index import UNNUMBERED, WaitingIndex

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
_TEXTS: Final = attrgetter("client_id", "first_topic", *(column.name for column, _ in REQUEST_BODIES if column.type == "string"))


@dataclass(slots=True)
class Waiting:
    """Request that waits for its response."""

    row: RequestCompleted | None  # None for a raw SASL token, whose answer has no correlation id
    losses: int  # gaps so far at its end; a difference at its response makes the latency unknown
    response_breaks: int  # losses of the border of responses by then; not less than for an earlier request
    may_be_silent: bool = False  # a Produce whose acks could not be read
    # Later requests that were answered before this one although nothing was lost. Weak evidence: a 0.9 broker ignores an ApiVersions
    # request and answers what was pipelined behind it. Exact for the first waiting request, and for others once answered.
    overtaken_by: int = 0
    note: Any = None  # see `observation`
    kept: int = 0  # bytes beyond what every request keeps
    ordinal: int = UNNUMBERED  # see `waiting_index`
    is_timed: bool = True  # the time of the request's last byte is known
    is_lost: bool = False  # its response is among missing bytes: no other request waited when they were lost

    @property
    def correlation_id(self) -> int | None:
        return None if self.row is None else self.row.correlation_id


@dataclass(slots=True)
class Outcome:
    """Outcome: `answered` (both), `given_up` (request without response), `orphan` (response without request)."""

    kind: Literal["answered", "given_up", "orphan"]
    waiting: Waiting | None
    frame: Frame | None


@dataclass(slots=True)
class _Held:
    frame: Frame
    correlation_id: int | None


def kept_bytes(row: RequestCompleted, note: Any) -> int:
    """Return an upper bound of the variable bytes that a waiting request keeps."""
    texts = sum(len(text) for text in _TEXTS(row) if text and len(text) > ORDINARY_TEXT)
    if note is None:
        return texts
    return texts + (len(note[0]) if isinstance(note, tuple) else len(note) * _PER_PARTITION)


class Pairing:
    """Queues of waiting requests and of held responses, which match none of them."""

    __slots__ = ("_held", "_index", "_kept", "is_unclear", "last_answered", "losses", "waiting")

    def __init__(self) -> None:
        self.waiting: list[Waiting] = []
        self._held: list[_Held] = []
        self._index = WaitingIndex()
        self._kept = 0  # of all that wait
        self.is_unclear = False  # a response may belong to several requests with its id: waiting ones may be answered
        self.losses = 0
        self.last_answered: int | None = None  # finds a repeated answer

    @property
    def holds(self) -> bool:
        return bool(self._held)

    def expect(self, waiting: Waiting) -> list[Outcome]:
        outcomes: list[Outcome] = []
        if waiting.losses:
            # Where packets are missing, a response that came before is that to a request that was not seen, even if the id is the same.
            outcomes += [Outcome("orphan", None, held.frame) for held in self._held]
            self._held.clear()
        if self.waiting and waiting.response_breaks < self.waiting[-1].response_breaks:
            # If a server's first bytes are not Kafka, its border is sought though none was lost. The count must not fall by that.
            waiting.response_breaks = self.waiting[-1].response_breaks
        self.waiting.append(waiting)
        self._kept += waiting.kept
        while len(self.waiting) > MAX_WAITING or (self._kept > MAX_WAITING_BYTES and len(self.waiting) > 1):
            first = self.waiting.pop(0)
            self._kept -= first.kept
            outcomes.append(Outcome("given_up", first, None))
        if outcomes:
            self._index.count_first(self.waiting)
        while self._held and self.waiting and (at := self._held_for(waiting)) is not None:
            held = self._held[at]
            if (found := self._find(held, 0)) is None:
                break
            outcomes += self._pair(at, held, found, 0)
        return outcomes

    def broke(self) -> None:
        """Record a loss of response bytes and of their frame border; the only waiting request loses its response."""
        if self.waiting and (len(self.waiting) == 1 or self.waiting[-2].is_lost):
            self.waiting[-1].is_lost = True

    def import_waiting(self, waiting: list[Waiting]) -> None:
        self._index.clear(self.waiting)
        self.waiting = waiting
        self._kept = sum(each.kept for each in waiting)

    def first_asked(self, correlation_id: int) -> RequestCompleted | None:
        found = self._index.possible(self.waiting, correlation_id)[0] if self.waiting else None
        return None if found is None else self.waiting[found].row

    def answer(self, frame: Frame, correlation_id: int | None, response_breaks: int, keep: int = MAX_HELD_BYTES) -> list[Outcome]:
        """Pair a response, whose correlation id is None if lost; without a request, keep `keep` bytes of it."""
        held = _Held(frame, correlation_id)
        found = self._find(held, response_breaks) if self.waiting else None
        if found is not None:
            return self._pair(len(self._held), held, found, response_breaks)
        if len(frame.payload) > keep:
            frame.payload, frame.damaged = frame.payload[:keep], True
        self._held.append(held)
        return [Outcome("orphan", None, self._held.pop(0).frame)] if len(self._held) > MAX_HELD else []

    def end(self) -> list[Outcome]:
        outcomes = [Outcome("orphan", None, held.frame) for held in self._held]
        outcomes += [Outcome("given_up", waiting, None) for waiting in self.waiting]
        self._held.clear()
        self._index.clear(self.waiting)
        self.waiting.clear()
        self._kept = 0
        return outcomes

    def _held_for(self, newest: Waiting) -> int | None:
        if self.waiting[0].row is None:
            return 0
        number = newest.correlation_id
        return next((at for at, held in enumerate(self._held) if held.correlation_id in (None, number)), None)

    def _find_behind_break(self, correlation_id: int, response_breaks: int) -> int | None:
        """Find the request after a loss of responses.

        Some clients give all requests the same id (pykafka). Then a response belongs to the first request whose response is not lost; if
        that is uncertain, the request is unknown.
        """
        found, several = self._index.possible(self.waiting, correlation_id)
        if found is None:
            return None
        first = self.waiting[found]
        is_repeated = several or (correlation_id == self.last_answered and first.losses != self.losses)
        if is_repeated and first.response_breaks < response_breaks:
            self.is_unclear = True
            return None
        return found

    def _find(self, held: _Held, response_breaks: int) -> int | None:
        first = self.waiting[0]
        if first.row is not None and held.correlation_id is not None and first.response_breaks < response_breaks:
            return self._find_behind_break(held.correlation_id, response_breaks)
        if held.correlation_id is None or (first.row is not None and first.correlation_id == held.correlation_id):
            return 0
        if first.row is None:
            # A raw token is answered by whatever comes next. Only the last token of GSSAPI may get no answer; then the response to the
            # Kafka request behind it comes.
            follower = self._index.first_with_header(self.waiting)
            if follower is not None and held.frame.length >= 6 and self.waiting[follower].correlation_id == held.correlation_id:
                return follower
            return 0
        return self._index.find(self.waiting, held.correlation_id)

    def _pair(self, at: int, held: _Held, found: int, response_breaks: int) -> list[Outcome]:
        # The broker answers in order, so what came before this response and found no request will find none.
        outcomes = [Outcome("orphan", None, each.frame) for each in self._held[:at]]
        del self._held[: at + 1]
        if found:
            for each in self._index.overtake(self.waiting, found, response_breaks):
                self._kept -= each.kept
                outcomes.append(Outcome("given_up", each, None))
                found -= 1
        answered = self._index.take(self.waiting, found)
        self._kept -= answered.kept
        self.last_answered = answered.correlation_id
        outcomes.append(Outcome("answered", answered, held.frame))
        return outcomes
