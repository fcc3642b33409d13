"""Docstrings, signatures, api keys and versions of message classes, made when read; `asdict` and `replace`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import TYPE_CHECKING, Any, Final, TypeVar

from kwire.codec.layout import Default, SlotLayout
from kwire.codec.memory_views import shown
from kwire.codec.uuids import ZERO_UUID
from kwire.schema.model import Field, Message, Struct, Versions, snake_name

if TYPE_CHECKING:
    from inspect import Signature

    from kwire.messages import MessageObject
    from kwire.schema.wire_enums import ApiKey

AnyMessage = TypeVar("AnyMessage")

__all__ = ["asdict", "by_current_names", "describe", "held_type", "message_name", "replace", "shown_fields", "text_of", "wire_versions"]

UNKNOWN: Final = "unknown_tagged_fields"
PYTHON_TYPES: Final = {"bool": "bool", "float64": "float", "string": "str", "bytes": "bytes", "records": "bytes", "uuid": "Uuid"}


def held_type(message: Message, field: Field, slot: SlotLayout) -> str:
    """Return the annotation of an attribute: ``list[MetadataResponse.MetadataResponseTopic]``."""
    held = f"{message.name}.{field.element_type}" if field.is_struct else PYTHON_TYPES.get(field.element_type, "int")
    if field.is_array:
        held = f"tuple[{held}, ...]" if slot.scalar_array else f"list[{held}]"
    # `records` that are not given are None, nullable or not
    return f"{held} | None" if field.nullable_versions or (slot.default == Default.CONSTANT and slot.value is None) else held


def _within(inner: Versions, outer: Versions) -> str:
    """Return a range relative to an outer one, in Kafka's notation; empty if equal."""
    low, high = max(inner.lowest, outer.lowest), min(inner.highest, outer.highest)
    if (low, high) == (outer.lowest, outer.highest):
        return ""
    return f"{low}+" if high == outer.highest else str(Versions(low, high))


def wire_versions(message: Message, field: Field) -> str:
    """Describe the versions in which a field exists, is nullable or tagged: ``3+, null in 5+, tag 0``; empty for a plain field of all
    versions."""
    found = [_within(field.versions, message.valid_versions)]
    if field.nullable_versions and (where := _within(field.nullable_versions, field.versions)):
        found.append(f"null in {where}")
    if field.tagged_versions:
        where = _within(field.tagged_versions, field.versions)
        found.append(f"tag {field.tag} in {where}" if where else f"tag {field.tag}")
    return ", ".join(filter(None, found))


def _about(message: Message, field: Field, slot: SlotLayout) -> str:
    facts = [field.type if field.entity_type is None else f"{field.type} ({field.entity_type})"]
    versions = wire_versions(message, field)
    if versions:
        facts.append(f"versions {versions}" if versions[0].isdigit() else versions)
    if field.nullable_versions and "null in" not in versions:
        facts.append("may be null")
    if field.default is not None and slot.default == Default.CONSTANT:
        facts.append(f"default {slot.value!r}")
    facts += [f"called {snake_name(name)} up to Kafka {release}" for name, release in field.former_names]
    return f"    {slot.attribute}: {', '.join(facts)}"


def _docstring(kind: Any, message: Message, struct: Struct) -> str:
    if struct.name == message.name:
        key = "" if message.api_key is None else f" of api {message.api_key}"
        title = f"{message.kind.capitalize()}{key}, versions {message.valid_versions}."
    else:
        title = f"Part of {message.name}, versions {_within(struct.versions, message.valid_versions) or message.valid_versions}."
    fields = [_about(message, field, slot) for field, slot in zip(struct.fields, kind.layout.slots, strict=True)]
    return "\n".join((title, "", "Fields, with their types on the wire:", *fields)) if fields else title


