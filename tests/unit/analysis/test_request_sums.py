"""Sums over requests: counted by hand, and the same however the rows are cut into batches."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from kwire.analysis.partials import partial_of_series
from kwire.analysis.request_sums import RequestSums
from kwire.tables.connection_index import ConnectionIndex
from kwire.tables.facts import FACT_SCHEMAS, REFUSALS
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
    request("c1", 2, HOUR + 5, group_id="g", throttle_time_ms=-1, error_code=14, error_name="COORDINATOR_LOAD_IN_PROGRESS"),
    request("c1", 3, 2 * HOUR, group_id="g", latency_us=1000, error_code=None),
    request("c3", 0, None, api_version=11, group_id=""),
    request("c3", 1, None, api_version=11),
    {"connection_id": "c1", "request_index": None, "response_bytes": 1},  # a response without its request
]


def view(requests: list[dict[str, Any]], cuts: tuple[int, ...], connected: list[dict[str, Any]] = CONNECTED) -> SeriesView:
    connections = pa.Table.from_pylist([{"server_port": 9092, **row} for row in connected], schema=CONNECTIONS)
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


def refused(connected: list[dict[str, Any]], requests: list[dict[str, Any]], *facts: tuple[str, int, int, int]) -> list[tuple[Any, ...]]:
    """The refusals of connections that the server closed: connection, index, api and version of the first request without an answer."""
    rows = view(requests, (), connected)
    names = ("connection_id", "request_index", "api_key", "api_version")
    told = [{**dict(zip(names, fact, strict=True)), "server": "s:9092", "refusal": "disconnected"} for fact in facts]
    rows.facts["refusals"] = pa.Table.from_pylist(told, schema=REFUSALS)
    return plain(partial_of_series(rows)["refusals"], "evidence_connection_id", "refusal", "requests")


def test_a_request_that_waited_when_the_server_closed_was_hung_up_on() -> None:
    requests = [request("c1", 0, HOUR, state="answered"), request("c1", 1, HOUR, state="unanswered")]
    assert refused(CONNECTED, requests, ("c1", 1, 3, 12)) == [("c1", "disconnected", 1)]


@pytest.mark.parametrize("state", ["no_response_expected", "unseen", "abandoned", "a state of later days"])
def test_what_did_not_wait_for_an_answer_in_sight_was_not_hung_up_on(state: str) -> None:
    """A server that closes behind Produce with acks=0 need not have refused it; answers that were not seen prove nothing either."""
    assert refused(CONNECTED, [request("c1", 0, HOUR, state=state)], ("c1", 0, 0, 3)) == [("c1", "closed", 1)]


def test_a_gap_may_hold_the_answer() -> None:
    with_gap = [{**CONNECTED[0], "gaps": 1}]
    assert refused(with_gap, [request("c1", 0, HOUR, state="unanswered")], ("c1", 0, 3, 12)) == [("c1", "closed", 1)]


def test_requests_that_want_an_answer_are_counted_by_what_became_of_them() -> None:
    states = ["answered", "unanswered", "abandoned", "unseen", "no_response_expected", "a state of later days"]
    usage = partial_of_series(view([request("c1", index, HOUR, state=state) for index, state in enumerate(states)], (3,)))["usage"]
    assert plain(usage, "requests", "wanted", "answered", "unseen") == [(6, 5, 1, 1)]
