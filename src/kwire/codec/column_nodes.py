"""Columns as a preorder tree of nodes for Arrow's C data interface, from which the native backend creates a batch in one call."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final, TypeAlias

import pyarrow as pa

from kwire.codec.arrow_types import ArrowType
from kwire.codec.column_layout import ERROR_FIELDS, Column, ColumnLayout, built_operations
from kwire.codec.plan import WIDTH, Op

__all__ = ["IMPORT_BATCH", "Kind", "Node", "level_nodes", "null_nodes"]

IMPORT_BATCH: Final[Any] = getattr(pa.RecordBatch, "_import_from_c")  # noqa: B009 - it is not in the type stubs
"""Arrow's import through the C data interface with an existing schema; the import with capsules would read the schema each time."""


class Kind(IntEnum):
    """Kind of a node's array; the native backend uses the same numbers."""

    PLAIN = 0
    TEXT = 1
    UUID = 2
    LIST = 3
    STRUCT = 4
    ROW = 5
    NULLS = 6
    NULL_TEXTS = 7
    NULL_LISTS = 8
    NULL_STRUCTS = 9


Node: TypeAlias = tuple[int, int, int]
"""Kind, column (-1 for none), number of children."""


def null_nodes(kind: ArrowType) -> list[Node]:
    if pa.types.is_struct(kind):
        children = [node for index in range(kind.num_fields) for node in null_nodes(kind.field(index).type)]
        return [(Kind.NULL_STRUCTS, -1, kind.num_fields), *children]
    if pa.types.is_list(kind):
        return [(Kind.NULL_LISTS, -1, 1), *null_nodes(kind.value_type)]
    return [(Kind.NULL_TEXTS if kind in (pa.string(), pa.binary()) else Kind.NULLS, -1, 0)]


class _Nodes:
    def __init__(self, layout: ColumnLayout) -> None:
        self.layout = layout
        self.plan = layout.plan
        self.operations = len(self.plan.ops) // WIDTH

    def scalar(self, column: int, code: int) -> Node:
        return (Kind.TEXT if code in (Op.STRING, Op.BYTES) else Kind.UUID if code == Op.UUID else Kind.PLAIN, column, 0)

    def value(self, index: int) -> list[Node]:
        operation = self.plan.operation(index)
        if operation.code == Op.STRUCT:
            return self.struct(operation.block, index)
        if operation.code != Op.ARRAY:
            return [self.scalar(index, operation.code)]
        if operation.element == Op.STRUCT:
            return [(Kind.LIST, index, 1), *self.struct(operation.block, -1)]
        return [(Kind.LIST, index, 1), self.scalar(self.operations + index, operation.element)]

    def struct(self, block: int, column: int) -> list[Node]:
        children = [self.value(number) for number in built_operations(self.plan, block)]
        if self.layout.unknown_tags:
            children.append(self.unknown_tags(block))
        return [(Kind.STRUCT, column, len(children)), *(node for child in children for node in child)]

    def unknown_tags(self, block: int) -> list[Node]:
        first = 2 * self.operations + 3 * block
        return [(Kind.LIST, first, 1), (Kind.STRUCT, -1, 2), (Kind.PLAIN, first + 1, 0), (Kind.TEXT, first + 2, 0)]

    def column(self, column: Column) -> list[Node]:
        if column.unknown_tags:
            return self.unknown_tags(self.layout.levels[column.level].block)
        return self.value(column.steps[-1]) if column.steps else null_nodes(column.type)


def level_nodes(layout: ColumnLayout, level: int, errors: bool = False) -> list[Node]:
    """Return the columns of a level as a struct, in the order of the result, with null error columns if `errors`."""
    nodes = _Nodes(layout)
    children = [nodes.column(column) for column in layout.columns if column.level == level]
    if level == 0:
        if layout.indexed:
            children.insert(0, [(Kind.ROW, -1, 0)])
        if errors:
            children += [null_nodes(field.type) for field in ERROR_FIELDS]
    return [(Kind.STRUCT, -1, len(children)), *(node for child in children for node in child)]
