"""State of the exchange on one connection, and its reporting events: violations, frames, messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from kwire.protocol.events import Asked, Direction, Event, FrameSeen, MessageSeen, RequestCompleted, ViolationFound
from kwire.protocol.rules import RULES, explain
from kwire.protocol.sasl import SaslState
from kwire.protocol.tracking.frames import Frame
from kwire.protocol.tracking.identity import UNKNOWN, ClientIdentity
from kwire.protocol.tracking.pairing import Pairing
from kwire.protocol.tracking.passing import Passing
from kwire.protocol.tracking.reading import Fact
from kwire.protocol.tracking.resync import RequestJudge

__all__ = ["MAX_UNHEARD", "VENDOR_APIS", "ExchangeState", "is_plain_name"]

# Violations of a client that wait for the first answer of a server, which may not be in the capture: a few show what there is to see.
MAX_UNHEARD: Final = 8
# Vendors' own APIs have keys from here on, as those of Confluent Server.
VENDOR_APIS: Final = 10000


def is_plain_name(text: str | None) -> bool:
    """Return whether a client id is plain text: other protocols rarely have such bytes there."""
    return bool(text and text.isascii() and text.isprintable())


class ExchangeState:
    """State of one connection."""

    def __init__(self, observed: bool, frames: bool = False, bodies: Collection[int] | None = None, asked: Asked | None = None) -> None:
        self.frames = frames
        self.asked = asked
        self.identity = ClientIdentity(observed)
        self.sasl = SaslState()
        self.pairing = Pairing()
        self.passing = Passing(bodies, self.sasl, self.pairing)
        self.judge = RequestJudge()  # also distinguishes a request from a raw token
        self.requests = 0
        self.unanswered = 0
        self.is_kafka = False  # a request with a readable header, or the response to one, was seen
        self.proven = True  # the connection is Kafka, by its caller or by what was read (`DirectionDetector`)
        self.last_api_name: str | None = None
        self.advertised: dict[int, tuple[int, int]] | None = None  # of the latest ApiVersions response that lists more than ApiVersions
        self.named: tuple[str | None, str | None] = ("unknown", "unknown") if observed else (None, None)
        self.losses = 0  # gaps so far that make latencies unknown
        self.response_breaks = 0  # how often the border of responses was lost
        self.seeks_responses = False  # that border is unknown, so that a response may pass without being found
        self.left = False  # the client closed first
        self.missing = not observed  # bytes of the connection were not seen, or its beginning
        self._unheard: list[ViolationFound] = []  # that count once the server is heard
        self.requests_lost = not observed  # requests may have passed unseen
        self._reported: set[str] = set()  # rules of severity info that were reported

    def violation(self, rule: str, direction: Direction, frame: Any, index: int | None = None, **facts: object) -> ViolationFound:
        time = frame.end_time if isinstance(frame, Frame) else frame.time
        return ViolationFound(
            rule=rule,
            severity=RULES[rule].severity,
            direction=direction,
            request_index=index,
            packet_number=frame.packet,
            stream_offset=frame.offset,
            time=time,
            software_name=self.identity.software[0],
            client_id=self.identity.client_id,
            explanation=explain(rule, **facts),
        )

    def _violations(self, broken: Iterable[Fact], direction: Direction, frame: Frame, index: int | None) -> list[Event]:
        events: list[Event] = []
        for rule, facts in broken:
            if frame.doubtful and RULES[rule].severity == "error":
                events.append(self.violation("frame_border_lost", direction, frame, index, reason=explain(rule, **facts)))
                continue
            if rule == "api_versions_out_of_order" and self.pairing.last_answered is None:
                if len(self._unheard) < MAX_UNHEARD:
                    self._unheard.append(self.violation(rule, direction, frame, index, **facts))
                continue
            if RULES[rule].severity == "info":
                if rule in self._reported:
                    continue
                self._reported.add(rule)
            events.append(self.violation(rule, direction, frame, index, **facts))
        return events

    def seen(self, direction: Direction, kind: Any, frame: Any, row: RequestCompleted | None = None) -> list[Event]:
        if not self.frames:
            return []
        event = FrameSeen(direction, kind, frame.offset, frame.length, sasl_mechanism=self.sasl.mechanism)
        if row is not None:
            event.request_index, event.api_key, event.api_version = row.request_index, row.api_key, row.api_version
        return [event]

    def _too_short(self, direction: Direction, frame: Frame) -> list[Event]:
        return self.seen(direction, "length", frame) + self._violations(
            [("frame_too_short", {"length": frame.length})], direction, frame, None
        )

    def _shown(self, direction: Direction, version: int | None, row: RequestCompleted, frame: Frame) -> list[Event]:
        if self.asked is None or self.asked != (direction, row.api_key, version):
            return []
        return [MessageSeen(row, bytes(frame.payload), frame.end_time, frame.packet, frame.offset)]

    def lost_requests(self) -> None:
        self.requests_lost = True
        self.identity.lost_requests()
        if self.named == (UNKNOWN, UNKNOWN) and self.identity.source != "not_sent":
            self.named = (None, None)

    def lost_responses(self) -> None:
        self.response_breaks += 1
        self.pairing.broke()

    def heard(self) -> list[Event]:
        """Return the client's deferred violations. They are valid only if the server's bytes are captured without a loss."""
        events: list[Event] = [] if self.missing else list(self._unheard)
        self._unheard.clear()
        return events

    @property
    def unbroken(self) -> int:
        """Return `response_breaks` for a request sent now: one less while the border is lost, because its response may be missed."""
        return self.response_breaks - self.seeks_responses
