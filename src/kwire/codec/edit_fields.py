"""Fields of a message at a version that a proxy may need to change: names, addresses, ids and texts."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from kwire.codec.broker_addresses import broker_fields
from kwire.codec.topic_fields import fields_at, topic_fields
from kwire.errors import Fault, wire_error
from kwire.schema import Catalog, catalog
from kwire.schema.model import Message

__all__ = ["FieldsAbout", "fields_about", "fields_of", "message_of"]

# Group ids that Kafka's definitions leave untyped: those that brokers send each other for share groups.
_UNTYPED_GROUPS: Final = "ShareGroupState"
_GROUP_LEADERS: Final = frozenset((("FindCoordinatorRequest", "key"), ("FindCoordinatorRequest", "coordinator_keys"),
    ("FindCoordinatorResponse", "coordinators.key")))  # fmt: skip
_TEXTS: Final = "error_message"


class FieldsAbout(NamedTuple):
    """Paths of fields without indexes, by their contents; empty if a version has none.

    Attributes:
        topics: topic names in fields, resources and bytes of group members.
        topic_ids: ids of topics.
        groups: ids of groups.
        transactional_ids: transactional ids.
        keys: keys of FindCoordinator: ids of groups or transactional ids.
        addresses: hosts of brokers; each has a port beside it.
        error_texts: error texts, which may contain names.
        uncovered: fields that may hold names or addresses that cannot be changed: patterns, frames within frames.
    """

    topics: tuple[str, ...] = ()
    topic_ids: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    transactional_ids: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    error_texts: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()


def message_of(direction: str, api_key: int, api_version: int, source: Catalog) -> Message:
    """Find the message of a frame."""
    if direction not in ("request", "response"):
        raise ValueError(f"a direction is 'request' or 'response', not {direction!r}")
    message = source.request(api_key) if direction == "request" else source.response(api_key)
    if message is None:
        raise wire_error(Fault.UNKNOWN_API, 0, "", "", api_key, api_version, f"api {api_key} is not known")
    if api_version not in message.valid_versions:
        reason = f"version {api_version} of {message.name} is not known, only {message.valid_versions}"
        raise wire_error(Fault.UNSUPPORTED_VERSION, 0, "", message.name, api_key, api_version, reason)
    return message


def fields_of(message: Message, version: int) -> FieldsAbout:
    if catalog().messages.get(message.name) is message and message.api_key is not None and message.kind in ("request", "response"):
        return fields_about(message.kind, message.api_key, version)
    return _fields_of(message, version)


def _fields_of(message: Message, version: int) -> FieldsAbout:
    topics = topic_fields(message, version)
    addresses, unreached = broker_fields(message, version)
    found: dict[str, list[str]] = {name: [] for name in FieldsAbout._fields}
    for path, field, _ in fields_at(message, version):
        name = path.rpartition(".")[2]
        if field.element_type == "uuid":
            if name == "topic_id":
                found["topic_ids"].append(path)
        elif field.element_type != "string":
            continue
        elif field.entity_type == "groupId" or (_UNTYPED_GROUPS in message.name and path == "group_id"):
            found["groups"].append(path)
        elif field.entity_type == "transactionalId":
            found["transactional_ids"].append(path)
        elif (message.name, path) in _GROUP_LEADERS:
            found["keys"].append(path)
        elif name.endswith(_TEXTS) and message.kind == "response":
            found["error_texts"].append(path)
        elif name == "transactional_id_pattern":
            found["uncovered"].append(path)
    found["topics"] = [*topics.names, *(path for rule in topics.resources for path in rule.writes),
        *(path for group in topics.groups for path in group.rule.writes)]  # fmt: skip
    found["addresses"] = [rule.writes[0] for rule in addresses]
    found["uncovered"] = list(dict.fromkeys((*found["uncovered"], *(path for path, _ in topics.uncovered), *unreached)))
    return FieldsAbout(**{name: tuple(paths) for name, paths in found.items()})


@cache
def fields_about(direction: str, api_key: int, api_version: int) -> FieldsAbout:
    """List the fields of a frame that hold names of topics, addresses of brokers and so on.

    Arguments:
        direction: `request` or `response`.
        api_key: API key of the request.
        api_version: version of the request; the fields are those of the frame's body.

    Raises:
        UnknownApi, UnsupportedVersion: no release has the API or version.
        ValueError: no such direction.
    """
    return _fields_of(message_of(direction, api_key, api_version, catalog()), api_version)
