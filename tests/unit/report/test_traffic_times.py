"""Requests, errors and latency over time, from requests and from sums by hour, worked out by hand."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from kwire.report.traffic_times import MOST_HOURS, STEPS, TrafficTimes, read_traffic

START = datetime(2026, 9, 8, 10, 0, tzinfo=timezone.utc)


@pytest.fixture
def times_of(folder_of: Any) -> Any:
    def read(length: timedelta, *clients: str, **tables: list[dict[str, Any]]) -> TrafficTimes | None:
        captures = [{"capture": "a.pcap", "start": START, "end": START + length}]
        tables["clients"] = [{"client_key": key} for key in clients]
        return read_traffic(folder_of(captures=captures, **tables), clients)

    return read


def request(second: float, key: str = "a", latency: int | None = 500, api: str = "Produce", error: int = 0) -> dict[str, Any]:
    time = START + timedelta(seconds=second)
    return {"client_key": key, "request_time": time, "latency_us": latency, "api_key": 0, "api_name": api, "error_code": error}


def hour(number: int, key: str, requests: int, api: str = "Produce", errors: int = 0, **buckets: int) -> dict[str, Any]:
    histogram = [{"up_to_us": int(top[1:]), "requests": count} for top, count in buckets.items()]
    time = START + timedelta(hours=number)
    return {"client_key": key, "hour": time, "api_name": api, "requests": requests, "errors": errors, "latency_histogram": histogram}


def test_a_short_capture_is_counted_from_its_requests(times_of: Any) -> None:
    """60 seconds in 60 steps: the first request is in the first step, the last one in the last."""
    rows = [
        request(0, latency=100),
        request(0.5, latency=300, error=3),
        request(0.6, latency=90_000, api="Fetch", error=71),
        request(59.999, "b"),
    ]
    times = times_of(timedelta(minutes=1), "a", requests=rows)
    assert len(times.requests) == STEPS
    assert (times.requests[0], times.requests[-1], sum(times.requests)) == (3, 1, 4)
    assert (times.errors[0], sum(times.errors)) == (1, 1)  # a fetch session that ends is no error (KIP-227)
    assert (times.p50[0], times.p50[1], times.p50[-1]) == (200, None, 500)  # Fetch waits on purpose
    assert times.clients == {"a": (3, *[0] * (STEPS - 1))}


def test_a_long_capture_is_counted_by_hour(times_of: Any) -> None:
    rows = [hour(0, "a", 10, errors=2, u100=9, u5000=1), hour(0, "b", 90, u100=90), hour(7, "a", 1, "Fetch", u900000=1)]
    times = times_of(timedelta(hours=8), "a", "silent", requests=[request(0)], client_hourly=rows)
    assert times.requests == (100, 0, 0, 0, 0, 0, 0, 1)
    assert times.errors == (2, 0, 0, 0, 0, 0, 0, 0)
    assert times.p50 == (100, *[None] * 7)  # 99 of 100 answers within 100 us
    assert times.p99 == (100, *[None] * 7)
    assert times.clients == {"a": (10, 0, 0, 0, 0, 0, 0, 1)}
    assert (times.start, times.step, times.end) == (START, timedelta(hours=1), START + timedelta(hours=8))


def test_many_hours_share_a_step(times_of: Any) -> None:
    times = times_of(timedelta(days=40), client_hourly=[hour(0, "a", 1), hour(40 * 24 - 1, "a", 2)])
    assert (times.step, len(times.requests)) == (timedelta(hours=3), 320)
    assert len(times.requests) <= MOST_HOURS
    assert (times.requests[0], times.requests[-1]) == (1, 2)


def test_without_a_request_there_is_nothing_to_draw(times_of: Any) -> None:
    assert times_of(timedelta(minutes=1), requests=[], client_hourly=[]) is None
