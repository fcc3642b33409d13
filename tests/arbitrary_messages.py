"""Messages of any api and version with arbitrary but valid contents, and what is inconsistent in one that was edited."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any, Final

from kwire import messages
from kwire.codec import Uuid
from kwire.schema import Field, Message

__all__ = ["PREFIX", "arbitrary", "inconsistencies"]

PREFIX: Final = "acme."
FEATURES: Final = ("group.version", "metadata.version", "share.version", "streams.version", "transaction.version", "x.version")
CHANCE_OF_NULL: Final = 0.2
MOST_ELEMENTS: Final = 4
API_KEYS: Final = 93
MOST_LEVEL: Final = 30
NODES: Final = (1, 2, 3)
RESOURCE_TYPES: Final = (2, 4, 32)  # of configurations


def arbitrary(message: Message, version: int, chance: random.Random) -> Any:
    """An object of the message: elements have different first fields and stand in their order, and lowest values are not above highest."""
    return _Making(message, version, chance).struct(message.name)


class _Making:
    def __init__(self, message: Message, version: int, chance: random.Random) -> None:
        self._message, self._version, self._chance = message, version, chance
        self._classes = {each.__name__: each for each in getattr(messages, message.name).classes}

    def struct(self, name: str) -> Any:
        made = self._classes[name]()
        for field in self._message.structs[name].fields:
            if self._version in field.versions:
                setattr(made, field.attribute, self._value(field, name))
        for low, high in pairs(made):
            values = sorted((getattr(made, low), getattr(made, high)))
            setattr(made, low, values[0])
            setattr(made, high, values[1])
        if name == "FinalizedFeatureKey" and self._chance.random() < 0.5:  # as KRaft brokers send them
            made.min_version_level = made.max_version_level
        if name == "ApiVersionsResponse":
            supported = {each.name: each for each in made.supported_features}
            made.finalized_features = [each for each in made.finalized_features if each.name in supported]
            for each in made.finalized_features:
                supported[each.name].min_version, supported[each.name].max_version = 0, MOST_LEVEL
        return made

    def _value(self, field: Field, struct: str) -> Any:
        chance = self._chance
        if self._version in field.nullable_versions and chance.random() < CHANCE_OF_NULL:
            return None
        if not field.is_array:
            return self.struct(field.type) if field.is_struct else self._scalar(field, struct)
        found = [
            self.struct(field.element_type) if field.is_struct else self._scalar(field, struct)
            for _ in range(chance.randrange(MOST_ELEMENTS))
        ]
        return list({key_of(each): each for each in sorted(found, key=key_of)}.values())

    def _scalar(self, field: Field, struct: str) -> Any:
        chance, kind, name = self._chance, field.element_type, field.attribute
        if kind == "string":
            return self._text(field, struct)
        if name in ("error_code", "partition_error_code"):
            return chance.choice((0, 0, 0, 3, 41))
        if field.entity_type == "brokerId" or name in ("node_id", "broker_id", "leader_id", "leader"):
            return chance.choice(NODES)
        if name == "api_key":
            return chance.randrange(API_KEYS)
        if name == "resource_type":
            return chance.choice(RESOURCE_TYPES)
        if kind == "bool":
            return chance.random() < 0.5
        if kind == "float64":
            return chance.random()
        if kind == "uuid":
            return Uuid(bytes(15) + bytes([chance.randrange(1, 9)]))
        if kind in ("bytes", "records"):
            return b""
        return chance.randrange(MOST_LEVEL)

    def _text(self, field: Field, struct: str) -> str:
        chance, name = self._chance, field.attribute
        if field.entity_type in ("topicName", "groupId", "transactionalId") or name in ("key", "group_id", "transactional_id"):
            return f"{chance.choice((PREFIX, PREFIX, 'globex.'))}{chance.randrange(9)}"
        if name == "error_message":
            return f"of {chance.choice((PREFIX, 'globex.'))}orders"
        if struct.endswith("FeatureKey"):
            return chance.choice(FEATURES)
        if name == "protocol_type":
            return "consumer"
        if name in ("host", "name"):
            return f"{name}{chance.randrange(9)}"
        return chance.choice(("", "a", "text"))


def key_of(element: Any) -> Any:
    """What tells an element of an array from the others: its first field but for errors; a text where that is neither number nor text."""
    names = [each for each in getattr(element, "__match_args__", ()) if not each.startswith("error_")]
    first = getattr(element, names[0]) if names else element
    return "" if first is None else first if isinstance(first, (int, str)) else str(first)


def pairs(struct: Any) -> list[tuple[str, str]]:
    """Fields of a lowest and a highest value, such as `min_version` and `max_version`."""
    names = struct.__match_args__
    found = [(each, each.replace("min_", "max_", 1)) for each in names if each.startswith("min_")]
    return [(low, high) for low, high in found if high in names]


def structs_of(struct: Any) -> Iterator[Any]:
    yield struct
    for name in struct.__match_args__:
        value = getattr(struct, name)
        for each in value if isinstance(value, list) else (value,):
            if hasattr(each, "__match_args__"):
                yield from structs_of(each)


def inconsistencies(body: Any) -> list[str]:
    """What contradicts itself in a body whose elements were in order: ranges, the order of elements, features."""
    found = []
    for struct in structs_of(body):
        name = type(struct).__name__
        found += [f"{name}: {low} is above {high}" for low, high in pairs(struct) if getattr(struct, low) > getattr(struct, high)]
        for attribute in struct.__match_args__:
            value = getattr(struct, attribute)
            keys = [key_of(each) for each in value] if isinstance(value, list) else []
            if any(not one < other for one, other in itertools.pairwise(keys)):
                found.append(f"{name}.{attribute}: {keys} are not in order, or twice there")
    if isinstance(body, messages.ApiVersionsResponse):
        supported = {each.name: each for each in body.supported_features}
        for each in body.finalized_features:
            known = supported.get(each.name)
            if known is None or not known.min_version <= each.min_version_level <= each.max_version_level <= known.max_version:
                found.append(f"{each.name} is finalized at levels that are not supported")
    return found
