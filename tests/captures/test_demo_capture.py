"""The capture of `make demo` against what tools/demo_capture/make.py started: three brokers and a fleet of known libraries."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from kwire.analysis import run
from script_modules import module_of

ROOT = Path(__file__).resolve().parents[2]
CAPTURE = ROOT / "examples" / "three-brokers.pcap.gz"
# Those that name themselves (KIP-511), with the name and the beginning of the version.
NAMED = {
    "java-2.8.2": ("apache-kafka-java", "2.8.2"),
    "java-3.7.2": ("apache-kafka-java", "3.7.2"), "java-4.3.1": ("apache-kafka-java", "4.3.1"),
    "confluent-2.0": ("confluent-kafka-python", "2.0.2"), "confluent-2.6": ("confluent-kafka-python", "2.6.1"),
    "sarama-1.43": ("sarama", "dev"),  # a program's own build has no module version
}  # fmt: skip


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    return module_of(ROOT / "tools" / "demo_capture" / "make.py")


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    return run([str(CAPTURE)])


def test_every_application_is_found_at_its_address(maker: ModuleType, tables: dict[str, pa.Table]) -> None:
    started = {(one.client_id, one.address) for one in maker.applications(120)}
    clients: list[dict[str, Any]] = tables["clients"].to_pylist()
    seen = {(client_id, address) for row in clients for client_id in row["client_ids"] or () for address in row["addresses"]}
    assert started <= seen
    named = {one.client_id: NAMED[one.library] for one in maker.applications(120) if one.library in NAMED}
    found = {
        client_id: (row["software_name"], row["software_version"].partition("-")[0])
        for row in clients for client_id in row["client_ids"] or () if client_id in named
    }  # fmt: skip
    assert found == named


def test_the_brokers_are_those_that_were_started(maker: ModuleType, tables: dict[str, pa.Table]) -> None:
    assert {row["node_id"]: row["host"] for row in tables["brokers"].to_pylist()} == maker.BROKERS


def test_clients_before_kip_896_break(tables: dict[str, pa.Table]) -> None:
    breaks = {
        row["client_id"]
        for row in tables["upgrade_impact"].to_pylist()
        if row["verdict"] == "breaks" and row["target_release"].startswith("4.0")
    }
    # kafka-clients 0.10.2, sarama 1.23 set to 0.10.2 and kafkajs 1.4 send Produce 2, Fetch 2 or the like, which 4.0 removed
    assert breaks == {"pricing-svc", "edge-gateway", "web-frontend-old"}


def test_members_come_and_go_and_metrics_are_pushed(tables: dict[str, pa.Table]) -> None:
    events = tables["group_events"].to_pylist()
    rebalanced = {row["group_id"] for row in events if row["event"] == "rebalance"}
    assert {"fulfilment", "fraud"} <= rebalanced
    assert {"checkout-1", "checkout-2"} <= set(tables["telemetry"].column("client_id").to_pylist())
