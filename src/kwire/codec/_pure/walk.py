"""Walks over bytes by a plan, which define reading exactly.

An *exact* walk ends at the first fault, including a count too large for the remaining bytes; it reports the faults of bytes that generated
readers reject. A *partial* walk (`kwire.codec.prefix`) reads up to the end of the data. Both record anomalies that Java's readers ignore.
"""

from __future__ import annotations

import struct
from itertools import islice
from typing import Any, Final, NamedTuple

from kwire.codec._pure.primitives import MAX_LENGTH, Break, Buffer, read_length, read_varint
from kwire.codec.layout import Default
from kwire.codec.plan import FIXED_SIZE, FORMATS, Flag, Op, Operation, Plan
from kwire.codec.uuids import Uuid
from kwire.codec.written_values import LONGEST_TEXT
from kwire.errors import Fault

__all__ = ["Anomaly", "Walk"]

_FORMATS: Final = {code: f">{letter}" for code, letter in FORMATS.items()}
_UNKNOWN: Final = "unknown_tagged_fields"
_NO_LIMIT: Final = 1 << 62
MOST_TAGS: Final = 8  # that an anomaly names
# As plain numbers: the flags of an enumeration cost more than all else that is done for a field.
_NULLABLE, _COMPACT, _SKIP = int(Flag.NULLABLE), int(Flag.COMPACT), int(Flag.SKIP)
_ARRAY, _STRUCT, _STRING, _BYTES, _UUID = int(Op.ARRAY), int(Op.STRUCT), int(Op.STRING), int(Op.BYTES), int(Op.UUID)


_Named = tuple[str, Operation]  # a field: its attribute, a step of an error's path, and how to read it
_Fields = tuple[list[_Named], dict[int, _Named]]  # of a struct: the untagged ones, the tagged ones by tag

# What plans spell as numbers, by block, as far as walks have met it; bytes that are odd come in swarms.
_MET: dict[tuple[Any, ...], tuple[Plan, dict[int, _Fields]]] = {}
MOST_MET: Final = 256


def _blocks_of(plan: Plan) -> dict[int, _Fields]:
    key = plan.message, plan.version, plan.fields
    met = _MET.get(key)
    if met is None or met[0] is not plan:  # another catalog may have a message of this name
        if len(_MET) >= MOST_MET:
            _MET.clear()
        met = _MET[key] = plan, {}
    return met[1]


class Anomaly(NamedTuple):
    """Unusual bytes that readers accept: `negative_length`, `tags_out_of_order` with up to 8 tags, or `tag_repeated`."""

    kind: str
    offset: int
    value: Any


class _TagOrder:
    """Tags of one section; records the first out of order and the first repeated one."""

    def __init__(self) -> None:
        self._seen: dict[int, None] = {}  # in the order in which they came
        self._last = -1
        self._noted: set[str] = set()

    def note(self, tag: int, at: int) -> list[Anomaly]:
        odd: list[Anomaly] = []
        kind = "tag_repeated" if tag in self._seen else "tags_out_of_order" if tag < self._last else ""
        if kind and kind not in self._noted:
            self._noted.add(kind)
            odd.append(Anomaly(kind, at, tag if kind == "tag_repeated" else (*islice(self._seen, MOST_TAGS - 1), tag)))
        self._seen[tag] = None
        self._last = tag
        return odd


