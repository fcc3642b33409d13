"""Columns for partial tables, from the rows of one series: topics, hours, and what they take from the connection they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.latency_buckets import bucket_of
from kwire.tables import SeriesRows, SeriesView
from kwire.tables.schemas import INT, LONG

__all__ = ["Connections", "Found", "HourSums", "failures", "filtered", "of_topics", "ones"]

Columns = dict[str, Any]
Found = tuple[str, Columns]  # name of a partial table, and more columns than it has

_PLACE: Final = ("connection_id", "api_key", "api_version", "hour")
_MARKS: Final = ("magic", "compression", "acks", "partitions", "error_codes")


def ones(table: pa.Table) -> pa.Array[Any]:
    """Count each row once."""
    return pa.array([1] * len(table), LONG)


def failures(table: pa.Table) -> Any:
    """Say of each request whether it was answered with an error."""
    return pc.coalesce(pc.not_equal(table.column("error_code"), pa.scalar(0, INT)), pa.scalar(False))


def filtered(columns: Columns, mask: Any) -> Columns:
    """Keep the rows where `mask` holds."""
    return {name: column.filter(mask) for name, column in columns.items()}


class Connections:
    """Looks up what the aggregates take from the connection: who it is, and which server it talks to.

    Attributes:
        table: the rows of `connections`.
        server: `address:port` of each.
        address: of the client, as a PROXY header has it where there is one.
    """

    def __init__(self, connections: pa.Table) -> None:
        self.table = connections.combine_chunks()
        self._ids = self.table.column("connection_id").combine_chunks()
        port: Any = self.table.column("server_port").cast(pa.string())
        colon: Any = ":"
        self.server: Any = pc.binary_join_element_wise(self.table.column("server_address"), port, colon)
        proxied = pc.replace_substring_regex(self.table.column("proxied_address"), r":\d+$", "")
        self.address: Any = pc.coalesce(proxied, self.table.column("client_address"))

    def look_up(self, ids: Any) -> tuple[Columns, Any]:
        """Give who and which server, for connection ids."""
        at = pc.index_in(ids, value_set=self._ids)
        names = ("client_key", "client_id", "software_name", "software_version")
        return {name: self.table.column(name).take(at) for name in names}, self.server.take(at)

    def take(self, column: str, ids: Any) -> Any:
        """Give a column of the connections with these ids."""
        values = self.address if column == "address" else self.table.column(column)
        return values.take(pc.index_in(ids, value_set=self._ids))


class HourSums:
    """Sums by the hour. A connection counts once in each hour in which it sent such a request, however many batches that took."""

    def __init__(self) -> None:
        self._active: list[pa.Table] = []

    def of_requests(self, table: pa.Table, join: Connections) -> Iterator[Found]:
        """Sum up the requests of a batch; all of them have an api key."""
        ids = table.column("connection_id")
        who, server = join.look_up(ids)
        place: Columns = {
            "client_key": who["client_key"],
            "server": server,
            "api_key": table.column("api_key"),
            "api_version": table.column("api_version"),
            "hour": pc.floor_temporal(table.column("request_time"), unit="hour"),
        }
        one, name = ones(table), table.column("api_name")
        none = pa.array([0] * len(table), LONG)
        throttled: Any = pc.max_element_wise(pc.coalesce(table.column("throttle_time_ms"), pa.scalar(0, INT)), pa.scalar(0, INT))
        yield "hourly", {
            **place, "api_name": name, "requests": one, "errors": failures(table).cast(LONG), "connections": none,
            "request_bytes": pc.coalesce(table.column("request_bytes"), none),
            "response_bytes": pc.coalesce(table.column("response_bytes"), none), "throttle_ms": throttled.cast(LONG),
        }  # fmt: skip
        latency: Any = table.column("latency_us")
        buckets = pa.array(bucket_of(latency.fill_null(0).to_numpy()))
        yield "hourly_latency", filtered({**place, "bucket": buckets, "requests": one}, pc.is_valid(latency))
        active = pa.table({"connection_id": ids, **place, "api_name": name})
        self._active.append(active.group_by(active.column_names, use_threads=False).aggregate([]))

    def of_connections(self) -> Iterator[Found]:
        """Count the connections, once the series is over."""
        if not self._active:
            return
        active = pa.concat_tables(self._active)
        active = active.group_by(active.column_names, use_threads=False).aggregate([])
        none = pa.array([0] * len(active), LONG)
        sums = dict.fromkeys(("requests", "errors", "request_bytes", "response_bytes", "throttle_ms"), none)
        yield "hourly", {**{name: active.column(name) for name in active.column_names}, **sums, "connections": ones(active)}


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
