"""The object executor and the skip executor of the pure twin.

A decoder compiles its plan once into nested functions, one per operation, so that nothing is looked up while bytes are read. Two kinds are
made: *parts* fill one object (`fill(target, data, pos, end, errors) -> pos`), *readers* give one value and the position behind it
(`read(data, pos, end, errors)`). The skip executor is the same code with nothing to fill: its readers give None, its parts ignore the
target.

Neighbouring fields of fixed size are read by one `struct` call.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from kwire.codec._pure.primitives import MAX_LENGTH, Break, Buffer, as_buffer, join_path, read_count, read_length, read_varint
from kwire.codec._pure.structs import default_maker, make_classes
from kwire.codec.layout import Default
from kwire.codec.plan import FIXED_SIZE, Block, Flag, Op, Operation, Plan
from kwire.codec.uuids import Uuid
from kwire.errors import Fault, raise_for, wire_error

__all__ = ["OPS", "Decoder", "make_classes"]

# What this twin executes; a test holds it against the other twin's numbers.
OPS: Final = {op.name: op.value for op in Op}

Reader = Callable[[Buffer, int, int, str], tuple[Any, int]]
Part = Callable[[Any, Buffer, int, int, str], int]

_FORMATS: Final[dict[int, str]] = {
    Op.BOOL: "?", Op.INT8: "b", Op.INT16: "h", Op.UINT16: "H", Op.INT32: "i", Op.UINT32: "I", Op.INT64: "q", Op.FLOAT64: "d",
    Op.UUID: "16s",
}  # fmt: skip


def _string_reader(width: int, nullable: bool, build: bool) -> Reader:
    def read(data: Buffer, pos: int, end: int, errors: str) -> tuple[Any, int]:
        length, begin = read_length(data, pos, end, width)
        if length < 0:
            if nullable:
                return None, begin
            raise Break(Fault.NULL_NOT_ALLOWED, pos)
        stop = begin + length
        if stop > end:
            raise Break(Fault.TRUNCATED, begin)
        if not build:
            return None, stop
        try:
            return str(data[begin:stop], "utf-8", errors), stop
        except UnicodeDecodeError:
            raise Break(Fault.BAD_UTF8, begin) from None

    return read


def _bytes_reader(width: int, nullable: bool, build: bool) -> Reader:
    def read(data: Buffer, pos: int, end: int, errors: str) -> tuple[Any, int]:
        length, begin = read_length(data, pos, end, width)
        if length < 0:
            if nullable:
                return None, begin
            raise Break(Fault.NULL_NOT_ALLOWED, pos)
        stop = begin + length
        if stop > end:
            raise Break(Fault.TRUNCATED, begin)
        return bytes(data[begin:stop]) if build else None, stop

    return read


def _fixed_reader(code: int, build: bool) -> Reader:
    whole = struct.Struct(f">{_FORMATS[code]}")
    size, unpack, is_uuid = whole.size, whole.unpack_from, code == Op.UUID

    def read(data: Buffer, pos: int, end: int, errors: str) -> tuple[Any, int]:
        stop = pos + size
        if stop > end:
            raise Break(Fault.TRUNCATED, pos)
        if not build:
            return None, stop
        value = unpack(data, pos)[0]
        return Uuid(value) if is_uuid else value, stop

    return read


def _fixed_array_reader(code: int, width: int, nullable: bool, build: bool) -> Reader:
    size, letter = FIXED_SIZE[code], _FORMATS[code]

    def read(data: Buffer, pos: int, end: int, errors: str) -> tuple[Any, int]:
        count, pos = read_count(data, pos, end, width, size, nullable)
        if count < 0:
            return None, pos
        stop = pos + count * size
        if not build:
            return None, stop
        if code == Op.UUID:
            return tuple(Uuid(data[at : at + 16]) for at in range(pos, stop, 16)), stop
        return struct.unpack_from(f">{count}{letter}", data, pos), stop

    return read


def _array_reader(element: Reader, width: int, minimum: int, nullable: bool, as_tuple: bool, build: bool) -> Reader:
    def read(data: Buffer, pos: int, end: int, errors: str) -> tuple[Any, int]:
        count, pos = read_count(data, pos, end, width, minimum, nullable)
        if count < 0:
            return None, pos
        values = []
        index = 0
        try:
            for index in range(count):  # noqa: B007 - the index is for the fault's path
                value, pos = element(data, pos, end, errors)
                if build:
                    values.append(value)
        except Break as fault:
            fault.steps.append(index)
            raise
        return tuple(values) if as_tuple else values, pos

    return read


def _nullable_struct_reader(inner: Reader, compact: bool) -> Reader:
    if compact:

        def read_tagged(data: Buffer, pos: int, end: int, errors: str) -> tuple[Any, int]:
            marker, begin = read_length(data, pos, end, 0)
            return (None, begin) if marker < 0 else inner(data, begin, end, errors)

        return read_tagged

    def read(data: Buffer, pos: int, end: int, errors: str) -> tuple[Any, int]:
        if pos >= end:
            raise Break(Fault.TRUNCATED, pos)
        # Kafka writes ff for null and 01 for present; its readers look at the sign alone.
        return (None, pos + 1) if data[pos] > 0x7F else inner(data, pos + 1, end, errors)

    return read


def _field_part(name: str, read: Reader, build: bool) -> Part:
    def fill(target: Any, data: Buffer, pos: int, end: int, errors: str) -> int:
        try:
            value, pos = read(data, pos, end, errors)
        except Break as fault:
            fault.steps.append(name)
            raise
        if build:
            setattr(target, name, value)
        return pos

    return fill


def _run_part(fields: list[tuple[str, int, bool]]) -> Part:
    """Neighbouring fields of fixed size, as (name, operation code, whether to build it)."""
    whole = struct.Struct(">" + "".join(_FORMATS[code] if build else f"{FIXED_SIZE[code]}x" for _, code, build in fields))
    size, unpack = whole.size, whole.unpack_from
    plain = tuple(name for name, _, build in fields if build)
    uuids = tuple(name for name, code, build in fields if build and code == Op.UUID)

    def fill(target: Any, data: Buffer, pos: int, end: int, errors: str) -> int:
        stop = pos + size
        if stop > end:
            for name, code, _ in fields:
                if pos + FIXED_SIZE[code] > end:
                    raise Break(Fault.TRUNCATED, pos, name)
                pos += FIXED_SIZE[code]
        for name, value in zip(plain, unpack(data, pos)):  # noqa: B905 - as many as the format has, and the check costs
            setattr(target, name, value)
        for name in uuids:
            setattr(target, name, Uuid(getattr(target, name)))
        return stop

    return fill


def _tagged_part(known: dict[int, Part], refused: frozenset[int], build: bool) -> Part:
    def fill(target: Any, data: Buffer, pos: int, end: int, errors: str) -> int:
        if pos < end and data[pos] == 0:
            return pos + 1
        at = pos
        number, pos = read_varint(data, at, end)
        if number > MAX_LENGTH:
            raise Break(Fault.BAD_LENGTH, at)
        if number * 2 > end - pos:
            raise Break(Fault.TRUNCATED, at)
        unknown = []
        for _ in range(number):
            at = pos
            tag, size_at = read_varint(data, at, end)
            size, pos = read_varint(data, size_at, end)
            if size > MAX_LENGTH:
                raise Break(Fault.BAD_LENGTH, size_at)
            stop = pos + size
            if stop > end:
                raise Break(Fault.TRUNCATED, pos)
            if (part := known.get(tag)) is not None:
                if part(target, data, pos, end, errors) != stop:
                    raise Break(Fault.BAD_TAG, at)
            elif tag in refused:
                raise Break(Fault.BAD_TAG, at)
            elif build:
                unknown.append((tag, bytes(data[pos:stop])))
            pos = stop
        if unknown:
            target.unknown_tagged_fields = tuple(unknown)
        return pos

    return fill


class _Compiler:
    """Turns the operations of a plan into parts and readers, each block once per kind."""

    def __init__(self, plan: Plan, classes: tuple[type, ...]) -> None:
        self.plan = plan
        self.classes = classes
        self.made: dict[tuple[int, bool], Reader] = {}

    def block(self, index: int, build: bool) -> Reader:
        """The reader of a struct; what it gives is an object, or None when `build` is false."""
        key = (index, build)
        if key not in self.made:
            self.made[key] = self._block(self.plan.blocks[index], index, build)
        return self.made[key]

    def _block(self, block: Block, index: int, build: bool) -> Reader:
        parts = self._parts(block, index, build)
        if not build:

            def skip(data: Buffer, pos: int, end: int, errors: str) -> tuple[Any, int]:
                for _, part in parts:
                    pos = part(None, data, pos, end, errors)
                return None, pos

            return skip

        kind: Any = self.classes[block.layout]
        slots = self.plan.layouts[block.layout].slots
        absent = [(slots[each.slot].attribute, each.default, each.value) for each in block.absent]
        constants = (("unknown_tagged_fields", ()), *((name, value) for name, default, value in absent if default == Default.CONSTANT))
        made = tuple(
            (name, list if default == Default.LIST else default_maker(self.classes[value])) for name, default, value in absent if default
        )

        def read(data: Buffer, pos: int, end: int, errors: str) -> tuple[Any, int]:
            target = kind.__new__(kind)
            for name, value in constants:
                setattr(target, name, value)
            name = ""
            try:
                for name, part in parts:
                    if name:
                        value, pos = part(data, pos, end, errors)
                        setattr(target, name, value)
                    else:
                        pos = part(target, data, pos, end, errors)
            except Break as fault:
                if name:
                    fault.steps.append(name)
                raise
            for name, make in made:
                if not hasattr(target, name):  # a tagged field may have filled it
                    setattr(target, name, make())
            return target, pos

        return read

    def _parts(self, block: Block, index: int, build: bool) -> list[tuple[str, Any]]:
        """What a struct is read by, in order: a name and the reader of its value, or no name and a part that fills what it reads itself."""
        parts: list[tuple[str, Any]] = []
        run: list[tuple[str, int, bool]] = []
        for number in range(block.first, block.first + block.untagged):
            operation, name = self.plan.operation(number), self.plan.attribute(index, number)
            wanted = build and not operation.flags & Flag.SKIP
            if operation.code in FIXED_SIZE:
                run.append((name, operation.code, wanted))
                continue
            if run:
                parts.append(("", _run_part(run)))
                run = []
            read = self._reader(operation, wanted)
            parts.append((name, read) if wanted else ("", _field_part(name, read, False)))
        if run:
            parts.append(("", _run_part(run)))
        if self.plan.flexible:
            known = {}
            for number in range(block.first + block.untagged, block.first + block.untagged + block.tagged):
                operation, name = self.plan.operation(number), self.plan.attribute(index, number)
                wanted = build and not operation.flags & Flag.SKIP
                known[operation.tag] = _field_part(name, self._reader(operation, wanted), wanted)
            parts.append(("", _tagged_part(known, frozenset(block.refused_tags), build)))
        return parts

    def _reader(self, operation: Operation, build: bool) -> Reader:
        code, flags = operation.code, operation.flags
        nullable, compact = bool(flags & Flag.NULLABLE), bool(flags & Flag.COMPACT)
        if code == Op.STRUCT:
            inner = self.block(operation.block, build)
            return _nullable_struct_reader(inner, compact) if nullable else inner
        if code != Op.ARRAY:
            return self._scalar(code, compact, nullable, build)
        width = 0 if compact else 4
        if operation.element in FIXED_SIZE:
            return _fixed_array_reader(operation.element, width, nullable, build)
        if operation.element == Op.STRUCT:
            return _array_reader(self.block(operation.block, build), width, operation.minimum, nullable, False, build)
        # Kafka has no nulls inside arrays of strings or bytes.
        return _array_reader(self._scalar(operation.element, compact, False, build), width, operation.minimum, nullable, True, build)

    @staticmethod
    def _scalar(code: int, compact: bool, nullable: bool, build: bool) -> Reader:
        if code == Op.STRING:
            return _string_reader(0 if compact else 2, nullable, build)
        if code == Op.BYTES:
            return _bytes_reader(0 if compact else 4, nullable, build)
        return _fixed_reader(code, build)


class Decoder:
    """Executes one plan.

    Arguments:
        plan: what to read.
        classes: of the structs of the plan's layouts, from `make_classes`.
    """

    __slots__ = ("_read", "_skip", "classes", "plan")

    def __init__(self, plan: Plan, classes: tuple[type, ...]) -> None:
        self.plan = plan
        self.classes = classes
        compiler = _Compiler(plan, classes)
        self._read = compiler.block(0, True)
        self._skip = compiler.block(0, False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Decoder, (self.plan, self.classes)

    def _run(self, read: Reader, data: Any, offset: int, errors: str) -> tuple[Any, int, int]:
        buffer = as_buffer(data)
        end = len(buffer)
        if not 0 <= offset <= end:
            raise ValueError(f"offset {offset} is outside the buffer of {end} bytes")
        try:
            value, pos = read(buffer, offset, end, errors)
        except Break as fault:
            plan = self.plan
            error = wire_error(fault.code, fault.offset, join_path(fault.steps), plan.message, plan.api_key, plan.version)
        else:
            return value, pos, end
        raise error

    def decode(self, data: Any, offset: int = 0, lenient: bool = False) -> tuple[Any, int]:
        """Read one message.

        Arguments:
            data: any contiguous buffer.
            offset: where the message begins, in bytes.
            lenient: replace what is not UTF-8, as Java does, instead of raising.

        Returns:
            The message and the offset behind it.

        Raises:
            WireError: the bytes break a rule.
            BufferError: `data` is not contiguous.
            ValueError: `offset` is outside `data`.
        """
        value, pos, _ = self._run(self._read, data, offset, "replace" if lenient else "strict")
        return value, pos

    def decode_whole(self, data: Any, offset: int = 0, lenient: bool = False) -> Any:
        """Read one message that ends where the buffer ends; arguments and errors as in `decode`, and `TrailingBytes`."""
        value, pos, end = self._run(self._read, data, offset, "replace" if lenient else "strict")
        if pos != end:
            raise_for(Fault.TRAILING_BYTES, pos, "", self.plan.message, self.plan.api_key, self.plan.version)
        return value

    def skip(self, data: Any, offset: int = 0) -> int:
        """The offset behind a message, all checked but UTF-8, nothing built; arguments and errors as in `decode`."""
        return self._run(self._skip, data, offset, "strict")[1]
