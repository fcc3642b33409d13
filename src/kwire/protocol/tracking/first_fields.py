"""Fields of a body that the tracker reads: columns of `requests`, topics, error codes, for every API and version.

Other fields are skipped (a projection), so a large body costs little and malformed bodies are still detected.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from kwire.protocol.row_columns import REQUEST_BODIES, RESPONSE_BODIES, Body, Column
from kwire.schema import Message, catalog, snake_name
from kwire.schema.layout import LayoutField, fields_at

__all__ = [
    "TOP_ERROR", "Path", "RequestFields", "ResponseFields", "column_values", "error_code_of", "first_value", "known_value",
    "request_fields", "response_fields", "text_fields", "topics_of", "walk",
]  # fmt: skip

Path = tuple[str, ...]
# Attributes that are error codes (with an empty tree) or contain some.
CodeTree = tuple[tuple[str, "CodeTree"], ...]

TOP_ERROR: Final = ("error_code",)
_LEAST_INT32: Final = -(1 << 31)
# Whole bodies or further fields that the tracker needs by name: identity, authentication, roles, the nodes of the cluster.
_MORE_OF_REQUESTS: Final[dict[int, tuple[str, ...] | None]] = {
    0: ("topic_data.partition_data.records",),
    1: ("replica_id", "replica_state"),
    17: ("mechanism",),
    18: None,
    36: ("auth_bytes",),
    71: ("client_instance_id",),
    72: ("client_instance_id",),
}
_MORE_OF_RESPONSES: Final[dict[int, tuple[str, ...] | None]] = {
    1: ("responses.partitions.records",),
    3: ("brokers", "cluster_id", "controller_id"),
    10: ("node_id", "host", "port", "coordinators.node_id", "coordinators.host", "coordinators.port", "coordinators.error_code"),
    17: ("mechanisms",),
    18: None,
    36: ("auth_bytes",),
    60: ("brokers", "cluster_id", "controller_id"),
    71: ("client_instance_id",),
}


class RequestFields(NamedTuple):
    """Fields read from a request at one version."""

    projection: tuple[str, ...] | None  # None for the whole body
    columns: dict[str, Path]
    topics: Path | None  # outermost array of topics, or the one topic
    topic_name: str | None  # attribute of an element; empty if the elements are the names, None if there are ids only


class ResponseFields(NamedTuple):
    """Fields read from a response at one version."""

    projection: tuple[str, ...] | None
    error_codes: tuple[Path, ...]
    code_tree: CodeTree  # the same paths, in the order of the wire
    columns: dict[str, Path]


def walk(fields: tuple[LayoutField, ...], path: Path = ()) -> Iterator[tuple[Path, LayoutField]]:
    for field in fields:
        here = (*path, snake_name(field.name))
        yield here, field
        yield from walk(field.fields, here)


def _of_entity(fields: tuple[LayoutField, ...], entity: str) -> Path | None:
    # The share group state apis name their group without the entity type.
    found = [
        path
        for path, field in walk(fields)
        if field.type.removeprefix("[]") == "string" and (field.entity_type == entity or (entity == "groupId" and field.name == "GroupId"))
    ]
    return min(found, key=len) if found else None


def _code_tree(fields: tuple[LayoutField, ...]) -> CodeTree:
    """Find all int16 fields whose names end in ErrorCode, such as TopicConfigErrorCode. Tagged fields are last, as on the wire."""
    found = [(snake_name(field.name), _code_tree(field.fields), field) for field in sorted(fields, key=lambda field: field.tag is not None)]
    return tuple((name, inner) for name, inner, field in found if inner or (field.type == "int16" and field.name.endswith("ErrorCode")))


def _paths(tree: CodeTree) -> Iterator[Path]:
    for name, inner in tree:
        yield from ((name, *path) for path in _paths(inner)) if inner else [(name,)]


def _columns(wanted: tuple[tuple[Column, Body], ...], fields: tuple[LayoutField, ...], api_key: int) -> dict[str, Path]:
    found = {}
    for column, body in wanted:
        if body.api and body.api != catalog().api_name(api_key):
            continue
        path = _of_entity(fields, body.entity) if body.entity else tuple(body.field.split("."))
        if path is not None and any(each == path for each, _ in walk(fields)):
            found[column.name] = path
    return found


def _topics(fields: tuple[LayoutField, ...]) -> tuple[Path | None, str | None, Path | None]:
    for path, field in walk(fields):
        if field.entity_type == "topicName" and field.type in ("string", "[]string"):
            return path, "", path
        if field.type.startswith("[]") and field.fields:
            inner = {each.name: each for each in field.fields}
            name = next((each.name for each in field.fields if each.entity_type == "topicName" and each.type == "string"), None)
            if name is not None:
                attribute = snake_name(name)
                return path, attribute, (*path, attribute)
            if "TopicId" in inner:
                return path, None, (*path, "topic_id")
    return None, None, None


def _projection(paths: list[Path], message: Message, more: tuple[str, ...] | None) -> tuple[str, ...]:
    known = {".".join(path) for path in _all_paths(message, message.name)}
    return tuple(sorted({".".join(path) for path in paths} | {name for name in more or () if name in known}))


def _all_paths(message: Message, struct: str, path: Path = ()) -> Iterator[Path]:
    for field in message.structs[struct].fields:
        here = (*path, field.attribute)
        yield here
        if field.is_struct:
            yield from _all_paths(message, field.element_type, here)


@cache
def request_fields(api_key: int, version: int) -> RequestFields:
    message = catalog().request(api_key)
    assert message is not None
    fields = fields_at(message, version)
    columns = _columns(REQUEST_BODIES, fields, api_key)
    topics, topic_name, decoded = _topics(fields)
    paths = [*columns.values(), *([] if decoded is None else [decoded])]
    more = _MORE_OF_REQUESTS.get(api_key, ())
    projection = None if more is None else _projection(paths, message, more)
    return RequestFields(projection, columns, topics, topic_name)


@cache
def response_fields(api_key: int, version: int) -> ResponseFields:
    message = catalog().response(api_key)
    assert message is not None
    fields = fields_at(message, version)
    tree = _code_tree(fields)
    codes = tuple(_paths(tree))
    columns = _columns(RESPONSE_BODIES, fields, api_key)
    more = _MORE_OF_RESPONSES.get(api_key, ())
    projection = None if more is None else _projection([*codes, *columns.values()], message, more)
    return ResponseFields(projection, codes, tree, columns)


def text_fields(message: Message, version: int) -> tuple[str, ...]:
    return tuple(".".join(path) for path, field in walk(fields_at(message, version)) if field.type in ("string", "[]string"))


def _values(message: Any, path: Path) -> list[Any]:
    found = [message]
    for step in path:
        # A body that was cut has only the fields before the cut.
        held = [getattr(each, step, None) for each in found]
        found = []
        for value in held:
            if value.__class__ is list or value.__class__ is tuple:
                found += value
            elif value is not None:
                found.append(value)
    return found


def first_value(message: Any, path: Path | None) -> Any:
    if path is None:
        return None
    if len(path) == 1:
        value = getattr(message, path[0], None)
        if value.__class__ is not list and value.__class__ is not tuple:
            return value
    return next((value for value in _values(message, path) if value is not None), None)


def known_value(value: Any) -> Any:
    """Return a value as in rows, where the lowest int32 means null because no client or broker uses it."""
    return None if value == _LEAST_INT32 else value


def column_values(message: Any, fields: RequestFields | ResponseFields) -> dict[str, Any]:
    return {name: known_value(first_value(message, path)) for name, path in fields.columns.items()}


def topics_of(message: Any, fields: RequestFields, counts: dict[str, int] | None = None) -> tuple[str | None, int | None]:
    """Return the name of the first topic and the number of topics; both are None if the field is missing or null (Metadata's "all").

    For a truncated message, `counts` (from `Prefix`) has the array's claimed length; it is unknown for nested topics.
    """
    held = None if fields.topics is None else getattr(message, fields.topics[0], None)
    if fields.topics is None or held is None:
        return None, None
    is_plain = held.__class__ is list and len(fields.topics) == 1  # nearly always
    elements = held if is_plain else [value for value in _values(message, fields.topics) if value is not None]
    name = elements[0] if elements else None
    if name is not None and fields.topic_name != "":
        name = None if fields.topic_name is None else getattr(name, fields.topic_name, None)
    if counts is None:
        return name, len(elements)
    return name, counts.get(fields.topics[0], len(elements)) if len(fields.topics) == 1 else None


def error_code_of(message: Any, fields: ResponseFields, is_whole: bool = True) -> int | None:
    """Return the top-level error code if it is not 0, else the first nested code that is not 0, else 0.

    Returns None if the version has no code, or if the response was cut before the deciding code.
    """
    codes = fields.error_codes
    top = getattr(message, "error_code", None) if TOP_ERROR in codes else 0
    if top is None or not codes:
        return None
    code = int(top) or _first_code(message, fields.code_tree)
    return code if code or is_whole or codes == (TOP_ERROR,) else None


def _first_code(struct: Any, tree: CodeTree) -> int:
    """Return the first non-zero code of a tree, else 0, without building a list."""
    for name, inner in tree:
        held = getattr(struct, name, None)
        if not inner:
            if held:
                return int(held)
            continue
        for each in held if held.__class__ is list else () if held is None else (held,):
            if code := _first_code(each, inner):
                return code
    return 0
