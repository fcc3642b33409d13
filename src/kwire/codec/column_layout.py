"""Columns of a message: the plan as a tree, the levels of rows, and the content of each column.

Without `fields` a message is one row; arrays become lists, structs become structs. With `fields` each path gives a column of that name, and
arrays *inside* paths are exploded, one row per element, from the top down, while paths enter only one array of a level. If paths enter two
arrays of one level (``brokers.host`` and ``topics.name``), both stay lists of structs, in columns named after the arrays. An array at the
end of a path is not exploded.

Which arrays explode depends on paths and definition, not on the version; columns that the version lacks are null. Exploding is *outer*, as
in Spark's ``explode_outer``: a null or empty array leaves one row. If a path leads into an array, ``message_index`` is the first column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import pyarrow as pa

from kwire.codec.arrow_types import UNKNOWN_TAGS_TYPE, ArrowType, arrow_scalar, definition_type
from kwire.codec.layout import attribute_of, current_path
from kwire.codec.plan import WIDTH, Block, Flag, Op, Operation, Plan, compile_plan
from kwire.schema.model import Message

__all__ = [
    "ERROR_FIELDS", "MESSAGE_INDEX", "UNKNOWN_TAGS", "Column", "ColumnLayout", "built_operations", "column_layout", "operations_of",
    "tree_of",
]  # fmt: skip

MESSAGE_INDEX: Final = "message_index"
UNKNOWN_TAGS: Final = "unknown_tagged_fields"
ERROR_FIELDS: Final = (pa.field("error", pa.string()), pa.field("error_offset", pa.int64()), pa.field("error_path", pa.string()))
DEEPEST: Final = 32  # structs in structs, as in the executors


class Column(NamedTuple):
    """A result column; `steps` are operations from the level's struct, empty for unknown tags and for fields that the version lacks."""

    name: str
    level: int
    steps: tuple[int, ...]
    type: ArrowType
    unknown_tags: bool = False


class Level(NamedTuple):
    """Level of rows: messages, or elements of the array at `steps` from the level above."""

    block: int
    steps: tuple[int, ...]


class ColumnLayout(NamedTuple):
    """Columns to fill and to return, for a plan in which each block is used once; `columns` omits `message_index` and error columns."""

    plan: Plan
    unknown_tags: bool
    levels: tuple[Level, ...]
    columns: tuple[Column, ...]
    indexed: bool = False

    def schema(self, errors: bool = False) -> pa.Schema:
        """Return the schema of the result, with error columns if `errors`."""
        first = [pa.field(MESSAGE_INDEX, pa.int32())] if self.indexed else []
        fields = [*first, *(pa.field(column.name, column.type) for column in self.columns)]
        return pa.schema([*fields, *ERROR_FIELDS] if errors else fields)


def operations_of(plan: Plan, block: int) -> range:
    found = plan.blocks[block]
    return range(found.first, found.first + found.untagged + found.tagged)


def built_operations(plan: Plan, block: int) -> list[int]:
    """Return the operations of a block that are not skipped, in the order of the definition."""
    built = [number for number in operations_of(plan, block) if not plan.operation(number).flags & Flag.SKIP]
    return sorted(built, key=lambda number: plan.operation(number).slot)


