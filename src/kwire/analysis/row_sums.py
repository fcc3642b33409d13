"""Columns for partial tables, from the rows of one series: topics, and what rows take from the connection they belong to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.tables import SeriesRows, SeriesView
from kwire.tables.schemas import LONG

__all__ = ["Connections", "Found", "Ints", "codes_of", "of_topics", "ones"]

Columns = dict[str, Any]
Found = tuple[str, Columns]  # name of a partial table, and more columns than it has

Ints = np.ndarray[Any, np.dtype[np.int64]]

_PROGRAM: Final = ("client_key", "client_id", "software_name", "software_version")
_MARKS: Final = ("magic", "compression", "acks", "partitions", "error_codes")


def ones(table: pa.Table) -> pa.Array[Any]:
    """Count each row once."""
    return pa.array(np.ones(len(table), np.int64))


class Connections:
    """Looks up what the aggregates take from the connection: who it is, and which server it talks to.

    A *program* is a client key and id, a software, and the server that it talks to; connections of one have the same number.

    Attributes:
        table: the rows of `connections`.
        server: `address:port` of each.
        address: of the client, as a PROXY header has it where there is one.
        programs: the program of each.
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
        self._told = _taken(told, pa.array(first))

    def columns_of(self, programs: Ints) -> Columns:
        """Give what is known of programs; nulls for number -1."""
        return _taken(self._told, pa.array(programs, mask=programs < 0))

    def look_up(self, ids: Any) -> tuple[Columns, Any]:
        """Give who and which server, for connection ids."""
        at = self.rows_of(ids)
        return {name: self.table.column(name).take(at) for name in _PROGRAM}, self.server.take(at)

    def take(self, column: str, ids: Any) -> Any:
        """Give a column of the connections with these ids."""
        values = self.address if column == "address" else self.table.column(column)
        return values.take(self.rows_of(ids))


def codes_of(*columns: Any) -> tuple[Ints, Ints]:
    """Number the different rows of columns, in order.

    Args:
        columns: arrays of the same length.

    Returns:
        The number of each row, and the first row of each number.
    """
    codes: Any = None
    for column in columns:
        one = column.dictionary_encode(null_encoding="encode")
        if codes is None:
            codes = one
            continue
        mixed = pc.add(pc.multiply(codes.indices.cast(LONG), pa.scalar(len(one.dictionary), LONG)), one.indices.cast(LONG))
        codes = mixed.dictionary_encode()
    numbers = codes.indices.to_numpy().astype(np.int64)
    first = np.empty(len(codes.dictionary), np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return numbers, first


def _taken(columns: Columns, at: Any) -> Columns:
    return {name: column.take(at) for name, column in columns.items()}


def of_topics(rows: SeriesRows | SeriesView, join: Connections) -> Iterator[Found]:
    """Sum up the use of topics. A topic is used under the client id of the request, not under that of the connection."""
    for batch in rows.batches("topic_use"):
        table = pa.Table.from_batches([batch])
        place: Columns = {name: table.column(name) for name in ("client_id", "direction", "topic", "topic_id")}
        place["client_key"] = join.take("client_key", table.column("connection_id"))
        yield "topic_use", {name: table.column(name) for name in table.column_names} | place
        for mark in _MARKS:
            values: Any = table.column(mark).combine_chunks()
            at = pc.list_parent_indices(values)
            flat = values.flatten()
            kind = pa.array([mark] * len(flat), pa.string())
            columns = {name: column.take(at) for name, column in place.items()}
            yield "topic_marks", {**columns, "mark": kind, "value": flat, "connections": pa.array([1] * len(flat), LONG)}
