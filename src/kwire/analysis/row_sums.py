"""Columns for partial tables, from the rows of one series: topics, and columns from a row's connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import Columns, Ints, flat, taken
from kwire.tables import SeriesRows, SeriesView
from kwire.tables.observed_rows import GROUP_STEPS
from kwire.tables.schemas import LONG, TEXT

__all__ = ["STEPS", "Connections", "Found", "codes_of", "of_topics", "ones", "steps_of", "unnamed_ids"]

Found = tuple[str, Columns]  # name of a partial table, and more columns than it has

_PROGRAM: Final = ("client_key", "client_id", "software_name", "software_version")
# Numbers that stand for several columns stay below this.
_MOST: Final = 1 << 62
_MARKS: Final = ("magic", "compression", "acks", "partitions", "error_codes")
# A group's coordinator may move, so its steps come together only when all series are merged.
STEPS: Final = GROUP_STEPS.append(pa.field("client_address", TEXT))


def ones(table: pa.Table) -> pa.Array[Any]:
    return pa.array(np.ones(len(table), np.int64))


def unnamed_ids(columns: Columns) -> Any:
    unnamed: Any = pc.equal(pc.fill_null(columns["software_name"], "unknown"), pa.scalar("unknown"))
    return pc.if_else(unnamed, columns["client_id"], pa.scalar(None, pa.string()))


class Connections:
    """Look-up of the connection's client (from a PROXY header if present) and server, for the aggregates.

    A *program* consists of client key, client id, software and server; connections of one program have the same number.
    """

    def __init__(self, rows: SeriesRows | SeriesView) -> None:
        self.table = rows.connections.combine_chunks()
        self.rows_of: Callable[[Any], Any] = rows.rows_of
        port: Any = self.table.column("server_port").cast(pa.string())
        colon: Any = ":"
        self.server: Any = pc.binary_join_element_wise(self.table.column("server_address"), port, colon)
        proxied = pc.replace_substring_regex(self.table.column("proxied_address"), r":\d+$", "")
        self.address: Any = pc.coalesce(proxied, self.table.column("client_address"))
        told: Columns = {name: self.table.column(name) for name in _PROGRAM} | {"server": self.server}
        self.programs, first = codes_of(*(column.combine_chunks() for column in told.values()))
        self._told = taken(told, first)

    def columns_of(self, programs: Ints) -> Columns:
        return taken(self._told, pa.array(programs, mask=programs < 0))

    def look_up(self, ids: Any) -> tuple[Columns, Any]:
        at = self.rows_of(ids)
        return {name: self.table.column(name).take(at) for name in _PROGRAM}, self.server.take(at)

    def take(self, column: str, ids: Any) -> Any:
        values = self.address if column == "address" else self.table.column(column)
        return values.take(self.rows_of(ids))


def codes_of(*columns: Any) -> tuple[Ints, Ints]:
    """Assign numbers to the distinct rows of columns, in order; return the number of each row, and the first row of each number."""
    mixed, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        numbers, count = _numbers_of(column)
        if size * count > _MOST:
            mixed, size = _dense(pa.array(mixed))
            numbers, count = _dense(pa.array(numbers))
        mixed, size = mixed * count + numbers, size * count
    numbers, size = _dense(pa.array(mixed))
    first = np.empty(size, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return numbers, first


def _numbers_of(column: Any) -> tuple[Ints, int]:
    """Return numbers from 0 for the values of a column, including null, and their bound; integers are used directly."""
    if not pa.types.is_integer(column.type) or column.null_count == len(column):
        return _dense(column)
    ends: Any = pc.min_max(column)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if high - low >= _MOST:
        return _dense(column)
    numbers: Ints = column.fill_null(low).to_numpy().astype(np.int64) - low
    if column.null_count:
        numbers[column.is_null().to_numpy(zero_copy_only=False)] = high - low + 1
    return numbers, high - low + 2


def _dense(column: Any) -> tuple[Ints, int]:
    """Return numbers for the values of a column in the order of first appearance, and their count."""
    codes = column.dictionary_encode(null_encoding="encode")
    return codes.indices.to_numpy().astype(np.int64), len(codes.dictionary)


def of_topics(rows: SeriesRows | SeriesView, join: Connections) -> Iterator[Found]:
    """Sum up the use of topics, by the client id of the request, not of the connection."""
    for batch in rows.batches("topic_use"):
        table = pa.Table.from_batches([batch])
        place: Columns = {name: table.column(name) for name in ("client_id", "direction", "topic", "topic_id")}
        place["client_key"] = join.take("client_key", table.column("connection_id"))
        yield "topic_use", {name: table.column(name) for name in table.column_names} | place
        for mark in _MARKS:
            values = flat(table, mark)
            at = pc.list_parent_indices(values)
            each = values.flatten()
            kind = pa.repeat(mark, len(each))
            yield "topic_marks", {**taken(place, at), "mark": kind, "value": each, "connections": pa.repeat(pa.scalar(1, LONG), len(each))}


def steps_of(rows: SeriesRows | SeriesView, join: Connections) -> pa.Table:
    steps = rows.table("group_steps")
    address = join.take("address", steps.column("connection_id"))
    return steps.append_column("client_address", address).cast(STEPS)
