"""Topics, groups and metrics of real captures, against what the brokers logged (data/README.md)."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kwire import analysis

DATA = Path(__file__).parent / "data"
TRUTH: dict[str, Any] = json.loads((DATA / "observed-truth.json").read_text())
SHOWN = [f"{group} {generation}" for group, generation, _members in TRUTH["stabilized"]]


@cache
def rows(capture: str, table: str) -> list[dict[str, Any]]:
    return analysis.run([str(DATA / capture)])[table].to_pylist()


def rebalances() -> dict[str, dict[str, Any]]:
    found = [row for row in rows("groups.pcapng.gz", "group_events") if row["event"] == "rebalance" and row["protocol"] == "classic"]
    return {f"{row['group_id']} {row['generation']}": row for row in found}


@pytest.mark.requirement("K559-45")
def test_a_group_has_the_generations_that_its_coordinator_logged() -> None:
    assert sorted([row["group_id"], row["generation"], row["members_after"]] for row in rebalances().values()) == TRUTH["stabilized"]


@pytest.mark.parametrize("generation", SHOWN)
def test_the_trigger_of_a_rebalance_is_whom_the_coordinator_names(generation: str) -> None:
    row, logged = rebalances()[generation], TRUTH["reasons"][generation]
    assert row["trigger_member_id"] in logged
    if "LeaveGroup" in logged:
        assert f"-{row['trigger_member_id']} left" in row["diff"]
    if "expiration" in logged:
        assert f"-{row['trigger_member_id']} expired" in row["diff"]


def test_members_that_expired_are_rows_of_their_own() -> None:
    expired = {row["member_id"] for row in rows("groups.pcapng.gz", "group_events") if row["event"] == "expired"}
    assert expired == {
        re.search(r"removing member (\S+) on", reason)[1]  # type: ignore[index]
        for reason in TRUTH["reasons"].values()
        if "heartbeat expiration" in reason
    }


@pytest.mark.requirement("K559-45")
def test_a_subscription_that_changed_is_said() -> None:
    (change,) = [row for key, row in rebalances().items() if key == "ops 2"]
    assert change["diff"].endswith("wants orders, returns instead of orders")
    assert change["reason"] == "subscription has changed"


def test_epochs_of_a_group_of_kip_848_are_rebalances() -> None:
    found = [row for row in rows("groups.pcapng.gz", "group_events") if row["event"] == "rebalance" and row["protocol"] == "consumer"]
    # The coordinator's log: epoch 2 of one member, 3 and 4 with a second and a third, 5 after one left, 6 after one was fenced.
    assert [(row["group_id"], row["generation"], row["members_after"]) for row in found][:4] == [
        ("shipping-ng", 2, 1),
        ("shipping-ng", 3, 2),
        ("shipping-ng", 4, 3),
        ("shipping-ng", 5, 2),
    ]
    assert [row["generation"] for row in found] == [2, 3, 4, 5, 6]


def test_assignments_are_those_of_the_group() -> None:
    steps = [row for row in rows("groups.pcapng.gz", "group_events") if row["event"] == "sync" and row["group_id"] == "fulfilment"]
    of_third = Counter(part for row in steps if row["generation"] == 3 for each in row["assignment"] or () for part in each[7:].split(","))
    assert of_third == dict.fromkeys("012345", 1)  # orders has six partitions, each is somebody's


@pytest.mark.parametrize("client", sorted(TRUTH["produced"]))
def test_produced_records_are_counted(client: str) -> None:
    found = [row for row in rows("topicids.pcap.gz", "topic_access") if row["client_id"] == client and row["direction"] == "produce"]
    assert {row["topic"]: row["records"] for row in found} == TRUTH["produced"][client]


@pytest.mark.parametrize("client", sorted(TRUTH["consumed"]))
def test_fetched_records_are_counted(client: str) -> None:
    found = [row for row in rows("topicids.pcap.gz", "topic_access") if row["client_id"] == client and row["direction"] == "fetch"]
    got: Counter[str] = Counter()
    for row in found:
        got[row["topic"]] += row["records"]
    assert got == TRUTH["consumed"][client]


def test_a_topic_that_was_made_again_has_two_ids() -> None:
    found = [row for row in rows("topicids.pcap.gz", "topic_access") if row["topic"] == "returns" and row["direction"] == "produce"]
    ids = {row["client_id"]: row["topic_id"] for row in found}
    assert ids["order-writer"] == TRUTH["deleted_topics"]["returns"][0]
    assert ids["order-writer-2"] == TRUTH["topics"]["returns"]


@pytest.mark.requirement("K714-93")
def test_metrics_are_those_that_the_receiver_got() -> None:
    points = [row for row in rows("telemetry.pcapng.gz", "telemetry") if row["metric"] is not None]
    assert {row["metric"].rsplit(".", 1)[0] for row in points} >= {"org.apache.kafka.producer.connection.creation"}
    assert {row["type"] for row in points} == {"sum", "gauge"}
    assert {row["temporality"] for row in points if row["type"] == "sum"} == {"delta"}
    assert all(row["value"] is not None and row["time"] is not None for row in points)
    pushed = {(row["client_instance_id"], row["client_id"]) for row in rows("telemetry.pcapng.gz", "telemetry")}
    assert pushed >= {(instance, client) for instance, client, _terminating, length in TRUTH["pushes"] if length}
    ended = {row["client_instance_id"] for row in rows("telemetry.pcapng.gz", "telemetry") if row["terminating"]}
    assert ended == {instance for instance, _client, terminating, _length in TRUTH["pushes"] if terminating}


def test_hours_add_up_to_the_requests() -> None:
    hourly = rows("groups.pcapng.gz", "client_hourly")
    requests = [row for row in rows("groups.pcapng.gz", "requests") if row["api_key"] is not None]
    assert sum(row["requests"] for row in hourly) == len(requests)
    assert sum(bucket["requests"] for row in hourly for bucket in row["latency_histogram"]) == sum(
        row["latency_us"] is not None for row in requests
    )
    by_api = Counter(row["api_name"] for row in requests)
    assert {name: sum(row["requests"] for row in hourly if row["api_name"] == name) for name in by_api} == by_api
    connections = {(row["connection_id"], row["api_key"], row["api_version"], row["client_key"]) for row in requests}
    assert sum(row["connections"] for row in hourly) == len(connections)  # the capture lies within an hour
    assert {row["hour"].minute for row in hourly} == {0}
