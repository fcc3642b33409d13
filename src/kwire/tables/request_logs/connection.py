"""One connection of a request log: each entry gives a row of `requests`, and the same events as captured bytes.

From 2.4 on, an entry has the client's software as known to the broker, even if the log begins in the middle of a connection, and the
principal. A log never has SASL exchanges, rejected or unanswered requests, sizes of frames, or the side that closed the connection.

Only connections logged from their beginning show whether a client without a name sends no ApiVersions. For others, `identity_source` is
`not_observed`, even if the broker calls the client `unknown`.
"""

from __future__ import annotations

from typing import Any, Final

from kwire.capture.request_logs.entry import ConnectionName, LogEntry
from kwire.capture.tcp import Endpoint
from kwire.protocol.events import (
    Body,
    Event,
    MetricsPushed,
    RequestCompleted,
    RequestState,
    VersionsLearned,
    ViolationFound,
)
from kwire.protocol.expected_errors import is_error
from kwire.protocol.row_columns import REQUEST_BODIES
from kwire.protocol.rules import RULES, explain
from kwire.protocol.tracking.brokers import nodes_of
from kwire.protocol.tracking.identity import UNKNOWN, ClientIdentity
from kwire.protocol.tracking.observation import Watch, observe_messages, topics_named
from kwire.protocol.tracking.reading import Fact, RequestReading
from kwire.schema import error_name
from kwire.tables.client_keys import client_key
from kwire.tables.observed_rows import TopicSums
from kwire.tables.request_logs.exchange_kinds import API_VERSIONS, NO_ANSWER, NO_FIELDS, ExchangeKind, exchange_kind
from kwire.tables.request_logs.messages import request_of, response_of
from kwire.tables.request_logs.topics import add_topics

__all__ = ["LogConnection"]

_PRODUCE: Final = 0
_FIRST_WITH_NAME: Final = 3  # version of ApiVersions (KIP-511)
_ENVELOPE: Final = 58
_GET_TELEMETRY: Final = 71
_SHARE_FETCH: Final = 78
_UNSUPPORTED_VERSION: Final = 35
_NOT_CONTROLLER: Final = 41
_REFUSED_BATCHES: Final = {2: "CORRUPT_MESSAGE", 76: "UNSUPPORTED_COMPRESSION_TYPE", 87: "INVALID_RECORD"}
_NO_RESPONSE: Final = "no_response_expected"
# Brokers log answered requests only; what `kwire decode` writes has others too, and names their state.
_WITHOUT_RESPONSE: Final[dict[str | None, RequestState]] = {
    _NO_RESPONSE: _NO_RESPONSE, "unanswered": "unanswered", "abandoned": "abandoned", "unseen": "unseen",
}  # fmt: skip
_ACKS: Final = [column.name for column, _ in REQUEST_BODIES].index("acks")

Exchange = tuple[tuple[Any, ...], list[Event]]


