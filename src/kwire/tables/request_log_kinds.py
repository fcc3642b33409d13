"""What is to know of an api at a version before its entries in a request log are read: made once, so that an entry costs little.

An exchange is *plain* when its row is all that it says, but for the topics it used, names of topic ids and nodes of the cluster: no step of
a group, no metrics, no ranges of versions. Nearly all are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final, Literal, NamedTuple

from kwire.capture.request_log_bodies import short_reader
from kwire.protocol.brokers import NODE_FIELDS
from kwire.protocol.events import Role
from kwire.protocol.first_fields import (
    RequestFields,
    ResponseFields,
    error_code_of,
    first_value,
    request_fields,
    response_fields,
    topics_of,
)
from kwire.protocol.group_steps import GROUP_APIS
from kwire.protocol.identity import api_role, is_broker_client_id
from kwire.protocol.observation import Watch, observed_paths, watch_of
from kwire.protocol.topic_use import TOPIC_USERS
from kwire.schema import catalog, header_version

__all__ = ["Kind", "PlainKind", "is_of_broker", "kind_of", "plain_kind", "released"]

# Their exchanges say who the client is and which versions the broker has.
_TELLING: Final = frozenset((18, 71, 72))
First = tuple[int | None, str | None, str | None, str | None, int | None]


class Kind(NamedTuple):
    """What is to know of all requests, or responses, of an api at a version; None for `name` where there is no such message."""

    name: str | None
    header_version: int
    fields: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class PlainKind:
    """An api at a version whose exchanges are plain.

    Attributes:
        api_name, header_version: of its requests.
        read_request, read_response: make a message of the text of a body, None for what only the long way can read.
        first: acks, group id, transactional id, first topic and number of topics of a request.
        error_code: of a response.
        has_throttle_time: a response has one.
        only_without_error: an exchange with an error says more.
        uses_topics: what it does with topics is summed up.
        names_topics: it may name ids of topics.
        names_nodes: its response may name nodes.
        role: what a peer is that uses it, None where any client may.
    """

    api_name: str | None
    header_version: int | None
    read_request: Callable[[bytes], Any]
    read_response: Callable[[bytes], Any]
    first: Callable[[Any], First]
    error_code: Callable[[Any], int | None]
    has_throttle_time: bool
    only_without_error: bool
    uses_topics: bool
    names_topics: bool
    names_nodes: bool
    role: Role | None


@lru_cache(maxsize=4096)
def released(api_key: int, version: int) -> bool:
    """Whether any release has the api at this version."""
    message = catalog().request(api_key)
    return message is not None and version in message.valid_versions


@cache
def kind_of(api_key: int, version: int, is_response: bool) -> Kind:
    """Look up a kind; the api and its version must be released."""
    message = catalog().response(api_key) if is_response else catalog().request(api_key)
    kind: Literal["request", "response"] = "response" if is_response else "request"
    return Kind(
        None if message is None else message.name, header_version(kind, api_key, version), _projection(api_key, version, is_response)
    )


def _projection(api_key: int, version: int, is_response: bool) -> tuple[str, ...] | None:
    """The first fields and what an exchange says beyond them; None for the whole body."""
    first = (response_fields if is_response else request_fields)(api_key, version).projection
    if first is None or watch_of(api_key, version) is Watch.NO:
        return first
    more = observed_paths(api_key, version, is_response)
    return None if more is None else tuple(sorted({*first, *more}))


@lru_cache(maxsize=4096)
def plain_kind(api_key: int, version: int) -> PlainKind | None:
    """Look up a kind; None where exchanges are not plain, where there is no such version, and without the short way."""
    if api_key in _TELLING or not released(api_key, version):
        return None
    watch = watch_of(api_key, version)
    if api_key in GROUP_APIS:
        return None
    request, response = kind_of(api_key, version, False), kind_of(api_key, version, True)
    if request.name is None or response.name is None:
        return None
    read_request, read_response = short_reader(request.name, version, request.fields), short_reader(response.name, version, response.fields)
    if read_request is None or read_response is None:
        return None
    fields = response_fields(api_key, version)
    return PlainKind(
        api_name=catalog().api_name(api_key),
        header_version=request.header_version,
        read_request=read_request,
        read_response=read_response,
        first=_first_of(request_fields(api_key, version)),
        error_code=_code_of(fields),
        has_throttle_time=fields.throttle_time_ms,
        only_without_error=watch is Watch.BOTH_ON_ERROR,
        uses_topics=api_key in TOPIC_USERS,
        names_topics=watch in (Watch.RESPONSE, Watch.BOTH) and api_key not in TOPIC_USERS,
        names_nodes=api_key in NODE_FIELDS,
        role=api_role(api_key),
    )


@lru_cache(maxsize=65_536)
def is_of_broker(client_id: str) -> bool:
    """Whether brokers use this client id towards each other."""
    return is_broker_client_id(client_id)


def _first_of(fields: RequestFields) -> Callable[[Any], First]:
    """The function that takes the first fields, as `first_value` and `topics_of` do."""
    scope: dict[str, Any] = {"first_value": first_value, "topics_of": topics_of, "fields": fields}
    values: list[str] = []
    for path in (fields.acks, fields.group_id, fields.transactional_id):
        if path is None:
            values.append("None")
            continue
        scope[f"path{len(values)}"] = path
        searched = f"first_value(message, path{len(values)})"
        if len(path) == 1:
            searched = f"(one if (one := message.{path[0]}).__class__ is not list and one.__class__ is not tuple else {searched})"
        values.append(searched)
    given = ", ".join(values)
    lines = ["def first(message):"]
    if fields.topics is None:
        lines.append(f"    return {given}, None, None")
    else:
        if len(fields.topics) == 1:
            name = {"": "topics[0]", None: "None"}.get(fields.topic_name, f"topics[0].{fields.topic_name}")
            lines += [
                f"    topics = message.{fields.topics[0]}",
                "    if topics.__class__ is list or topics.__class__ is tuple:",
                f"        return {given}, {name} if topics else None, len(topics)",
            ]
        lines.append(f"    return {given}, *topics_of(message, fields)")
    return _made(lines, scope, "first")


def _code_of(fields: ResponseFields) -> Callable[[Any], int | None]:
    """The function that takes the error code, as `error_code_of` does."""
    if not fields.error_codes:
        return lambda _message: None
    if fields.error_codes == (("error_code",),):
        return lambda message: message.error_code
    lines = ["def code(message):"]
    for path in fields.error_codes:
        lines += _search(path)
    lines.append("    return 0")
    return _made(lines, {"error_code_of": error_code_of, "fields": fields}, "code")


def _search(path: tuple[str, ...]) -> Iterator[str]:
    """Lines that return the first code at a path that is not 0, and leave what is no array of structs to `error_code_of`."""
    holder, indent = "message", "    "
    for depth, attribute in enumerate(path[:-1]):
        yield f"{indent}held{depth} = {holder}.{attribute}"
        yield f"{indent}if held{depth} is not None and held{depth}.__class__ is not list:"
        yield f"{indent}    return error_code_of(message, fields)"
        yield f"{indent}for each{depth} in held{depth} or ():"
        holder, indent = f"each{depth}", f"{indent}    "
    yield f"{indent}if {holder}.{path[-1]}:"
    yield f"{indent}    return {holder}.{path[-1]}"


def _made(lines: list[str], scope: dict[str, Any], name: str) -> Callable[[Any], Any]:
    exec(compile("\n".join(lines), "<fields of a request log>", "exec"), scope)  # attributes are those of the catalog
    made: Callable[[Any], Any] = scope[name]
    return made
