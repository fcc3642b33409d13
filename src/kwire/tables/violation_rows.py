"""Rows of `violations`: for each rule and connection, the first hundred are rows, and one more row counts the rest.

A hostile or broken peer can break a rule with every four bytes; a hundred rows show the pattern, and the count the extent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import pyarrow as pa

from kwire.tables.column_builder import ColumnBuilder
from kwire.tables.schemas import VIOLATIONS

__all__ = ["ROWS_OF_A_KIND", "ViolationRows"]

ROWS_OF_A_KIND: Final = 100
"""Number of rows of a rule in a connection; one last row has the number of further ones as its `count`."""

_CONNECTION, _RULE, _COUNT = (VIOLATIONS.names.index(name) for name in ("connection_id", "rule", "count"))


class ViolationRows:
    """Builder of the rows; `counted` has the ids of open connections that violated a rule."""

    def __init__(self) -> None:
        self._builder = ColumnBuilder(VIOLATIONS)
        # by connection and rule: how many there were, and the latest row that was not written
        self._kinds: dict[str, dict[str, tuple[int, Sequence[Any] | None]]] = {}

    @property
    def counted(self) -> Collection[str]:
        return self._kinds

    def add(self, row: Sequence[Any]) -> None:
        """Add a row with values in the schema's order; its `count` is set here."""
        connection_id = row[_CONNECTION]
        if connection_id is None:
            self._builder.add((*row[:_COUNT], 1))
            return
        kinds = self._kinds.setdefault(connection_id, {})
        number = kinds[row[_RULE]][0] + 1 if row[_RULE] in kinds else 1
        kinds[row[_RULE]] = number, None if number <= ROWS_OF_A_KIND else row
        if number <= ROWS_OF_A_KIND:
            self._builder.add((*row[:_COUNT], 1))

    def over(self, connection_id: str) -> None:
        """Write the counts of an ended connection."""
        for number, row in self._kinds.pop(connection_id, {}).values():
            if row is not None:
                self._builder.add((*row[:_COUNT], number - ROWS_OF_A_KIND))

    def all_over(self) -> None:
        for connection_id in list(self._kinds):
            self.over(connection_id)

    def take(self, *, whole: bool) -> list[pa.RecordBatch]:
        return self._builder.take(whole=whole)
