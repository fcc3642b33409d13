"""Reads a body by its plan step by step: as far as it goes when it was cut, and with an eye on what decoders forgive.

The codec's executors are made to be fast and give nothing for a body that ends too soon. This reader is for the few bodies that deserve
more: those that snaplen or a gap has cut (an ApiVersions response tells ranges up to the cut), and those in which Java's readers pass over
a fault (any negative length is null to them, tags may come in any order).
"""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

from kwire.codec._pure.primitives import Break, read_varint
from kwire.codec.plan import FIXED_SIZE, Flag, Op, Operation, Plan
from kwire.errors import Fault

__all__ = ["CloseReading", "Oddity", "read_closely"]

_FORMATS: Final[dict[int, str]] = {
    Op.BOOL: ">?", Op.INT8: ">b", Op.INT16: ">h", Op.UINT16: ">H", Op.INT32: ">i", Op.UINT32: ">I", Op.INT64: ">q", Op.FLOAT64: ">d",
}  # fmt: skip


class Oddity(NamedTuple):
    """Something that decoders forgive.

    Attributes:
        kind: `negative_length`, `tags_out_of_order` or `tag_repeated`.
        offset: position in the data.
        value: the length; the tag numbers so far; the tag.
    """

    kind: str
    offset: int
    value: Any


class CloseReading(NamedTuple):
    """Attributes:
    message: fields as attributes, structs as objects of the same kind; what lies behind the cut is missing.
    complete: the whole message was read.
    end: where reading ended.
    oddities: what decoders forgive.
    possible: no length or count claims more than the whole message can hold.
    """

    message: SimpleNamespace
    complete: bool
    end: int
    oddities: list[Oddity]
    possible: bool


class _Reader:
    def __init__(self, plan: Plan, data: bytes, pos: int, limit: int) -> None:
        self.plan = plan
        self.data = data
        self.pos = pos
        self.limit = limit
        self.oddities: list[Oddity] = []

    def _take(self, size: int) -> bytes:
        if size > len(self.data) - self.pos:
            raise Break(Fault.TRUNCATED if size <= self.limit - self.pos else Fault.BAD_LENGTH, self.pos)
        self.pos += size
        return self.data[self.pos - size : self.pos]

    def _varint(self) -> int:
        value, self.pos = read_varint(self.data, self.pos, len(self.data))
        return value

    def _length(self, width: int) -> int:
        if not width:
            return self._varint() - 1
        at = self.pos
        length = int.from_bytes(self._take(width), "big", signed=True)
        if length < -1:
            self.oddities.append(Oddity("negative_length", at, length))
        return max(length, -1)

    def fill(self, target: SimpleNamespace, index: int) -> None:
        block = self.plan.blocks[index]
        for number in range(block.first, block.first + block.untagged):
            self._field(target, self.plan.attribute(index, number), self.plan.operation(number))
        if self.plan.flexible:
            numbers = range(block.first + block.untagged, block.first + block.untagged + block.tagged)
            self._tags(target, {self.plan.operation(number).tag: (self.plan.attribute(index, number), number) for number in numbers})

    def _tags(self, target: SimpleNamespace, known: dict[int, tuple[str, int]]) -> None:
        seen: list[int] = []
        for _ in range(self._varint()):
            at = self.pos
            tag, size = self._varint(), self._varint()
            if tag in seen:
                self.oddities.append(Oddity("tag_repeated", at, tag))
            elif seen and tag < seen[-1]:
                self.oddities.append(Oddity("tags_out_of_order", at, [*seen, tag]))
            seen.append(tag)
            if tag in known:
                name, number = known[tag]
                self._field(target, name, self.plan.operation(number))
            else:
                self._take(size)

    def _field(self, target: SimpleNamespace, name: str, operation: Operation) -> None:
        compact = bool(operation.flags & Flag.COMPACT)
        if operation.code == Op.ARRAY:
            count = self._length(0 if compact else 4)
            if count < 0:
                setattr(target, name, None)
                return
            if count * operation.minimum > self.limit - self.pos:
                raise Break(Fault.BAD_LENGTH, self.pos)
            values: list[Any] = []
            setattr(target, name, values)
            for _ in range(count):
                if operation.element == Op.STRUCT:
                    element = SimpleNamespace()
                    values.append(element)
                    self.fill(element, operation.block)
                else:
                    values.append(self._scalar(operation.element, compact))
        elif operation.code == Op.STRUCT:
            if operation.flags & Flag.NULLABLE and self._take(1)[0] > 0x7F:
                setattr(target, name, None)
                return
            inner = SimpleNamespace()
            setattr(target, name, inner)
            self.fill(inner, operation.block)
        else:
            setattr(target, name, self._scalar(operation.code, compact))

    def _scalar(self, code: int, compact: bool) -> Any:
        if code in FIXED_SIZE:
            data = self._take(FIXED_SIZE[code])
            return data if code == Op.UUID else struct.unpack(_FORMATS[code], data)[0]
        width = 0 if compact else 2 if code == Op.STRING else 4
        length = self._length(width)
        if length < 0:
            return None
        data = self._take(length)
        return data.decode("utf-8", "replace") if code == Op.STRING else data


def read_closely(plan: Plan, data: bytes, offset: int = 0, limit: int | None = None) -> CloseReading:
    """Read a message as far as it goes; never raises for what the bytes do.

    Arguments:
        plan: of the message at its version.
        data: the bytes that there are.
        offset: where the message begins.
        limit: where it ends at the latest, when more bytes belong to it than there are; the end of `data` tells nothing then.
    """
    reader = _Reader(plan, data, offset, 1 << 31 if limit is None else limit)
    message = SimpleNamespace()
    try:
        reader.fill(message, 0)
    except Break as fault:
        return CloseReading(message, False, reader.pos, reader.oddities, fault.code is Fault.TRUNCATED)
    return CloseReading(message, True, reader.pos, reader.oddities, True)
