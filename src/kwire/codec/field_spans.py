"""Where chosen fields of a message lie in its bytes: one walk by the plan, nothing built, as far as the bytes can be read.

The walk reads as the decoders do (negative lengths are null, text is not looked at), so what it steps over is what they step over. It tells
the strings and bytes that were asked for and every tagged field that no version defines; all else is passed over as fast as may be: fixed
fields that follow each other are one step, so are arrays of them. Where it meets a fault it stops, and says up to which byte the message
was understood, the length or marker that is at fault included.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, NamedTuple

from kwire.codec._pure.primitives import MAX_LENGTH, Break, Buffer, read_length, read_varint
from kwire.codec.impl import backend, load_native
from kwire.codec.plan import FIXED_SIZE, WIDTH, Flag, Op, Operation, Plan
from kwire.errors import Fault

__all__ = ["UNKNOWN_TAG", "FieldWalker", "Scopes", "SpanReading", "Visit"]

UNKNOWN_TAG: Final = "unknown_tagged_fields"
"""Last step of the path of a tagged field that no version defines."""

_LONGEST_VARINT: Final = 5

Path = tuple[str, ...]


def _load() -> ModuleType | None:
    return None if backend == "pure" else load_native("codec", "field_walk", "field walk")


_native: Final = _load()

Scopes = list[dict[str, tuple[int, int]]]
"""Strings that were met in the structs around a field, the outermost first: attribute -> where its text begins and ends."""

Visit = Callable[[Path, int, int, Scopes], None]
"""Told of each field that is wanted and each unknown tagged field: path of attributes without indexes, where it begins and ends, scopes."""

# Steps: (kind, ...)
_SKIP: Final = 0  # bytes
_TEXT: Final = 1  # width of the length, nullable, path or None
_STRUCT: Final = 2  # steps, nullable, compact
_ARRAY: Final = 3  # width, nullable, minimum of an element, bytes of a fixed element or 0, step of an element
_TAGS: Final = 4  # tag -> step, refused tags, path

Step = tuple[Any, ...]


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
        wanted: says of a path whether the string or bytes field there is to be told.
    """

    def __init__(self, plan: Plan, wanted: Callable[[Path], bool]) -> None:
        self._plan = plan
        self._wanted = wanted
        self._operations = [plan.operation(number) for number in range(len(plan.ops) // WIDTH)]
        self._steps = self._struct(0, ())

    def _struct(self, block: int, path: Path) -> tuple[Step, ...]:
        found = self._plan.blocks[block]
        steps: list[Step] = []

        def add(step: Step) -> None:
            if steps and step[0] == steps[-1][0] == _SKIP:
                steps[-1] = (_SKIP, steps[-1][1] + step[1])
            else:
                steps.append(step)

        named = {at: (*path, self._plan.attribute(block, at)) for at in range(found.first, found.first + found.untagged + found.tagged)}
        for at in range(found.first, found.first + found.untagged):
            add(self._step(self._operations[at], named[at]))
        if self._plan.flexible:
            tagged = range(found.first + found.untagged, found.first + found.untagged + found.tagged)
            known = {self._operations[at].tag: self._step(self._operations[at], named[at]) for at in tagged}
            add((_TAGS, known, frozenset(found.refused_tags), (*path, UNKNOWN_TAG)))
        return tuple(steps)

    def _step(self, operation: Operation, path: Path) -> Step:
        code, flags = int(operation.code), int(operation.flags)
        compact, nullable = bool(flags & int(Flag.COMPACT)), bool(flags & int(Flag.NULLABLE))
        if code == Op.STRUCT:
            return (_STRUCT, self._struct(operation.block, path), nullable, compact)
        if code != Op.ARRAY:
            return self._scalar(code, compact, nullable, path)
        if operation.element != Op.STRUCT:
            element = self._scalar(operation.element, compact, False, path)
            fixed = element[1] if element[0] == _SKIP else 0
        else:
            steps = self._struct(operation.block, path)
            element = (_STRUCT, steps, False, False)
            fixed = steps[0][1] if len(steps) == 1 and steps[0][0] == _SKIP else 0
        return (_ARRAY, 0 if compact else 4, nullable, operation.minimum, fixed, element)

    def _scalar(self, code: int, compact: bool, nullable: bool, path: Path) -> Step:
        size = FIXED_SIZE.get(code)
        if size is not None:
            return (_SKIP, size)
        return (_TEXT, 0 if compact else 2 if code == Op.STRING else 4, nullable, path if self._wanted(path) else None)

    def walk(self, data: Buffer, offset: int, visit: Visit, *, whole: bool = True) -> SpanReading:
        """Tell where the fields that are wanted lie; never raises for what the bytes are.

        Arguments:
            data: the bytes.
            offset: where the message begins.
            visit: see `Visit`.
            whole: the bytes end where the message does; else its end was cut off.
        """
        if _native is not None and isinstance(data, bytes):
            return SpanReading(*_native.walk(self._steps, data, offset, visit, whole))
        return self.walk_purely(data, offset, visit, whole=whole)

    def walk_purely(self, data: Buffer, offset: int, visit: Visit, *, whole: bool = True) -> SpanReading:
        """What `walk` does, in Python."""
        walk = _Walk(data, offset, visit, whole)
        try:
            walk.struct(self._steps)
        except Break as fault:
            return SpanReading(walk.pos, fault.code)
        return SpanReading(walk.pos, None)


class _Walk:
    """One message being walked over; `pos` is up to where it was understood, also when a `Break` ends it."""

    def __init__(self, data: Buffer, pos: int, visit: Visit, whole: bool) -> None:
        self.data = data
        self.pos = min(pos, len(data))
        self.end = len(data)
        self.visit = visit
        self.whole = whole
        self.scopes: Scopes = []

    def struct(self, steps: tuple[Step, ...]) -> None:
        self.scopes.append({})
        for step in steps:
            if step[0] == _SKIP and self.pos + step[1] <= self.end:  # the most frequent ones without a call
                self.pos += step[1]
            elif step[0] == _TAGS and self.pos < self.end and self.data[self.pos] == 0:
                self.pos += 1
            else:
                self.step(step)
        self.scopes.pop()

    def step(self, step: Step) -> None:
        kind = step[0]
        if kind == _SKIP:
            self.skip(step[1])
        elif kind == _TEXT:
            length = self.length(step[1], step[2])
            if length >= 0:
                self.content(step[3], length)
        elif kind == _ARRAY:
            self.array(step)
        elif kind == _TAGS:
            self.tags(step)
        elif not (step[2] and self.is_null(step[3])):
            self.struct(step[1])

    def skip(self, size: int) -> None:
        if self.pos + size > self.end:
            if not self.whole:  # several fields may be one step, and those before the cut are read
                self.pos = self.end
            raise Break(Fault.TRUNCATED, self.pos)
        self.pos += size

    def content(self, path: Path | None, size: int) -> None:
        stop = self.pos + size
        if stop > self.end:  # what there is of it may be as secret as the whole
            raise Break(Fault.TRUNCATED, self.pos)
        if path is not None:
            self.scopes[-1][path[-1]] = (self.pos, stop)
            self.visit(path, self.pos, stop, self.scopes)
        self.pos = stop

    def array(self, step: Step) -> None:
        _, width, nullable, minimum, fixed, element = step
        count = self.length(width, nullable)
        if count <= 0:
            return
        if self.whole and count * minimum > self.end - self.pos:
            raise Break(Fault.TRUNCATED, self.pos)
        if fixed:
            self.skip(count * fixed)
        elif element[0] == _STRUCT:
            for _ in range(count):
                self.struct(element[1])
        else:
            for _ in range(count):
                self.step(element)

    def tags(self, step: Step) -> None:
        if self.pos < self.end and self.data[self.pos] == 0:
            self.pos += 1
            return
        _, known, refused, path = step
        for _ in range(self.varint()):  # each takes two bytes at least, or ends the walk
            tag = self.varint()
            stop = self.varint() + self.pos
            if tag in refused and stop <= self.end:
                raise Break(Fault.BAD_TAG, self.pos)
            if tag in known:
                self.step(known[tag])
                if self.pos != stop:
                    raise Break(Fault.BAD_TAG, self.pos)
            else:
                self.content(path, stop - self.pos)

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

    def is_null(self, compact: bool) -> bool:
        if compact:
            return self.length(0, True) < 0
        self.skip(1)
        return self.data[self.pos - 1] > 0x7F
