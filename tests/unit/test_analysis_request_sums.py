"""Sums over requests: counted by hand, and the same however the rows are cut into batches."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from kwire.analysis.partials import partial_of_series
from kwire.analysis.request_sums import RequestSums
from kwire.tables.connection_index import ConnectionIndex
from kwire.tables.facts import FACT_SCHEMAS
from kwire.tables.schemas import CAPTURES, CONNECTIONS, REQUESTS
from kwire.tables.series_rows import SPOOLED, SeriesView

HOUR = 3_600_000_000
CONNECTED = [
    {"connection_id": "c1", "client_key": "k", "client_id": "app", "software_name": "lib", "software_version": "1", "server_address": "s"},
    {"connection_id": "c2", "client_key": "k", "client_id": "app", "software_name": "lib", "software_version": "1", "server_address": "s"},
    {"connection_id": "c3", "client_key": "other", "client_id": None, "server_address": "s"},
]


def request(connection: str, index: int, time: int | None, **more: Any) -> dict[str, Any]:
    return {"connection_id": connection, "request_index": index, "request_time": time, "api_key": 3, "api_name": "Metadata",
            "api_version": 12, "error_code": 0, "request_bytes": 10, **more}  # fmt: skip


REQUESTED = [
    request("c2", 4, HOUR + 5, latency_us=7, response_bytes=100),
    request("c1", 9, HOUR + 5, latency_us=7, error_code=35, error_name="UNSUPPORTED_VERSION", throttle_time_ms=3),
    request("c1", 2, HOUR + 5, group_id="g", throttle_time_ms=-1),
    request("c1", 3, 2 * HOUR, group_id="g", latency_us=1000, error_code=None),
    request("c3", 0, None, api_version=11, group_id=""),
    request("c3", 1, None, api_version=11),
    {"connection_id": "c1", "request_index": None, "response_bytes": 1},  # a response without its request
]


def view(requests: list[dict[str, Any]], cuts: tuple[int, ...]) -> SeriesView:
    connections = pa.Table.from_pylist([{"server_port": 9092, **row} for row in CONNECTED], schema=CONNECTIONS)
    borders = [0, *cuts, len(requests)]
    parts = [requests[first:last] for first, last in pairwise(borders)]
    batches = [pa.RecordBatch.from_pylist(part, schema=REQUESTS) for part in parts]
    return SeriesView(
        CAPTURES.empty_table(),
        connections,
        {name: schema.empty_table() for name, schema in FACT_SCHEMAS.items()},
        lambda table: iter(batches if table == "requests" else SPOOLED[table].empty_table().to_batches()),
        ConnectionIndex(connections.column("connection_id")).rows_of,
    )


def plain(table: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    longs = pa.schema([field.with_type(pa.int64()) if pa.types.is_timestamp(field.type) else field for field in table.schema])
    return [tuple(row.values()) for row in table.cast(longs).select(columns).to_pylist()]


def test_uses_are_counted_with_their_first_request() -> None:
    """Of the three at one moment the least connection and index is the evidence; of those without a time too."""
    usage = partial_of_series(view(REQUESTED, ()))["usage"]
    columns = (
        "client_key", "server", "api_version", "requests", "errors", "first_seen", "last_seen", "evidence_connection_id",
        "evidence_request_index",
    )  # fmt: skip
    assert plain(usage, *columns) == [
        ("k", "s:9092", 12, 4, 1, HOUR + 5, 2 * HOUR, "c1", 2),
        ("other", "s:9092", 11, 2, 0, None, None, "c3", 0),
    ]


def test_hours_have_sums_and_connections() -> None:
    hourly = partial_of_series(view(REQUESTED, ()))["hourly"]
    columns = ("client_key", "hour", "requests", "errors", "connections", "request_bytes", "response_bytes", "throttle_ms")
    assert plain(hourly, *columns) == [
        ("k", HOUR, 3, 1, 2, 30, 100, 3),
        ("k", 2 * HOUR, 1, 0, 1, 10, 0, 0),
        ("other", None, 2, 0, 1, 20, 0, 0),
    ]


def test_latencies_errors_and_groups() -> None:
    partial = partial_of_series(view(REQUESTED, ()))
    assert plain(partial["latency"], "client_key", "bucket", "requests") == [
        ("k", 7, 2),
        ("k", 4 * 32 + 62, 1),
    ]  # 1000 has 10 bits: 62 * 2**4
    assert plain(partial["error_names"], "error_name", "requests") == [("UNSUPPORTED_VERSION", 1)]
    assert plain(partial["group_use"], "client_key", "client_id", "group_id", "requests") == [("k", "app", "g", 2)]


@pytest.mark.parametrize("cuts", [(1,), (3,), (1, 2, 3, 4, 5, 6)])
def test_batches_may_end_anywhere(cuts: tuple[int, ...]) -> None:
    whole, cut = partial_of_series(view(REQUESTED, ())), partial_of_series(view(REQUESTED, cuts))
    assert {name: table.to_pylist() for name, table in cut.items()} == {name: table.to_pylist() for name, table in whole.items()}


def test_more_uses_than_there_was_room_for() -> None:
    rows = [request("c1", number, HOUR * (1 + number % 300), api_version=number % 7) for number in range(2100)]
    found = partial_of_series(view(rows, (1000,)))
    assert sum(found["hourly"].column("requests").to_pylist()) == 2100
    assert plain(found["usage"], "api_version", "requests") == [(version, 300) for version in range(7)]


def test_what_was_summed_while_it_was_written_counts() -> None:
    rows = view(REQUESTED, ())
    sums = RequestSums(rows)
    for batch in rows.batches("requests"):
        sums.add(batch)
    assert partial_of_series(rows, sums)["usage"].equals(partial_of_series(rows)["usage"])
