"""Field plans of the native tracker: the fields to extract from messages of an API version, and their use."""

from __future__ import annotations

from enum import IntEnum, IntFlag
from functools import cache
from typing import Final, NamedTuple

from kwire.codec.classes import compiled
from kwire.codec.layout import layouts_of
from kwire.codec.plan import FIXED_SIZE, WIDTH, Flag, Plan, compile_plan
from kwire.protocol.groups.exchange_checks import CHECKED_APIS
from kwire.protocol.negotiation import API_VERSIONS
from kwire.protocol.row_columns import BODY_COLUMNS
from kwire.protocol.tracking.brokers import NODE_FIELDS
from kwire.protocol.tracking.first_fields import TOP_ERROR, first_value, request_fields, response_fields, walk
from kwire.protocol.tracking.group_steps import GROUP_APIS
from kwire.protocol.tracking.identity import api_role
from kwire.protocol.tracking.observation import Watch, watch_of
from kwire.protocol.tracking.passing import plan_up_to_acks
from kwire.protocol.tracking.topic_names import naming_paths
from kwire.protocol.tracking.topic_use import TOPIC_USERS, Shape
from kwire.schema import Message, catalog
from kwire.schema.header_versions import header_version_of
from kwire.schema.layout import LayoutField, fields_at

__all__ = ["Mark", "FieldPlan", "Trait", "field_plan_of"]

Path = tuple[str, ...]
Marks = list[tuple[Path, int]]

_PRODUCE: Final = 0
_FETCH: Final = 1
_SASL_HANDSHAKE: Final = 17
_SASL_AUTHENTICATE: Final = 36
_GET_TELEMETRY: Final = 71
_PUSH_TELEMETRY: Final = 72


class Mark(IntEnum):
    """Value extracted at a step; pyx/protocol/field_plan.pxd has the same numbers, and more for the columns of `requests`."""

    CLIENT_ID = 2
    SOFTWARE_NAME = 3
    SOFTWARE_VERSION = 4
    TOPIC_NAME = 5
    MECHANISM = 6
    TOKEN = 7
    TOPIC_NAMES = 8
    TOPICS = 9
    TOPICS_ROOT = 10
    REPLICA_ID = 11
    INSTANCE_ID = 12
    RECORDS = 13
    KEY_PART = 14
    ERROR_CODE = 32  # of the whole response
    INNER_ERROR = 33
    USED_TOPICS = 1 << 8
    USED_NAME = 2 << 8
    USED_ID = 3 << 8
    USED_PARTITIONS = 4 << 8
    USED_NUMBER = 5 << 8
    USED_ERROR = 6 << 8
    USED_RECORDS = 7 << 8
    # A column: this times its index in `BODY_COLUMNS`, counted from 1; it may stand beside any other mark
    COLUMN = 1 << 16


class Trait(IntFlag):
    """Needs of an API version; pyx/protocol/exchange_state.pxd has the same numbers."""

    PRODUCE = 1
    FETCH = 2
    API_VERSIONS = 4
    CONTROLLER_API = 8
    BROKER_API = 16
    LEARNS = 32  # the response teaches nodes or names of topics
    KEEPS_REQUEST = 64  # the request's frame is needed when the response comes
    WATCHED = 128  # Python is shown every exchange that it has not called silent
    WATCHED_ON_ERROR = 256
    USES_TOPICS = 512
    SASL = 1024
    CHECKS_GROUP = 2048  # Python checks that a request of a group and its response fit together


_OWN_TRAITS: Final = {
    _PRODUCE: Trait.PRODUCE,
    _FETCH: Trait.FETCH,
    API_VERSIONS: Trait.API_VERSIONS,
    _SASL_HANDSHAKE: Trait.SASL,
    _SASL_AUTHENTICATE: Trait.SASL,
    **dict.fromkeys(CHECKED_APIS, Trait.CHECKS_GROUP),
}


