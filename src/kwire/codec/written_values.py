"""Writing of single values in any accepted form, and errors for values that cannot be written.

What counts as what:

* integers: what has `__index__`, so `IntEnum` members and numpy's integers too; a bool is an int, as everywhere in Python.
* floats: what `struct` packs as a double.
* bools: True and False, 0 and 1, numpy's.
* text: `str`, at most 32,767 bytes of UTF-8, compact or not (as Kafka's generated writers have it).
* bytes: any contiguous buffer.
* UUIDs: 16 bytes, any spelling that `Uuid.parse` reads, `uuid.UUID`.
* arrays: lists and tuples. The contents of subclasses are used, not their overridden methods.
"""

from __future__ import annotations

import operator
import struct
import sys
from collections.abc import Callable
from typing import Any, Final

from kwire.codec.plan import Op
from kwire.codec.uuids import Uuid

__all__ = [
    "COMPARED", "INTEGER_NAMES", "LONGEST_TEXT", "MOST_BYTES", "Refusal", "bytes_of", "flag_of", "float_bytes", "integer_of", "items_of",
    "kind_of", "packed", "text_of", "value_bytes", "varint",
]  # fmt: skip

LONGEST_TEXT: Final = 0x7FFF
MOST_BYTES: Final = 0x7FFFFFFF  # of a message: a frame says its length as an int32

INTEGER_NAMES: Final[dict[int, str]] = {
    Op.INT8: "int8", Op.INT16: "int16", Op.UINT16: "uint16", Op.INT32: "int32", Op.UINT32: "uint32", Op.INT64: "int64",
}  # fmt: skip
_PACKERS: Final[dict[int, Callable[[int], bytes]]] = {
    Op.INT8: struct.Struct(">b").pack, Op.INT16: struct.Struct(">h").pack, Op.UINT16: struct.Struct(">H").pack,
    Op.INT32: struct.Struct(">i").pack, Op.UINT32: struct.Struct(">I").pack, Op.INT64: struct.Struct(">q").pack,
}  # fmt: skip
_DOUBLE: Final = struct.Struct(">d")
_SHOWN_BITS: Final = 128  # of an int that is shown as it is


class Refusal(Exception):
    """Error for a value that cannot be written: the reason and the path steps, innermost first."""

    def __init__(self, reason: str, *steps: str | int) -> None:
        super().__init__()
        self.reason = reason
        self.steps = list(steps)


def kind_of(value: object) -> str:
    """Return the type name of a value for errors; never the value, which may be secret."""
    return "None" if value is None else type(value).__qualname__


def _not(wanted: str, value: object) -> Refusal:
    if value is None:
        return Refusal("null is not allowed")
    return Refusal(f"expected {wanted}, got {kind_of(value)}")


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def integer_of(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise _not("an int", value) from None


def packed(code: int, value: Any) -> bytes:
    number = integer_of(value)
    try:
        return _PACKERS[code](number)
    except struct.error:
        shown = str(int(number)) if number.bit_length() <= _SHOWN_BITS else f"an int of {number.bit_length()} bits"
        raise Refusal(f"{shown} does not fit into an {INTEGER_NAMES[code]}".replace("an uint", "a uint")) from None


def float_bytes(value: Any) -> bytes:
    try:
        return _DOUBLE.pack(value)
    except struct.error:
        if isinstance(value, int):
            raise Refusal("the number does not fit into a float64") from None
        raise _not("a float", value) from None


def float_of(value: Any) -> float:
    """Return the value read back after writing; bytes distinguish -0.0 from 0.0."""
    made: float = _DOUBLE.unpack(float_bytes(value))[0]
    return made


def flag_of(value: Any) -> int:
    if value is True or value is False:
        return int(value)
    if isinstance(value, int) and (number := operator.index(value)) in (0, 1):
        return number
    numpy = sys.modules.get("numpy")  # who has one of its bools has loaded it
    if numpy is not None and isinstance(value, numpy.bool_):
        return int(value)
    raise _not("a bool", value)


def text_of(value: Any) -> bytes:
    if not isinstance(value, str):
        raise _not("text (str)", value)
    try:
        text = str.encode(value)
    except UnicodeEncodeError:
        raise Refusal("the text holds half of a surrogate pair, which UTF-8 cannot write") from None
    if len(text) > LONGEST_TEXT:
        raise Refusal(f"the text has {len(text)} bytes of UTF-8, more than {LONGEST_TEXT}")
    return text


def bytes_of(value: Any) -> bytes:
    if type(value) is bytes:
        return value
    try:
        view = memoryview(value)
    except TypeError:
        raise _not("bytes or another buffer", value) from None
    except (BufferError, ValueError):
        raise Refusal("the buffer cannot be read") from None
    with view:
        if not view.c_contiguous:
            raise Refusal("the buffer is not contiguous")
        if view.nbytes > MOST_BYTES:
            raise Refusal(f"the buffer has {view.nbytes} bytes, more than {MOST_BYTES}")
        return view.tobytes()


def uuid_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        try:
            return Uuid.parse(value)
        except ValueError:
            raise Refusal("invalid UUID") from None
    standard = sys.modules.get("uuid")  # who has a `uuid.UUID` has loaded its module; loading it costs milliseconds
    if standard is not None and isinstance(value, standard.UUID):
        value = value.bytes
    try:
        content = bytes_of(value)
    except Refusal as refusal:
        raise refusal if value is None else _not("a UUID (16 bytes or text)", value) from None
    if len(content) != 16:
        raise Refusal(f"a UUID has 16 bytes, not {len(content)}")
    return content


def items_of(value: Any) -> Any:
    """Return the elements of an array as a list or tuple that other threads cannot change."""
    if isinstance(value, list):
        return list.__getitem__(value, slice(None))
    if isinstance(value, tuple):
        return tuple.__getitem__(value, slice(None))
    raise _not("a list or tuple", value)


_WRITERS: Final[dict[int, Callable[[Any], bytes]]] = {
    Op.BOOL: lambda value: b"\x01" if flag_of(value) else b"\x00", Op.FLOAT64: float_bytes, Op.UUID: uuid_bytes, Op.STRING: text_of,
    Op.BYTES: bytes_of,
}  # fmt: skip


def value_bytes(code: int, value: Any) -> bytes:
    """Write a value of a scalar `Op`, without a length."""
    return packed(code, value) if code in INTEGER_NAMES else _WRITERS[code](value)


# What makes values of a scalar type that is no integer comparable, by the name of the type.
COMPARED: Final[dict[str, Callable[[Any], Any]]] = {
    "bool": flag_of, "float64": float_of, "string": text_of, "uuid": uuid_bytes, "bytes": bytes_of, "records": bytes_of,
}  # fmt: skip
