"""Plans: a message at one version, compiled to a flat tuple of integers that both backends execute.

A plan is a list of *operations*, each `WIDTH` integers, grouped in *blocks*, one per struct in use::

    plan.ops     ... | code slot flags tag element block minimum field | ...
    block        first operation, number of untagged ones, number of tagged ones (which follow them)

An executor runs the untagged operations of block 0 in order, then, if the version is flexible, reads the tagged section and runs the tagged
operations it finds. Plans hold no callables: they pickle, compare and hash by value. A *projection* marks fields with `Flag.SKIP`: their
bytes are checked and stepped over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import IntEnum, IntFlag
from struct import calcsize
from typing import Any, Final, NamedTuple

from kwire.codec.layout import StructLayout, current_path, layouts_of
from kwire.errors import KwireError
from kwire.schema.model import Field, Message, Struct

__all__ = ["DEEPEST", "WIDTH", "Absent", "Block", "Flag", "Op", "Plan", "compile_plan"]

WIDTH: Final = 8
DEEPEST: Final = 32  # structs in structs; Kafka's deepest message has 6, and what reads must not need a stack that bytes decide


class Op(IntEnum):
    """Type that an operation reads; the native backend uses the same numbers."""

    BOOL = 1
    INT8 = 2
    INT16 = 3
    UINT16 = 4
    INT32 = 5
    UINT32 = 6
    INT64 = 7
    FLOAT64 = 8
    UUID = 9
    STRING = 10  # int16 length, or varint length + 1 with Flag.COMPACT; UTF-8
    BYTES = 11  # int32 length, or varint length + 1 with Flag.COMPACT; `records` fields too
    # With Flag.NULLABLE a marker before it: one byte, negative for null (Kafka writes ff and 01). With Flag.COMPACT too, as a tagged field,
    # the marker is an unsigned varint, 0 for null (Kafka writes 00 and 01; ConsumerGroupMemberMetadataValue has the only one).
    STRUCT = 12
    ARRAY = 13  # int32 count, or varint count + 1 with Flag.COMPACT; of scalars (`element`) or of structs (`block`)


class Flag(IntFlag):
    NULLABLE = 1
    COMPACT = 2
    SKIP = 4  # outside the projection: check and step over, build nothing
    RECORDS = 8  # bytes that hold record batches
    TAGGED = 16


class Operation(NamedTuple):
    """Operation, stored as `WIDTH` integers of `Plan.ops`."""

    code: int
    slot: int
    flags: int
    tag: int  # tag of a tagged field, -1 for others
    element: int  # for an ARRAY, the `Op` of its elements (`STRUCT` for structs); 0 otherwise
    block: int  # for a STRUCT or an ARRAY of structs, the block to run; -1 otherwise
    minimum: int  # for an ARRAY, the smallest size of one element, at least 1; otherwise the smallest size of the field
    field: int  # index of the field in its struct's layout (equal to `slot`); a separate value so that columns can number their outputs


class Absent(NamedTuple):
    """Slot that the wire does not fill at this version, with its default (`kwire.codec.layout.Default`).

    The encoder rejects another value unless the field is `ignorable`. Tagged fields of the version are included (`tagged`), as the wire
    may omit them.
    """

    slot: int
    default: int
    value: Any
    ignorable: bool
    tagged: bool


class Block(NamedTuple):
    """Struct at the plan's version: operations from number `first`; tagged ones follow the others, by ascending tag.

    Kafka's generated readers reject `refused_tags`, which only other versions of this struct define, and keep undefined ones.
    """

    layout: int
    first: int
    untagged: int
    tagged: int
    minimum: int
    absent: tuple[Absent, ...]
    refused_tags: tuple[int, ...]


class Plan(NamedTuple):
    """Compiled message version; block 0 and layout 0 belong to the message itself."""

    message: str
    version: int
    api_key: int | None
    flexible: bool
    ops: tuple[int, ...]
    blocks: tuple[Block, ...]
    layouts: tuple[StructLayout, ...]
    fields: tuple[str, ...] | None

    def operation(self, index: int) -> Operation:
        return Operation(*self.ops[index * WIDTH : (index + 1) * WIDTH])

    def attribute(self, block: int, index: int) -> str:
        """Return the attribute of operation `index` in block `block`, a step of an error's path."""
        return self.layouts[self.blocks[block].layout].slots[self.ops[index * WIDTH + 1]].attribute


