"""Messages from plain dicts and lists, accepting exactly what Kafka's JsonConverter classes accept.

Untagged fields of the version are required; others get their default if missing and are read if given. Unknown keys are ignored. Null is
accepted if any version of the field is nullable; the encoder checks the version. Integers are numbers or their text (``"12"``, ``"0x0c"``).
`bytes` and records are base64 or bytes objects (binary nodes). A number is accepted if it fits (Jackson's int and long nodes are one here).
Beyond the converters, a missing field is read from its former name.
"""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.layout import SlotLayout, fields_by_name, layouts_of
from kwire.codec.uuids import Uuid
from kwire.errors import EncodeError
from kwire.schema.model import Message, camel_name

__all__ = ["from_json"]

Convert = Callable[[Any], Any]

_MISSING: Final = object()
_BASE64_GROUP: Final = re.compile(r"[\0- ]*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==|\Z)")
_UUID: Final = re.compile(r"[A-Za-z0-9_-]{22}(?:==)?")
_RANGES: Final = {
    "int16": (-(2**15), 2**15 - 1), "uint16": (0, 2**16 - 1), "int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}  # fmt: skip


class _Refused(Exception):
    """Value that the converter rejects; the `steps` of its path are added from the inside out."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.steps: list[str] = []

    def path(self) -> str:
        return "".join(reversed(self.steps)).removeprefix(".")


def _kind(value: Any) -> str:
    """Describe a JSON value without its content."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, Mapping):
        return "an object"
    return "an array" if isinstance(value, list | tuple) else f"a Python {type(value).__name__}"


def _wrong(expected: str, value: Any) -> _Refused:
    return _Refused(f"expected {expected}, got {_kind(value)}")


def _integer_of(kind: str) -> Convert:
    lowest, highest = _RANGES[kind]

    def convert(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong("an integer", value)
        number = int(value)
        if not lowest <= number <= highest:
            raise _Refused(f"{number} is outside {kind}" if abs(number) < 2**64 else f"the number is outside {kind}")
        return number

    return convert


_int32: Final = _integer_of("int32")


def _int8(value: Any) -> int:
    """Convert like MessageUtil.jsonNodeToByte, which accepts 128 to 256 and lowers them by 128 (200 becomes 72, 256 becomes -128)."""
    number: int = _int32(value)
    if number > 127:
        if number > 256:
            raise _Refused(f"{number} is outside int8")
        number = number - 128 if number < 256 else -128
    elif number < -128:
        raise _Refused(f"{number} is outside int8")
    return number


def _boolean(value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    raise _wrong("a boolean", value)


def _float64(value: Any) -> float:
    if isinstance(value, float):
        return value
    raise _wrong("a number with a fraction or an exponent", value) if isinstance(value, int) else _wrong("a number", value)


def _string(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise _wrong("a string", value)


def _uuid(value: Any) -> Uuid:
    if not isinstance(value, str):
        raise _wrong("a UUID as a string", value)
    if not _UUID.fullmatch(value):
        raise _Refused("the string is not a UUID: 22 characters of base64url")
    return Uuid(urlsafe_b64decode(value[:22] + "=="))


def _binary(value: Any) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if not isinstance(value, str):
        raise _wrong("base64 in a string", value)
    if not len(value) % 4:  # Python takes "AAAA=" too
        try:
            return b64decode(value, validate=True)
        except ValueError:
            pass
    # Jackson takes white space before every group of four, and goes on after a padded one.
    made, pos = bytearray(), 0
    while pos < len(value):
        group = _BASE64_GROUP.match(value, pos)
        if group is None:
            raise _Refused("the string is not base64")
        made += b64decode(group[1])
        pos = group.end()
    return bytes(made)


_SCALARS: Final[dict[str, Convert]] = {
    "bool": _boolean, "int8": _int8, "float64": _float64, "string": _string, "uuid": _uuid, "bytes": _binary, "records": _binary,
    "int32": _int32, **{kind: _integer_of(kind) for kind in ("int16", "uint16", "uint32", "int64")},
}  # fmt: skip


def _array_of(element: Convert, scalars: bool) -> Convert:
    def convert(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise _wrong("an array", value)
        made: list[Any] = []
        try:
            for each in value:
                made.append(element(each))
        except _Refused as refused:
            refused.steps.append(f"[{len(made)}]")
            raise
        return tuple(made) if scalars else made

    return convert


def _or_null(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


class _Reader:
    def __init__(self, message: Message, version: int, classes: tuple[type, ...]) -> None:
        self.message = message
        self.version = version
        layouts = layouts_of(message)
        self.slots: dict[str, tuple[SlotLayout, ...]] = {layout.name: layout.slots for layout in layouts}
        self.classes = {layout.name: kind for layout, kind in zip(layouts, classes, strict=True)}
        self.made: dict[str, Convert] = {}

    def struct(self, name: str) -> Convert:
        found = self.made.get(name)
        if found is None:
            found = self.made[name] = self._struct(name)
        return found

    def _struct(self, name: str) -> Convert:
        struct, version, make = self.message.structs[name], self.version, self.classes[name]
        if version not in struct.versions:

            def refuse(value: Any) -> Any:
                raise _Refused(f"version {version} has no {name}")

            return refuse
        steps: list[tuple[str, str, Convert, bool]] = []
        for field, slot in zip(struct.fields, self.slots[name], strict=True):
            convert = self.struct(field.element_type) if field.is_struct else _SCALARS[field.element_type]
            if field.is_array:
                convert = _array_of(convert, not field.is_struct)
            if field.nullable_versions:
                convert = _or_null(convert)
            steps.append((slot.attribute, slot.json_name, convert, version in field.versions and version not in field.tagged_versions))

        by_name = fields_by_name([field for field in struct.fields if version in field.versions], version, camel_name)
        renamed = [(former, key) for former, field in by_name.items() if (key := camel_name(field.name)) != former]

        def read(value: Any) -> Any:
            if not isinstance(value, Mapping):
                raise _wrong("an object", value)
            for former, key in renamed:
                if former in value and key not in value:
                    value = {key if name == former else name: held for name, held in value.items()}
            values: dict[str, Any] = {}
            for attribute, key, convert, mandatory in steps:
                given = value.get(key, _MISSING)
                try:
                    if given is not _MISSING:
                        values[attribute] = convert(given)
                    elif mandatory:
                        raise _Refused(f"{key!r} is missing, and version {version} must have it")
                except _Refused as refused:
                    refused.steps.append(f".{attribute}")
                    raise
            return make(**values)

        return read


@lru_cache(maxsize=2048)
def _reader(source: CompiledCatalog, name: str, version: int) -> Convert:
    source.plan(name, version)  # for what it raises
    message = source.message(name)
    return _Reader(message, version, source.classes(name)).struct(message.name)


def from_json(name: str, obj: Any, version: int, *, source: CompiledCatalog | None = None) -> Any:
    """Create a message from the JSON of Kafka's JsonConverter classes: ``from_json("MetadataRequest", {"topics": None}, 4)``.

    Arguments:
        name: name of the message.
        obj: dicts and lists, as from `json.loads` and `to_json`.
        version: version of the JSON.
        source: catalog of the message; the built-in one by default.

    Raises:
        EncodeError: a field is missing, or Kafka's `JsonConverter.read` rejects a value; the error has the path.
        UnsupportedVersion: the message has no such version.
        KwireError: no such message.
    """
    try:
        return _reader(source or compiled(), name, version)(obj)
    except _Refused as refused:
        error = EncodeError(refused.reason, path=refused.path(), message=name, api_version=version)
    raise error
