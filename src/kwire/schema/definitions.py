"""Conversion of message definitions from Kafka's JSON form to the model and back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, get_args

from kwire.errors import InputError
from kwire.schema.header_versions import derive_header_versions, parse_header_versions
from kwire.schema.model import NO_VERSIONS, Field, Kind, Message, Struct, Versions

__all__ = ["definition_of", "parse_definition", "read_definition"]

_KINDS: Final = frozenset(get_args(Kind))
_FIELD_NAME: Final = re.compile("[A-Za-z][A-Za-z0-9]*")  # Kafka's FieldSpec.VALID_FIELD_NAMES
_STRING_OR_COMMENT: Final = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*')


def read_definition(text: str, source: str) -> Any:
    """Read one JSON text with ``//`` comments, ignoring text behind it as Kafka does; an InputError names `source`, line and column."""
    plain = _STRING_OR_COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else "", text)
    start = len(plain) - len(plain.lstrip())
    try:
        return json.JSONDecoder().raw_decode(plain, start)[0]
    except json.JSONDecodeError as error:
        raise InputError(f"{source} is not a message definition: {error.msg} at line {error.lineno}, column {error.colno}.") from error


def _default(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def _field(item: Mapping[str, Any]) -> Field:
    if not _FIELD_NAME.fullmatch(item["name"]):
        raise ValueError(f"invalid field name {item['name']!r}")
    flexible = item.get("flexibleVersions")
    tag = item.get("tag")
    tagged = Versions.parse(item.get("taggedVersions"))
    # A tagged field may leave its versions out (TransactionLogValue), as Kafka's FieldSpec allows.
    versions = Versions.parse(item["versions"]) if "versions" in item or not tagged else tagged
    return Field(
        name=item["name"],
        type=item["type"],
        versions=versions,
        nullable_versions=Versions.parse(item.get("nullableVersions")),
        tagged_versions=tagged,
        tag=None if tag is None else int(tag),
        flexible_versions=None if flexible is None else Versions.parse(flexible),
        default=_default(item.get("default")),
        ignorable=bool(item.get("ignorable", False)),
        entity_type=item.get("entityType"),
        map_key=bool(item.get("mapKey", False)),
        fields=tuple(_field(each) for each in item.get("fields") or ()),
        aliases=tuple(item.get("aliases") or ()),
        former_names=tuple((item.get("formerNames") or {}).items()),
        names_in_code=tuple((item.get("namesInCode") or {}).items()),
    )


def parse_definition(definition: Mapping[str, Any], source: str, *, from_zero: bool = True) -> Message:
    """Turn one definition, as parsed JSON, into a message.

    Arguments:
        definition: Kafka's shape; `topic`, `notes`, `formerNames` and `namesInCode` of the built-in catalog are read too.
        source: name for errors.
        from_zero: see `parse_header_versions`.

    Raises:
        InputError: a key is missing or has a value that Kafka rejects.
    """
    try:
        name, kind, api_key = definition["name"], definition["type"], definition.get("apiKey")
        if kind not in _KINDS:
            raise InputError(f"{source} is not a message definition: unknown type {kind!r}.")
        valid = Versions.parse(definition["validVersions"])
        flexible = Versions.parse(definition.get("flexibleVersions"))
        given = definition.get("headerVersions")
        if given is None:
            headers = derive_header_versions(kind, api_key, flexible)
        else:
            headers = parse_header_versions(
                given, name=name, kind=kind, api_key=api_key, valid=valid, flexible=flexible, from_zero=from_zero
            )
        message = Message(
            name=name,
            kind=kind,
            api_key=api_key,
            valid_versions=valid,
            flexible_versions=flexible,
            fields=tuple(_field(each) for each in definition.get("fields") or ()),
            header_versions=headers,
            common_structs={
                each["name"]: Struct(each["name"], Versions.parse(each["versions"]), tuple(_field(inner) for inner in each["fields"]))
                for each in definition.get("commonStructs") or ()
            },
            listeners=tuple(definition.get("listeners") or ()),
            unstable_versions=Versions(valid.highest, valid.highest) if definition.get("latestVersionUnstable") else NO_VERSIONS,
            topic=definition.get("topic"),
            notes=tuple(definition.get("notes") or ()),
        )
        message.structs  # noqa: B018 - a struct that nobody defines is found here, and not by the first message
    except KeyError as error:
        raise InputError(f"{source} is not a message definition: {error.args[0]!r} is missing.") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(f"{source} is not a message definition: {error}.") from error
    return message


def _field_definition(field: Field) -> dict[str, Any]:
    item: dict[str, Any] = {"name": field.name, "type": field.type, "versions": str(field.versions)}
    if field.nullable_versions:
        item["nullableVersions"] = str(field.nullable_versions)
    if field.tag is not None:
        item["tag"] = field.tag
        item["taggedVersions"] = str(field.tagged_versions)
    if field.flexible_versions is not None:
        item["flexibleVersions"] = str(field.flexible_versions)
    if field.default is not None:
        item["default"] = field.default
    if field.ignorable:
        item["ignorable"] = True
    if field.entity_type is not None:
        item["entityType"] = field.entity_type
    if field.map_key:
        item["mapKey"] = True
    if field.aliases:
        item["aliases"] = list(field.aliases)
    if field.former_names:
        item["formerNames"] = dict(field.former_names)
    if field.names_in_code:
        item["namesInCode"] = dict(field.names_in_code)
    if field.fields:
        item["fields"] = [_field_definition(each) for each in field.fields]
    return item


def definition_of(message: Message) -> dict[str, Any]:
    """Return a message in the JSON shape of Kafka's definitions; `parse_definition` reads it back.

    Arguments:
        message: a message of a catalog.
    """
    definition: dict[str, Any] = {"name": message.name, "type": message.kind}
    if message.api_key is not None:
        definition["apiKey"] = message.api_key
    if message.topic is not None:
        definition["topic"] = message.topic
    if message.listeners:
        definition["listeners"] = list(message.listeners)
    definition["validVersions"] = str(message.valid_versions)
    if message.unstable_versions:
        definition["latestVersionUnstable"] = True
    definition["flexibleVersions"] = str(message.flexible_versions)
    if message.header_versions:
        definition["headerVersions"] = {str(versions): str(header) for versions, header in message.header_versions}
    if message.notes:
        definition["notes"] = list(message.notes)
    if message.common_structs:
        definition["commonStructs"] = [
            {"name": each.name, "versions": str(each.versions), "fields": [_field_definition(inner) for inner in each.fields]}
            for each in message.common_structs.values()
        ]
    definition["fields"] = [_field_definition(each) for each in message.fields]
    return definition
