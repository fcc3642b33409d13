"""What is known of an api at a version before its entries in a request log are read: looked up once, so that an entry costs little."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple

from kwire.capture.request_logs.entry import WantedBodies
from kwire.protocol.row_columns import REQUEST_BODIES, RESPONSE_BODIES
from kwire.protocol.tracking.brokers import NODE_FIELDS
from kwire.protocol.tracking.first_fields import (
    Path,
    RequestFields,
    error_code_of,
    first_value,
    request_fields,
    response_fields,
    topics_of,
)
from kwire.protocol.tracking.identity import api_role, is_broker_client_id
from kwire.protocol.tracking.observation import Watch, observed_paths, watch_of
from kwire.protocol.tracking.topic_use import TOPIC_USERS
from kwire.schema import catalog, header_version, snake_name
from kwire.schema.layout import LayoutField, fields_at

__all__ = [
    "API_VERSIONS", "LOGGED_COLUMNS", "NO_ANSWER", "NO_FIELDS", "BodyKind", "ExchangeKind", "exchange_kind", "is_of_broker",
    "wanted_bodies",
]  # fmt: skip

API_VERSIONS: Final = 18
# Their exchanges say who the client is: ApiVersions, GetTelemetrySubscriptions, PushTelemetry.
_IDENTIFYING: Final = frozenset((API_VERSIONS, 71, 72))

# The columns of `requests` that a log knows, in the order of its rows; all others are null.
LOGGED_COLUMNS: Final = (
    "series", "capture", "connection_id", "client_id", "client_instance_id", "software_name", "software_version", "principal",
    "api_key", "api_name", "api_version", "header_version", "request_index", "correlation_id",
    "request_time", "response_time", "latency_us", "error_code", "error_name",
    *(column.name for column, _ in RESPONSE_BODIES), *(column.name for column, _ in REQUEST_BODIES), "first_topic", "topic_count",
    "state", "body", "queue_time_us", "local_time_us", "remote_time_us", "packet_number",
)  # fmt: skip
# What a message says, in the order of `RESPONSE_BODIES`, or in that of `REQUEST_BODIES` with name of the first topic and number of topics.
Values = tuple[Any, ...]
NO_FIELDS: Final = (*[None] * len(REQUEST_BODIES), None, None)
NO_ANSWER: Final = (None,) * len(RESPONSE_BODIES)


class BodyKind(NamedTuple):
    """A message, and the fields of it that are read; None for all of them."""

    name: str
    fields: tuple[str, ...] | None


class ExchangeKind(NamedTuple):
    """An api at a version.

    Attributes:
        row: columns of `requests` that it decides: api key, name (None for an api that the catalog does not have), version, header version.
        request, response: None where no release has the version.
        first: what a request says.
        code, answered: error code of a response, and what else it says.
        may_be_client: any client may use it, and it does not say which.
        uses_topics: what it does with topics is summed up.
        names_nodes: its response may name nodes.
        watch: whether there may be more to observe.
        says_more: an exchange without an error may say more than its row and its topics.
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
    watch: Watch = Watch.NO
    says_more: bool = False

    @property
    def api_name(self) -> str | None:
        """Kafka's name of the api."""
        return self.row[1]


@lru_cache(maxsize=4096)
def exchange_kind(api_key: int, version: int) -> ExchangeKind:
    """Look up a kind."""
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
        first=_first_of(request_fields(api_key, version), fields_at(request, version)),
        code=partial(error_code_of, fields=answered),
        answered=_columns_of([answered.columns.get(column.name) for column, _ in RESPONSE_BODIES], fields_at(response, version)),
        may_be_client=may_be_client,
        uses_topics=uses_topics,
        names_nodes=api_key in NODE_FIELDS,
        watch=watch,
        says_more=identifying or api_key in NODE_FIELDS or (watch in (Watch.RESPONSE, Watch.BOTH) and not uses_topics),
    )


def _columns_of(paths: list[Path | None], layout: tuple[LayoutField, ...]) -> Callable[[Any], Values]:
    """What takes the values at these paths out of a message, None for no path; nearly all are fields of the message itself."""
    names = [path[0] for path in paths if path is not None]
    plain = {snake_name(field.name) for field in layout if not field.type.startswith("[]")}
    nothing = (None,) * len(paths)
    if not names:
        return lambda _message: nothing

    def values(message: Any) -> Values:
        return tuple([first_value(message, path) for path in paths])

    if not plain.issuperset(names) or any(path is not None and len(path) > 1 for path in paths):
        return values
    if len(paths) == 1:
        return lambda message: (getattr(message, names[0], None),)
    get = attrgetter(*names, names[0])  # of one name alone it would give no tuple
    arranged: Callable[[Any], Values] = itemgetter(*(0 if path is None else names.index(path[0]) + 1 for path in paths))

    def attributes(message: Any) -> Values:
        try:
            return arranged((None, *get(message)))
        except AttributeError:  # text forms leave fields out
            return values(message)

    return attributes


def _first_of(fields: RequestFields, layout: tuple[LayoutField, ...]) -> Callable[[Any], Values]:
    """What takes all that a request says; see `Values`."""
    paths = [fields.columns.get(column.name) for column, _ in REQUEST_BODIES]
    if fields.topics is None:
        return _columns_of([*paths, None, None], layout)
    columns = _columns_of(paths, layout)
    return lambda message: columns(message) + topics_of(message, fields)


def _projection(api_key: int, version: int, is_response: bool) -> tuple[str, ...] | None:
    """The first fields and what an exchange says beyond them; None for the whole body."""
    first = (response_fields if is_response else request_fields)(api_key, version).projection
    if first is None or watch_of(api_key, version) is Watch.NO:
        return first
    more = observed_paths(api_key, version, is_response)
    return None if more is None else tuple(sorted({*first, *more}))


def wanted_bodies(api_key: int, version: int) -> WantedBodies | None:
    """The bodies that entries of an api at a version are wanted with; None where no release has it."""
    kind = exchange_kind(api_key, version)
    if kind.request is None:
        return None
    # a broker answers ApiVersions to all clients alike: `messages` reads each answer once
    return WantedBodies(kind.request, None if api_key == API_VERSIONS else kind.response)


@lru_cache(maxsize=65_536)
def is_of_broker(client_id: str) -> bool:
    """Whether brokers use this client id towards each other."""
    return is_broker_client_id(client_id)
