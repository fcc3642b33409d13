"""Rows of several series as one view, so that sums over many small series cost as little as over one large series.

Arrow needs as long for a table of ten rows as for one of ten thousand, and the sums of a series use forty tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from kwire.tables.connection_index import ConnectionIndex
from kwire.tables.facts import FACT_SCHEMAS
from kwire.tables.series_rows import SPOOLED, VIEWED, SeriesView

__all__ = ["JoinedViews"]


class JoinedViews:
    """Collector of rows of series.

    Connection ids are unique only within a series, so series with a common id are in different views. Usually one view suffices.
    """

    def __init__(self) -> None:
        self.nbytes = 0
        self._views: list[_Joined] = []

    def add(self, view: SeriesView, batches: dict[str, list[pa.RecordBatch]]) -> None:
        """Add the rows of a series: its view, and its rows by table of `SPOOLED`, which may lack tables."""
        ids = view.connections.column("connection_id").to_pylist()
        place = next((one for one in self._views if one.ids.isdisjoint(ids)), None)
        if place is None:
            place = _Joined()
            self._views.append(place)
        place.add(view, ids, batches)
        rows = (batch for found in batches.values() for batch in found)
        self.nbytes += view.connections.get_total_buffer_size() + sum(batch.get_total_buffer_size() for batch in rows)

    def take(self) -> Iterator[SeriesView]:
        views, self._views, self.nbytes = self._views, [], 0
        for joined in views:
            yield joined.view()


class _Joined:
    def __init__(self) -> None:
        self.ids: set[str] = set()
        self._captures: list[pa.Table] = []
        self._connections: list[pa.Table] = []
        self._facts: dict[str, list[pa.Table]] = {name: [] for name in FACT_SCHEMAS}
        self._batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in SPOOLED}

    def add(self, view: SeriesView, ids: list[Any], batches: dict[str, list[pa.RecordBatch]]) -> None:
        self.ids.update(ids)
        for tables, found in ((self._captures, view.captures), (self._connections, view.connections)):
            if len(found):
                tables.append(found)
        for name, facts in view.facts.items():
            if len(facts):
                self._facts[name].append(facts)
        for name, given in batches.items():
            self._batches[name] += given

    def view(self) -> SeriesView:
        captures, connections = _joined("captures", self._captures), _joined("connections", self._connections)
        facts = {name: pa.concat_tables([schema.empty_table(), *self._facts[name]]) for name, schema in FACT_SCHEMAS.items()}
        index = ConnectionIndex(connections.column("connection_id"))
        rows = {"captures": captures, "connections": connections}

        def batches_of(table: str) -> Iterator[pa.RecordBatch]:
            if table not in rows:  # one batch of many small ones
                rows[table] = pa.Table.from_batches(self._batches[table], schema=VIEWED[table]).combine_chunks()
            yield from rows[table].to_batches()

        return SeriesView(captures, connections, facts, batches_of, index.rows_of)


def _joined(table: str, parts: list[pa.Table]) -> pa.Table:
    return pa.concat_tables([VIEWED[table].empty_table(), *parts]).combine_chunks()
