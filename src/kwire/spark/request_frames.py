"""Conversion of structs of header fields and body to request frames, the reverse of `kwire.spark.frame_structs`."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa

from kwire.codec.classes import compiled, message_class
from kwire.codec.encoding import encode_request
from kwire.codec.json_reading import from_json
from kwire.codec.layout import attribute_of, layouts_of
from kwire.errors import InputError, KwireError
from kwire.schema import catalog

__all__ = ["RequestFrames"]

_NEEDED: Final = ("api_key", "api_version", "body")
Convert = Callable[[Any], Any]


def _struct_of(name: str, struct: str, version: int) -> Convert:
    message = catalog()[name]
    classes = dict(zip((layout.name for layout in layouts_of(message)), compiled().classes(name), strict=True))
    fields = [
        (attribute_of(message, field), _field_of(name, field, version))
        for field in message.structs[struct].fields
        if version in field.versions
    ]
    make = classes[struct]
    return lambda value: make(**{attribute: convert(value[attribute]) for attribute, convert in fields if attribute in value})


def _field_of(name: str, field: Any, version: int) -> Convert:
    if not field.is_struct:
        return lambda value: value
    convert = _struct_of(name, field.element_type, version)
    if field.is_array:
        return lambda value: None if value is None else [convert(each) for each in value]
    return lambda value: None if value is None else convert(value)


@lru_cache(maxsize=1024)
def _body_of(api_key: int, version: int) -> Convert:
    """Return the constructor of a message from a body: a dict with the message's attributes, or Kafka's JSON."""
    message = catalog().request(api_key)
    if message is None or version not in message.valid_versions:
        raise InputError(f"to_kafka_request knows no request with API key {api_key} and version {version}.")
    name = message.name
    typed = _struct_of(name, name, version)
    return lambda body: from_json(name, json.loads(body), version) if isinstance(body, str) else typed(body)


class RequestFrames:
    """Mapping of structs to frames; a null, and a null body, give a null."""

    takes = 1
    type = pa.binary()

    def __call__(self, structs: Any) -> Any:
        """Return the frames of an array of structs; fields that are missing from a typed body have their defaults."""
        names = [field.name for field in structs.type] if pa.types.is_struct(structs.type) else []
        if missing := [name for name in _NEEDED if name not in names]:
            raise InputError(f"to_kafka_request takes a struct with {', '.join(_NEEDED)}; it lacks {', '.join(missing)}.")
        header = message_class("RequestHeader")
        frames: list[bytes | None] = []
        for row in structs.to_pylist():
            if row is None or row["body"] is None:
                frames.append(None)
                continue
            try:
                key, version = int(row["api_key"]), int(row["api_version"])
                head = header(
                    api_key=key, api_version=version, correlation_id=int(row.get("correlation_id") or 0), client_id=row.get("client_id")
                )
                frames.append(encode_request(head, _body_of(key, version)(row["body"])))
            except KwireError as error:
                error.add_note(f"in row {len(frames)} of the batch")
                raise
        return pa.array(frames, self.type)
