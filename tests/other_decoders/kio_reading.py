"""kio as a peer; run as a script, see `asking`."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import re
import uuid
from functools import cache
from typing import Any

from answering import Unknown, answer_all
from kio.index import KioIndexError, load_request_schema, load_response_schema
from kio.schema.index import api_key_map
from kio.serial import entity_reader

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MILLISECOND = datetime.timedelta(milliseconds=1)


@cache
def plain_name(name: str) -> str:
    return name.rstrip("_")


def plain(value: Any) -> Any:
    """kio's rich values as they are on the wire: numbers, text and bytes in dicts and lists."""
    if dataclasses.is_dataclass(value):
        return {plain_name(each.name): plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, uuid.UUID):
        return value.bytes
    if isinstance(value, datetime.timedelta):
        return value // MILLISECOND
    if isinstance(value, datetime.datetime):
        return (value - EPOCH) // MILLISECOND
    if isinstance(value, (bool, float, type(None))):
        return value
    if isinstance(value, int):
        return int(value)
    return str(value) if isinstance(value, str) else bytes(value)


@cache
def schema_of(name: str, version: int) -> Any:
    for key in api_key_map:
        load = load_request_schema if name.endswith("Request") else load_response_schema
        if re.sub(r"[^a-z]", "", api_key_map[key]) == name.removesuffix("Request").removesuffix("Response").lower():
            try:
                return load(key, version)
            except KioIndexError:
                break
    raise Unknown


def read(kind: str, name: str, version: int, data: bytes) -> tuple[Any, int]:
    if kind == "message":
        value, size = entity_reader(schema_of(name, version))(data, 0)
        return plain(value), len(data) - size
    try:
        if kind == "request":
            schema = load_request_schema(int.from_bytes(data[:2], "big", signed=True), int.from_bytes(data[2:4], "big", signed=True))
        elif kind == "response":
            schema = load_response_schema(int(name), version)
        else:
            raise Unknown
    except KioIndexError:
        raise Unknown from None
    header, size = entity_reader(schema.__header_schema__)(data, 0)
    body, more = entity_reader(schema)(data, size)
    return {"header": plain(header), "body": plain(body)}, len(data) - size - more


if __name__ == "__main__":
    answer_all(read)
