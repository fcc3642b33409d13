"""The capture of `make demo` against the programs that it was made with: three brokers and a fleet of known libraries."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kwire.analysis import run

ROOT = Path(__file__).resolve().parents[2]
CAPTURE = ROOT / "examples" / "three-brokers.pcap.gz"
# Client id: address below 10.20., library.
STARTED = {
    "pricing-svc": ("1.11", "java-0.10.2.2"), "stock-feed": ("1.14", "java-0.11.0.3"), "ledger-batch": ("1.12", "java-1.1.1"),
    "crm-sync": ("1.13", "java-2.0.1"), "checkout-1": ("2.11", "java-3.7.2"), "checkout-2": ("2.12", "java-4.3.1"),
    "etl-bulk": ("2.13", "java-2.8.2"), "fulfilment-1": ("2.21", "java-4.3.1"), "fulfilment-2": ("2.22", "java-2.8.2"),
    "recommender": ("3.11", "confluent-2.0"), "web-events": ("3.12", "confluent-2.6"), "fraud-scorer": ("3.13", "confluent-2.6"),
    "fraud-scorer-2": ("3.14", "confluent-2.6"), "audit-export": ("4.11", "kafka-python-1.4"),
    "report-builder": ("4.12", "kafka-python-2.0"), "notifier": ("4.13", "aiokafka"),
    "edge-gateway": ("5.11", "sarama-1.23"), "edge-gateway-new": ("5.12", "sarama-1.43"),
    "web-frontend-old": ("5.13", "kafkajs-1.4"), "web-frontend": ("5.14", "kafkajs-2.2"),
}  # fmt: skip
# Those that name themselves (KIP-511), with the name and the beginning of the version.
NAMED = {
    "java-2.8.2": ("apache-kafka-java", "2.8.2"),
    "java-3.7.2": ("apache-kafka-java", "3.7.2"), "java-4.3.1": ("apache-kafka-java", "4.3.1"),
    "confluent-2.0": ("confluent-kafka-python", "2.0.2"), "confluent-2.6": ("confluent-kafka-python", "2.6.1"),
    "sarama-1.43": ("sarama", "dev"),  # a program's own build has no module version
}  # fmt: skip


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    return run([str(CAPTURE)])


def test_every_application_is_found_at_its_address(tables: dict[str, pa.Table]) -> None:
    started = {(client_id, f"10.20.{address}") for client_id, (address, _) in STARTED.items()}
    clients: list[dict[str, Any]] = tables["clients"].to_pylist()
    seen = {(client_id, address) for row in clients for client_id in row["client_ids"] or () for address in row["addresses"]}
    assert started <= seen
    named = {client_id: NAMED[library] for client_id, (_, library) in STARTED.items() if library in NAMED}
    found = {
        client_id: (row["software_name"], row["software_version"].partition("-")[0])
        for row in clients for client_id in row["client_ids"] or () if client_id in named
    }  # fmt: skip
    assert found == named


def test_the_brokers_are_those_that_were_started(tables: dict[str, pa.Table]) -> None:
    assert {row["node_id"]: row["host"] for row in tables["brokers"].to_pylist()} == {1: "10.20.0.11", 2: "10.20.0.12", 3: "10.20.0.13"}


def test_clients_before_kip_896_break(tables: dict[str, pa.Table]) -> None:
    breaks = {
        row["client_id"]
        for row in tables["upgrade_impact"].to_pylist()
        if row["verdict"] == "breaks" and row["target_release"].startswith("4.0")
    }
    # kafka-clients 0.10.2, sarama 1.23 set to 0.10.2 and kafkajs 1.4 send Produce 2, Fetch 2 or the like, which 4.0 removed
    assert breaks == {"pricing-svc", "edge-gateway", "web-frontend-old"}


def test_steps_that_clients_expect_are_no_errors(tables: dict[str, pa.Table]) -> None:
    """Kafka's clients take these codes as the next step (KIP-394, KIP-62, KIP-98); the column `error_code` keeps them."""
    codes = Counter(row["error_name"] for row in tables["requests"].to_pylist() if row["error_code"])
    steps = {"MEMBER_ID_REQUIRED", "REBALANCE_IN_PROGRESS", "COORDINATOR_LOAD_IN_PROGRESS"}
    assert steps < codes.keys()
    uses = tables["api_usage"].to_pylist()
    assert {name for row in uses for name in row["error_names"] or ()} == codes.keys() - steps
    counted = sum(count for name, count in codes.items() if name not in steps) + sum(row["disconnects"] or 0 for row in uses)
    assert sum(row["errors"] for row in uses) == sum(row["errors"] for row in tables["clients"].to_pylist()) == counted


def test_members_come_and_go_and_metrics_are_pushed(tables: dict[str, pa.Table]) -> None:
    events = tables["group_events"].to_pylist()
    rebalanced = {row["group_id"] for row in events if row["event"] == "rebalance"}
    assert {"fulfilment", "fraud"} <= rebalanced
    assert {"checkout-1", "checkout-2"} <= set(tables["telemetry"].column("client_id").to_pylist())
