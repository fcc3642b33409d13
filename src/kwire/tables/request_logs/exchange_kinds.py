"""What is known of an api at a version before its entries in a request log are read: looked up once, so that an entry costs little."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, NamedTuple

from kwire.capture.request_logs.entry import WantedBodies
from kwire.protocol.row_columns import REQUEST_BODIES, RESPONSE_BODIES, Body, Column
from kwire.protocol.tracking.brokers import NODE_FIELDS
from kwire.protocol.tracking.first_fields import (
    RequestFields,
    ResponseFields,
    first_value,
    request_fields,
    response_fields,
    topics_of,
)
from kwire.protocol.tracking.identity import api_role, is_broker_client_id
from kwire.protocol.tracking.observation import Watch, observed_paths, watch_of
from kwire.protocol.tracking.topic_use import TOPIC_USERS
from kwire.schema import catalog, header_version

__all__ = ["API_VERSIONS", "BodyKind", "ExchangeKind", "exchange_kind", "is_of_broker", "wanted_bodies"]

API_VERSIONS: Final = 18
# Their exchanges say who the client is: ApiVersions, GetTelemetrySubscriptions, PushTelemetry.
_IDENTIFYING: Final = frozenset((API_VERSIONS, 71, 72))


# What a request says: the columns of `REQUEST_BODIES`, name of the first topic and number of topics.
FirstFields = tuple[Any, ...]
_NO_TOPICS: Final = (None, None)


def _no_code(_message: Any) -> int | None:
    return None


def _no_columns(_message: Any) -> list[Any]:
    return [None] * len(RESPONSE_BODIES)


class BodyKind(NamedTuple):
    """A message, and the fields of it that are read; None for all of them."""

    name: str
    fields: tuple[str, ...] | None


class ExchangeKind(NamedTuple):
    """An api at a version.

    Attributes:
        api_key, version: of which it is.
        api_name: None for an api that the catalog does not have.
        header_version, request, response: None where no release has the version.
        first: takes the first fields of a typed request; None where it has none.
        code, answered: error code of a typed response, and the columns of `RESPONSE_BODIES`.
        request_fields, response_fields: the same of messages that may lack fields.
        may_be_client: any client may use it, and it does not say which.
        uses_topics: what it does with topics is summed up.
        names_nodes: its response may name nodes.
        watch: whether there may be more to observe.
        says_more: an exchange without an error may say more than its row and its topics.
    """

    api_key: int
    version: int
    api_name: str | None
    header_version: int | None = None
    request: BodyKind | None = None
    response: BodyKind | None = None
    first: Callable[[Any], FirstFields] | None = None
    code: Callable[[Any], int | None] = _no_code
    answered: Callable[[Any], list[Any]] = _no_columns
    request_fields: RequestFields = RequestFields(None, {}, None, None)
    response_fields: ResponseFields = ResponseFields(None, (), {})
    may_be_client: bool = True
    uses_topics: bool = False
    names_nodes: bool = False
    watch: Watch = Watch.NO
    says_more: bool = False


@lru_cache(maxsize=4096)
def exchange_kind(api_key: int, version: int) -> ExchangeKind:
    """Look up a kind."""
    name, identifying = catalog().api_name(api_key), api_key in _IDENTIFYING
    may_be_client = not identifying and api_role(api_key) is None
    request, response = catalog().request(api_key), catalog().response(api_key)
    if request is None or version not in request.valid_versions:
        return ExchangeKind(api_key, version, name, may_be_client=may_be_client)
    watch, uses_topics = watch_of(api_key, version), api_key in TOPIC_USERS
    answered = ResponseFields(None, (), {}) if response is None else response_fields(api_key, version)
    return ExchangeKind(
        api_key=api_key,
        version=version,
        api_name=name,
        header_version=header_version("request", api_key, version),
        request=BodyKind(request.name, _projection(api_key, version, False)),
        response=None if response is None else BodyKind(response.name, _projection(api_key, version, True)),
        first=_first_of(request_fields(api_key, version)),
        code=_code_of(answered),
        answered=_columns_of(RESPONSE_BODIES, answered),
        request_fields=request_fields(api_key, version),
        response_fields=answered,
        may_be_client=may_be_client,
        uses_topics=uses_topics,
        names_nodes=api_key in NODE_FIELDS,
        watch=watch,
        says_more=identifying or api_key in NODE_FIELDS or (watch in (Watch.RESPONSE, Watch.BOTH) and not uses_topics),
    )


def _columns_of(wanted: tuple[tuple[Column, Body], ...], fields: RequestFields | ResponseFields) -> Callable[[Any], list[Any]]:
    """What takes the columns that a message feeds, one that has all its fields, in the order of their table."""
    places = [each.name for each, _ in wanted]
    present = [(places.index(name), _value_at(path)) for name, path in fields.columns.items()]
    nothing = [None] * len(places)

    def values(message: Any) -> list[Any]:
        found: list[Any] = nothing.copy()
        for place, value in present:
            found[place] = value(message)
        return found

    return values


def _first_of(fields: RequestFields) -> Callable[[Any], FirstFields] | None:
    """What takes the first fields of a message that has them all, as `column_values` and `topics_of` do."""
    if not fields.columns and fields.topics is None:
        return None
    columns, topics = _columns_of(REQUEST_BODIES, fields), _topics_at(fields)

    def first(message: Any) -> FirstFields:
        return (*columns(message), *(_NO_TOPICS if topics is None else topics(message)))

    return first


def _value_at(path: tuple[str, ...]) -> Callable[[Any], Any]:
    if len(path) > 1:
        return lambda message: first_value(message, path)
    get = attrgetter(path[0])

    def value(message: Any) -> Any:
        found = get(message)
        return found if found.__class__ is not tuple else first_value(message, path)

    return value


def _topics_at(fields: RequestFields) -> Callable[[Any], tuple[str | None, int | None]] | None:
    if fields.topics is None:
        return None
    get, name = attrgetter(fields.topics[0]), fields.topic_name
    name_of = attrgetter(name) if name else None
    if len(fields.topics) > 1:
        return lambda message: topics_of(message, fields)

    def topics(message: Any) -> tuple[str | None, int | None]:
        found = get(message)
        if found.__class__ is not list and found.__class__ is not tuple:
            return topics_of(message, fields)
        if not found or name is None:
            return None, len(found)
        return found[0] if name_of is None else name_of(found[0]), len(found)

    return topics


def _code_of(fields: ResponseFields) -> Callable[[Any], int | None]:
    """What takes the error code of a message that has all fields, as `error_code_of` does."""
    if fields.error_codes == (("error_code",),):
        return attrgetter("error_code")
    finders = [_finder(path) for path in fields.error_codes]
    if not finders:
        return _no_code
    if len(finders) == 1:
        return finders[0]

    def code(message: Any) -> int:
        for find in finders:
            if found := find(message):
                return found
        return 0

    return code


def _finder(path: tuple[str, ...]) -> Callable[[Any], int]:
    """What finds the first code at a path that is not 0, and gives 0 without one."""
    get = attrgetter(path[0])
    if len(path) == 1:
        return get
    find = _finder(path[1:])

    def code(message: Any) -> int:
        held = get(message)
        for each in held if held.__class__ is list else () if held is None else (held,):
            if found := find(each):
                return found
        return 0

    return code


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
    if kind.request is None or kind.response is None:
        return None
    # a broker answers ApiVersions to all clients alike: `messages` reads each answer once
    return WantedBodies(kind.request, None if api_key == API_VERSIONS else kind.response)


@lru_cache(maxsize=65_536)
def is_of_broker(client_id: str) -> bool:
    """Whether brokers use this client id towards each other."""
    return is_broker_client_id(client_id)
