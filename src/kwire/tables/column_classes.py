"""Class of each column of each table, which decides what a redaction hashes.

Every column has a class at its declaration; a test finds columns without one, and a redaction empties them. Columns with the same name in
other tables have the same class.
"""

from __future__ import annotations

from typing import Final

from kwire.protocol.row_columns import ColumnClass
from kwire.tables.columns import DECLARED
from kwire.tables.shared_columns import CLASSES_OF_TABLES, SHARED

__all__ = ["ColumnClass", "class_of"]

_CLASSES: Final[dict[str, ColumnClass]] = {
    **{column.name: column.redaction for columns in DECLARED.values() for column in columns},
    **{name: column.redaction for name, column in SHARED.items()},
}


def class_of(table: str, column: str) -> ColumnClass | None:
    return CLASSES_OF_TABLES.get((table, column)) or _CLASSES.get(column)