def _signature(kind: Any, message: Message, struct: Struct) -> Signature:
    from inspect import Parameter, Signature

    parameters = []
    for field, slot in zip(struct.fields, kind.layout.slots, strict=True):
        default = {Default.CONSTANT: slot.value, Default.LIST: [], Default.STRUCT: ...}[slot.default]
        annotation = held_type(message, field, slot)
        parameters.append(Parameter(slot.attribute, Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
    return Signature([*parameters, Parameter(UNKNOWN, Parameter.KEYWORD_ONLY, default=(), annotation="tuple[tuple[int, bytes], ...]")])


def _api_key(_kind: Any, message: Message, _struct: Struct) -> ApiKey | int | None:
    from kwire.schema.wire_enums import ApiKey

    key = message.api_key
    return ApiKey(key) if key is not None and key in ApiKey.__members__.values() else key  # a dialect may have others


class _Made:
    """Class attribute that is computed on access."""

    __slots__ = ("make", "message", "struct")

    def __init__(self, make: Callable[[Any, Message, Struct], Any], message: Message, struct: Struct) -> None:
        self.make = make
        self.message = message
        self.struct = struct

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self.make(owner, self.message, self.struct)


def describe(classes: tuple[Any, ...], message: Message) -> None:
    """Add documentation attributes to the classes of a message, the message's own first."""
    for kind, struct in zip(classes, message.structs.values(), strict=True):
        kind.__doc__ = _Made(_docstring, message, struct)
        kind.__signature__ = _Made(_signature, message, struct)
        kind.__match_args__ = kind.slot_names[:-1]  # type: ignore[misc]
    top = classes[0]
    if "valid_versions" not in top.slot_names:
        top.valid_versions = message.valid_versions
    if "api_key" not in top.slot_names:  # a request header has a field of this name
        top.api_key = _Made(_api_key, message, message.structs[message.name])


def by_current_names(kind: Any, values: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        current = getattr(kind, "aliases", {}).get(name, name)
        if current not in kind.slot_names:
            raise TypeError(f"{kind.__qualname__}() got an unexpected keyword argument {name!r}")
        if current in found or (current != name and current in values):
            raise TypeError(f"{kind.__qualname__}() got multiple values for argument {current!r}")
        found[current] = value
    return found


def fields_of(message: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields that have values, in order; unknown tagged fields only if there are any."""
    for name in message.slot_names:
        if hasattr(message, name) and (name != UNKNOWN or message.unknown_tagged_fields):
            yield name, getattr(message, name)


def text_of(message: Any, values: dict[str, Any]) -> str:
    """Return the `repr` of a message whose slots hold `values`."""
    return f"{type(message).__name__}({', '.join(f'{name}={shown(value)}' for name, value in shown_fields(message, values))})"


def shown_fields(message: Any, values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields that a `repr` shows: a request header without the id of KIP-1313, a draft, does not show that field."""
    is_header = type(message).layout.message == "RequestHeader"
    for name, value in values.items():
        if (name == UNKNOWN and not value) or (is_header and name == "client_instance_id" and value == ZERO_UUID):
            continue
        yield name, value


def _of_message(message: Any, function: str) -> None:
    if not hasattr(type(message), "slot_names"):
        raise TypeError(f"{function} takes a message object, not {type(message).__qualname__}")


def message_name(message: Any, function: str) -> str:
    """Return the message name of an object; raise TypeError if it is not a message."""
    layout = getattr(type(message), "layout", None)
    if layout is None or layout.name != layout.message:
        raise TypeError(f"{function} takes a message object, not {type(message).__qualname__}")
    name: str = layout.message
    return name


def _plain(value: Any) -> Any:
    if hasattr(type(value), "slot_names"):
        return {name: _plain(each) for name, each in fields_of(value)}
    return type(value)(_plain(each) for each in value) if type(value) in (list, tuple) else value


def asdict(message: MessageObject) -> dict[str, Any]:
    """Return the fields of a message by name, as `dataclasses.asdict`: nested structs become dicts, lists and tuples are copied.

    Fields that were not decoded (outside a projection) and empty unknown tagged fields are left out.

    Arguments:
        message: an object of a message class.

    Raises:
        TypeError: not an object of a message class.
    """
    _of_message(message, "asdict")
    found: dict[str, Any] = _plain(message)
    return found


def replace(message: AnyMessage, /, **changes: Any) -> AnyMessage:
    """Return a copy of a message with some fields changed, as `dataclasses.replace`; other values are shared with the original.

    Fields that were not decoded (outside a projection) stay undecoded. `copy.replace` of Python 3.13 calls this.

    Arguments:
        message: an object of a message class.
        changes: new values by field name.

    Raises:
        TypeError: not an object of a message class, or an unknown field.
    """
    _of_message(message, "replace")
    made: Any = copy(message)
    # the constructor refuses unknown names, and makes tuples of lists of numbers
    given = type(message)(**changes)
    for name in changes:
        setattr(made, name, getattr(given, name))
    result: AnyMessage = made
    return result
