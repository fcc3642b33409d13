"""Rows and events from the frames of a connection: the client's frames here, the server's in `response_events`."""

from __future__ import annotations

from typing import Final

from kwire.protocol.events import Event, IdentityChanged, RequestCompleted
from kwire.protocol.negotiation import API_VERSIONS
from kwire.protocol.sasl import is_kerberos_token
from kwire.protocol.tracking.exchange_state import MAX_UNHEARD, VENDOR_APIS, is_plain_name
from kwire.protocol.tracking.first_fields import column_values, request_fields, topics_of
from kwire.protocol.tracking.frames import Frame
from kwire.protocol.tracking.observation import note_request
from kwire.protocol.tracking.pairing import Waiting, kept_bytes
from kwire.protocol.tracking.passing import read_acks
from kwire.protocol.tracking.reading import Fact, RequestReading, read_header, read_request
from kwire.protocol.tracking.record_batches import produced_batches_broken
from kwire.protocol.tracking.response_events import ResponseEvents
from kwire.schema import catalog

__all__ = ["MAX_UNHEARD", "Exchange"]

_PRODUCE: Final = 0
_SASL_HANDSHAKE: Final = 17
_SASL_AUTHENTICATE: Final = 36
_SHORTEST_REQUEST: Final = 8  # api key, version, correlation id


class Exchange(ResponseEvents):
    """Exchange of one connection."""

    def request(self, frame: Frame) -> list[Event]:
        if not self.requests and is_kerberos_token(frame.payload):
            # Clients of 0.9 authenticate without SaslHandshake; brokers before 4.0 take it (KAFKA-18339).
            self.sasl.raw = True
            if not self.losses and not self.requests_lost:  # else a SaslHandshake may be lost
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
        if ("unknown_api_key", {"api_key": reading.api_key}) in reading.broken and not frame.doubtful:
            reading.broken[-1] = _unreleased_api(reading.api_key, self.advertised, self.missing)
        index = self.requests
        self.requests += 1
        before = (self.identity.software, self.identity.instance_id, self.sasl.principal)
        self.proven = self.proven or self._proves(reading)
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

    def _proves(self, reading: RequestReading) -> bool:
        """Return whether a request proves that this is Kafka: its body reads to the end, or a truncated or unknown one has a plain client
        id."""
        if reading.body == "decoded":
            return all(rule != "trailing_bytes" for rule, _ in reading.broken)
        if reading.body == "truncated":
            return reading.header_version is not None and is_plain_name(reading.client_id) and reading.client_id == self.judge.client_id
        is_vendor = reading.body == "unsupported" and (reading.api_key or 0) >= VENDOR_APIS
        return is_vendor and (reading.client_id is None or is_plain_name(reading.client_id))

    def _is_token(self, frame: Frame) -> bool:
        if frame.damaged:
            return True
        expected = self.sasl.expected
        if expected is not None and self.sasl.tokens >= expected:
            return False
        # A token that reads to its last byte as a request of a released version is none.
        return not self.judge.accepts(frame.payload)

    def _authenticate(self, reading: RequestReading) -> None:
        if reading.api_key == _SASL_HANDSHAKE:
            self.sasl.handshake(getattr(reading.message, "mechanism", None), reading.api_version or 0)
        elif reading.api_key == _SASL_AUTHENTICATE:
            self.sasl.client_token(getattr(reading.message, "auth_bytes", None))
        else:
            if reading.api_key == API_VERSIONS and self.sasl.pending and not self.sasl.ends_unsaid and not self.missing:
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


def _unreleased_api(key: int, advertised: dict[int, tuple[int, int]] | None, missing: bool) -> Fact:
    offered = (advertised or {}).get(key)
    if offered is not None:
        return "unreleased_api_key", {"api_key": key, "offer": f"the broker offers it in v{offered[0]} to v{offered[1]}"}
    if key >= VENDOR_APIS and (missing or advertised is None):  # clients use on a connection what they learned on another one
        return "unreleased_api_key", {"api_key": key, "offer": "the capture does not show whether the broker offers it"}
    return "unknown_api_key", {"api_key": key}
