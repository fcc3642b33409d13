"""Reads a message as far as its bytes go: bodies that snaplen or a gap has cut, or that break a rule further down.

What was whole is given. Fields come in the order of the wire, so all before the fault are set, and the field in which the fault lies is not
(reading it raises AttributeError, as for a field outside a projection), but for what can be given in part:

* an array holds its whole elements, once its count was read; the last one may be a struct that was cut, if a field of it was whole;
* a struct holds its fields that were whole;
* fields that the version does not have hold their defaults, tagged ones only behind a whole tagged section; unknown tags those before the
  fault.

The error's path leads to the fault: ``topics[2].partitions[5].leader_id`` says that topic 2 and its partition 5 are not whole, and that all
before them is. Counts are not held against the bytes left, as they are elsewhere; an array ends where its bytes end.

Cut bodies are few, so there is one reader for both twins, and it makes the objects of either.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final

from kwire.codec._pure.primitives import MAX_LENGTH, Break, Buffer, as_buffer, join_path, read_length, read_varint
from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.layout import Default
from kwire.codec.plan import FIXED_SIZE, Flag, Op, Operation, Plan
from kwire.codec.uuids import Uuid
from kwire.errors import Fault, WireError, wire_error

__all__ = ["PrefixReader", "decode_prefix"]

_FORMATS: Final[dict[int, str]] = {
    Op.BOOL: ">?", Op.INT8: ">b", Op.INT16: ">h", Op.UINT16: ">H", Op.INT32: ">i", Op.UINT32: ">I", Op.INT64: ">q", Op.FLOAT64: ">d",
}  # fmt: skip
_UNKNOWN: Final = "unknown_tagged_fields"


class _Reading:
    """One message being read.

    Arguments:
        plan: what to read.
        classes: of its layouts.
        data: the bytes; `pos` is where reading is.
        errors: how text that is not UTF-8 is treated.
    """

    def __init__(self, plan: Plan, classes: tuple[Any, ...], data: Buffer, pos: int, errors: str) -> None:
        self.plan = plan
        self.classes = classes
        self.data = data
        self.pos = pos
        self.end = len(data)
        self.errors = errors

    def new(self, block: int) -> Any:
        """An object with what the wire never says at this version."""
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
        """Read the fields of a struct."""
        found = self.plan.blocks[block]
        for number in range(found.first, found.first + found.untagged):
            self._field(target, self.plan.attribute(block, number), self.plan.operation(number))
        if self.plan.flexible:
            self._tags(target, block)
            self._fill_absent(target, block, tagged=True)

    def _started(self, target: Any, block: int) -> bool:
        """Whether a field that is on the wire was whole, or part of one."""
        found = self.plan.blocks[block]
        numbers = range(found.first, found.first + found.untagged + found.tagged)
        return any(hasattr(target, self.plan.attribute(block, number)) for number in numbers)

    def _tags(self, target: Any, block: int) -> None:
        found = self.plan.blocks[block]
        first = found.first + found.untagged
        known = {self.plan.operation(number).tag: number for number in range(first, first + found.tagged)}
        at = self.pos
        count, self.pos = read_varint(self.data, at, self.end)
        if count > MAX_LENGTH:
            raise Break(Fault.BAD_LENGTH, at)
        for _ in range(count):  # each takes two bytes at least, or ends the reading
            at = self.pos
            tag, size_at = read_varint(self.data, at, self.end)
            size, self.pos = read_varint(self.data, size_at, self.end)
            if size > MAX_LENGTH:
                raise Break(Fault.BAD_LENGTH, size_at)
            stop = self.pos + size
            if tag in found.refused_tags and stop <= self.end:
                raise Break(Fault.BAD_TAG, at)
            if tag in known:
                self._field(target, self.plan.attribute(block, known[tag]), self.plan.operation(known[tag]))
                if self.pos != stop:
                    raise Break(Fault.BAD_TAG, at)
                continue
            if stop > self.end:
                raise Break(Fault.TRUNCATED, self.pos)
            setattr(target, _UNKNOWN, (*getattr(target, _UNKNOWN), (tag, bytes(self.data[self.pos : stop]))))
            self.pos = stop

    def _field(self, target: Any, name: str, operation: Operation) -> None:
        keeps = not operation.flags & Flag.SKIP
        parts: list[Any] = []  # what there is of the value, should a fault end it
        try:
            value = self._value(operation, parts)
        except Break as fault:
            if keeps and parts:
                setattr(target, name, parts[0])
            fault.steps.append(name)
            raise
        if keeps:
            setattr(target, name, value)

    def _value(self, operation: Operation, parts: list[Any]) -> Any:
        compact = bool(operation.flags & Flag.COMPACT)
        nullable = bool(operation.flags & Flag.NULLABLE)
        if operation.code == Op.ARRAY:
            return self._array(operation, compact, nullable, parts)
        if operation.code != Op.STRUCT:
            return self._scalar(operation.code, compact, nullable)
        if nullable and self._is_null(compact):
            return None
        value = self.new(operation.block)
        try:
            self.fill(value, operation.block)
        except Break:
            if self._started(value, operation.block):
                parts.append(value)
            raise
        return value

    def _is_null(self, compact: bool) -> bool:
        if compact:
            marker, self.pos = read_length(self.data, self.pos, self.end, 0)
            return marker < 0
        marker, self.pos = self._fixed(Op.INT8)
        return bool(marker < 0)

    def _array(self, operation: Operation, compact: bool, nullable: bool, parts: list[Any]) -> Any:
        at = self.pos
        count, self.pos = read_length(self.data, at, self.end, 0 if compact else 4)
        if count < 0:
            if not nullable:
                raise Break(Fault.NULL_NOT_ALLOWED, at)
            return None
        values: list[Any] = []
        index = 0
        # One more than can be whole is tried: it finds the place of the cut. A count says nothing about memory.
        tried = min(count, (self.end - self.pos) // operation.minimum + 1)
        try:
            while index < tried:
                self._element(operation, compact, values)
                index += 1
        except Break as fault:
            parts.append(values if operation.element == Op.STRUCT else tuple(values))
            fault.steps.append(index)
            raise
        if len(values) < count:
            parts.append(values if operation.element == Op.STRUCT else tuple(values))
            raise Break(Fault.TRUNCATED, at)
        return values if operation.element == Op.STRUCT else tuple(values)

    def _element(self, operation: Operation, compact: bool, values: list[Any]) -> None:
        if operation.element != Op.STRUCT:
            values.append(self._scalar(operation.element, compact, False))
            return
        value = self.new(operation.block)
        try:
            self.fill(value, operation.block)
        except Break:
            if self._started(value, operation.block):
                values.append(value)
            raise
        values.append(value)

    def _fixed(self, code: int) -> tuple[Any, int]:
        stop = self.pos + FIXED_SIZE[code]
        if stop > self.end:
            raise Break(Fault.TRUNCATED, self.pos)
        if code == Op.UUID:
            return Uuid(self.data[self.pos : stop]), stop
        return struct.unpack_from(_FORMATS[code], self.data, self.pos)[0], stop

    def _scalar(self, code: int, compact: bool, nullable: bool) -> Any:
        if code in FIXED_SIZE:
            value, self.pos = self._fixed(code)
            return value
        at = self.pos
        length, begin = read_length(self.data, at, self.end, 0 if compact else 2 if code == Op.STRING else 4)
        if length < 0:
            if not nullable:
                raise Break(Fault.NULL_NOT_ALLOWED, at)
            self.pos = begin
            return None
        stop = begin + length
        if stop > self.end:
            raise Break(Fault.TRUNCATED, begin)
        self.pos = stop
        if code == Op.BYTES:
            return bytes(self.data[begin:stop])
        try:
            return str(self.data[begin:stop], "utf-8", self.errors)
        except UnicodeDecodeError:
            raise Break(Fault.BAD_UTF8, begin) from None


class PrefixReader:
    """Reads messages of a catalog as far as they go.

    Arguments:
        source: the compiled catalog.
    """

    def __init__(self, source: CompiledCatalog) -> None:
        self._source = source

    def decode_prefix(
        self, name: str, data: Any, version: int, *, offset: int = 0, fields: Sequence[str] | None = None, strict: bool = True
    ) -> tuple[Any, WireError | None]:
        """Decode one message as far as its bytes go; see the module for what a cut one holds.

        Arguments:
            name: name of the message.
            data: what there is of it; any contiguous buffer.
            version: the version it is in.
            offset: where it begins, in bytes.
            fields: paths of the fields to decode; the others are stepped over.
            strict: text that is not UTF-8 is a fault; else it is replaced, as Java's readers do.

        Returns:
            The message, and what ended the reading, with its place, or None. Bytes left over are an error too; the message is whole then.

        Raises:
            KwireError: no such message, or a path names no field of it.
            UnsupportedVersion: the message has no such version.
        """
        decoder = self._source.decoder(name, version, fields)
        plan: Plan = decoder.plan
        try:
            return decoder.decode_whole(data, offset, not strict), None
        except WireError as error:
            if error.code is Fault.TRAILING_BYTES:
                return decoder.decode(data, offset, not strict)[0], error
        reading = _Reading(plan, self._source.classes(name), as_buffer(data), offset, "strict" if strict else "replace")
        message = reading.new(0)
        try:
            reading.fill(message, 0)
        except Break as fault:
            return message, wire_error(fault.code, fault.offset, join_path(fault.steps), plan.message, plan.api_key, plan.version)
        raise AssertionError(f"{name} v{version} can be read, although the decoder refused it")


_PREFIXES: Final = PrefixReader(compiled())

decode_prefix: Final = _PREFIXES.decode_prefix
