"""Slots of message objects: one layout per struct, over all versions of the message, so that plans refer to attributes by number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

from kwire.codec.uuids import ZERO_UUID
from kwire.schema.model import Field, Message, Struct, camel_name, snake_name

__all__ = ["Default", "SlotLayout", "StructLayout", "attribute_of", "current_path", "fields_by_name", "layouts_of"]


class Default(IntEnum):
    """Kind of a slot's default."""

    CONSTANT = 0  # `value` itself, immutable
    LIST = 1  # a new empty list
    STRUCT = 2  # a new object of the layout with index `value` among the layouts of the message


class SlotLayout(NamedTuple):
    """Attribute of a struct; a `scalar_array` is stored as a tuple, which the garbage collector need not track."""

    attribute: str
    json_name: str
    type: str
    default: Default
    value: Any
    scalar_array: bool


class StructLayout(NamedTuple):
    """Struct of a message; the garbage collector must track it (`tracked`) if it may refer to objects with references."""

    message: str
    name: str
    slots: tuple[SlotLayout, ...]
    tracked: bool


_INTEGERS: Final = frozenset(("int8", "int16", "uint16", "int32", "uint32", "int64"))


def attribute_of(message: Message, field: Field) -> str:
    # DESIGN promises RequestHeader(api_key, api_version, ...); Kafka's header fields repeat the message's name in theirs.
    return field.attribute.removeprefix("request_") if message.kind == "header" else field.attribute


def fields_by_name(fields: Sequence[Field], version: int, spell: Callable[[str], str]) -> dict[str, Field]:
    """Map current and former names to fields of a struct; fields of the version take precedence, then current names."""
    found = {}
    for present in (False, True):
        there = [each for each in fields if (version in each.versions) is present]
        found.update({spell(name): each for each in there for name in each.other_names})
        found.update({spell(each.name): each for each in there})
    return found


def current_path(message: Message, version: int, path: str) -> str:
    """Replace former names in a path of attributes; return an unknown path unchanged."""
    steps, fields = [], message.fields
    for step in path.split("."):
        field = next((each for each in fields if attribute_of(message, each) == step and version in each.versions), None)
        field = field or fields_by_name(fields, version, snake_name).get(step)
        if field is None:
            return path
        steps.append(attribute_of(message, field))
        fields = message.structs[field.element_type].fields if field.is_struct else ()
    return ".".join(steps)


def _constant(field: Field) -> Any:
    """Return a scalar field's default, as Kafka's FieldSpec.fieldDefault reads it."""
    text, kind = field.default, field.type
    if kind == "bool":
        return text == "true"
    if kind in _INTEGERS:
        return int(text, 0) if text else 0
    if kind == "float64":
        return float(text) if text else 0.0
    if kind == "uuid":
        return ZERO_UUID
    if text == "null" or kind == "records":
        return None
    return "" if kind == "string" and not text else text if kind == "string" else b""


def _slot(message: Message, field: Field, indexes: dict[str, int]) -> SlotLayout:
    scalar_array = field.is_array and not field.is_struct
    default = Default.CONSTANT
    value: Any = None
    if field.default == "null":
        pass
    elif scalar_array:
        value = ()
    elif field.is_array:
        default = Default.LIST
    elif field.is_struct:
        default, value = Default.STRUCT, indexes[field.element_type]
    else:
        value = _constant(field)
    return SlotLayout(attribute_of(message, field), camel_name(field.name), field.type, default, value, scalar_array)


def _layout(message: Message, struct: Struct, indexes: dict[str, int]) -> StructLayout:
    slots = tuple(_slot(message, field, indexes) for field in struct.fields)
    return StructLayout(message.name, struct.name, slots, any(field.is_struct for field in struct.fields))


def layouts_of(message: Message) -> tuple[StructLayout, ...]:
    """Return the layouts of a message's structs, its own first. Equal definitions give equal layouts."""
    found: tuple[StructLayout, ...] | None = message.derived.get(layouts_of)
    if found is None:
        indexes = {name: index for index, name in enumerate(message.structs)}
        found = message.derived[layouts_of] = tuple(_layout(message, struct, indexes) for struct in message.structs.values())
    return found
