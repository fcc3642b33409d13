"""Bodies of a request log as messages: the same attributes that a decoded frame has, so that the same rules read both.

JSON bodies have Kafka's own field names; text forms have those of their time, which differ from release to release: `FORMER_NAMES` leads
from them to today's. Only the fields that are asked for are built.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from functools import cache, cached_property, partial
from types import SimpleNamespace
from typing import Any, Final, NoReturn

from kwire.capture.request_log_body_source import Kind, WantedField, reader_of
from kwire.capture.request_log_entry import UnreadableLine
from kwire.capture.request_log_json import parse_json
from kwire.capture.request_log_short_way import short_bodies
from kwire.codec.classes import compiled
from kwire.codec.layout import Default, SlotLayout
from kwire.codec.plan import Flag, Op, Operation, Plan
from kwire.codec.uuids import Uuid

__all__ = ["BodyFault", "read_body", "short_reader"]

# Names of former releases, without underscores and in small letters, and what they may be called today; the first that a struct has counts.
FORMER_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "apiversions": ("apikeys",),
    "coordinatorkey": ("key",),
    "coordinatortype": ("keytype",),
    "createtopicrequests": ("topics",),
    "groupids": ("groups",),
    "groupgenerationid": ("generationidormemberepoch", "generationid"),
    "groupprotocols": ("protocols",),
    "isr": ("isrnodes",),
    "leader": ("leaderid",),
    "maxwaittime": ("maxwaitms",),
    "name": ("topic", "topicname"),
    "partition": ("partitionindex", "index"),
    "partitionerrorcode": ("errorcode",),
    "partitionid": ("partitionindex",),
    "partitionmetadata": ("partitions",),
    "partitionresponses": ("partitions",),
    "partitions": ("partitionindexes", "partitionstates"),
    "partitionstates": ("ungroupedpartitionstates",),
    "replicas": ("replicanodes",),
    "requiredacks": ("acks",),
    "responses": ("topics", "results"),
    "timeout": ("timeoutms",),
    "topic": ("name", "topicname"),
    "topicerrorcode": ("errorcode",),
    "topicerrorcodes": ("responses", "topics"),
    "topicerrors": ("topics", "responses", "results"),
    "topicmetadata": ("topics",),
    "topics": ("topicnames", "topicdata", "v3andbelowtopics"),
    "transactionalid": ("v3andbelowtransactionalid",),
    "producerid": ("v3andbelowproducerid",),
}
# Structs of former releases whose fields stand in the struct around them today.
_OPENED: Final = frozenset(("coordinator", "partition_header"))

_INTEGER_BITS: Final = {
    Op.INT8: (8, True), Op.INT16: (16, True), Op.UINT16: (16, False), Op.INT32: (32, True), Op.UINT32: (32, False), Op.INT64: (64, True),
}  # fmt: skip
_KINDS: Final[dict[int, Kind]] = {Op.STRING: "string", Op.BOOL: "boolean", Op.UUID: "uuid", Op.FLOAT64: "float"}

Convert = Callable[[Any], Any]


class BodyFault(ValueError):
    """A body that is not what its api and version say; the text is one clause."""


def read_body(name: str, version: int, fields: tuple[str, ...] | None, body: dict[str, Any] | bytes, exact: bool) -> Any:
    """Make a message of a body.

    Args:
        name: of the message, `MetadataRequest`.
        version: one of its versions.
        fields: a projection, as for the codec; None for the whole message.
        body: as the log has it; as bytes it is the text of a JSON object.
        exact: what the body leaves out is at its default. Else it is not known, and the message lacks the attribute.

    Returns:
        The message, fields as attributes, structs as objects of the same kind.

    Raises:
        BodyFault: a value has the wrong type or does not fit its field.
    """
    reader = _reader(name, version, fields)
    if isinstance(body, bytes):
        short = short_reader(name, version, fields)
        found = None if short is None else short(body)
        if found is not None:
            return found
        try:
            return reader.exact(parse_json(body.decode("utf-8", "replace")))
        except UnreadableLine as error:  # a number of thousands of digits, which the short way stepped over
            raise BodyFault(str(error)) from error
    return reader.exact(body) if exact else reader.read(body, False)


@cache
def short_reader(name: str, version: int, fields: tuple[str, ...] | None) -> Callable[[bytes], Any] | None:
    """The reader by types of the text of a JSON object, whose None is for what only `read_body` can read; None without msgspec.

    Arguments are those of `read_body`.
    """
    typed = short_bodies()
    return None if typed is None else typed.body_reader(_reader(name, version, fields).struct)


@cache
def _reader(name: str, version: int, fields: tuple[str, ...] | None) -> _StructReader:
    return _StructReader(compiled().plan(name, version, fields), 0)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


class _StructReader:
    """Reads the structs of one block of a plan."""

    def __init__(self, plan: Plan, index: int) -> None:
        self._plan = plan
        block = plan.blocks[index]
        slots = plan.layouts[block.layout].slots
        self._by_name: dict[str, tuple[str, Convert] | None] = {}
        self._never_null: set[Convert] = set()
        self._constants: dict[str, Any] = {}
        self._makers: list[tuple[str, Callable[[], Any]]] = []
        self._texts: str | None = None  # where a release wrote the bare name of what is a struct today
        wanted: list[WantedField] = []
        for number in range(block.first, block.first + block.untagged + block.tagged):
            operation = plan.operation(number)
            slot = slots[operation.slot]
            skipped = bool(operation.flags & Flag.SKIP)
            convert = self._convert(operation, slot)
            if operation.code in _INTEGER_BITS or operation.code == Op.UUID:
                self._never_null.add(convert)
            self._by_name[_plain(slot.attribute)] = None if skipped else (slot.attribute, convert)
            if operation.flags & Flag.RECORDS and not skipped:  # brokers log how many bytes, never which
                size = _integer(32, True, f"{slot.json_name}SizeInBytes")
                self._by_name[f"{_plain(slot.attribute)}sizeinbytes"] = (f"{slot.attribute}_size", size)
            if not skipped:
                tagged = number >= block.first + block.untagged
                if operation.code == Op.ARRAY and operation.element == Op.STRUCT:
                    later = _Later(plan, operation.block)
                    wanted.append(_wanted(operation, slot, later, tagged)._replace(kind="structs", inner=later.struct, many=False))
                else:
                    wanted.append(_wanted(operation, slot, convert, tagged))
                if slot.default == Default.CONSTANT:
                    self._constants[slot.attribute] = slot.value
                else:
                    self._makers.append((slot.attribute, list if slot.default == Default.LIST else _struct_maker(convert)))
                if operation.code == Op.STRING and self._texts is None:
                    self._texts = slot.attribute
        for former, todays in FORMER_NAMES.items():
            found = next((today for today in todays if today in self._by_name), None)
            if found is not None and former not in self._by_name:
                self._by_name[former] = self._by_name[found]
        self._known: dict[str, tuple[str, Convert] | None] = {}
        self.exact = reader_of(wanted, self.element)
        self._wanted = wanted

    @cached_property
    def struct(self) -> Any:
        """What the short way reads."""
        typed = short_bodies()
        return None if typed is None else typed.struct_of(self._wanted)

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
        """An element of an array, or a struct inside: of those every field is there."""
        if isinstance(value, str) and self._texts is not None:
            value = {self._texts: value}
        if not isinstance(value, dict):
            raise BodyFault(f"a {type(value).__name__} stands where {self._plan.message} has a struct")
        return self.read(value, True)

    def _fill(self, values: dict[str, Any], body: dict[str, Any]) -> None:
        known = self._known
        for name, value in body.items():
            if name not in known:
                if name in _OPENED and isinstance(value, dict):
                    self._fill(values, value)
                    continue
                if len(known) > 512:  # names that somebody makes up
                    known.clear()
                known[name] = self._by_name.get(_plain(name))
            field = known[name]
            if field is not None:
                values[field[0]] = None if value is None and field[1] not in self._never_null else field[1](value)

    def _convert(self, operation: Operation, slot: SlotLayout) -> Convert:
        if operation.code == Op.STRUCT:
            return _Later(self._plan, operation.block)
        if operation.code == Op.ARRAY:
            if operation.element == Op.STRUCT:
                return _array(_Later(self._plan, operation.block), slot, False)
            return _array(_scalar(operation.element, slot), slot, True)
        return _scalar(operation.code, slot)


class _Later:
    """The reader of an inner block, made when it is first needed."""

    __slots__ = ("_index", "_made", "_plan")

    def __init__(self, plan: Plan, index: int) -> None:
        self._plan = plan
        self._index = index
        self._made: _StructReader | None = None

    @property
    def reader(self) -> _StructReader:
        if self._made is None:
            self._made = _StructReader(self._plan, self._index)
        return self._made

    def __call__(self, value: Any) -> Any:
        return self.reader.exact(value)

    def struct(self) -> Any:
        return self.reader.struct


def _wanted(operation: Operation, slot: SlotLayout, convert: Convert, tagged: bool) -> WantedField:
    """What the short ways have to know of a field."""
    many = operation.code == Op.ARRAY
    code = Op(operation.element if many else operation.code)
    kind: Kind = "integer" if code in _INTEGER_BITS else _KINDS.get(code, "bytes")
    bounds = _bounds(*_INTEGER_BITS[code]) if code in _INTEGER_BITS else None
    name, attribute = slot.json_name, slot.attribute
    beside: tuple[tuple[str, Any], ...] = ()
    if operation.flags & Flag.RECORDS:
        name, attribute, beside = f"{name}SizeInBytes", f"{attribute}_size", ((attribute, slot.value),)
        convert, kind, bounds = _integer(32, True, name), "integer", _bounds(32, True)
    inner: Callable[[], Any] | None = None
    if isinstance(convert, _Later):
        kind, inner = "struct", convert.struct
    absent: Callable[[], Any] | None = None
    if tagged and slot.default == Default.CONSTANT:
        absent = partial(_itself, slot.value)
    elif tagged:
        absent = list if slot.default == Default.LIST else _struct_maker(convert)
    return WantedField(name, attribute, kind, convert, bounds, absent, beside, inner, many)


def _itself(value: Any) -> Any:
    return value


def _bounds(bits: int, signed: bool) -> tuple[int, int]:
    return (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)


def _array(element: Convert, slot: SlotLayout, scalar: bool) -> Convert:
    def convert(value: Any) -> Any:
        if not isinstance(value, list):
            raise BodyFault(f"{slot.json_name} is no list")
        found = [element(each) for each in value]
        return tuple(found) if scalar else found

    return convert


def _struct_maker(convert: Convert) -> Callable[[], Any]:
    return lambda: convert({})


def _scalar(code: int, slot: SlotLayout) -> Convert:
    if code in _INTEGER_BITS:
        return _integer(*_INTEGER_BITS[Op(code)], slot.json_name)
    if code == Op.STRING:
        return lambda value: value if isinstance(value, str) else _refuse(slot.json_name, value)
    if code == Op.BOOL:
        return lambda value: value if isinstance(value, bool) else value == "true"
    if code == Op.UUID:
        return lambda value: _uuid(slot.json_name, value)
    if code == Op.FLOAT64:
        return lambda value: float(value) if isinstance(value, (int, float)) else None
    return _bytes


def _integer(bits: int, signed: bool, name: str) -> Convert:
    low, high = _bounds(bits, signed)

    def convert(value: Any) -> int:
        if type(value) is int and low <= value < high:
            return value
        if isinstance(value, str):
            try:
                value = int(value)
            except ValueError:
                _refuse(name, value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value < high:
            _refuse(name, value)
        return value

    return convert


def _uuid(name: str, value: Any) -> Any:
    try:
        return Uuid.parse(value) if isinstance(value, str) else _refuse(name, value)
    except ValueError:
        _refuse(name, value)


def _bytes(value: Any) -> bytes | None:
    """JSON has bytes in base64; text forms say no more than how many, and what was blanked out is no base64."""
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else None
    except (binascii.Error, ValueError):
        return None


def _refuse(name: str, value: Any) -> NoReturn:
    raise BodyFault(f"{name} cannot be {str(value)[:40]!a}")
