"""What the relay counts, worked out by hand: by software, client id, api, version and error code, with a histogram of latencies."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_bytes import framed_hex
from kwire.protocol.relay import RelayPlan
from kwire.protocol.relay.counters import bucket_of

# ApiVersions v3 of client "c", "java" "9"; Heartbeat v0 of client "c"; their responses: Heartbeat with error 27
API_VERSIONS = framed_hex("0012 0003 00000001 0001 63 00 05 6a617661 02 39 00")  # 20 + 4 bytes
API_VERSIONS_ANSWER = framed_hex("00000001 0000 01 00000000 00")
HEARTBEAT = framed_hex("000c 0000 00000002 0001 63 0001 67 00000001 0001 6d")
HEARTBEAT_ANSWER = framed_hex("00000002 001b")


def counted(counters: Any) -> list[tuple[object, ...]]:
    names = ("software_name", "software_version", "client_id", "api_key", "api_version", "error_code", "exchanges", "request_bytes",
             "response_bytes", "latency_us")  # fmt: skip
    return [tuple(row[name] for name in names) for row in counters.rows()]


@pytest.mark.parametrize("most", [1, 5, 1000])
def test_rows(twin: Any, most: int) -> None:
    counters = twin.RelayCounters()
    relay = twin.Relay(RelayPlan(), counters=counters)

    def feed(name: str, data: bytes, t: int) -> None:
        for at in range(0, len(data), most):
            getattr(relay, name)(data[at : at + most], t)

    feed("from_client", API_VERSIONS, 1_000)
    feed("from_server", API_VERSIONS_ANSWER, 6_000)
    for _ in range(2):
        feed("from_client", HEARTBEAT, 10_000)
        feed("from_server", HEARTBEAT_ANSWER, 1_510_000)
    # The name counts from the next request on (KIP-511: a broker knows it when the request is through).
    assert counted(counters) == [
        ("java", "9", "c", 12, 0, 27, 2, 50, 20, 3000),
        ("unknown", "unknown", "c", 18, 3, 0, 1, 24, 16, 5),
    ]
    histograms = [{bucket: count for bucket, count in enumerate(row["latencies"]) if count} for row in counters.rows()]
    assert histograms == [{11: 2}, {3: 1}]  # below 2048 and below 8 microseconds


def test_a_request_takes_its_time_from_its_last_byte_on(twin: Any) -> None:
    """It comes in two pieces, 4 ms apart; its answer 3 ms behind the second."""
    counters = twin.RelayCounters()
    relay = twin.Relay(RelayPlan(), counters=counters)
    relay.from_client(HEARTBEAT[:20], 1_000_000)
    relay.from_client(HEARTBEAT[20:], 5_000_000)
    relay.from_server(HEARTBEAT_ANSWER, 8_000_000)
    assert [row["latency_us"] for row in counters.rows()] == [3000]


def test_a_produce_without_an_answer_counts_alone(twin: Any) -> None:
    counters = twin.RelayCounters()
    relay = twin.Relay(RelayPlan(), counters=counters)
    relay.from_client(framed_hex("0000 0002 00000005 ffff 0000 00007530 00000000"), 1)
    assert counted(counters) == [("unknown", "unknown", None, 0, 2, None, 1, 24, 0, 0)]


def test_an_api_and_a_version_below_zero(twin: Any) -> None:
    """Both are int16 on the wire: what no broker serves is counted with the numbers that the client sent, and each apart."""
    counters = twin.RelayCounters()
    relay = twin.Relay(RelayPlan(), counters=counters)
    for number, api in enumerate(("ffff 0000", "ffff fffe", "8000 0000")):
        relay.from_client(framed_hex(f"{api} {number:08x} 0001 63"), 1_000)  # 4 + 11 bytes
        relay.from_server(framed_hex(f"{number:08x}"), 3_000)  # 4 + 4
    assert sorted(row[3:5] for row in counted(counters)) == [(-32768, 0), (-1, -2), (-1, 0)]
    assert {row[6:] for row in counted(counters)} == {(1, 15, 8, 2)}


def test_texts_are_capped(twin: Any) -> None:
    """A client may send any client id; beyond the cap, or over 255 bytes, or not UTF-8, they count together."""
    counters = twin.RelayCounters(max_clients=1)
    relay = twin.Relay(RelayPlan(), counters=counters)
    for client in ("0001 61", "0001 62", "0001 61", "0002 fffe", "0100" + "63" * 256):
        relay.from_client(framed_hex(f"000c 0000 00000002 {client} 0001 67 00000001 0001 6d"), 1)
        relay.from_server(HEARTBEAT_ANSWER, 1)
    assert [(row["client_id"], row["exchanges"]) for row in counters.rows()] == [("a", 2), ("other", 3)]


@pytest.mark.parametrize(
    ("client", "counted"), [("00ff" + "63" * 255, "c" * 255), ("0100" + "63" * 256, "other"), ("0003 efbfbd", "other")]
)
def test_long_and_replaced_texts(twin: Any, client: str, counted: str) -> None:
    counters = twin.RelayCounters()
    relay = twin.Relay(RelayPlan(), counters=counters)
    relay.from_client(framed_hex(f"000c 0000 00000002 {client} 0001 67 00000001 0001 6d"), 1)
    relay.from_server(HEARTBEAT_ANSWER, 1)
    assert [row["client_id"] for row in counters.rows()] == [counted]


def test_rows_are_capped(twin: Any) -> None:
    counters = twin.RelayCounters(max_series=1)
    relay = twin.Relay(RelayPlan(), counters=counters)
    for error in (0, 27, 0):
        relay.from_client(HEARTBEAT, 1)
        relay.from_server(framed_hex(f"00000002 {error:04x}"), 1)
    assert [(row["error_code"], row["exchanges"]) for row in counters.rows()] == [(0, 2)]
    assert counters.dropped == 1


def test_buckets() -> None:
    assert [bucket_of(ns) for ns in (-5, 0, 999, 1_000, 1_999, 2_000, 3_999, 4_000, 10**18)] == [0, 0, 0, 1, 1, 2, 2, 3, 31]
