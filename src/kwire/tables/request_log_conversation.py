"""What a request log says of one connection, entry by entry: the same events that the tracker of captured bytes gives.

The broker knows more than a log shows: from 2.4 on an entry names the client's software as the broker has it, even where the log begins in
the middle of a connection, and the principal after authentication. What it never logs: SASL exchanges, requests that it refused or did not
answer, sizes of frames, who closed the connection.

Whether a client that names nothing also asks for nothing (ApiVersions) can be said only of connections that were seen from their
beginning: `identity_source` is `not_observed` of others, even where the broker's word is that the client is `unknown`.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from kwire.capture.request_log_entry import ConnectionName, LogEntry
from kwire.protocol.brokers import nodes_of, ranges_of
from kwire.protocol.events import (
    Event,
    GroupStep,
    MetricsPushed,
    RequestCompleted,
    Severity,
    TopicsNamed,
    TopicsUsed,
    VersionsLearned,
    ViolationFound,
)  # fmt: skip
from kwire.protocol.first_fields import error_code_of, first_value, request_fields, response_fields, topics_of
from kwire.protocol.identity import UNKNOWN, ClientIdentity
from kwire.protocol.observation import observe_messages
from kwire.protocol.reading import Fact, RequestReading
from kwire.protocol.rules import RULES, explain
from kwire.protocol.topic_names import names_in
from kwire.schema import catalog, error_name, header_version
from kwire.tables.client_keys import client_key
from kwire.tables.observed_rows import TopicSums
from kwire.tables.request_log_kinds import PlainKind, is_of_broker, plain_kind
from kwire.tables.request_log_messages import advertised_by, read_request, read_response, response_version
from kwire.tables.request_log_topics import uses_of

__all__ = ["LogConversation"]

_PRODUCE: Final = 0
_FETCH: Final = 1
_API_VERSIONS: Final = 18
_FIRST_WITH_NAME: Final = 3  # version of ApiVersions (KIP-511)
_LIST_OFFSETS: Final = 2
_ENVELOPE: Final = 58
_GET_TELEMETRY: Final = 71
_SHARE_FETCH: Final = 78
# Brokers log answered requests only; what `kwire decode` writes has others too, and says so.
_WITHOUT_ANSWER: Final = ("no_response_expected", "unanswered", "abandoned", "unseen")
_UNSUPPORTED_VERSION: Final = 35
_NOT_CONTROLLER: Final = 41
_REFUSED_BATCHES: Final = {2: "CORRUPT_MESSAGE", 76: "UNSUPPORTED_COMPRESSION_TYPE", 87: "INVALID_RECORD"}


class LogConversation:
    """One connection of a request log; pickles.

    Arguments:
        name: the broker's name of it.
        n: how many connections between the same ends the series had before.
        begun: number of the file where it begins, in the series.
        watched: the log has it from its beginning.

    Attributes:
        connection_id: as in the tables.
        requests: entries so far.
        responses: of these, those that were answered.
        identity: who the client is.
        principal: after authentication; None without.
        first_us, last_us: arrival of the first request and end of the last, microseconds since 1970; None where no entry has a time.
        last_api_name: of the latest entry.
        topics: what was done with which.
        exact: all entries are JSON, and so have their answers.
        sizes_known: the answers to fetches say how many bytes of records they had; those to ShareFetch never do.
    """

    __slots__ = (
        "_name_unseen", "_said", "_told", "_watched", "begun", "connection_id", "exact", "first_us", "identity", "last_api_name", "last_us",
        "name", "principal", "requests", "responses", "sizes_known", "topics",
    )  # fmt: skip

    def __init__(self, name: ConnectionName, n: int, begun: int, watched: bool) -> None:
        self.name = name
        self.begun = begun
        self.connection_id = f"{name.server_address}:{name.server_port}-{name.client_address}:{name.client_port}-{n}"
        self.requests = 0
        self.responses = 0
        self.identity = ClientIdentity(observed=False)
        self.principal: str | None = None
        self.first_us: int | None = None
        self.last_us: int | None = None
        self.last_api_name: str | None = None
        self.topics = TopicSums()
        self._said: set[str] = set()  # rules of severity info that were reported
        self.exact = True
        self.sizes_known = True
        self._watched = watched
        self._told = False  # the broker has said what it knows of the software
        self._name_unseen = False  # a name was sent, but its request is not logged as it was sent

    @property
    def server(self) -> str:
        """The broker's end, ``address:port``."""
        return f"{self.name.server_address}:{self.name.server_port}"

    def client_key(self) -> str:
        """Give the key of the client as it is known by now."""
        name, version = self.identity.software
        return client_key(name, version, self.identity.client_id, self.principal, self.name.client_address)

    def short(self, entry: LogEntry, series: str, capture: str) -> tuple[tuple[Any, ...], list[Event]] | None:
        """Take the next entry if it is as nearly all are: whole, in a form that is read without a detour, and plain (`PlainKind`).

        Args:
            series, capture: as they stand in rows.

        Returns:
            The row of `requests`, and what else it teaches; None for an entry that only `take` can take.
        """
        key = entry.api_key
        kind = plain_kind(key, entry.api_version)
        asked, answered, software, correlation_id = entry.request, entry.response, entry.software, entry.correlation_id
        if kind is None or asked.__class__ is not bytes or entry.is_forwarded or software is None:
            return None
        if correlation_id is not None and correlation_id < 0:
            return None
        request = kind.read_request(asked)
        if request is None:
            return None
        acks, group_id, transactional_id, first_topic, topic_count = kind.first(request)
        arrived, ended = _times(entry)
        if acks == 0 and key == _PRODUCE:
            response = code = throttle = answer_time = latency = None
        else:
            response = kind.read_response(answered) if answered.__class__ is bytes else None
            if response is None:
                return None
            code, throttle = kind.error_code(response), response.throttle_time_ms if kind.has_throttle_time else None
            if code and (kind.only_without_error or code == _UNSUPPORTED_VERSION or (key == _PRODUCE and code in _REFUSED_BATCHES)):
                return None
            self.responses += 1
            answer_time, latency = ended, entry.total_us
        index = self.requests
        self.requests = index + 1
        self.last_api_name = kind.api_name
        if arrived is not None or ended is not None:
            self._see_times(arrived, ended)
        client_id, principal, identity = entry.client_id, entry.principal, self.identity
        if kind.role is None and (client_id is None or not is_of_broker(client_id)) and (key != _FETCH or _is_consumer(request)):
            if client_id:
                identity.count_client_id(client_id)
        else:
            identity.see(RequestReading(api_key=key, client_id=client_id, body="decoded", message=request))
        if principal is not None:
            self.principal = principal
        self._tell(software)
        learned: list[Event] = []
        if kind.uses_topics:
            self.sizes_known &= key != _SHARE_FETCH
            if uses := uses_of(key, request, response):
                time: Any = None if arrived is None else arrived * 1000
                direction: Literal["produce", "fetch"] = "produce" if key == _PRODUCE else "fetch"
                self.topics.add(TopicsUsed(index, time, direction, client_id, acks, code or 0, uses))
        elif kind.names_nodes or kind.names_topics:
            learned = _learned(kind, entry, index, (arrived, ended), request, response)
        return (
            series, capture, self.connection_id, None, index, key, kind.api_name, entry.api_version, kind.header_version, correlation_id,
            client_id, identity.instance_id, software[0], software[1], principal, arrived, answer_time, latency, None, None, code,
            None if code is None else error_name(code), throttle, acks, first_topic, topic_count, group_id, transactional_id,
            "no_response_expected" if response is None else "answered", "decoded", entry.queue_us, entry.local_us, entry.remote_us,
            entry.line, None,
        ), learned  # fmt: skip

    def take(self, entry: LogEntry) -> list[Event]:
        """Take the next entry; gives its row, and what it teaches and breaks."""
        index = self.requests
        self.requests += 1
        arrived, ended = _times(entry)
        self._see_times(arrived, ended)
        self.exact &= entry.exact
        self.sizes_known &= entry.exact and entry.api_key != _SHARE_FETCH
        if entry.is_forwarded:
            return [self._envelope(entry, index, arrived, ended)]
        reading = read_request(entry)
        row = self._row(entry, reading, index, arrived, ended)
        events: list[Event] = [row]
        self.last_api_name = row.api_name
        broken = self.identity.see(reading)
        row.client_instance_id = self.identity.instance_id
        self._see_software(entry, reading)
        if reading.correlation_id is not None and reading.correlation_id < 0:
            broken.append(("correlation_id_negative", {"correlation_id": reading.correlation_id}))
        answer: Any = None
        if row.api_key == _PRODUCE and row.acks == 0:
            row.state = "no_response_expected"
        elif (state := entry.other.get("state")) in _WITHOUT_ANSWER:
            row.state = state
        else:
            answer = read_response(entry)
            self.responses += 1
            row.response_time = None if ended is None else ended * 1000
            row.latency_us = entry.total_us
            broken += self._see_response(entry, row, answer, events)
        return events + self._violations(broken, entry, index, arrived) + self._observe(row, reading.message, answer)

    def _observe(self, row: RequestCompleted, request: Any, answer: Any) -> list[Event]:
        """What the exchange says of topics, groups and metrics.

        A step of a group without its answer, as in text forms, says less than nothing, and steps without times have no order.
        """
        time: Any = row.request_time
        kept: list[Event] = []
        for event in observe_messages(row, request, answer):
            if isinstance(event, GroupStep) and (time is None or answer is None):
                continue
            if isinstance(event, TopicsUsed | TopicsNamed | MetricsPushed):
                event.time = time
            if isinstance(event, TopicsUsed):
                self.topics.add(event)
            kept.append(event)
        return kept

    def _see_times(self, arrived: int | None, ended: int | None) -> None:
        for time in (arrived, ended):
            if time is not None:
                if self.first_us is None or time < self.first_us:
                    self.first_us = time
                if self.last_us is None or time > self.last_us:
                    self.last_us = time

    def _see_software(self, entry: LogEntry, reading: RequestReading) -> None:
        """The broker's word counts more than what can be seen, but an ApiVersions request is logged with what was in force before it."""
        if entry.principal is not None:
            self.principal = entry.principal
        identity = self.identity
        if entry.api_key == _API_VERSIONS:
            self._name_unseen |= entry.api_version >= _FIRST_WITH_NAME and reading.message is None
        elif entry.software is not None:
            self._tell(entry.software)
        if self._told or identity.source == "api_versions":
            return
        if self._watched and not self._name_unseen:
            identity.software, identity.source = (UNKNOWN, UNKNOWN), "not_sent"
        else:
            identity.software, identity.source = (None, None), "not_observed"

    def _tell(self, software: tuple[str, str]) -> None:
        """The broker says what it knows."""
        self._told = True
        identity = self.identity
        identity.software = software
        identity.source = "api_versions" if software[0] != UNKNOWN else "not_sent" if self._watched else "not_observed"

    def _row(self, entry: LogEntry, reading: RequestReading, index: int, arrived: int | None, ended: int | None) -> RequestCompleted:
        software = entry.software or (None, None)
        row = RequestCompleted(
            request_index=index,
            api_key=entry.api_key,
            api_name=catalog().api_name(entry.api_key),
            api_version=entry.api_version,
            header_version=reading.header_version,
            correlation_id=entry.correlation_id,
            client_id=entry.client_id,
            client_instance_id=self.identity.instance_id,
            software_name=software[0],
            software_version=software[1],
            principal=entry.principal,
            request_time=None if arrived is None else arrived * 1000,
            state="answered",
            body=reading.body,
            packet_number=entry.line,
        )
        if reading.message is not None:
            fields = request_fields(entry.api_key, entry.api_version)
            row.acks = first_value(reading.message, fields.acks)
            row.group_id = first_value(reading.message, fields.group_id)
            row.transactional_id = first_value(reading.message, fields.transactional_id)
            if (
                entry.exact or entry.api_key != _LIST_OFFSETS or getattr(reading.message, "topics", None)
            ):  # text forms print those of version 0 as none
                row.first_topic, row.topic_count = topics_of(reading.message, fields)
        return row

    def _envelope(self, entry: LogEntry, index: int, arrived: int | None, ended: int | None) -> RequestCompleted:
        """The Envelope that a forwarded request came in (KIP-590): brokers log its content in its place, under the first sender's name.

        The content is in the log of the broker that the client talked to, so here the Envelope is what counts; of its header nothing is
        logged. Its own answer has an error only where the node is not the controller (EnvelopeUtils and RequestChannel of Kafka).
        """
        row = self._row(entry, RequestReading(body="skipped"), index, arrived, ended)
        self.responses += 1
        self.last_api_name = row.api_name = catalog().api_name(_ENVELOPE)
        row.api_key, row.api_version, row.header_version = _ENVELOPE, 0, header_version("request", _ENVELOPE, 0)
        row.correlation_id = row.client_id = row.principal = None
        row.software_name, row.software_version = self.identity.software
        row.response_time = None if ended is None else ended * 1000
        row.latency_us = entry.total_us
        message = read_response(entry)
        if message is not None:
            fields = response_fields(entry.api_key, response_version(entry))
            row.error_code = _NOT_CONTROLLER if error_code_of(message, fields) == _NOT_CONTROLLER else 0
        return row

    def _see_response(self, entry: LogEntry, row: RequestCompleted, message: Any, events: list[Event]) -> list[Fact]:
        if message is None:
            return []
        version = response_version(entry)
        fields = response_fields(entry.api_key, version)
        row.error_code = error_code_of(message, fields)
        row.throttle_time_ms = getattr(message, "throttle_time_ms", None) if fields.throttle_time_ms else None
        time: Any = row.response_time  # None where the log has no times; facts take that
        if entry.api_key == _GET_TELEMETRY:
            self.identity.assigned(getattr(message, "client_instance_id", None))
        elif entry.api_key == _API_VERSIONS:
            advertised = advertised_by(entry.response, version) if isinstance(entry.response, bytes) else ranges_of(message)
            events.append(VersionsLearned(row.request_index, time, advertised, row.error_code or 0, True))
            if row.error_code == _UNSUPPORTED_VERSION:
                return [("api_versions_refused", {"version": entry.api_version})]
        else:
            learned = nodes_of(row.api_name, row.request_index, time, message)
            if learned is not None:
                events.append(learned)
        if entry.api_key == _PRODUCE and row.error_code in _REFUSED_BATCHES:
            return [("batch_refused", {"error": _REFUSED_BATCHES[row.error_code]})]
        return []

    def _violations(self, broken: list[Fact], entry: LogEntry, index: int, arrived: int | None) -> list[Event]:
        events: list[Event] = []
        for rule, facts in broken:
            severity: Severity = RULES[rule].severity
            if severity == "info":
                if rule in self._said:
                    continue
                self._said.add(rule)
            time: Any = arrived
            name, client_id = self.identity.software[0], self.identity.client_id
            events.append(ViolationFound(rule, severity, "request", index, entry.line, 0, time, name, client_id, explain(rule, **facts)))
        return events