class LogConnection:
    """State of one connection of a request log.

    Args:
        name: the broker's name of the connection.
        n: number of earlier connections between the same endpoints.
        begun: position of its first entry, as in `take`.
        watched: whether the log has its beginning.

    Attributes:
        principal: principal after authentication, else None.
        first_us, last_us: arrival of the first request and end of the last one,
        microseconds since 1970; None without times.
        unsupported: first request of each api and version that was refused with UNSUPPORTED_VERSION.
        exact: whether all entries are JSON, so that responses are known.
        sizes_known: whether responses to fetches have the size of their records; responses to ShareFetch never do.
    """

    __slots__ = (
        "_broker_knows", "_name_unseen", "_reported", "_watched", "begun", "connection_id", "exact", "first_us", "identity",
        "last_api_name", "last_us", "name", "principal", "requests", "responses", "server", "sizes_known", "topics",
        "unsupported",
    )  # fmt: skip

    def __init__(self, name: ConnectionName, n: int, begun: int, watched: bool) -> None:
        self.name = name
        self.begun = begun
        self.server = Endpoint(name.server_address, name.server_port)
        self.connection_id = f"{name.server_address}:{name.server_port}-{name.client_address}:{name.client_port}-{n}"
        self.requests = 0
        self.responses = 0
        self.identity = ClientIdentity(observed=False)
        self.principal: str | None = None
        self.first_us: int | None = None
        self.last_us: int | None = None
        self.last_api_name: str | None = None
        self.topics = TopicSums()
        self.unsupported: dict[tuple[int, int], int] = {}
        self._reported: set[str] = set()  # rules of severity info
        self.exact = True
        self.sizes_known = True
        self._watched = watched
        self._broker_knows = False  # an entry had the software that the broker knows
        self._name_unseen = False  # a name was sent, but its request is not logged as it was sent

    def client_key(self) -> str:
        name, version = self.identity.software
        return client_key(name, version, self.identity.client_id, self.principal, self.name.client_address)

    def take(self, entry: LogEntry, series: str, capture: str, place: int) -> Exchange:
        """Add an entry; return its row of `LOGGED_COLUMNS`, and its events. `place` combines file and line in one number."""
        index = self.requests
        self.requests += 1
        arrived, ended = self._see_times(entry)
        self.exact &= entry.form != "text"
        self.sizes_known &= entry.form != "text" and entry.api_key != _SHARE_FETCH
        if entry.is_forwarded:
            return self._envelope(entry, series, capture, index, arrived, ended), []
        kind = exchange_kind(entry.api_key, entry.api_version)
        self.last_api_name = kind.api_name

        body, request = request_of(entry, kind)
        named = NO_FIELDS if request is None else kind.first(request)
        broken = self._see_identity(entry, kind, body, request)
        is_silent = entry.api_key == _PRODUCE and named[_ACKS] == 0
        state = _NO_RESPONSE if is_silent else _WITHOUT_RESPONSE.get(entry.state, "answered")
        response = code = responded = latency = None
        answered = NO_ANSWER
        if state == "answered":
            self.responses += 1
            responded, latency = ended, entry.total_us
            answered_as, response = response_of(entry, kind)
            if response is not None:
                code, answered = answered_as.code(response), answered_as.answered(response)
        row = (
            series, capture, self.connection_id, entry.client_id, self.identity.instance_id, *(entry.software or (None, None)),
            entry.principal, *kind.row, index, entry.correlation_id, arrived, responded, latency, code,
            None if code is None else error_name(code), is_error(entry.api_key, code), *answered, *named, state, body,
            entry.queue_us, entry.local_us, entry.remote_us, entry.line,
        )  # fmt: skip
        if kind.uses_topics:
            whole = response is not None or state not in ("answered", "unseen")
            add_topics(self.topics, entry.api_key, entry.client_id, named[_ACKS], _ns(arrived), request, response, body == "decoded", whole)
        return row, self._beyond(entry, kind, place, index, arrived, responded, state, body, request, response, code, broken)

    def _beyond(
        self, entry: LogEntry, kind: ExchangeKind, place: int, index: int, arrived: int | None, responded: int | None,
        state: RequestState, body: Body, request: Any, response: Any, code: int | None, broken: list[Fact],
    ) -> list[Event]:  # fmt: skip
        """Return the events of an exchange; most exchanges without an error have none (`ExchangeKind.says_more`).

        Times are in microseconds. `broken` has the rules violated by the request; the response's rules are appended.
        """
        if not broken and not code and not (kind.says_more and says_steps(kind, arrived, response)):
            return []
        events = self._learn(entry, kind, index, responded, response, code, broken)
        if broken:
            events += self._violations(broken, place, index, arrived)
        if kind.names_topics:
            events += topics_named(entry.api_key, entry.api_version, _ns(arrived), request, response)
        elif kind.watch is not Watch.NO and not kind.uses_topics and says_steps(kind, arrived, response):
            name, version = entry.software or (None, None)
            unknown: Any = None
            completed = RequestCompleted(
                index, entry.api_key, kind.api_name, entry.api_version, None, entry.correlation_id, entry.client_id,
                self.identity.instance_id, name, version, entry.principal, _ns(arrived), _ns(responded), error_code=code, state=state,
                body=body, packet_number=place, stream_offset=unknown,
            )  # fmt: skip
            events += _observed(completed, request, response)
        return events

    def _see_times(self, entry: LogEntry) -> tuple[int | None, int | None]:
        logged, total, arrived = entry.logged_us, entry.total_us, entry.arrived_us
        if arrived is not None:
            ended = None if total is None else arrived + total
        else:
            ended = logged
            arrived = None if total is None or logged is None else logged - total
        # a request does not end before it came
        first, last = ended if arrived is None else arrived, arrived if ended is None else ended
        if first is not None and (self.first_us is None or first < self.first_us):
            self.first_us = first
        if last is not None and (self.last_us is None or last > self.last_us):
            self.last_us = last
        return arrived, ended

    def _learn(
        self, entry: LogEntry, kind: ExchangeKind, index: int, responded: int | None, response: Any, code: int | None, broken: list[Fact]
    ) -> list[Event]:
        """Read facts of client and cluster from a response; append the rules that it violates."""
        key, version = entry.api_key, entry.api_version
        if code == _UNSUPPORTED_VERSION and key != API_VERSIONS:
            self.unsupported.setdefault((key, version), index)
        if response is None:
            return []
        time: Any = _ns(responded)  # None where the log has no times; facts take that
        if key == _PRODUCE and code in _REFUSED_BATCHES:
            broken.append(("batch_refused", {"error": _REFUSED_BATCHES[code]}))
        elif key == _GET_TELEMETRY:
            self.identity.assigned(getattr(response, "client_instance_id", None))
        elif key == API_VERSIONS:
            if code == _UNSUPPORTED_VERSION:
                broken.append(("api_versions_refused", {"version": version}))
            return [VersionsLearned(index, time, response.ranges, code or 0, True)]
        elif kind.names_nodes:
            learned = nodes_of(kind.api_name, index, time, response)
            return [] if learned is None else [learned]
        return []

    def _see_identity(self, entry: LogEntry, kind: ExchangeKind, body: Body, request: Any) -> list[Fact]:
        """Read facts of the client from a request and from the broker's own fields; return the rules that the request violates.

        The broker's fields take precedence, but an ApiVersions request is logged with the values before it.
        """
        key, identity, software = entry.api_key, self.identity, entry.software
        broken = identity.see(
            RequestReading(api_key=key, api_version=entry.api_version, client_id=entry.client_id, body=body, message=request)
        )
        if entry.correlation_id is not None and entry.correlation_id < 0:
            broken.append(("correlation_id_negative", {"correlation_id": entry.correlation_id}))
        if entry.principal is not None:
            self.principal = entry.principal
        if key == API_VERSIONS:
            self._name_unseen |= entry.api_version >= _FIRST_WITH_NAME and request is None
        elif software is not None:
            self._broker_knows = True
            identity.software = software
            identity.source = "api_versions" if software[0] != UNKNOWN else "not_sent" if self._watched else "not_observed"
        if not self._broker_knows and identity.source != "api_versions":
            if self._watched and not self._name_unseen:
                identity.software, identity.source = (UNKNOWN, UNKNOWN), "not_sent"
            else:
                identity.software, identity.source = (None, None), "not_observed"
        return broken

    def _envelope(self, entry: LogEntry, series: str, capture: str, index: int, arrived: int | None, ended: int | None) -> tuple[Any, ...]:
        """Return the row of the Envelope of a forwarded request (KIP-590); brokers log its content, under the original sender's name.

        The log of the client's broker has the content, so the Envelope is counted here; its header is not logged. Its own response has an
        error only if the node is not the controller (EnvelopeUtils and RequestChannel of Kafka).
        """
        kind = exchange_kind(_ENVELOPE, 0)
        self.responses += 1
        self.last_api_name = kind.row[1]
        answered_as, response = response_of(entry, exchange_kind(entry.api_key, entry.api_version))
        refused = response is not None and answered_as.code(response) == _NOT_CONTROLLER
        code = None if response is None else _NOT_CONTROLLER if refused else 0
        return (
            series, capture, self.connection_id, None, self.identity.instance_id, *self.identity.software, None, *kind.row, index, None,
            arrived, ended, entry.total_us, code, None if code is None else error_name(code), is_error(_ENVELOPE, code), *NO_ANSWER,
            *NO_FIELDS,
            "answered", "skipped", entry.queue_us, entry.local_us, entry.remote_us, entry.line,
        )  # fmt: skip

    def _violations(self, broken: list[Fact], place: int, index: int, arrived: int | None) -> list[Event]:
        events: list[Event] = []
        unknown: Any = None
        for rule, facts in broken:
            severity = RULES[rule].severity
            if severity == "info":
                if rule in self._reported:
                    continue
                self._reported.add(rule)
            time: Any = arrived
            name, client_id = self.identity.software[0], self.identity.client_id
            events.append(ViolationFound(rule, severity, "request", index, place, unknown, time, name, client_id, explain(rule, **facts)))
        return events


def says_steps(kind: ExchangeKind, arrived: int | None, response: Any) -> bool:
    """Tell whether an exchange of a group can be a step, which needs a response and times."""
    return not kind.of_groups or (arrived is not None and response is not None)


def _observed(row: RequestCompleted, request: Any, response: Any) -> list[Event]:
    time: Any = row.request_time
    events = observe_messages(row, request, response)
    for event in events:
        if isinstance(event, MetricsPushed):
            event.time = time  # None where the log has no times
    return events


def _ns(time_us: int | None) -> int | None:
    return None if time_us is None else time_us * 1000