class FieldPlan(NamedTuple):
    """Plan for reading a message."""

    plan: Plan
    marks: Marks  # a path comes before those inside it
    defaults: tuple[tuple[Path, int, int | str], ...]  # for columns in tagged fields: the value if the bytes lack the field, unless null
    traits: int  # of requests, and of responses
    header_version: int  # 0 for a header itself
    checks_text: bool = True  # skipped text must be UTF-8


def field_plan_of(kind: str, api_key: int, version: int) -> FieldPlan | None:
    """Return the plan of a message, or of the beginning of a Produce (`up_to_acks`); None if Python reads it."""
    if kind.endswith("header"):
        name = "RequestHeader" if kind == "request_header" else "ResponseHeader"
        marks: Marks = [(("client_id",), Mark.CLIENT_ID)] if kind == "request_header" and version > 0 else []
        return FieldPlan(compiled().plan(name, version, [".".join(path) for path, _ in marks]), marks, (), 0, 0)
    if kind == "up_to_acks":
        return FieldPlan(plan_up_to_acks(version), _column_marks({"acks": ("acks",)}), (), 0, 0, checks_text=False)
    message = catalog().request(api_key) if kind == "request" else catalog().response(api_key)
    if message is None or version not in message.valid_versions or (api_key == _SASL_HANDSHAKE and version == 0):
        return None  # behind SaslHandshake v0 come tokens without any header
    marks = _request_marks(api_key, version) if kind == "request" else _response_marks(message, api_key, version)
    names = dict(walk(fields_at(message, version)))
    marks = sorted(((path, mark) for path, mark in marks if path in names), key=lambda each: len(each[0]))
    # Where a tagged field is left out its default counts. Columns have it; for the next two it is as if nothing was taken.
    if any(mark < Mark.COLUMN and mark not in (Mark.REPLICA_ID, Mark.INNER_ERROR) and _tagged_in(names, path) for path, mark in marks):
        return None
    leaves = [path for path, _ in marks if not any(other != path and other[: len(path)] == path for other, _ in marks)]
    plan = _in_runs(compile_plan(message, version, sorted({".".join(path) for path in leaves})))
    defaults = _defaults(message, names, marks)
    return FieldPlan(plan, marks, defaults, int(_traits(api_key, version)), header_version_of(message.header_versions, version))


def _in_runs(plan: Plan) -> Plan:
    """Merge skips of neighboring fixed-size values into one."""
    ops = list(plan.ops)
    for at in range(0, len(ops), WIDTH):
        if ops[at] in FIXED_SIZE:
            ops[at + 2] &= ~Flag.SKIP
    return plan._replace(ops=tuple(ops))


def _tagged_in(names: dict[Path, LayoutField], path: Path) -> list[Path]:
    return [path[:end] for end in range(1, len(path) + 1) if names[path[:end]].tag is not None]


def _defaults(message: Message, names: dict[Path, LayoutField], marks: Marks) -> tuple[tuple[Path, int, int | str], ...]:
    classes = {layout.name: made for layout, made in zip(layouts_of(message), compiled().classes(message.name), strict=True)}
    found = []
    for path, mark in marks:
        for tagged in _tagged_in(names, path) if mark >= Mark.COLUMN else ():
            owner = message.name if len(tagged) == 1 else names[tagged[:-1]].type.removeprefix("[]")
            value = first_value(classes[owner](), path[len(tagged) - 1 :])
            if value is not None:
                found.append((tagged, mark, value))
    return tuple(found)


@cache
def _traits(api_key: int, version: int) -> Trait:
    traits = _OWN_TRAITS.get(api_key, Trait(0))
    traits |= {"controller": Trait.CONTROLLER_API, "broker": Trait.BROKER_API}.get(api_role(api_key) or "", Trait(0))
    watched = watch_of(api_key, version)
    if api_key in TOPIC_USERS:
        return traits | Trait.USES_TOPICS
    if watched >= Watch.BOTH:
        traits |= Trait.KEEPS_REQUEST
    if api_key in GROUP_APIS or api_key == _PUSH_TELEMETRY:
        return traits | Trait.WATCHED
    if watched is Watch.BOTH_ON_ERROR:
        return traits | Trait.WATCHED_ON_ERROR
    if watched is not Watch.NO or api_key in NODE_FIELDS:
        traits |= Trait.LEARNS
    return traits


