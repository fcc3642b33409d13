"""The rows of `violations`: one for each of the first hundred of a kind in a connection, and one that counts the rest.

A hostile or broken peer can break a rule with every four bytes; a hundred rows show what it does, and the count how often.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import pyarrow as pa

from kwire.tables.column_builder import ColumnBuilder
from kwire.tables.schemas import VIOLATIONS

__all__ = ["ROWS_OF_A_KIND", "ViolationRows"]

ROWS_OF_A_KIND: Final = 100
"""Rows of a rule in a connection; what is behind them is one row, the last of its kind, whose `count` says how many it stands for."""

_CONNECTION, _RULE, _COUNT = (VIOLATIONS.names.index(name) for name in ("connection_id", "rule", "count"))


class ViolationRows:
    """Collects the rows; pickles without those that were not taken.

    Attributes:
        counted: the ids of connections that are not over and have broken a rule.
    """

    def __init__(self) -> None:
        self._builder = ColumnBuilder(VIOLATIONS)
        # by connection and rule: how many there were, and the latest row that was not written
        self._kinds: dict[str, dict[str, tuple[int, Sequence[Any] | None]]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"_kinds": self._kinds}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._builder = ColumnBuilder(VIOLATIONS)

    @property
    def counted(self) -> Collection[str]:
        return self._kinds

    def add(self, row: Sequence[Any]) -> None:
        """Take a row, values in the schema's order without `count`, or with a `count` that is set here; of no connection or of one."""
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
        """Nothing more will come of a connection: write what was counted."""
        for number, row in self._kinds.pop(connection_id, {}).values():
            if row is not None:
                self._builder.add((*row[:_COUNT], number - ROWS_OF_A_KIND))

    def all_over(self) -> None:
        """Nothing more will come."""
        for connection_id in list(self._kinds):
            self.over(connection_id)

    def take(self, *, whole: bool) -> list[pa.RecordBatch]:
        """Give away the batches, as `ColumnBuilder.take`."""
        return self._builder.take(whole=whole)
