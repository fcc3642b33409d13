"""Encoding of all JSON that kwire writes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from json import JSONEncoder
from math import isfinite
from typing import Any

__all__ = ["encode_json"]


def encode_json(value: Any, *, ascii_only: bool = True, indent: int | None = None, default: Callable[[Any], Any] | None = None) -> str:
    """Return the JSON of a value, in one line without spaces unless `indent` is given.

    JSON has no NaN and no infinities (RFC 8259): they become the texts "NaN", "Infinity" and "-Infinity", as in Kafka's JsonConverter.

    Arguments:
        ascii_only: escape all characters outside of ASCII, so that the text cannot act on a terminal.
        indent: spaces for each level.
        default: function of a module that returns a plain form of other types.
    """
    encode = _encoder(ascii_only, indent, default)
    try:
        return encode(value)
    except ValueError:
        return encode(_finite(value))


@lru_cache(maxsize=32)
def _encoder(ascii_only: bool, indent: int | None, default: Callable[[Any], Any] | None) -> Callable[[Any], str]:
    separators = (",", ":") if indent is None else None
    return JSONEncoder(ensure_ascii=ascii_only, allow_nan=False, indent=indent, separators=separators, default=default).encode


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, (list, tuple)) else value