def _request_marks(api_key: int, version: int) -> Marks:
    fields = request_fields(api_key, version)
    marks = _column_marks(fields.columns)
    if fields.topics is not None:
        if len(fields.topics) > 1:
            marks.append((fields.topics[:1], Mark.TOPICS_ROOT))
        marks.append((fields.topics, Mark.TOPIC_NAMES if fields.topic_name == "" else Mark.TOPICS))
        if fields.topic_name:
            marks.append(((*fields.topics, fields.topic_name), Mark.TOPIC_NAME))
    if api_key == _PRODUCE:
        marks.append((("topic_data", "partition_data", "records"), Mark.RECORDS))
    elif api_key == _FETCH:
        marks += [(("replica_id",), Mark.REPLICA_ID), (("replica_state", "replica_id"), Mark.REPLICA_ID)]
    elif api_key == API_VERSIONS:
        marks += [(("client_software_name",), Mark.SOFTWARE_NAME), (("client_software_version",), Mark.SOFTWARE_VERSION)]
    elif api_key == _SASL_HANDSHAKE:
        marks.append((("mechanism",), Mark.MECHANISM))
    elif api_key == _SASL_AUTHENTICATE:
        marks.append((("auth_bytes",), Mark.TOKEN))
    elif api_key in (_GET_TELEMETRY, _PUSH_TELEMETRY):
        marks.append((("client_instance_id",), Mark.INSTANCE_ID))
    if api_key in TOPIC_USERS:
        marks += _use_marks(TOPIC_USERS[api_key][0])
    return marks


def _response_marks(message: Message, api_key: int, version: int) -> Marks:
    fields = response_fields(api_key, version)
    marks: Marks = [(path, Mark.ERROR_CODE if path == TOP_ERROR else Mark.INNER_ERROR) for path in fields.error_codes]
    marks += (columns := _column_marks(fields.columns))
    if api_key == _FETCH:
        marks.append((("responses", "partitions", "records"), Mark.RECORDS))
    elif api_key == _GET_TELEMETRY:
        marks.append((("client_instance_id",), Mark.INSTANCE_ID))
    elif api_key == _SASL_AUTHENTICATE:
        marks.append((("auth_bytes",), Mark.TOKEN))
    if api_key in TOPIC_USERS:
        marks += _use_marks(TOPIC_USERS[api_key][1])
    elif _traits(api_key, version) & Trait.LEARNS:
        paths = {*NODE_FIELDS.get(api_key, ()), *naming_paths(api_key, version, True)}
        taken = {path for path, mark in marks if (path, mark) not in columns}
        marks += [(path, Mark.KEY_PART) for path in sorted(tuple(text.split(".")) for text in paths) if path not in taken]
    return marks


def _column_marks(columns: dict[str, Path]) -> Marks:
    return [(columns[each.name], Mark.COLUMN * index) for index, each in enumerate(BODY_COLUMNS, 1) if each.name in columns]


def _use_marks(shape: Shape) -> Marks:
    partitions = (shape.topics, shape.partitions)
    marks: Marks = [
        ((shape.topics,), Mark.USED_TOPICS),
        ((shape.topics, "topic_id"), Mark.USED_ID),
        (partitions, Mark.USED_PARTITIONS),
        ((*partitions, shape.number), Mark.USED_NUMBER),
    ]
    if shape.name is not None:
        marks.append(((shape.topics, shape.name), Mark.USED_NAME))
    if shape.errors:
        marks.append(((*partitions, "error_code"), Mark.USED_ERROR))
    if shape.records:
        marks.append(((*partitions, "records"), Mark.USED_RECORDS))
    return marks