def tree_of(plan: Plan) -> Plan:
    """Return a plan with a block for each use of a struct, so that an operation is a column."""
    blocks: list[Block] = []
    operations: list[list[Operation]] = []
    skipped: dict[int, int] = {}

    def copy(index: int, depth: int, building: bool) -> int:
        if depth > DEEPEST:
            raise ValueError(f"{plan.message} nests its structs more than {DEEPEST} deep")
        number = len(blocks)
        blocks.append(plan.blocks[index])
        operations.append([])
        for each in operations_of(plan, index):
            operation = plan.operation(each)
            if operation.block >= 0:
                inner = building and not operation.flags & Flag.SKIP
                if not inner and operation.block not in skipped:
                    skipped[operation.block] = copy(operation.block, depth + 1, False)
                operation = operation._replace(block=copy(operation.block, depth + 1, True) if inner else skipped[operation.block])
            operations[number].append(operation)
        return number

    copy(0, 0, True)
    ops: list[int] = []
    for number, block in enumerate(blocks):
        blocks[number] = block._replace(first=len(ops) // WIDTH)
        for operation in operations[number]:
            ops.extend(int(value) for value in operation)
    return plan._replace(ops=tuple(ops), blocks=tuple(blocks))


class _Describer:
    def __init__(self, plan: Plan, message: Message, unknown_tags: bool) -> None:
        self.plan = plan
        self.message = message
        self.unknown_tags = unknown_tags and plan.flexible

    def kept(self, block: int) -> list[tuple[str, int]]:
        """Return names and numbers of a block's built operations, in the order of the definition."""
        return [(self.plan.attribute(block, number), number) for number in built_operations(self.plan, block)]

    def struct(self, block: int) -> ArrowType:
        fields = [(name, self.type(number)) for name, number in self.kept(block)]
        if self.unknown_tags:
            fields.append((UNKNOWN_TAGS, UNKNOWN_TAGS_TYPE))
        return pa.struct(fields)

    def type(self, number: int) -> ArrowType:
        operation = self.plan.operation(number)
        if operation.code == Op.STRUCT:
            return self.struct(operation.block)
        if operation.code == Op.ARRAY:
            return pa.list_(self.struct(operation.block) if operation.element == Op.STRUCT else arrow_scalar(operation.element))
        return arrow_scalar(operation.code)

    def find(self, block: int, name: str) -> int | None:
        """Return the operation that builds a field, None if the version lacks it."""
        return next((number for attribute, number in self.kept(block) if attribute == name), None)

    def whole(self) -> tuple[tuple[Level, ...], tuple[Column, ...]]:
        columns = [Column(name, 0, (number,), self.type(number)) for name, number in self.kept(0)]
        if self.unknown_tags:
            columns.append(Column(UNKNOWN_TAGS, 0, (), UNKNOWN_TAGS_TYPE, True))
        return (Level(0, ()),), tuple(columns)

    def _absent_type(self, path: Sequence[str]) -> ArrowType:
        fields, type_name = self.message.fields, ""
        for step in path:
            type_name = next(field.type for field in fields if attribute_of(self.message, field) == step)
            found = self.message.structs.get(type_name.removeprefix("[]"))
            fields = found.fields if found else ()
        return definition_type(self.message, type_name)

    def chosen(self, paths: list[tuple[str, ...]], asked: list[tuple[str, ...]]) -> tuple[tuple[Level, ...], tuple[Column, ...]]:
        """Return levels and columns of a projection; a column has the requested name, current or former."""
        levels = [Level(0, ())]
        prefix: tuple[str, ...] = ()
        while len(entered := {end for path in paths if path[: len(prefix)] == prefix and (end := self.array_on(path, len(prefix)))}) == 1:
            inside = entered.pop()
            steps, there = self._walk(levels[-1].block, inside[len(prefix) :])
            if not there:
                break
            prefix = inside
            levels.append(Level(self.plan.operation(steps[-1]).block, steps))
        prefixes = self._level_prefixes(levels)
        columns: dict[str, Column] = {}
        for path, names in zip(paths, asked, strict=True):
            column = self._column(path, levels, prefixes)
            column = column._replace(name=".".join(names[: column.name.count(".") + 1]))
            columns.setdefault(column.name, column)
        if self.unknown_tags:
            for number, where in enumerate(prefixes):
                name = ".".join((*where, UNKNOWN_TAGS))
                columns[name] = Column(name, number, (), UNKNOWN_TAGS_TYPE, True)
        return tuple(levels), tuple(columns.values())

    def _walk(self, block: int, names: Sequence[str]) -> tuple[tuple[int, ...], bool]:
        """Return the operations along names, through structs, up to the first array or the end; and whether the version has them."""
        steps: list[int] = []
        for name in names:
            number = self.find(block, name)
            if number is None:
                return tuple(steps), False
            steps.append(number)
            operation = self.plan.operation(number)
            if operation.code != Op.STRUCT:
                break
            block = operation.block
        return tuple(steps), True

    def array_on(self, path: tuple[str, ...], start: int) -> tuple[str, ...]:
        """Return the prefix of a path up to the first array after `start` that it enters in any version; empty if there is none."""
        fields = self.message.fields
        for index, step in enumerate(path[:-1]):
            field = next(each for each in fields if attribute_of(self.message, each) == step)
            if index >= start and field.is_array:
                return path[: index + 1]
            fields = self.message.structs[field.element_type].fields
        return ()

    def _level_prefixes(self, levels: list[Level]) -> list[tuple[str, ...]]:
        prefixes: list[tuple[str, ...]] = [()]
        for above, level in pairwise(levels):
            names, block = [], above.block
            for number in level.steps:
                names.append(self.plan.attribute(block, number))
                block = self.plan.operation(number).block
            prefixes.append((*prefixes[-1], *names))
        return prefixes

    def _column(self, path: tuple[str, ...], levels: list[Level], prefixes: list[tuple[str, ...]]) -> Column:
        level = max(number for number, prefix in enumerate(prefixes) if path[: len(prefix)] == prefix)
        steps, there = self._walk(levels[level].block, path[len(prefixes[level]) :])
        if there:
            return Column(".".join(path[: len(prefixes[level]) + len(steps)]), level, steps, self.type(steps[-1]))
        return Column(".".join(path), level, (), self._absent_type(path))


def column_layout(
    message: Message, version: int, fields: Iterable[str] | None = None, unknown_tags: bool = False, explode: bool = True
) -> ColumnLayout:
    """Return the columns of a message at a valid version; arguments as in `kwire.to_arrow`."""
    if fields is None:
        plan = tree_of(compile_plan(message, version))
        describer = _Describer(plan, message, unknown_tags)
        return ColumnLayout(plan, describer.unknown_tags, *describer.whole())
    named = {path: tuple(current_path(message, version, path).split(".")) for path in fields}
    paths = list(named.values())
    plan = tree_of(compile_plan(message, version, named))
    if not explode:
        describer = _Describer(plan, message, unknown_tags)
        return ColumnLayout(plan, describer.unknown_tags, *describer.whole())
    outer = [path for path in paths if not any(path[:end] in paths for end in range(1, len(path)))]
    asked = [tuple(path.split(".")) for path, current in named.items() if current in outer]
    describer = _Describer(plan, message, unknown_tags)
    indexed = any(describer.array_on(path, 0) for path in outer)
    return ColumnLayout(plan, describer.unknown_tags, *describer.chosen(outer, asked), indexed)