def _learned(
    kind: PlainKind, entry: LogEntry, index: int, times: tuple[int | None, int | None], request: Any, response: Any
) -> list[Event]:
    """Nodes and names of topics that an exchange tells."""
    events: list[Event] = []
    arrived, ended = (None if time is None else time * 1000 for time in times)
    when: Any = ended
    if kind.names_nodes and (nodes := nodes_of(kind.api_name, index, when, response)) is not None:
        events.append(nodes)
    if kind.names_topics:
        key, version = entry.api_key, entry.api_version
        names = names_in(key, version, False, request) | names_in(key, version, True, response)
        if names:
            when = arrived  # as `take` has it: names are known from when they were asked for
            events.append(TopicsNamed(when, names))
    return events


def _is_consumer(message: Any) -> bool:
    """Whether a Fetch is surely not a follower's."""
    return getattr(message, "replica_id", -1) < 0 and getattr(message, "replica_state", None) is None


def _times(entry: LogEntry) -> tuple[int | None, int | None]:
    """When the request came and when its answer was out: an entry is written when all is done, `total_us` after the request came."""
    if entry.arrived_us is not None:
        return entry.arrived_us, None if entry.total_us is None else entry.arrived_us + entry.total_us
    if entry.logged_us is None:
        return None, None
    return None if entry.total_us is None else entry.logged_us - entry.total_us, entry.logged_us
