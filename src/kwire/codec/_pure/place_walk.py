"""The walk that finds places: where the leaves of a marking lie in the bytes of a message, and which tagged fields are around them.

It reads as the decoders do with a projection on the leaves, and breaks where they do.
"""

from __future__ import annotations

from typing import NamedTuple

from kwire.codec._pure.primitives import MAX_LENGTH, Break, Buffer, join_path, read_length, read_varint
from kwire.codec.plan import FIXED_SIZE, Flag, Op, Operation
from kwire.codec.splice_plan import Leaf, Marking
from kwire.errors import Fault, raise_for, wire_error

__all__ = ["Place", "PlaceWalk", "Section", "walk_over"]


class Place(NamedTuple):
    """A value in the bytes.

    Attributes:
        leaf: what it is.
        begin, content, stop: where its length begins, its content, and what follows; a null has no content.
        null: it is null.
        section: tagged field around it, an index of `PlaceWalk.sections`, -1 where there is none.
        steps: attributes and indexes on the way, the outermost first.
    """

    leaf: Leaf
    begin: int
    content: int
    stop: int
    null: bool
    section: int
    steps: tuple[str | int, ...]


class Section:
    """A tagged field that was walked into: where its size is, and by how much its content grows."""

    __slots__ = ("begin", "delta", "parent", "size", "stop")

    def __init__(self, begin: int, stop: int, size: int, parent: int) -> None:
        self.begin = begin
        self.stop = stop
        self.size = size
        self.parent = parent
        self.delta = 0


class PlaceWalk:
    """One message being walked over: `singles` and `applied` are what the walk finds, in its order."""

    def __init__(self, marking: Marking, data: Buffer, pos: int) -> None:
        self.plan = marking.plan
        self.marking = marking
        self.leaves = {leaf.operation: leaf for leaf in marking.leaves}
        self.data = data
        self.pos = pos
        self.end = len(data)
        self.steps: list[str | int] = []
        self.section = -1
        self.sections: list[Section] = []
        self.registers: list[Place | None] = [None] * len(marking.registers)
        self.found: list[tuple[int, tuple[Place | None, ...]]] = []  # a place of a single: (-1, (place,)); a rule: its number and places

    def struct(self, block: int) -> None:
        plan, found = self.plan, self.plan.blocks[block]
        for register, owner in enumerate(self.marking.owners):
            if owner == block:
                self.registers[register] = None
        for number in range(found.first, found.first + found.untagged):
            self.field(block, number)
        if plan.flexible:
            self.tags(block)
        for number, rule in enumerate(self.marking.rules):
            if rule.block == block:
                places = tuple(None if each < 0 else self.registers[each] for each in (*rule.reads, *rule.writes))
                self.found.append((number, places))

    def tags(self, block: int) -> None:
        found = self.plan.blocks[block]
        first = found.first + found.untagged
        known = {self.plan.operation(number).tag: number for number in range(first, first + found.tagged)}
        at = self.pos
        count = self.varint()
        if count * 2 > self.end - self.pos:
            raise Break(Fault.TRUNCATED, at)
        for _ in range(count):
            at = self.pos
            tag, self.pos = read_varint(self.data, at, self.end)
            size_at = self.pos
            size = self.varint()
            size_stop = self.pos
            stop = self.pos + size
            if stop > self.end:
                raise Break(Fault.TRUNCATED, self.pos)
            if tag in found.refused_tags:
                raise Break(Fault.BAD_TAG, at)
            if tag not in known:
                self.pos = stop
                continue
            if self.plan.operation(known[tag]).flags & Flag.SKIP:
                self.field(block, known[tag])
            else:
                outer, self.section = self.section, len(self.sections)
                self.sections.append(Section(size_at, size_stop, size, outer))
                self.field(block, known[tag])
                self.section = outer
            if self.pos != stop:
                raise Break(Fault.BAD_TAG, at)

    def field(self, block: int, number: int) -> None:
        operation = self.plan.operation(number)
        name = self.plan.attribute(block, number)
        self.steps.append(name)
        try:
            leaf = None if operation.flags & Flag.SKIP else self.leaves.get(number)
            compact, nullable = bool(operation.flags & Flag.COMPACT), bool(operation.flags & Flag.NULLABLE)
            if operation.code == Op.ARRAY:
                self.array(operation, leaf, compact, nullable)
            elif operation.code != Op.STRUCT:
                self.value(operation.code, compact, nullable, leaf)
            elif not (nullable and self.is_null(compact)):
                self.struct(operation.block)
        except Break as fault:
            fault.steps.append(name)
            raise
        self.steps.pop()

    def array(self, operation: Operation, leaf: Leaf | None, compact: bool, nullable: bool) -> None:
        at = self.pos
        count = self.length(0 if compact else 4, nullable)
        if count * operation.minimum > self.end - self.pos:
            raise Break(Fault.TRUNCATED, at)
        self.steps.append(0)
        for index in range(count):
            self.steps[-1] = index
            try:
                if operation.element == Op.STRUCT:
                    self.struct(operation.block)
                else:
                    self.value(operation.element, compact, False, leaf)
            except Break as fault:
                fault.steps.append(index)
                raise
        self.steps.pop()

    def value(self, code: int, compact: bool, nullable: bool, leaf: Leaf | None) -> None:
        begin = self.pos
        size = FIXED_SIZE.get(code)
        if size is None:
            size = self.length(0 if compact else 2 if code == Op.STRING else 4, nullable)
        content = self.pos
        stop = content + max(size, 0)
        if stop > self.end:
            raise Break(Fault.TRUNCATED, content)
        self.pos = stop
        if leaf is None:
            return
        if code == Op.STRING:
            try:
                str(self.data[content:stop], "utf-8")
            except UnicodeDecodeError:
                raise Break(Fault.BAD_UTF8, content) from None
        place = Place(leaf, begin, content, stop, size < 0, self.section, tuple(self.steps))
        if leaf.single >= 0:
            self.found.append((-1, (place,)))
        if leaf.register >= 0:
            self.registers[leaf.register] = place

    def length(self, width: int, nullable: bool) -> int:
        at = self.pos
        length, self.pos = read_length(self.data, at, self.end, width)
        if length < 0 and not nullable:
            raise Break(Fault.NULL_NOT_ALLOWED, at)
        return length

    def varint(self) -> int:
        at = self.pos
        value, self.pos = read_varint(self.data, at, self.end)
        if value > MAX_LENGTH:
            raise Break(Fault.BAD_LENGTH, at)
        return value

    def is_null(self, compact: bool) -> bool:
        """The marker before a struct, as `kwire.codec._pure.walk` reads it."""
        if compact:
            return self.length(0, True) < 0
        if self.pos >= self.end:
            raise Break(Fault.TRUNCATED, self.pos)
        self.pos += 1
        return self.data[self.pos - 1] > 0x7F


def walk_over(marking: Marking, data: Buffer, offset: int) -> PlaceWalk:
    """Walk over a message that ends where the buffer ends."""
    plan = marking.plan
    walk = PlaceWalk(marking, data, offset)
    try:
        walk.struct(0)
    except Break as fault:
        error = wire_error(fault.code, fault.offset, join_path(fault.steps), plan.message, plan.api_key, plan.version)
    else:
        if walk.pos != walk.end:
            raise_for(Fault.TRAILING_BYTES, walk.pos, "", plan.message, plan.api_key, plan.version)
        return walk
    raise error
