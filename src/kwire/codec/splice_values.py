"""The bytes that an edit writes for one value, in both backends; see `kwire.codec.written_values`."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from kwire.codec.plan import Op
from kwire.codec.written_values import (
    INTEGER_NAMES,
    MOST_BYTES,
    Refusal,
    bytes_of,
    flag_of,
    float_bytes,
    packed,
    text_of,
    uuid_bytes,
    varint,
)
from kwire.errors import EncodeError

__all__ = ["MOST_BYTES", "content_of", "head_of", "varint"]

_PACKERS: Final[dict[int, Callable[[int], bytes]]] = {
    Op.INT8: struct.Struct(">b").pack, Op.INT16: struct.Struct(">h").pack, Op.UINT16: struct.Struct(">H").pack,
    Op.INT32: struct.Struct(">i").pack, Op.UINT32: struct.Struct(">I").pack, Op.INT64: struct.Struct(">q").pack,
}  # fmt: skip
_WRITERS: Final[dict[int, Callable[[Any], bytes]]] = {
    Op.BOOL: lambda value: b"\x01" if flag_of(value) else b"\x00",
    Op.FLOAT64: float_bytes,
    Op.UUID: uuid_bytes,
    Op.STRING: text_of,
    Op.BYTES: bytes_of,
}


def content_of(code: int, nullable: bool, value: Any) -> bytes | None:
    """Write a value without the length before it, None for null; `code` is the `Op` of the field or of its elements."""
    if value is None and nullable:
        return None
    if type(value) is int and (pack := _PACKERS.get(code)) is not None:
        try:
            return pack(value)
        except struct.error:
            pass  # said below
    try:
        return bytes(packed(code, value) if code in INTEGER_NAMES else _WRITERS[code](value))
    except Refusal as refusal:
        raise EncodeError(refusal.reason) from None


def head_of(code: int, compact: bool, length: int) -> bytes:
    """Write the length before a string or bytes, -1 for null."""
    if compact:
        return varint(length + 1)
    return length.to_bytes(2 if code == Op.STRING else 4, "big", signed=True)
