"""Facts of an api at a version, looked up once for all of its entries."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from kwire.capture.request_logs.entry import WantedBodies
from kwire.protocol.row_columns import REQUEST_BODIES, RESPONSE_BODIES
from kwire.protocol.tracking.brokers import NODE_FIELDS
from kwire.protocol.tracking.first_fields import (
    RequestFields,
    ResponseFields,
    column_values,
    error_code_of,
    request_fields,
    response_fields,
    topics_of,
)
from kwire.protocol.tracking.group_steps import GROUP_APIS, GROUP_ERROR_APIS
from kwire.protocol.tracking.identity import api_role
from kwire.protocol.tracking.observation import Watch, names_topics_alone, observed_paths, watch_of
from kwire.protocol.tracking.topic_use import TOPIC_USERS
from kwire.schema import catalog, header_version

__all__ = [
    "API_VERSIONS", "LOGGED_COLUMNS", "NO_ANSWER", "NO_FIELDS", "BodyKind", "ExchangeKind", "exchange_kind", "wanted_bodies",
]  # fmt: skip

API_VERSIONS: Final = 18
# Their exchanges say who the client is: ApiVersions, GetTelemetrySubscriptions, PushTelemetry.
_IDENTIFYING: Final = frozenset((API_VERSIONS, 71, 72))

# The columns of `requests` that a log knows, in the order of its rows; all others are null.
LOGGED_COLUMNS: Final = (
    "series", "capture", "connection_id", "client_id", "client_instance_id", "software_name", "software_version", "principal",
    "api_key", "api_name", "api_version", "header_version", "request_index", "correlation_id",
    "request_time", "response_time", "latency_us", "error_code", "error_name", "is_error",
    *(column.name for column, _ in RESPONSE_BODIES), *(column.name for column, _ in REQUEST_BODIES), "first_topic", "topic_count",
    "state", "body", "queue_time_us", "local_time_us", "remote_time_us", "packet_number",
)  # fmt: skip
# What a message says, in the order of `RESPONSE_BODIES`, or in that of `REQUEST_BODIES` with name of the first topic and number of topics.
Values = tuple[Any, ...]
NO_FIELDS: Final = (*[None] * len(REQUEST_BODIES), None, None)
NO_ANSWER: Final = (None,) * len(RESPONSE_BODIES)
_ASKED: Final = tuple(column.name for column, _ in REQUEST_BODIES)
_ANSWERED: Final = tuple(column.name for column, _ in RESPONSE_BODIES)


class BodyKind(NamedTuple):
    name: str
    fields: tuple[str, ...] | None


class ExchangeKind(NamedTuple):
    """Facts of an api at a version.

    Attributes:
        row: columns of `requests`: api key, name (None for an unknown api), version, header version.
        request, response: definitions, or
        None if no release has the version.
        first: reader of a request's columns.
        code, answered: readers of a response's error code and columns.
        may_be_client: whether any client may use it without being identified by it.
        uses_topics: whether its use of topics is summed up.
        names_nodes: whether its response may name nodes.
        names_topics: whether names of topic ids are all there is to observe.
        watch: messages with more to observe.
        says_more: whether an exchange without an error may have events.
        of_groups: whether these events are steps of groups.
    """

    row: tuple[int, str | None, int, int | None]
    request: BodyKind | None = None
    response: BodyKind | None = None
    first: Callable[[Any], Values] = lambda _message: NO_FIELDS
    code: Callable[[Any], int | None] = lambda _message: None
    answered: Callable[[Any], Values] = lambda _message: NO_ANSWER
    may_be_client: bool = True
    uses_topics: bool = False
    names_nodes: bool = False
    names_topics: bool = False
    watch: Watch = Watch.NO
    says_more: bool = False
    of_groups: bool = False

    @property
    def api_name(self) -> str | None:
        return self.row[1]


@lru_cache(maxsize=4096)
def exchange_kind(api_key: int, version: int) -> ExchangeKind:
    name, identifying = catalog().api_name(api_key), api_key in _IDENTIFYING
    may_be_client = not identifying and api_role(api_key) is None
    request, response = catalog().request(api_key), catalog().response(api_key)
    if request is None or response is None or version not in request.valid_versions:
        return ExchangeKind((api_key, name, version, None), may_be_client=may_be_client)
    watch, uses_topics = watch_of(api_key, version), api_key in TOPIC_USERS
    answered = response_fields(api_key, version)
    return ExchangeKind(
        row=(api_key, name, version, header_version("request", api_key, version)),
        request=BodyKind(request.name, _projection(api_key, version, False)),
        response=BodyKind(response.name, _projection(api_key, version, True)),
        first=partial(_first_of, fields=request_fields(api_key, version)),
        code=partial(error_code_of, fields=answered),
        answered=partial(_answer_of, fields=answered),
        may_be_client=may_be_client,
        uses_topics=uses_topics,
        names_nodes=api_key in NODE_FIELDS,
        names_topics=watch is not Watch.NO and not uses_topics and names_topics_alone(api_key),
        watch=watch,
        says_more=identifying or api_key in NODE_FIELDS or (watch in (Watch.RESPONSE, Watch.BOTH) and not uses_topics),
        of_groups=api_key in GROUP_APIS or api_key in GROUP_ERROR_APIS,
    )


def _first_of(message: Any, fields: RequestFields) -> Values:
    return (*map(column_values(message, fields).get, _ASKED), *topics_of(message, fields))


def _answer_of(message: Any, fields: ResponseFields) -> Values:
    return tuple(map(column_values(message, fields).get, _ANSWERED)) if fields.columns else NO_ANSWER


def _projection(api_key: int, version: int, is_response: bool) -> tuple[str, ...] | None:
    """Return the fields of columns and events; None for the whole body."""
    first = (response_fields if is_response else request_fields)(api_key, version).projection
    if first is None or watch_of(api_key, version) is Watch.NO:
        return first
    more = observed_paths(api_key, version, is_response)
    return None if more is None else tuple(sorted({*first, *more}))


def wanted_bodies(api_key: int, version: int) -> WantedBodies | None:
    kind = exchange_kind(api_key, version)
    if kind.request is None:
        return None
    # a broker answers ApiVersions to all clients alike: `messages` reads each answer once
    return WantedBodies(kind.request, None if api_key == API_VERSIONS else kind.response)
