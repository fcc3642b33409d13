"""Rows of client_hourly from hand-made parts: the histogram of a row is that of its client, server, api, version and hour alone."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pyarrow as pa

from kwire.analysis.client_hourly import client_hourly
from kwire.analysis.partials import empty, merge, schema_of

HOUR = datetime(2026, 9, 8, 10, tzinfo=timezone.utc)
NEXT = datetime(2026, 9, 8, 11, tzinfo=timezone.utc)
USE = {"client_key": "k", "server": "10.0.0.9:9092", "api_key": 3, "api_version": 12}


def part(name: str, *rows: dict[str, Any]) -> dict[str, pa.Table]:
    return {name: pa.Table.from_pylist([dict.fromkeys(schema_of(name).names) | row for row in rows], schema=schema_of(name))}


def test_each_hour_has_its_own_histogram() -> None:
    sums = {"errors": 0, "connections": 1, "request_bytes": 10, "response_bytes": 20, "throttle_ms": 0, "api_name": "Metadata"}
    parts = merge([
        empty()
        | part("hourly", {**USE, "hour": HOUR, "requests": 3, **sums}, {**USE, "hour": NEXT, "requests": 1, **sums})
        | part(
            "hourly_latency",
            {**USE, "hour": HOUR, "bucket": 190, "requests": 1}, {**USE, "hour": HOUR, "bucket": 5, "requests": 2},
            {**USE, "hour": HOUR, "api_version": 11, "bucket": 7, "requests": 9},  # of another version
        )
        | part("identities", {"client_key": "k", "software_name": "sarama", "software_version": "1.40.0", "address": "10.0.0.1"})
        | part("servers", {"server": "10.0.0.9:9092", "node_id": 4, "connections": 1}),
    ])  # fmt: skip
    first, second = client_hourly(parts).to_pylist()
    # bucket 5 is 5 us; bucket 190 is 992 to 1007 us
    assert first["latency_histogram"] == [{"up_to_us": 5, "requests": 2}, {"up_to_us": 1007, "requests": 1}]
    assert second["latency_histogram"] == []
    assert [(row["hour"], row["requests"], row["node_id"]) for row in (first, second)] == [(HOUR, 3, 4), (NEXT, 1, 4)]
    assert (first["software_name"], first["software_version"]) == ("sarama", "1.40.0")


def test_a_server_that_no_response_names_has_no_node() -> None:
    sums = dict.fromkeys(("requests", "errors", "connections", "request_bytes", "response_bytes", "throttle_ms"), 1)
    parts = empty() | part("hourly", {**USE, "hour": HOUR, **sums})
    (row,) = client_hourly(parts).to_pylist()
    assert (row["node_id"], row["software_name"], row["latency_histogram"]) == (None, None, [])
