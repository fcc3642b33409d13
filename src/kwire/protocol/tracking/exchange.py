"""Turns the frames of a connection into rows and events: requests with their responses, identity in force, authentication, violations."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from kwire.protocol.events import (
    Asked,
    Direction,
    Event,
    FrameSeen,
    IdentityChanged,
    MessageSeen,
    RequestCompleted,
    RequestState,
    VersionsLearned,
    ViolationFound,
)
from kwire.protocol.negotiation import API_VERSIONS
from kwire.protocol.rules import RULES, explain
from kwire.protocol.sasl import SaslState, is_kerberos_token
from kwire.protocol.tracking.brokers import nodes_of, ranges_of
from kwire.protocol.tracking.first_fields import column_values, request_fields, topics_of
from kwire.protocol.tracking.frames import Frame
from kwire.protocol.tracking.identity import UNKNOWN, ClientIdentity
from kwire.protocol.tracking.observation import group_faults, note_request, observe
from kwire.protocol.tracking.pairing import MAX_HELD_BYTES, Outcome, Pairing, Waiting, kept_bytes
from kwire.protocol.tracking.passing import Passing, read_acks
from kwire.protocol.tracking.reading import (
    Fact,
    RequestReading,
    ResponseReading,
    api_label,
    peek_correlation_id,
    read_header,
    read_request,
    read_response,
)  # fmt: skip
from kwire.protocol.tracking.record_batches import fetched_batches_broken, produced_batches_broken
from kwire.protocol.tracking.resync import RequestJudge
from kwire.schema import catalog

__all__ = ["Exchange"]

_PRODUCE: Final = 0
_FETCH: Final = 1
_SASL_HANDSHAKE: Final = 17
_SASL_AUTHENTICATE: Final = 36
_GET_TELEMETRY: Final = 71
_UNSUPPORTED_VERSION: Final = 35
_REFUSALS: Final = {2: "CORRUPT_MESSAGE", 76: "UNSUPPORTED_COMPRESSION_TYPE", 87: "INVALID_RECORD"}
_SHORTEST_REQUEST: Final = 8  # api key, version, correlation id
_SHORTEST_RESPONSE: Final = 4  # correlation id


class Exchange:
    """What is exchanged on one connection, frame by frame.

    Arguments:
        observed: the connection was seen from its first byte.
        frames: say where each frame lies (`FrameSeen`).
        bodies: api keys whose bodies are read, None for all.
        asked: give the frames of this message (`MessageSeen`).

    Attributes:
        passing: which bodies are read.
        identity, sasl, pairing: their states.
        judge: believes requests when borders are sought; also tells a request from a raw token.
        requests, unanswered: rows made so far.
        is_kafka: a request with a readable header, or the response to one, was seen.
        last_api_name: of the latest request.
        advertised: ranges of the latest ApiVersions response that lists more than ApiVersions itself.
        named: software name and version in force at the latest request that was no ApiVersions request.
        losses: gaps so far that make latencies unknown.
        response_breaks: how often the border of responses was lost.
        seeks_responses: that border is not known now, so that a response may pass without being found.
        left: the client closed first.
        missing: bytes of the connection were not seen, or its beginning.
        requests_lost: requests may have gone by unseen.
    """

    __slots__ = (
        "_said",
        "_unheard",
        "advertised",
        "asked",
        "frames",
        "identity",
        "is_kafka",
        "judge",
        "last_api_name",
        "left",
        "losses",
        "missing",
        "named",
        "pairing",
        "passing",
        "requests",
        "requests_lost",
        "response_breaks",
        "sasl",
        "seeks_responses",
        "unanswered",
    )  # fmt: skip

    def __init__(self, observed: bool, frames: bool = False, bodies: Collection[int] | None = None, asked: Asked | None = None) -> None:
        self.frames = frames
        self.asked = asked
        self.identity = ClientIdentity(observed)
        self.sasl = SaslState()
        self.pairing = Pairing()
        self.passing = Passing(bodies, self.sasl, self.pairing)
        self.judge = RequestJudge()
        self.requests = 0
        self.unanswered = 0
        self.is_kafka = False
        self.last_api_name: str | None = None
        self.advertised: dict[int, tuple[int, int]] | None = None
        self.named: tuple[str | None, str | None] = ("unknown", "unknown") if observed else (None, None)
        self.losses = 0
        self.response_breaks = 0
        self.seeks_responses = False
        self.left = False
        self.missing = not observed
        self._unheard: list[ViolationFound] = []  # that count once the server is heard
        self.requests_lost = not observed
        self._said: set[str] = set()  # rules of severity info that were reported

    def violation(self, rule: str, direction: Direction, frame: Any, index: int | None = None, **facts: object) -> ViolationFound:
        """The event for a broken rule; `frame` says where."""
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
        """Events for broken rules; what is merely worth knowing is said once a connection."""
        events: list[Event] = []
        for rule, facts in broken:
            if frame.doubtful and RULES[rule].severity == "error":
                events.append(self.violation("frame_border_lost", direction, frame, index, reason=explain(rule, **facts)))
                continue
            if rule == "api_versions_out_of_order" and self.pairing.last_answered is None:
                self._unheard.append(self.violation(rule, direction, frame, index, **facts))
                continue
            if RULES[rule].severity == "info":
                if rule in self._said:
                    continue
                self._said.add(rule)
            events.append(self.violation(rule, direction, frame, index, **facts))
        return events

    def seen(self, direction: Direction, kind: Any, frame: Any, row: RequestCompleted | None = None) -> list[Event]:
        """Where a frame lies, for who asked for it."""
        if not self.frames:
            return []
        event = FrameSeen(direction, kind, frame.offset, frame.length, sasl_mechanism=self.sasl.mechanism)
        if row is not None:
            event.request_index, event.api_key, event.api_version = row.request_index, row.api_key, row.api_version
        return [event]

    def _too_short(self, direction: Direction, frame: Frame) -> list[Event]:
        """A frame that has no room for its header."""
        return self.seen(direction, "length", frame) + self._violations(
            [("frame_too_short", {"length": frame.length})], direction, frame, None
        )

    def _shown(self, direction: Direction, version: int | None, row: RequestCompleted, frame: Frame) -> list[Event]:
        """The frame itself, for who asked for its message."""
        if self.asked is None or self.asked != (direction, row.api_key, version):
            return []
        return [MessageSeen(row, bytes(frame.payload), frame.end_time, frame.packet, frame.offset)]

    # requests

    def request(self, frame: Frame) -> list[Event]:
        """Take the next frame of the client."""
        if not self.requests and is_kerberos_token(frame.payload):
            # Clients of 0.9 authenticate without SaslHandshake; brokers still take it (SaslServerAuthenticator).
            self.sasl.raw = True
            self.sasl.mechanism = "GSSAPI"
        if self.sasl.raw and self._is_token(frame):
            self.sasl.client_token(None if frame.damaged else frame.payload)
            outcomes = self.pairing.expect(Waiting(None, self.losses, self.unbroken))
            return self.seen("request", "token", frame) + self._outcomes(outcomes, frame.end_time)
        if frame.length < _SHORTEST_REQUEST:
            return self._too_short("request", frame)
        reading, acks = self._read(frame)
        if reading.api_key is None:
            self.lost_requests()
            return self.seen("request", "request", frame)
        index = self.requests
        self.requests += 1
        before = (self.identity.software, self.identity.instance_id, self.sasl.principal)
        reading.broken += self.identity.see(reading)
        self._authenticate(reading)
        if reading.header_version is not None and reading.client_id is not None:
            self.judge.client_id = reading.client_id
        row = self._row(reading, frame, index)
        if acks is not None:
            row.acks = acks
        if reading.api_key == API_VERSIONS:
            # The broker knows a name when its request is through, and logs the request itself under what was in force before (KIP-511).
            row.software_name, row.software_version = self.named
        else:
            self.named = self.identity.software
        self.last_api_name = row.api_name
        self.is_kafka = True
        if reading.correlation_id is not None and reading.correlation_id < 0:
            reading.broken.append(("correlation_id_negative", {"correlation_id": reading.correlation_id}))
        if reading.api_key == _PRODUCE and reading.body == "decoded":
            reading.broken += produced_batches_broken(reading)
        events = self._violations(reading.broken, "request", frame, index) + self.seen("request", "request", frame, row)
        events += self._shown("request", row.api_version, row, frame)
        if before != (self.identity.software, self.identity.instance_id, self.sasl.principal):
            events.append(self._identity_changed(index, frame.end_time))
        note = None
        if reading.message is not None and reading.api_version is not None:
            note = note_request(reading.api_key, reading.api_version, frame.payload, frame.damaged)
        if reading.api_key == _PRODUCE and row.acks == 0:
            row.state = "no_response_expected"
            events.append(row)
            events += self._observe(row, note, None)
            if not frame.ended:
                row.request_time = None
            return events
        silent = reading.api_key == _PRODUCE and row.acks is None
        waiting = Waiting(row, self.losses, self.unbroken, silent, note=note, kept=kept_bytes(row, note), is_timed=frame.ended)
        return events + self._outcomes(self.pairing.expect(waiting), frame.end_time)

    def _read(self, frame: Frame) -> tuple[RequestReading, int | None]:
        """What a request says, and the acks of a Produce whose body is not read."""
        if self.passing.bodies is None:
            return read_request(frame.payload, frame.damaged), None
        reading, offset = read_header(frame.payload, frame.damaged)
        if offset is None or reading.api_version is None:
            return reading, None
        if self.passing.reads(reading.api_key):
            return read_request(frame.payload, frame.damaged), None
        reading.body = "skipped"
        found = read_acks(frame.payload, offset, reading.api_version) if reading.api_key == _PRODUCE else None
        return reading, None if found is None else found[0]

    def _is_token(self, frame: Frame) -> bool:
        if frame.damaged:
            return True
        expected = self.sasl.expected
        if expected is not None and self.sasl.tokens >= expected:
            return False
        # A token that reads to its last byte as a request of a released version is none.
        return not self.judge.accepts(frame.payload)

    def lost_requests(self) -> None:
        """Requests may have gone by unseen."""
        self.requests_lost = True
        self.identity.lost_requests()
        if self.named == (UNKNOWN, UNKNOWN) and self.identity.source != "not_sent":
            self.named = (None, None)

    def lost_responses(self) -> None:
        """The border of responses is lost."""
        self.response_breaks += 1
        self.pairing.broke()

    def _authenticate(self, reading: RequestReading) -> None:
        if reading.api_key == _SASL_HANDSHAKE:
            self.sasl.handshake(getattr(reading.message, "mechanism", None), reading.api_version or 0)
        elif reading.api_key == _SASL_AUTHENTICATE:
            self.sasl.client_token(getattr(reading.message, "auth_bytes", None))
        else:
            if reading.api_key == API_VERSIONS and self.sasl.pending and self.sasl.expected is not None and not self.missing:
                reading.broken.append(("api_versions_out_of_order", {}))
            self.sasl.went_on()

    def _row(self, reading: RequestReading, frame: Frame, index: int) -> RequestCompleted:
        row = RequestCompleted(
            request_index=index,
            api_key=reading.api_key,
            api_name=None if reading.api_key is None else catalog().api_name(reading.api_key),
            api_version=reading.api_version,
            header_version=reading.header_version,
            correlation_id=reading.correlation_id,
            client_id=reading.client_id,
            client_instance_id=self.identity.instance_id,
            software_name=self.identity.software[0],
            software_version=self.identity.software[1],
            principal=self.sasl.principal,
            request_time=frame.end_time,
            request_bytes=frame.length + 4,
            body=reading.body,
            packet_number=frame.packet,
            stream_offset=frame.offset,
        )
        if reading.message is not None and reading.api_key is not None and reading.api_version is not None:
            fields = request_fields(reading.api_key, reading.api_version)
            for name, value in column_values(reading.message, fields).items():
                setattr(row, name, value)
            row.first_topic, row.topic_count = topics_of(reading.message, fields, reading.counts)
        return row

    def _identity_changed(self, index: int, time: int) -> IdentityChanged:
        name, version = self.identity.software
        return IdentityChanged(index, time, name, version, self.identity.instance_id, self.sasl.principal)

    # responses

    def response(self, frame: Frame) -> list[Event]:
        """Take the next frame of the server."""
        waiting = self.pairing.waiting
        is_token = bool(waiting) and waiting[0].row is None
        if frame.length < _SHORTEST_RESPONSE and not is_token:
            return self.heard() + self._too_short("response", frame)
        # What a server says while authentication is under way may be a token: of that nothing is kept.
        keep = _SHORTEST_RESPONSE if self.sasl.pending or self.sasl.raw else MAX_HELD_BYTES
        self.pairing.losses = self.losses
        outcomes = self.pairing.answer(frame, peek_correlation_id(frame.payload), self.response_breaks, keep)
        return self.heard() + self._outcomes(outcomes, frame.end_time)

    def heard(self) -> list[Event]:
        """The server is in the capture: what was said of its client because it did not answer holds, unless bytes are missing."""
        events: list[Event] = [] if self.missing else list(self._unheard)
        self._unheard.clear()
        return events

    def end(self, t: int) -> list[Event]:
        """Nothing more will come on this connection, which ended at `t`."""
        return self._outcomes(self.pairing.end(), t)

    @property
    def unbroken(self) -> int:
        """`response_breaks` for a request that is sent now: one less while the border is lost, for its response may pass unseen."""
        return self.response_breaks - self.seeks_responses

    def _state_without_answer(self, waiting: Waiting) -> RequestState:
        """The state of a request that is given up: what cannot be known comes first, then whose doing it is."""
        if waiting.response_breaks < self.response_breaks or waiting.may_be_silent or self.pairing.is_unclear:
            return "unseen"
        return "abandoned" if self.left else "unanswered"

    def _outcomes(self, outcomes: list[Outcome], t: int) -> list[Event]:
        events: list[Event] = []
        for outcome in outcomes:
            if outcome.kind == "orphan":
                assert outcome.frame is not None
                events += self._orphan(outcome.frame)
            elif outcome.kind == "given_up":
                assert outcome.waiting is not None
                row = outcome.waiting.row
                if row is not None:
                    row.state = self._state_without_answer(outcome.waiting)
                    self.unanswered += row.state == "unanswered"
                    events.append(row)
                    events += self._observe(row, outcome.waiting.note, None)
                    if not outcome.waiting.is_timed:
                        row.request_time = None
            else:
                events += self._answered(outcome)
        return events

    def _answered(self, outcome: Outcome) -> list[Event]:
        waiting, frame = outcome.waiting, outcome.frame
        assert waiting is not None
        assert frame is not None
        row = waiting.row
        if row is None:
            seen = self.seen("response", "token", frame)
            self.sasl.server_token(None if frame.damaged else frame.payload)
            return seen
        assert row.api_key is not None
        assert row.api_version is not None
        events = self.seen("response", "response", frame, row)
        if waiting.overtaken_by and not frame.doubtful:
            facts = {"correlation_id": row.correlation_id, "later": waiting.overtaken_by}
            events.append(self.violation("response_out_of_order", "response", frame, row.request_index, **facts))
        # A frame that was passed over may after all answer another request, one of the same id, when more wait than are kept.
        damaged = frame.damaged or len(frame.payload) < frame.length
        reading = (
            ResponseReading("skipped", row.api_version)
            if row.body == "skipped"
            else read_response(frame.payload, row.api_key, row.api_version, damaged)
        )
        row.state = "answered"
        row.response_time = frame.end_time
        row.response_bytes = frame.length + 4
        row.error_code = reading.error_code
        for name, value in reading.columns.items():
            setattr(row, name, value)
        assert row.request_time is not None
        elapsed = frame.end_time - row.request_time
        # A response that the capture shows before its request says that the clock or the order is off.
        is_timed = frame.ended and waiting.is_timed
        row.latency_us = elapsed // 1000 if is_timed and self.losses == waiting.losses and elapsed >= 0 else None
        reading.broken += _broken_by(row, reading)
        reading.broken += group_faults(row, waiting.note, frame.payload, damaged)
        events += self._violations(reading.broken, "response", frame, row.request_index)
        events += self._shown("response", reading.version, row, frame)
        events += self._learn(row, reading, frame)
        events.append(row)
        readable = reading.message is not None
        events += self._observe(row, waiting.note, frame.payload if readable else None, damaged)
        # What the exchange says beyond its row has the time of what came.
        if not frame.ended:
            row.response_time = None
        if frame.unfinished and self.left:
            row.state = "abandoned"
        if not waiting.is_timed:
            row.request_time = None
        return events

    def _observe(self, row: RequestCompleted, note: Any, payload: bytes | None, damaged: bool = False) -> list[Event]:
        return [] if row.body == "skipped" else observe(row, note, payload, damaged)

    def _learn(self, row: RequestCompleted, reading: ResponseReading, frame: Frame) -> list[Event]:
        if row.api_key == _SASL_HANDSHAKE:
            self.sasl.handshake_answered(reading.error_code)
        elif row.api_key == _SASL_AUTHENTICATE:
            self.sasl.server_token(getattr(reading.message, "auth_bytes", None), reading.error_code)
        if reading.message is None:
            return []
        if row.api_key == _GET_TELEMETRY:
            self.identity.assigned(getattr(reading.message, "client_instance_id", None))
        elif row.api_key == API_VERSIONS:
            ranges = ranges_of(reading.message)
            if len(ranges) > 1:
                self.advertised = ranges
            return [VersionsLearned(row.request_index, frame.end_time, ranges, reading.error_code or 0, reading.body == "decoded")]
        learned = nodes_of(row.api_name, row.request_index, frame.end_time, reading.message)
        return [] if learned is None else [learned]

    def _orphan(self, frame: Frame) -> list[Event]:
        correlation_id = peek_correlation_id(frame.payload)
        events = self.seen("response", "response", frame)
        if not self.requests_lost and not self.response_breaks and correlation_id is not None:
            if correlation_id == self.pairing.last_answered:
                rule = "response_repeated"
            else:
                rule = "response_unknown_correlation_id" if self.requests else "response_without_request"
            events.append(self.violation(rule, "response", frame, correlation_id=correlation_id))
        name, version = self.identity.software
        events.append(
            RequestCompleted(
                request_index=-1,
                correlation_id=correlation_id,
                client_instance_id=self.identity.instance_id,
                software_name=name,
                software_version=version,
                principal=self.sasl.principal,
                response_time=frame.end_time if frame.ended else None,
                response_bytes=frame.length + 4,
                state="orphan_response",
                packet_number=frame.packet,
                stream_offset=frame.offset,
            )
        )
        return events


def _broken_by(row: RequestCompleted, reading: ResponseReading) -> list[Fact]:
    """What a response says of its request, or breaks inside its records."""
    if row.api_key == API_VERSIONS and reading.error_code == _UNSUPPORTED_VERSION:
        return [("api_versions_refused", {"version": row.api_version})]
    if row.api_key == _PRODUCE and reading.error_code in _REFUSALS:
        return [("batch_refused", {"error": _REFUSALS[reading.error_code]})]
    if row.api_key == _FETCH and reading.body == "decoded":
        return fetched_batches_broken(reading.message, f"{api_label(row.api_key, row.api_version)} response")
    return []