class Walk:
    """One message being read.

    Arguments:
        limit: latest end of a partial walk's message. A length beyond it is `BAD_LENGTH`, as no following bytes could satisfy it; one
            beyond the data is `TRUNCATED`.
    """

    def __init__(
        self,
        plan: Plan,
        classes: tuple[Any, ...],
        data: Buffer,
        pos: int,
        errors: str,
        partial: bool = False,
        limit: int | None = None,
        views: bool = False,
    ) -> None:
        self.plan = plan
        self.classes = classes
        self.data = data
        self.pos = pos
        self.end = len(data)
        self.errors = errors
        self.partial = partial
        self.views = views
        self.limit = _NO_LIMIT if limit is None else limit
        self.anomalies: list[Anomaly] = []
        self.counts: dict[str, int] = {}  # array counts on the wire in a partial walk, by attribute of the outermost arrays
        self._blocks = _blocks_of(plan)

    def _fields_of(self, block: int) -> _Fields:
        fields = self._blocks.get(block)
        if fields is None:
            found, plan = self.plan.blocks[block], self.plan
            numbers = range(found.first, found.first + found.untagged + found.tagged)
            named = [(plan.attribute(block, number), plan.operation(number)) for number in numbers]
            fields = self._blocks[block] = named[: found.untagged], {field[1].tag: field for field in named[found.untagged :]}
        return fields

    def new(self, block: int) -> Any:
        """Return an object with the defaults of fields that this version lacks."""
        found = self.plan.blocks[block]
        kind = self.classes[found.layout]
        target = kind.__new__(kind)
        setattr(target, _UNKNOWN, ())
        self._fill_absent(target, block, tagged=False)
        return target

    def _fill_absent(self, target: Any, block: int, tagged: bool) -> None:
        found = self.plan.blocks[block]
        slots = self.plan.layouts[found.layout].slots
        for absent in found.absent:
            name = slots[absent.slot].attribute
            if absent.tagged == tagged and not hasattr(target, name):
                made = [] if absent.default == Default.LIST else absent.value
                setattr(target, name, self.classes[absent.value]() if absent.default == Default.STRUCT else made)

    def fill(self, target: Any, block: int) -> None:
        """Read the fields of a struct; `target` None steps over it."""
        for name, operation in self._fields_of(block)[0]:
            self._field(target, name, operation)
        if self.plan.flexible:
            self._tags(target, block)
            if target is not None:
                self._fill_absent(target, block, tagged=True)

    def _take(self, size: int) -> tuple[int, int]:
        """Step over bytes; return their bounds."""
        begin, stop = self.pos, self.pos + size
        if stop > self.end:
            raise Break(Fault.TRUNCATED if stop <= self.limit else Fault.BAD_LENGTH, begin)
        self.pos = stop
        return begin, stop

    def _length(self, width: int) -> int:
        at = self.pos
        length, self.pos = read_length(self.data, at, self.end, width)
        if width and length < 0 and (given := int.from_bytes(self.data[at : self.pos], "big", signed=True)) < -1:
            self.anomalies.append(Anomaly("negative_length", at, given))
        return length

    def _varint(self) -> int:
        """Read a number of tags or the size of one."""
        at = self.pos
        value, self.pos = read_varint(self.data, at, self.end)
        if value > MAX_LENGTH:
            raise Break(Fault.BAD_LENGTH, at)
        return value

    def _tags(self, target: Any, block: int) -> None:
        if self.pos < self.end and self.data[self.pos] == 0:
            self.pos += 1
            return
        known, refused = self._fields_of(block)[1], self.plan.blocks[block].refused_tags
        at = self.pos
        count = self._varint()
        if not self.partial and count * 2 > self.end - self.pos:
            raise Break(Fault.TRUNCATED, at)
        seen = _TagOrder()
        unknown: list[tuple[int, bytes]] = []
        try:
            for _ in range(count):  # each takes two bytes at least, or ends the reading
                at = self.pos
                tag, self.pos = read_varint(self.data, at, self.end)
                size = self._varint()
                self.anomalies += seen.note(tag, at)
                stop = self.pos + size
                if stop > self.end and (tag not in known or not self.partial):
                    self._take(size)
                if tag in known:
                    self._field(target, *known[tag])
                    if self.pos != stop:
                        raise Break(Fault.BAD_TAG, at)
                elif tag in refused:
                    raise Break(Fault.BAD_TAG, at)
                elif target is not None:
                    unknown.append((tag, bytes(self.data[self.pos : stop])))
                self.pos = stop
        finally:
            if unknown:
                setattr(target, _UNKNOWN, tuple(unknown))

    def _field(self, target: Any, name: str, operation: Operation) -> None:
        build = target is not None and not operation.flags & _SKIP
        parts: list[Any] = []  # what there is of the value, should a fault end it
        code, flags = operation.code, operation.flags
        try:
            if code == _ARRAY:
                value = self._array(operation, bool(flags & _COMPACT), bool(flags & _NULLABLE), build, parts)
            elif code == _STRUCT:
                value = self._struct(operation, build, parts)
            else:
                value = self._scalar(code, bool(flags & _COMPACT), bool(flags & _NULLABLE), build)
        except Break as fault:
            if build and parts:
                setattr(target, name, parts[0])
                if code == _ARRAY and len(parts) > 1:
                    self.counts[name] = parts[1]
            fault.steps.append(name)
            raise
        if build:
            setattr(target, name, value)

    def _struct(self, operation: Operation, build: bool, parts: list[Any]) -> Any:
        if operation.flags & _NULLABLE and self._is_null(bool(operation.flags & _COMPACT)):
            return None
        value = self.new(operation.block) if build else None
        parts.append(value)
        self.fill(value, operation.block)
        return value

    def _is_null(self, compact: bool) -> bool:
        """Read a struct's null marker: Kafka writes ff (null) or 01, its readers check only the sign."""
        if compact:
            return self._length(0) < 0
        return self.data[self._take(1)[0]] > 0x7F

    def _array(self, operation: Operation, compact: bool, nullable: bool, build: bool, parts: list[Any]) -> Any:
        at = self.pos
        count = self._length(0 if compact else 4)
        if count < 0:
            if not nullable:
                raise Break(Fault.NULL_NOT_ALLOWED, at)
            return None
        if count * operation.minimum > (self.limit if self.partial else self.end) - self.pos:
            raise Break(Fault.BAD_LENGTH if self.partial else Fault.TRUNCATED, at)
        values: list[Any] = []
        parts += (values, count)
        index = 0
        # One more than can be whole is tried: it finds the place of the cut. A count says nothing about memory.
        tried = min(count, (self.end - self.pos) // operation.minimum + 1)
        try:
            while index < tried:
                self._element(operation, compact, build, values)
                index += 1
            if tried < count:  # elements of no bytes at all
                raise Break(Fault.TRUNCATED, at)
        except Break as fault:
            if index < tried:
                fault.steps.append(index)
            parts[0] = values if operation.element == _STRUCT else tuple(values)
            raise
        return values if operation.element == _STRUCT else tuple(values)

    def _element(self, operation: Operation, compact: bool, build: bool, values: list[Any]) -> None:
        if operation.element == _STRUCT:
            value = self.new(operation.block) if build else None
            if build:
                values.append(value)
            self.fill(value, operation.block)
        else:
            value = self._scalar(operation.element, compact, False, build)  # Kafka has no nulls in arrays of strings or bytes
            if build:
                values.append(value)

    def _scalar(self, code: int, compact: bool, nullable: bool, build: bool) -> Any:
        if code in FIXED_SIZE:
            begin, stop = self._take(FIXED_SIZE[code])
            return Uuid(self.data[begin:stop]) if code == _UUID else struct.unpack_from(_FORMATS[code], self.data, begin)[0]
        at = self.pos
        length = self._length(0 if compact else 2 if code == _STRING else 4)
        if length < 0:
            if not nullable:
                raise Break(Fault.NULL_NOT_ALLOWED, at)
            return None
        if code == _STRING and length > LONGEST_TEXT:
            raise Break(Fault.BAD_LENGTH, at)
        begin, stop = self._take(length)
        if not build:
            return None
        if code == _BYTES:
            return self.data[begin:stop] if self.views else bytes(self.data[begin:stop])
        try:
            return str(self.data[begin:stop], "utf-8", self.errors)
        except UnicodeDecodeError:
            raise Break(Fault.BAD_UTF8, begin) from None
