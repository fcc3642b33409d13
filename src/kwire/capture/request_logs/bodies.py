"""Conversion of request log bodies to messages with the attributes of decoded frames, so that the same rules apply to both.

Logs have the field names of their release; the catalog maps former names to current ones. Only requested fields are built.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any, Final, NoReturn

from kwire.codec.classes import compiled
from kwire.codec.layout import Default, SlotLayout
from kwire.codec.plan import Flag, Op, Operation, Plan
from kwire.codec.uuids import Uuid
from kwire.schema import catalog

__all__ = ["INTEGER_BOUNDS", "RECORDS_SIZE", "BodyFault", "default_struct", "read_body"]

# Structs of former releases whose fields stand in the struct around them today.
_OPENED: Final = frozenset(("coordinator", "partition_header"))


def _bounds(bits: int, signed: bool) -> tuple[int, int]:
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


# Lowest and highest value.
INTEGER_BOUNDS: Final = {
    Op.INT8: _bounds(8, True), Op.INT16: _bounds(16, True), Op.UINT16: _bounds(16, False), Op.INT32: _bounds(32, True),
    Op.UINT32: _bounds(32, False), Op.INT64: _bounds(64, True),
}  # fmt: skip
# Brokers log how many bytes of records there were, never which: the name of that number, and of its attribute, begin with the field's.
RECORDS_SIZE: Final = ("SizeInBytes", "_size")

Convert = Callable[[Any], Any]


class BodyFault(ValueError):
    """A body does not match its api and version; the text is one clause."""


def read_body(name: str, version: int, fields: tuple[str, ...] | None, body: dict[str, Any], exact: bool) -> SimpleNamespace:
    """Convert a body to a message with only the given `fields`.

    If `exact`, missing fields have their defaults; otherwise the message lacks the attribute.

    Raises:
        BodyFault: a value has the wrong type or does not fit its field.
    """
    return _reader(name, version, fields).read(body, exact)


def default_struct(plan: Plan, block: int) -> SimpleNamespace:
    """Create the struct of a plan's block, with defaults for all fields."""
    return _StructReader(plan, block).read({}, True)


@cache
def _reader(name: str, version: int, fields: tuple[str, ...] | None) -> _StructReader:
    return _StructReader(compiled().plan(name, version, fields), 0)


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


