"""Names and ids of topics in one message, from every struct of the catalog that has both (KIP-516)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, Final

from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.schema import Message, catalog, snake_name
from kwire.schema.layout import LayoutField, fields_at

__all__ = ["names_in", "naming_paths", "text_of_id"]

Path = tuple[str, ...]

_ID: Final = "TopicId"


def _pairs(fields: tuple[LayoutField, ...], path: Path = ()) -> Iterator[tuple[Path, str]]:
    for field in fields:
        here = (*path, snake_name(field.name))
        if not field.fields:
            continue
        types = {each.name: each.type for each in field.fields}
        name = next((each.name for each in field.fields if each.entity_type == "topicName" and each.type == "string"), None)
        if name is not None and types.get(_ID) == "uuid":
            yield here, snake_name(name)
        yield from _pairs(field.fields, here)


def _message(api_key: int, is_response: bool) -> Message | None:
    return catalog().response(api_key) if is_response else catalog().request(api_key)


@cache
def _naming(api_key: int, version: int, is_response: bool) -> tuple[tuple[Path, str], ...]:
    message = _message(api_key, is_response)
    if message is None or version not in message.valid_versions:
        return ()
    return tuple(_pairs(fields_at(message, version)))


@cache
def naming_paths(api_key: int, version: int, is_response: bool) -> tuple[str, ...]:
    """Return the projection that reads names and ids; empty if a message has no such pair."""
    found = _naming(api_key, version, is_response)
    return tuple(sorted(".".join((*path, attribute)) for path, name in found for attribute in (name, "topic_id")))


@lru_cache(maxsize=65_536)
def text_of_id(topic_id: bytes) -> str | None:
    """Return a topic id in Kafka's base64 form; None for the zero id."""
    return None if topic_id == ZERO_UUID else str(Uuid(topic_id))


def _elements(message: Any, path: Path) -> Iterator[Any]:
    value = getattr(message, path[0], None)
    for each in value if isinstance(value, (list, tuple)) else () if value is None else (value,):
        if len(path) == 1:
            yield each
        else:
            yield from _elements(each, path[1:])


def names_in(api_key: int, version: int, is_response: bool, message: Any) -> dict[str, str]:
    names: dict[str, str] = {}
    for path, name in _naming(api_key, version, is_response):
        for topic in _elements(message, path):
            identifier, text = text_of_id(getattr(topic, "topic_id", ZERO_UUID)), getattr(topic, name, None)
            if text and identifier is not None:
                names[identifier] = text
    return names
