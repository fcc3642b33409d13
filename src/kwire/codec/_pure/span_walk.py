"""Walk that finds the places of a marking's leaves in the bytes of a message, and the tagged fields around them.

It reads like a decoder with a projection on the leaves, and stops at the same faults. A walk that *lists* accepts invalid bytes: it also
finds tagged fields that no version defines, does not check text, and returns the end of the readable part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from kwire.codec._pure.primitives import MAX_LENGTH, Break, Buffer, join_path, read_length, read_varint
from kwire.codec._pure.readers import FALLBACK_ERRORS, Reader, make_reader
from kwire.codec.plan import FIXED_SIZE, Flag, Op
from kwire.codec.splice_plan import Leaf, Marking
from kwire.codec.written_values import LONGEST_TEXT
from kwire.errors import Fault, raise_for, wire_error

__all__ = ["ArraySpan", "Element", "MarkedPlan", "Place", "Section", "SpanWalk", "walk_over"]

# As plain numbers: the members of an enumeration cost more than all else that is done for a field.
_ARRAY, _STRUCT, _STRING = int(Op.ARRAY), int(Op.STRUCT), int(Op.STRING)
_LONGEST_VARINT: Final = 5
_MOST_TAG: Final = 0xFFFFFFFF
_UNKNOWN_TAG: Final = Leaf(-1, int(Op.BYTES), False, False, -1, -1)


class Place(NamedTuple):
    """Place of a value: offsets of its length (`begin`), of its content, and of the next byte; a null has no content.

    `section` and `element` are the innermost ones around it, as indexes of the walk's lists, -1 for none.
    """

    leaf: Leaf
    begin: int
    content: int
    stop: int
    null: bool
    section: int
    steps: tuple[str | int, ...]
    element: int = -1


@dataclass(slots=True)
class ArraySpan:
    """Array whose elements are recorded; `begin` and `stop` are the bounds of its count, `dropped` is the number of dropped elements."""

    begin: int
    stop: int
    count: int
    compact: bool
    section: int
    element: int
    dropped: int = 0


@dataclass(slots=True)
class Element:
    """Element of such an array."""

    array: ArraySpan
    begin: int
    stop: int
    is_dropped: bool = False


@dataclass(slots=True)
class Section:
    """Tagged field around leaves: the place of its size, and the growth of its content."""

    begin: int
    stop: int
    size: int
    parent: int
    delta: int = 0


class _Field(NamedTuple):
    name: str
    code: int
    compact: bool
    nullable: bool
    leaf: Leaf | None
    into: bool  # leaves are in it
    element: int
    block: int
    minimum: int
    notes: bool = False  # its elements are written down


class _Struct(NamedTuple):
    """Block of a plan; `registers` are cleared at its beginning, `rules` applied at its end."""

    untagged: tuple[_Field, ...]
    tagged: dict[int, _Field]
    refused: tuple[int, ...]
    registers: tuple[int, ...]
    rules: tuple[tuple[int, tuple[int, ...]], ...]


class MarkedPlan:
    """Marking, prepared for walks."""

    def __init__(self, marking: Marking) -> None:
        self.marking = marking
        self.flexible = marking.plan.flexible
        leaves = {leaf.operation: leaf for leaf in marking.leaves}
        self.structs = tuple(self._struct(number, leaves) for number in range(len(marking.plan.blocks)))
        self._steppers: dict[int, Reader] = {}  # made when first asked for

    def stepper(self, block: int) -> Reader:
        """Return the reader that skips structs of a block without leaves."""
        found = self._steppers.get(block)
        if found is None:
            plan = self.marking.plan
            found = make_reader(plan._replace(blocks=(plan.blocks[block], *plan.blocks[1:])), (), False, True)
            self._steppers[block] = found
        return found

    def _struct(self, block: int, leaves: dict[int, Leaf]) -> _Struct:
        marking, found = self.marking, self.marking.plan.blocks[block]
        first, tagged = found.first, found.first + found.untagged
        return _Struct(
            tuple(self._field(block, number, leaves) for number in range(first, tagged)),
            {marking.plan.operation(number).tag: self._field(block, number, leaves) for number in range(tagged, tagged + found.tagged)},
            found.refused_tags,
            tuple(register for register, owner in enumerate(marking.owners) if owner == block),
            tuple((number, (*rule.reads, *rule.writes)) for number, rule in enumerate(marking.rules) if rule.block == block),
        )

    def _field(self, block: int, number: int, leaves: dict[int, Leaf]) -> _Field:
        operation = self.marking.plan.operation(number)
        into = not operation.flags & Flag.SKIP
        return _Field(
            self.marking.plan.attribute(block, number),
            int(operation.code),
            bool(operation.flags & Flag.COMPACT),
            bool(operation.flags & Flag.NULLABLE),
            leaves.get(number) if into else None,
            into,
            int(operation.element),
            operation.block,
            operation.minimum,
            number in self.marking.elements,
        )


class SpanWalk:
    """Walk over one message; with `cut`, the bytes end before the message does.

    `found` has (-1, (place,)) for a single; for a rule it has its number and the places that it reads and writes. Outer elements come
    first.
    """

    def __init__(self, marked: MarkedPlan, data: Buffer, pos: int, *, lists: bool = False, cut: bool = False) -> None:
        self.marked = marked
        self.data = data
        self.pos = pos
        self.end = len(data)
        self.lists = lists
        self.cut = cut
        self.steps: list[str | int] = []
        self.section = -1
        self.sections: list[Section] = []
        self.element = -1
        self.elements: list[Element] = []
        self.registers: list[Place | None] = [None] * len(marked.marking.registers)
        self.found: list[tuple[int, tuple[Place | None, ...]]] = []

    def struct(self, block: int) -> None:
        struct = self.marked.structs[block]
        for register in struct.registers:
            self.registers[register] = None
        for field in struct.untagged:
            self.field(field)
        if self.marked.flexible:
            self.tags(struct)
        for number, registers in struct.rules:
            self.found.append((number, tuple(None if each < 0 else self.registers[each] for each in registers)))

    def tags(self, struct: _Struct) -> None:
        at = self.pos
        count = self.varint()
        if not self.cut and count * 2 > self.end - self.pos:
            raise Break(Fault.TRUNCATED, at)
        for _ in range(count):
            at = self.pos
            tag = self.varint(most=_MOST_TAG)
            size_at = self.pos
            size = self.varint()
            size_stop = self.pos
            stop = self.pos + size
            field = struct.tagged.get(tag)
            if stop > self.end and (field is None or not self.cut):
                raise Break(Fault.TRUNCATED, self.pos)
            if tag in struct.refused:
                raise Break(Fault.BAD_TAG, at)
            if field is None:
                if self.lists:
                    self.found.append((-1, (Place(_UNKNOWN_TAG, at, self.pos, stop, False, self.section, ()),)))
                self.pos = stop
                continue
            outer = self.section
            if field.into:
                self.section = len(self.sections)
                self.sections.append(Section(size_at, size_stop, size, outer))
            self.field(field)
            self.section = outer
            if self.pos != stop:
                raise Break(Fault.BAD_TAG, at)

    def field(self, field: _Field) -> None:
        self.steps.append(field.name)
        try:
            if field.code == _ARRAY:
                self.array(field)
            elif field.code != _STRUCT:
                self.value(field.code, field.compact, field.nullable, field.leaf)
            elif not (field.nullable and self.is_null(field.compact)):
                self.struct(field.block)
        except Break as fault:
            fault.steps.append(field.name)
            raise
        self.steps.pop()

    def array(self, field: _Field) -> None:
        at = self.pos
        count = self.length(0 if field.compact else 4, field.nullable)
        if not self.cut and count * field.minimum > self.end - self.pos:
            raise Break(Fault.TRUNCATED, at)
        size = FIXED_SIZE.get(field.element, 0)
        if size and field.leaf is None and count > 0:
            self.pos += count * size
            if self.pos > self.end:
                self.pos = self.end
                raise Break(Fault.TRUNCATED, at)
            return
        if self.cut:
            count = min(count, (self.end - self.pos) // field.minimum + 1)  # a count says nothing about bytes that are not there
        # what steps over a struct keeps no unknown tags
        if not field.into and field.element == _STRUCT and count > 0 and not (self.lists and self.marked.flexible):
            try:
                _, pos = self.marked.stepper(field.block)(self.data, self.pos, self.end, count)
            except FALLBACK_ERRORS:
                pass  # said by the walk
            else:
                if pos <= self.end:
                    self.pos = pos
                    return
        outer = self.element
        span = ArraySpan(at, self.pos, count, field.compact, self.section, outer) if field.notes else None
        self.steps.append(0)
        for index in range(count):
            self.steps[-1] = index
            if span is not None:
                self.element = len(self.elements)
                self.elements.append(Element(span, self.pos, self.pos))
            try:
                if field.element == _STRUCT:
                    self.struct(field.block)
                else:
                    self.value(field.element, field.compact, False, field.leaf)
            except Break as fault:
                fault.steps.append(index)
                raise
            if span is not None:
                self.elements[self.element].stop = self.pos
        self.element = outer
        self.steps.pop()

    def value(self, code: int, compact: bool, nullable: bool, leaf: Leaf | None) -> None:
        begin = self.pos
        size = FIXED_SIZE.get(code)
        if size is None:
            size = self.length(0 if compact else 2 if code == _STRING else 4, nullable)
            if code == _STRING and size > LONGEST_TEXT:
                raise Break(Fault.BAD_LENGTH, begin)
        content = self.pos
        stop = content + max(size, 0)
        if stop > self.end:
            if code in FIXED_SIZE:  # no number is secret
                self.pos = self.end
            raise Break(Fault.TRUNCATED, content)
        self.pos = stop
        if leaf is None:
            return
        if code == _STRING and not self.lists:
            try:
                str(self.data[content:stop], "utf-8")
            except UnicodeDecodeError:
                raise Break(Fault.BAD_UTF8, content) from None
        place = Place(leaf, begin, content, stop, size < 0, self.section, tuple(self.steps), self.element)
        if leaf.single >= 0:
            self.found.append((-1, (place,)))
        if leaf.register >= 0:
            self.registers[leaf.register] = place

    def length(self, width: int, nullable: bool) -> int:
        at = self.pos
        try:
            length, self.pos = read_length(self.data, at, self.end, width)
        except Break:
            self.pos = min(at + (width or _LONGEST_VARINT), self.end)
            raise
        if length < 0 and not nullable:
            raise Break(Fault.NULL_NOT_ALLOWED, at)
        return length

    def varint(self, most: int = MAX_LENGTH) -> int:
        at = self.pos
        try:
            value, self.pos = read_varint(self.data, at, self.end)
        except Break:
            self.pos = min(at + _LONGEST_VARINT, self.end)
            raise
        if value > most:
            raise Break(Fault.BAD_LENGTH, at)
        return value

    def is_null(self, compact: bool) -> bool:
        if compact:
            return self.length(0, True) < 0
        if self.pos >= self.end:
            raise Break(Fault.TRUNCATED, self.pos)
        self.pos += 1
        return self.data[self.pos - 1] > 0x7F


def walk_over(marked: MarkedPlan, data: Buffer, offset: int, strict: bool = True) -> SpanWalk:
    """Walk over a message; with `strict`, reject trailing bytes."""
    plan = marked.marking.plan
    walk = SpanWalk(marked, data, offset)
    try:
        walk.struct(0)
    except Break as fault:
        error = wire_error(fault.code, fault.offset, join_path(fault.steps), plan.message, plan.api_key, plan.version)
    else:
        if strict and walk.pos != walk.end:
            raise_for(Fault.TRAILING_BYTES, walk.pos, "", plan.message, plan.api_key, plan.version)
        return walk
    raise error
