"""Frames of Kafka's own classes, and what its converters wrote of them."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from kwire.schema import catalog
from kwire.schema.model import camel_name
from twin_codecs import vectors_of

FRAMES = vectors_of("frames-sample")


def frame(case: dict[str, Any]) -> bytes:
    return bytes.fromhex(case["hex"])[4:]


def one(message: str, version: int) -> dict[str, Any]:
    return next(case for case in FRAMES if (case["message"], case["version"]) == (message, version))


def json_of(case: dict[str, Any]) -> Any:
    """Read the text that Kafka's converters wrote of the body."""
    return _JSON[case["message"], case["version"], case["hex"][8 + 2 * case["header_size"] :]]


_JSON = {(each["message"], each["version"], each["hex"]): each["json"] for each in vectors_of("messages-sample")}


def written(row: dict[str, Any], case: dict[str, Any]) -> Any:
    """A row of the columns of a message in the form of Kafka's JSON, and the fields that its version lacks, which have to be null."""
    message = catalog()[case["message"]]

    def of(value: Any, kind: str) -> Any:
        if value is None:
            return None
        if kind.startswith("[]"):
            return [of(each, kind[2:]) for each in value]
        if kind in message.structs:
            found = {}
            for field in message.structs[kind].fields:
                if case["version"] in field.versions:
                    found[camel_name(field.name)] = of(value[field.attribute], field.type)
                else:
                    assert value.get(field.attribute) is None, (case["message"], field.name)
            return found
        return b64encode(value).decode() if isinstance(value, bytes) else value

    return of(row, next(iter(message.structs)))
