"""Callbacks of the native tracker: texts, facts from responses, and additional rows of exchanges.

Each callback runs once per distinct text or response, so little time is spent in Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, Protocol

from kwire.protocol.events import Asked, GroupStep, MetricsPushed, RequestCompleted, TopicsNamed, VersionsLearned, ViolationFound
from kwire.protocol.negotiation import API_VERSIONS
from kwire.protocol.rules import RULES, explain
from kwire.protocol.sasl import SaslState
from kwire.protocol.tracking.brokers import nodes_of, ranges_of
from kwire.protocol.tracking.callbacks import CLOSED_BY, ROLES, ROW_BODIES, ROW_STATES, SOURCES, TrackerCallbacks
from kwire.protocol.tracking.observation import note_request, observe
from kwire.protocol.tracking.reading import api_label, read_response, trailing_fact
from kwire.tables.facts import SeriesFacts
from kwire.tables.observed_rows import ObservedRows
from kwire.tables.row_sink import PACKET_BITS
from kwire.tables.violation_rows import ViolationRows

__all__ = [
    "CLOSED_BY", "DIRECTIONS", "ROLES", "ROW_BODIES", "ROW_STATES", "SOURCES", "STATES", "RowCallbacks", "CallbackSink",
]  # fmt: skip

# The words for the numbers of rows, with those of `kwire.protocol.tracking.callbacks`.
DIRECTIONS: Final = ("produce", "fetch")
STATES: Final = ("open", "joined_late", "reset", "complete")

_SASL_HANDSHAKE: Final = 17
_PACKET_MASK: Final = (1 << PACKET_BITS) - 1

_Place = tuple[int, int | None, int, int]
_Identity = tuple[str | None, str | None]
_Frame = tuple[bytes, bool]


class CallbackSink(Protocol):
    series: str
    files: list[str]
    facts: SeriesFacts
    observed: ObservedRows
    violations: ViolationRows
    observing: bool
    asked: Asked | None

    def message(
        self, connection_id: str, request_index: int, correlation_id: int | None, client_id: str | None, software_name: str | None,
        software_version: str | None, principal: str | None, time_ns: int, packet: int, offset: int, frame: bytes,
    ) -> None: ...  # fmt: skip


class RowCallbacks(TrackerCallbacks):
    """Callbacks for the connections of a series.

    The native hash tables use `seed`, which is secret to this process.
    """

    def __init__(self, sink: CallbackSink, connection_id_of: Callable[[int], str]) -> None:
        self._sink = sink
        self.series, self.files = sink.series, sink.files
        self._connection_id_of = connection_id_of
        self.observing = sink.observing
        self.asked = sink.asked
        self.seed = int.from_bytes(os.urandom(8), "little")

    def once(self, place: _Place, identity: _Identity, rule: str, api_key: int, api_version: int) -> None:
        """Report a rule of severity `info` that a response violates, once per connection."""
        refused = rule == "api_versions_refused"
        self._violation(
            place, identity, rule, {"version": api_version} if refused else {"message": f"{api_label(api_key, api_version)} response"}
        )

    def trailing(self, place: _Place, identity: _Identity, kind: str, api_key: int, api_version: int, count: int, end: int) -> None:
        """Report bytes behind a body that ends at `end` of the frame, counted without its length."""
        self._violation(place, identity, *trailing_fact(f"{api_label(api_key, api_version)} {kind}", count, end))

    def _violation(self, place: _Place, identity: _Identity, rule: str, facts: dict[str, object]) -> None:
        connection, request_index, packet, offset = place
        self._sink.violations.add(
            (
                self._sink.series, self._sink.files[packet >> PACKET_BITS], self._connection_id_of(connection), rule, RULES[rule].severity,
                None, request_index, packet & _PACKET_MASK, offset, *identity, explain(rule, **facts),
            )
        )  # fmt: skip

    def versions_answer(
        self, server: str, payload: bytes, damaged: bool, version: int, time_ns: int
    ) -> tuple[int | None, dict[str, Any], dict[int, tuple[int, int]] | None, tuple[list[Any], ...] | None] | None:
        """Read a new ApiVersions response; return None if it is invalid.

        The payload is the frame without its length, up to the cut if damaged. The result consists of the error code, columns of `requests`,
        the ranges if there are more than ApiVersions' own, and the list that ends with the first and last time of the ranges.
        """
        reading = read_response(payload, API_VERSIONS, version, damaged)
        if reading.body != ("truncated" if damaged else "decoded") or reading.broken:
            return None
        ranges, code = ranges_of(reading.message), reading.error_code
        learned = self._sink.facts.learn_versions(server, VersionsLearned(0, time_ns, ranges, code or 0, not damaged))
        return code, reading.columns, ranges if len(ranges) > 1 else None, None if learned is None else (learned,)

    def learn(
        self, row: RequestCompleted, request: _Frame | None, response: _Frame
    ) -> tuple[tuple[list[Any], ...], tuple[tuple[Any, Any] | None, ...]]:
        """Read a new response that has nodes or topic names.

        Return the lists that end with a first and last time, and the other values in the lists of nodes. While those values are unchanged,
        an equal response only updates the times.
        """
        assert row.api_key is not None
        assert row.api_version is not None
        assert row.response_time is not None
        facts = self._sink.facts
        reading = read_response(response[0], row.api_key, row.api_version, response[1])
        learned: list[list[Any]] = []
        nodes = nodes_of(row.api_name, row.request_index, row.response_time, reading.message)
        if nodes is not None:
            learned += facts.learn_nodes(nodes)
        note = None if request is None else note_request(row.api_key, row.api_version, *request)
        for event in observe(row, note, *response):
            if isinstance(event, TopicsNamed):
                learned += facts.learn_topics(event)
        return tuple(learned), tuple((each[0], each[1]) if len(each) > 2 else None for each in learned)

    def observed(self, connection: int, begun: int, row: RequestCompleted, request: _Frame | None, response: _Frame | None) -> bool:
        """Add the additional rows of an exchange; return whether there are any."""
        assert row.api_key is not None
        assert row.api_version is not None
        note = None if request is None else note_request(row.api_key, row.api_version, *request)
        events = observe(row, note, *((None, False) if response is None else response))
        capture = self._sink.files[begun >> PACKET_BITS]
        for event in events:
            if isinstance(event, GroupStep):
                self._sink.observed.step(capture, self._connection_id_of(connection), event)
            elif isinstance(event, ViolationFound):
                self._sink.violations.add(
                    (
                        self._sink.series, self._sink.files[event.packet_number >> PACKET_BITS], self._connection_id_of(connection),
                        event.rule, event.severity, None, event.request_index, event.packet_number & _PACKET_MASK, event.stream_offset,
                        event.software_name, event.client_id, event.explanation,
                    )
                )  # fmt: skip
            elif isinstance(event, MetricsPushed):
                self._sink.observed.metrics(capture, self._connection_id_of(connection), event)
            elif isinstance(event, TopicsNamed):
                self._sink.facts.learn_topics(event)
        return bool(events)

    def message(self, connection: int, evidence: tuple[Any, ...]) -> None:
        self._sink.message(self._connection_id_of(connection), *evidence)

    def sasl_request(self, sasl: SaslState | None, mechanism: bytes | None, token: bytes | None, version: int) -> SaslState:
        """Record a SaslHandshake (`mechanism`, UTF-8) or a SaslAuthenticate (`token`, which is read once and dropped)."""
        known = SaslState() if sasl is None else sasl
        if mechanism is not None:
            known.handshake(mechanism.decode(), version)
        else:
            known.client_token(token)
        return known

    def sasl_response(self, sasl: SaslState, api_key: int, token: bytes | None, error_code: int) -> SaslState:
        if api_key == _SASL_HANDSHAKE:
            sasl.handshake_answered(error_code)
        else:
            sasl.server_token(token, error_code)
        return sasl

    def sasl_went_on(self, sasl: SaslState) -> SaslState:
        sasl.went_on()
        return sasl
