"""Events from the frames of a server: requests with their responses, orphan responses, violations, and facts about the cluster."""

from __future__ import annotations

from typing import Any, Final

from kwire.protocol.events import Event, RequestCompleted, RequestState, VersionsLearned
from kwire.protocol.negotiation import API_VERSIONS
from kwire.protocol.tracking.brokers import nodes_of, ranges_of
from kwire.protocol.tracking.exchange_state import ExchangeState, is_plain_name
from kwire.protocol.tracking.frames import Frame
from kwire.protocol.tracking.observation import group_faults, observe
from kwire.protocol.tracking.pairing import MAX_HELD_BYTES, Outcome, Waiting
from kwire.protocol.tracking.reading import Fact, ResponseReading, api_label, peek_correlation_id, read_response
from kwire.protocol.tracking.record_batches import fetched_batches_broken

__all__ = ["ResponseEvents"]

_PRODUCE: Final = 0
_FETCH: Final = 1
_SASL_HANDSHAKE: Final = 17
_SASL_AUTHENTICATE: Final = 36
_GET_TELEMETRY: Final = 71
_UNSUPPORTED_VERSION: Final = 35
_REFUSALS: Final = {2: "CORRUPT_MESSAGE", 76: "UNSUPPORTED_COMPRESSION_TYPE", 87: "INVALID_RECORD"}
_SHORTEST_RESPONSE: Final = 4  # correlation id


class ResponseEvents(ExchangeState):
    def response(self, frame: Frame) -> list[Event]:
        waiting = self.pairing.waiting
        is_token = bool(waiting) and waiting[0].row is None
        if frame.length < _SHORTEST_RESPONSE and not is_token:
            return self.heard() + self._too_short("response", frame)
        # What a server says while authentication is under way may be a token: of that nothing is kept.
        keep = _SHORTEST_RESPONSE if self.sasl.pending or self.sasl.raw else MAX_HELD_BYTES
        self.pairing.losses = self.losses
        outcomes = self.pairing.answer(frame, peek_correlation_id(frame.payload), self.response_breaks, keep)
        return self.heard() + self._outcomes(outcomes, frame.end_time)

    def end(self, t: int) -> list[Event]:
        return self._outcomes(self.pairing.end(), t)

    def _state_without_answer(self, waiting: Waiting) -> RequestState:
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
        if not self.proven:
            is_whole = reading.body == "decoded" and all(rule != "trailing_bytes" for rule, _ in reading.broken)
            self.proven = is_whole or is_plain_name(row.client_id)
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
        reading.broken += group_faults(row.api_key, row.api_version, waiting.note, frame.payload, damaged)
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
            if reading.error_code == 0:
                self.named = self.identity.software  # a second ApiVersions request is logged under the name of the first
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
    if row.api_key == API_VERSIONS and reading.error_code == _UNSUPPORTED_VERSION:
        return [("api_versions_refused", {"version": row.api_version})]
    if row.api_key == _PRODUCE and reading.error_code in _REFUSALS:
        return [("batch_refused", {"error": _REFUSALS[reading.error_code]})]
    if row.api_key == _FETCH and reading.body == "decoded":
        return fetched_batches_broken(reading.message, f"{api_label(row.api_key, row.api_version)} response")
    return []
