"""Top lists and lists of the page, worked out by hand from a few rows."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.incidents import TOP, read_incidents
from kwire.report.listings import Listing
from kwire.report.server_coverage import read_server_coverage
from kwire.report.telemetry_list import read_telemetry

START = datetime(2026, 9, 8, 10, 0, tzinfo=timezone.utc)
CLIENTS = [{"client_key": f"k{number}", "client_ids": [f"app-{number}"]} for number in range(30)]


def incident(folder: AnalysisFolder, name: str) -> Listing:
    return next(each for each in read_incidents(folder) if each.id == f"incident-{name}")


def usage(key: str, api: str, requests: int, minutes: int, errors: list[str] | None = None) -> dict[str, Any]:
    return {
        "client_key": key, "api_name": api, "requests": requests, "errors": len(errors or ()), "error_names": errors or [],
        "first_seen": START, "last_seen": START + timedelta(minutes=minutes),
    }  # fmt: skip


def test_who_asks_for_metadata_too_often(folder_of: Any) -> None:
    rows = [
        usage("k1", "Metadata", 50, 10),
        usage("k1", "Metadata", 50, 5),
        usage("k2", "Metadata", 10, 10),
        usage("k3", "Metadata", 99, 0),
    ]
    found = incident(folder_of(clients=CLIENTS, api_usage=[*rows, usage("k4", "Fetch", 900, 1)]), "metadata")
    assert found.rows == (("app-1", "10.0", "100", "10 min"),)


def test_a_storm_is_within_a_minute(folder_of: Any) -> None:
    storm = [{"client_key": "k1", "first_seen": START + timedelta(seconds=second)} for second in range(25)]
    spread = [{"client_key": "k2", "first_seen": START + timedelta(minutes=minute)} for minute in range(25)]
    found = incident(
        folder_of(clients=CLIENTS, connections=[*storm, *spread, {"client_key": "k1", "first_seen": START + timedelta(hours=1)}]), "storms"
    )
    assert found.rows == (("app-1", "25", "2026-09-08 10:00:00", "26"),)


def test_throttling_adds_up(folder_of: Any) -> None:
    rows = [
        {"client_key": "k1", "api_name": "Produce", "throttle_ms": 1500},
        {"client_key": "k1", "api_name": "Fetch", "throttle_ms": 500},
        {"client_key": "k2", "api_name": "Fetch", "throttle_ms": 0},
    ]
    found = incident(folder_of(clients=CLIENTS, client_hourly=rows), "throttled")
    assert found.rows == (("app-1", "2 s", "Produce, Fetch"),)


def test_refusals_of_all_kinds(folder_of: Any) -> None:
    connections = [
        {"client_key": "k1", "auth_failures": 3, "attempted_principal": "User:eve", "state": "complete", "protocol": "kafka"},
        {"client_key": "k2", "auth_failures": 0, "state": "reset", "protocol": "silent"},
        {"client_key": "k2", "auth_failures": 0, "state": "reset", "protocol": "kafka"},
    ]
    rows = [usage("k3", "Produce", 9, 1, ["TOPIC_AUTHORIZATION_FAILED"]), usage("k3", "Fetch", 9, 1, ["OFFSET_OUT_OF_RANGE"])]
    found = incident(folder_of(clients=CLIENTS, connections=connections, api_usage=rows), "refused")
    assert found.rows == (
        ("app-1", "authentication failed as User:eve", "3"),
        ("app-2", "connection refused or reset before a byte", "1"),
        ("app-3", "Produce: TOPIC_AUTHORIZATION_FAILED", "1"),
    )


def test_groups_that_rebalance_are_counted_without_their_first_generation(folder_of: Any) -> None:
    def row(event: str, before: int, took: int | None, reason: str | None) -> dict[str, Any]:
        of_group = {"group_id": "g", "generation": 3, "diff": "+m joined", "time": START, "members_after": 2}
        return {**of_group, "event": event, "members_before": before, "duration_us": took, "reason": reason}

    rows = [
        row("rebalance", 0, 9, "first"),
        row("rebalance", 1, 2_000_000, "a member joined"),
        row("rebalance", 2, 1_000_000, "a member joined"),
    ]
    folder = folder_of(group_events=[*rows, row("expired", 2, None, None), row("join", 2, 5, None)])
    assert incident(folder, "rebalancing").rows == (("g", "2", "3 s", "1", "a member joined (2)"),)


def access(client: str, topic: str, direction: str, records: int, **more: Any) -> dict[str, Any]:
    return {"client_id": client, "topic": topic, "direction": direction, "records": records, "bytes": records * 10, **more}


def test_batches_that_are_too_large(folder_of: Any) -> None:
    rows = [
        access("writer", "orders", "produce", 5, max_batch_bytes=2 << 20),
        access("reader", "orders", "fetch", 7, max_batch_bytes=2 << 20),
        access("small", "notes", "produce", 1, error_names=["MESSAGE_TOO_LARGE"], max_batch_bytes=10),
    ]
    folder = folder_of(topic_access=rows)
    assert incident(folder, "oversized").rows == (
        ("writer", "orders", "2.1 MB", "taken"),
        ("small", "notes", "10 bytes", "MESSAGE_TOO_LARGE"),
    )


@pytest.mark.requirement("K714-91")
def test_who_pushes_metrics_and_from_which_process(folder_of: Any) -> None:
    row = {"client_id": "app", "software_name": "librdkafka", "software_version": "2.6", "client_instance_id": "i", "time": START}
    pushed = [{**row, "connection_id": name, "principal": "User:app", "metric": metric} for name, metric in (("c1", "a"), ("c2", "b"))]
    connections = [
        {"connection_id": "c1", "client_address": "10.1.0.4", "client_port": 40000},
        {"connection_id": "c2", "client_address": "10.1.0.4", "client_port": 40001},
        {"connection_id": "c3", "client_address": "10.1.0.9", "client_port": 40001},
    ]
    found = read_telemetry(folder_of(telemetry=[*pushed, {**row, "metric": "a"}, {**row, "metric": None}], connections=connections))
    addresses = "10.1.0.4:40000, 10.1.0.4:40001"
    assert found.rows == (("app", "librdkafka 2.6", "i", addresses, "User:app", "2", "3", "2026-09-08 10:00:00"),)


def test_what_was_seen_of_each_listener(folder_of: Any) -> None:
    def connection(port: int, **more: Any) -> dict[str, Any]:
        whole = {"protocol": "kafka", "state": "complete", "request_bytes": 10, "response_bytes": 20, "gaps": 0, "bytes_cut": 0}
        return {"server_address": "10.0.0.1", "server_port": port, "node_id": 1, **whole, **more}

    rows = [
        connection(9092, state="joined_late", gaps=2),
        connection(9092, response_bytes=0, bytes_cut=5_000),
        connection(9093, protocol="tls", node_id=None),
        connection(9092, protocol="silent", request_bytes=0, response_bytes=0),
    ]
    assert read_server_coverage(folder_of(connections=rows)).rows == (
        ("10.0.0.1:9092", "1", "3", "2", "none", "1", "1", "2", "5.0 kB"),
        ("10.0.0.1:9093", "", "1", "0", "30 bytes", "0", "0", "0", "none"),
    )


def test_lists_are_cut_to_the_worst(folder_of: Any) -> None:
    folder = folder_of(clients=CLIENTS, api_usage=[usage(f"k{number}", "Metadata", 100 * (number + 1), 10) for number in range(30)])
    found = incident(folder, "metadata")
    assert len(found.rows) == TOP
    assert found.rows[0][0] == "app-29"


def test_without_rows_there_is_good_news(folder_of: Any) -> None:
    folder = folder_of(clients=CLIENTS)
    assert all(not each.rows and each.nothing.endswith(".") for each in (*read_incidents(folder), read_telemetry(folder)))


def test_requests_that_a_server_hung_up_on_are_refused(folder_of: Any) -> None:
    """A 4.x broker answers no Produce v2: it closes the connection (KIP-896)."""
    rows = [
        {**usage("k1", "Produce", 20, 1), "api_version": 2, "errors": 12, "disconnects": 12},
        {**usage("k1", "Fetch", 20, 1), "api_version": 1, "errors": 1_003, "disconnects": 1_003},
        {**usage("k2", "ApiVersions", 9, 1, ["UNSUPPORTED_VERSION"]), "api_version": 4, "errors": 7, "disconnects": 2},
        {**usage("k3", "Metadata", 9, 1, ["TOPIC_AUTHORIZATION_FAILED", "UNKNOWN_TOPIC_OR_PARTITION"]), "api_version": 9, "errors": 6},
    ]
    assert incident(folder_of(clients=CLIENTS, api_usage=rows), "refused").rows == (
        ("app-1", "the server hung up without an answer: Fetch v1 (1,003), Produce v2 (12)", "1,015"),
        ("app-3", "Metadata: TOPIC_AUTHORIZATION_FAILED and other errors", "6"),
        ("app-2", "ApiVersions: UNSUPPORTED_VERSION", "5"),
        ("app-2", "the server hung up without an answer: ApiVersions v4 (2)", "2"),
    )