SCALAR_OPS: Final[dict[str, Op]] = {
    "bool": Op.BOOL, "int8": Op.INT8, "int16": Op.INT16, "uint16": Op.UINT16, "int32": Op.INT32, "uint32": Op.UINT32, "int64": Op.INT64,
    "float64": Op.FLOAT64, "uuid": Op.UUID, "string": Op.STRING, "bytes": Op.BYTES, "records": Op.BYTES,
}  # fmt: skip

FORMATS: Final[dict[int, str]] = {  # of the module struct
    Op.BOOL: "?", Op.INT8: "b", Op.INT16: "h", Op.UINT16: "H", Op.INT32: "i", Op.UINT32: "I", Op.INT64: "q", Op.FLOAT64: "d",
    Op.UUID: "16s",
}  # fmt: skip
FIXED_SIZE: Final[dict[int, int]] = {code: calcsize(f">{letter}") for code, letter in FORMATS.items()}


def _lengthed_minimum(code: Op, compact: bool) -> int:
    return 1 if compact else 2 if code is Op.STRING else 4


class _Compiler:
    def __init__(self, message: Message, version: int, fields: Collection[str] | None) -> None:
        self.message = message
        self.version = version
        self.layouts = layouts_of(message)
        self.layout_index = {layout.name: index for index, layout in enumerate(self.layouts)}
        self.wanted = {tuple(path.split(".")) for path in fields or ()}
        self.blocks: list[Block | None] = []
        self.by_struct: dict[tuple[str, tuple[str, ...] | None], int] = {}
        self.operations: dict[int, list[Operation]] = {}

    def _keeps(self, path: tuple[str, ...]) -> tuple[bool, bool]:
        """Return whether the field at `path` is in the projection, and whether all inside it is."""
        if any(path[:end] in self.wanted for end in range(1, len(path) + 1)):
            return True, True
        inside = any(want[: len(path)] == path for want in self.wanted)
        return inside, False

    def block(self, struct: Struct, path: tuple[str, ...], whole: bool) -> int:
        key = (struct.name, None if whole else path)
        if key in self.by_struct:
            return self.by_struct[key]
        index = self.by_struct[key] = len(self.blocks)
        self.blocks.append(None)
        layout = self.layout_index[struct.name]
        slots = self.layouts[layout].slots
        flexible = self.message.is_flexible(self.version)
        untagged: list[Operation] = []
        tagged: list[Operation] = []
        absent: list[Absent] = []
        refused: list[int] = []
        for slot, field in enumerate(struct.fields):
            is_tagged = flexible and field.tag is not None and self.version in field.tagged_versions
            if self.version in field.versions:
                operation = self._operation(field, slot, (*path, slots[slot].attribute), is_tagged, whole)
                (tagged if is_tagged else untagged).append(operation)
                if is_tagged and not operation.flags & Flag.SKIP:
                    absent.append(Absent(slot, slots[slot].default, slots[slot].value, field.ignorable, True))
            elif whole or self._keeps((*path, slots[slot].attribute))[0]:
                absent.append(Absent(slot, slots[slot].default, slots[slot].value, field.ignorable, False))
            if field.tag is not None and not is_tagged:
                refused.append(field.tag)
        tagged.sort(key=lambda operation: operation.tag)
        taken = {operation.tag for operation in tagged}
        self.operations[index] = untagged + tagged
        self.blocks[index] = Block(
            layout=layout,
            first=0,
            untagged=len(untagged),
            tagged=len(tagged),
            minimum=sum(self._least(operation) for operation in untagged) + flexible,
            absent=tuple(absent),
            refused_tags=tuple(sorted(set(refused) - taken)),
        )
        return index

    @staticmethod
    def _least(operation: Operation) -> int:
        """Return the smallest size of an operation's field."""
        if operation.code == Op.ARRAY:
            return 1 if operation.flags & Flag.COMPACT else 4
        return operation.minimum

    def _operation(self, field: Field, slot: int, path: tuple[str, ...], is_tagged: bool, whole: bool) -> Operation:
        flexible_versions = field.flexible_versions if field.flexible_versions is not None else self.message.flexible_versions
        compact = self.version in flexible_versions
        flags = Flag(0)
        if self.version in field.nullable_versions:
            flags |= Flag.NULLABLE
        if is_tagged:
            flags |= Flag.TAGGED
        keep, keep_all = (True, True) if whole else self._keeps(path)
        if not keep:
            flags |= Flag.SKIP
            keep_all = True  # one block serves whether it is built or stepped over
        code, element, block = Op.ARRAY if field.is_array else Op.STRUCT, 0, -1
        if field.is_struct:
            element = Op.STRUCT if field.is_array else 0
            block = self.block(self.message.structs[field.element_type], path, keep_all)
            least = self.block_minimum(block)
        else:
            code_of_element = SCALAR_OPS[field.element_type]
            least = FIXED_SIZE.get(code_of_element) or _lengthed_minimum(code_of_element, compact)
            if field.is_array:
                element = code_of_element
            else:
                code = code_of_element
        if compact and (field.is_array or element in (Op.STRING, Op.BYTES) or code in (Op.STRING, Op.BYTES)):
            flags |= Flag.COMPACT
        if code == Op.STRUCT and is_tagged and flags & Flag.NULLABLE:
            flags |= Flag.COMPACT
        if field.type == "records":
            flags |= Flag.RECORDS
        if code == Op.ARRAY:
            least = max(least, 1)
        elif code == Op.STRUCT and flags & Flag.NULLABLE:
            least = 1
        return Operation(code, slot, int(flags), field.tag if is_tagged and field.tag is not None else -1, element, block, least, slot)

    def block_minimum(self, index: int) -> int:
        block = self.blocks[index]
        # No Kafka message nests a struct in itself; the definition would have to be broken for this to be None.
        return 1 if block is None else block.minimum

    def finish(self, fields: Collection[str] | None) -> Plan:
        ops: list[int] = []
        blocks: list[Block] = []
        for index, block in enumerate(self.blocks):
            assert block is not None
            blocks.append(block._replace(first=len(ops) // WIDTH))
            for operation in self.operations[index]:
                ops.extend(int(value) for value in operation)
        return Plan(
            message=self.message.name,
            version=self.version,
            api_key=self.message.api_key,
            flexible=self.message.is_flexible(self.version),
            ops=tuple(ops),
            blocks=tuple(blocks),
            layouts=self.layouts,
            fields=None if fields is None else tuple(sorted(set(fields))),
        )


def compile_plan(message: Message, version: int, fields: Iterable[str] | None = None) -> Plan:
    """Compile a message at a valid version, with a projection to `fields` if given. Raises KwireError for a path that no version has."""
    chosen = None if fields is None else tuple(current_path(message, version, path) for path in fields)
    compiler = _Compiler(message, version, chosen)
    if chosen is not None:
        _check_paths(compiler.layouts, message, chosen)
    compiler.block(message.structs[message.name], (), chosen is None)
    plan = compiler.finish(chosen)
    _check_depth(plan)
    return plan


def _check_depth(plan: Plan) -> None:
    level = {0}
    for _ in range(DEEPEST):
        blocks = [plan.blocks[number] for number in level]
        operations = [index for block in blocks for index in range(block.first, block.first + block.untagged + block.tagged)]
        level = {plan.operation(index).block for index in operations} - {-1}
        if not level:
            return
    raise ValueError(f"{plan.message} nests its structs more than {DEEPEST} deep")


def _check_paths(layouts: tuple[StructLayout, ...], message: Message, fields: tuple[str, ...]) -> None:
    by_name = {layout.name: layout for layout in layouts}
    for path in fields:
        layout: StructLayout | None = layouts[0]
        for step in path.split("."):
            slot = next((s for s in layout.slots if s.attribute == step), None) if layout is not None else None
            if slot is None:
                raise KwireError(f"{message.name} has no field {path!r}")
            layout = by_name.get(slot.type.removeprefix("[]"))


assert len(Operation._fields) == WIDTH
