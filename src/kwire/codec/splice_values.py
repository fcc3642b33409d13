"""Bytes that an edit writes for one value, in both backends; see `kwire.codec.written_values`."""

from __future__ import annotations

from typing import Any

from kwire.codec.plan import Op
from kwire.codec.written_values import MOST_BYTES, Refusal, value_bytes, varint
from kwire.errors import EncodeError

__all__ = ["MOST_BYTES", "content_of", "head_of", "varint"]


def content_of(code: int, nullable: bool, value: Any) -> bytes | None:
    """Write a value without the length before it, None for null; `code` is the `Op` of the field or of its elements."""
    if value is None and nullable:
        return None
    try:
        return bytes(value_bytes(code, value))
    except Refusal as refusal:
        raise EncodeError(refusal.reason) from None


def head_of(code: int, compact: bool, length: int) -> bytes:
    """Write the length before a string or bytes, -1 for null."""
    if compact:
        return varint(length + 1)
    return length.to_bytes(2 if code == Op.STRING else 4, "big", signed=True)
