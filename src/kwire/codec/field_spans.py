"""Where the fields of a message lie in its bytes: one walk by the plan, nothing built, as far as the bytes can be read.

The walk reads as the decoders do (negative lengths are null, text is not looked at), so what it steps over is what they step over. It tells
every string, every run of bytes and every unknown tagged field; numbers have no interest of their own. Where it meets a fault it stops, and
says up to which byte the message was understood, the length or marker that is at fault included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from kwire.codec._pure.primitives import MAX_LENGTH, Break, Buffer, read_length, read_varint
from kwire.codec.plan import FIXED_SIZE, WIDTH, Flag, Op, Operation, Plan
from kwire.errors import Fault

__all__ = ["UNKNOWN_TAG", "FieldWalker", "Scopes", "SpanReading", "Visit"]

UNKNOWN_TAG: Final = "unknown_tagged_fields"
"""Last step of the path of a tagged field that no version defines."""

_LONGEST_VARINT: Final = 5

Scopes = list[dict[str, tuple[int, int]]]
"""Strings that were met in the structs around a field, the outermost first: attribute -> where its text begins and ends."""

Visit = Callable[[tuple[str, ...], int, int, Scopes], None]
"""Told of each string, bytes field and unknown tagged field: path of attributes without indexes, begin and end of the content, scopes."""


class SpanReading(NamedTuple):
    """How far the walk came.

    Attributes:
        end: up to where the message was understood.
        fault: what stopped the walk, None when the message was whole.
    """

    end: int
    fault: Fault | None


class FieldWalker:
    """Walks messages of one plan.

    Arguments:
        plan: of the message at its version, without a projection.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        operations = [plan.operation(number) for number in range(len(plan.ops) // WIDTH)]
        # by block: its untagged fields in order, and its tagged ones by tag, each with its attribute
        self.fields: list[list[tuple[Operation, str]]] = []
        self.tagged: list[dict[int, tuple[Operation, str]]] = []
        for index, block in enumerate(plan.blocks):
            named = [(operations[at], plan.attribute(index, at)) for at in range(block.first, block.first + block.untagged + block.tagged)]
            self.fields.append(named[: block.untagged])
            self.tagged.append({operation.tag: (operation, name) for operation, name in named[block.untagged :]})

    def walk(self, data: Buffer, offset: int, visit: Visit, *, whole: bool = True) -> SpanReading:
        """Tell where the strings and bytes of a message lie; never raises for what the bytes are.

        Arguments:
            data: the bytes.
            offset: where the message begins.
            visit: see `Visit`.
            whole: the bytes end where the message does; else its end was cut off.
        """
        walk = _Walk(self, data, offset, visit, whole)
        try:
            walk.struct(0, ())
        except Break as fault:
            return SpanReading(walk.pos, fault.code)
        return SpanReading(walk.pos, None)


class _Walk:
    """One message being walked over; `pos` is up to where it was understood, also when a `Break` ends it."""

    def __init__(self, walker: FieldWalker, data: Buffer, pos: int, visit: Visit, whole: bool) -> None:
        self.walker = walker
        self.data = data
        self.pos = pos
        self.end = len(data)
        self.visit = visit
        self.whole = whole
        self.scopes: Scopes = []

    def struct(self, block: int, path: tuple[str, ...]) -> None:
        self.scopes.append({})
        for operation, name in self.walker.fields[block]:
            self.field(operation, (*path, name))
        if self.walker.plan.flexible:
            self.tags(block, path)
        self.scopes.pop()

    def tags(self, block: int, path: tuple[str, ...]) -> None:
        known, refused = self.walker.tagged[block], self.walker.plan.blocks[block].refused_tags
        for _ in range(self.varint()):  # each takes two bytes at least, or ends the walk
            tag = self.varint()
            stop = self.varint() + self.pos
            if tag in refused and stop <= self.end:
                raise Break(Fault.BAD_TAG, self.pos)
            if tag in known:
                operation, name = known[tag]
                self.field(operation, (*path, name))
                if self.pos != stop:
                    raise Break(Fault.BAD_TAG, self.pos)
            else:
                self.content((*path, UNKNOWN_TAG), stop - self.pos)

    def content(self, path: tuple[str, ...], size: int) -> None:
        stop = self.pos + size
        if stop > self.end:
            # what there is of it may be as secret as the whole
            raise Break(Fault.TRUNCATED, self.pos)
        self.scopes[-1][path[-1]] = (self.pos, stop)
        self.visit(path, self.pos, stop, self.scopes)
        self.pos = stop

    def varint(self) -> int:
        try:
            value, self.pos = read_varint(self.data, self.pos, self.end)
        except Break:
            self.pos = min(self.pos + _LONGEST_VARINT, self.end)
            raise
        if value > MAX_LENGTH:
            raise Break(Fault.BAD_LENGTH, self.pos)
        return value

    def length(self, width: int, nullable: bool) -> int:
        """A length or count, -1 for null."""
        try:
            value, self.pos = read_length(self.data, self.pos, self.end, width)
        except Break:
            self.pos = min(self.pos + (width or _LONGEST_VARINT), self.end)
            raise
        if value < 0 and not nullable:
            raise Break(Fault.NULL_NOT_ALLOWED, self.pos)
        return value

    def fixed(self, size: int) -> None:
        if self.pos + size > self.end:
            raise Break(Fault.TRUNCATED, self.pos)
        self.pos += size

    def field(self, operation: Operation, path: tuple[str, ...]) -> None:
        code, compact, nullable = operation.code, bool(operation.flags & Flag.COMPACT), bool(operation.flags & Flag.NULLABLE)
        if code == Op.ARRAY:
            self.array(operation, path, compact, nullable)
        elif code == Op.STRUCT:
            if not (nullable and self.is_null(compact)):
                self.struct(operation.block, path)
        else:
            self.scalar(code, path, compact, nullable)

    def is_null(self, compact: bool) -> bool:
        if compact:
            return self.length(0, True) < 0
        self.fixed(1)
        return self.data[self.pos - 1] > 0x7F

    def array(self, operation: Operation, path: tuple[str, ...], compact: bool, nullable: bool) -> None:
        count = self.length(0 if compact else 4, nullable)
        if self.whole and count * operation.minimum > self.end - self.pos:
            raise Break(Fault.TRUNCATED, self.pos)
        element, size = operation.element, FIXED_SIZE.get(operation.element)
        if size is not None and count * size <= self.end - self.pos:
            self.pos += max(count, 0) * size
            return
        for _ in range(count):
            if element == Op.STRUCT:
                self.struct(operation.block, path)
            else:
                self.scalar(element, path, compact, False)

    def scalar(self, code: int, path: tuple[str, ...], compact: bool, nullable: bool) -> None:
        size = FIXED_SIZE.get(code)
        if size is not None:
            self.fixed(size)
            return
        length = self.length(0 if compact else 2 if code == Op.STRING else 4, nullable)
        if length >= 0:
            self.content(path, length)