class _StructReader:
    def __init__(self, plan: Plan, index: int) -> None:
        self._plan = plan
        block = plan.blocks[index]
        slots = plan.layouts[block.layout].slots
        self._by_name: dict[str, tuple[str, Convert] | None] = {}
        self._never_null: set[Convert] = set()
        self._constants: dict[str, Any] = {}
        self._makers: list[tuple[str, Callable[[], Any]]] = []
        self._own: set[str] = set()  # names of fields, as JSON has them today
        self._texts: str | None = None  # where a release wrote the bare name of what is a struct today
        for number in range(block.first, block.first + block.untagged + block.tagged):
            operation = plan.operation(number)
            slot = slots[operation.slot]
            if operation.flags & Flag.SKIP:
                self._by_name[_bare(slot.attribute)] = None
                continue
            convert = self._convert(operation, slot)
            if operation.code in INTEGER_BOUNDS or operation.code == Op.UUID:
                self._never_null.add(convert)
            self._by_name[_bare(slot.attribute)] = (slot.attribute, convert)
            self._own.add(slot.json_name)
            if operation.flags & Flag.RECORDS:
                name, attribute = (f"{slot.json_name}{RECORDS_SIZE[0]}", f"{slot.attribute}{RECORDS_SIZE[1]}")
                self._by_name[_bare(name)] = (attribute, _integer(Op.INT32, name))
                self._own.add(name)
            if slot.default == Default.CONSTANT:
                self._constants[slot.attribute] = slot.value
            else:
                self._makers.append((slot.attribute, list if slot.default == Default.LIST else _default_maker(convert)))
            if operation.code == Op.STRING and self._texts is None:
                self._texts = slot.attribute
        fields = catalog()[plan.message].structs[plan.layouts[block.layout].name].fields
        for field in fields:
            for former, _ in (*field.former_names, *field.names_in_code) if plan.version in field.versions else ():
                for ending in ("", RECORDS_SIZE[0].lower()):
                    known = self._by_name.get(_bare(field.name) + ending)
                    if known is not None:
                        self._by_name.setdefault(_bare(former) + ending, known)
        self._known: dict[str, tuple[tuple[str, Convert] | None, bool]] = {}

    def read(self, body: dict[str, Any], exact: bool) -> SimpleNamespace:
        message = SimpleNamespace(**self._constants) if exact else SimpleNamespace()
        values = message.__dict__
        self._fill(values, body)
        if exact:
            for attribute, make in self._makers:
                if attribute not in values:
                    values[attribute] = make()
        return message

    def element(self, value: Any) -> SimpleNamespace:
        """Read an array element or a nested struct, which has all fields."""
        if isinstance(value, str) and self._texts is not None:
            value = {self._texts: value}
        if not isinstance(value, dict):
            raise BodyFault(f"a {type(value).__name__} stands where {self._plan.message} has a struct")
        return self.read(value, True)

    def _fill(self, values: dict[str, Any], body: dict[str, Any]) -> None:
        known = self._known
        named: set[str] = set()
        otherwise: list[tuple[tuple[str, Convert], Any]] = []
        for name, value in body.items():
            if name not in known:
                if name in _OPENED and isinstance(value, dict):
                    self._fill(values, value)
                    continue
                if len(known) > 512:  # names that a client makes up
                    known.clear()
                known[name] = (self._by_name.get(_bare(name)), name in self._own)
            field, is_own = known[name]
            if field is None:
                continue
            if is_own:
                named.add(field[0])
                values[field[0]] = self._converted(field[1], value)
            else:
                otherwise.append((field, value))
        for (attribute, convert), value in otherwise:
            if attribute not in named:  # today's name wins, wherever it stands: a damaged line can have both
                values[attribute] = self._converted(convert, value)

    def _converted(self, convert: Convert, value: Any) -> Any:
        return None if value is None and convert not in self._never_null else convert(value)

    def _convert(self, operation: Operation, slot: SlotLayout) -> Convert:
        if operation.code == Op.STRUCT:
            return _StructReader(self._plan, operation.block).element
        if operation.code == Op.ARRAY:
            if operation.element == Op.STRUCT:
                return _array(_StructReader(self._plan, operation.block).element, slot.json_name, list)
            return _array(_scalar(operation.element, slot.json_name), slot.json_name, tuple)
        return _scalar(operation.code, slot.json_name)


def _default_maker(convert: Convert) -> Callable[[], Any]:
    return lambda: convert({})


def _array(element: Convert, name: str, kind: type[list[Any]] | type[tuple[Any, ...]]) -> Convert:
    def convert(value: Any) -> Any:
        if not isinstance(value, list):
            raise BodyFault(f"{name} is not an array")
        return kind(map(element, value))

    return convert


def _scalar(code: int, name: str) -> Convert:
    if code in INTEGER_BOUNDS:
        return _integer(Op(code), name)
    if code == Op.STRING:
        return lambda value: value if isinstance(value, str) else _refuse(name, value)
    if code == Op.BOOL:
        return lambda value: value if isinstance(value, bool) else value == "true"
    if code == Op.UUID:
        return lambda value: _uuid(name, value)
    if code == Op.FLOAT64:
        return lambda value: _double(name, value)
    return _bytes


def _integer(code: Op, name: str) -> Convert:
    low, high = INTEGER_BOUNDS[code]

    def convert(value: Any) -> int:
        if isinstance(value, str):
            try:
                value = int(value)
            except ValueError:
                _refuse(name, value)
        if type(value) is not int or not low <= value <= high:
            _refuse(name, value)
        return value

    return convert


def _double(name: str, value: Any) -> float | None:
    try:
        return float(value) if isinstance(value, (int, float)) else None
    except OverflowError:
        _refuse(name, value)


def _uuid(name: str, value: Any) -> Any:
    try:
        return Uuid.parse(value) if isinstance(value, str) else _refuse(name, value)
    except ValueError:
        _refuse(name, value)


def _bytes(value: Any) -> bytes | None:
    """Read base64; return None for the sizes in text forms and for blanked bytes."""
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else None
    except (binascii.Error, ValueError):
        return None


def _refuse(name: str, value: Any) -> NoReturn:
    raise BodyFault(f"{name} cannot be {str(value)[:40]!a}")
