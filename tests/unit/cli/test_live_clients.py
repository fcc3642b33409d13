"""Clients as they come: counts, rates, latency and the verdict, from rows of requests; and the command that shows them."""

from __future__ import annotations

import gzip
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from kwire.analysis import Options, run
from kwire.analysis.live_clients import LiveClients
from kwire.cli import terminal
from kwire.cli.entry import commands
from kwire.cli.watch import _Collector
from kwire.schema import Target, releases
from kwire.tables import iter_pieces

EXAMPLE = Path(__file__).parents[3] / "examples" / "upgrade-fleet.pcap.gz"
THREE_BROKERS = EXAMPLE.with_name("three-brokers.pcap.gz")
SCHEMA = pa.schema(
    [
        ("client_id", pa.string()), ("software_name", pa.string()), ("software_version", pa.string()), ("api_key", pa.int16()),
        ("api_version", pa.int16()), ("error_code", pa.int16()), ("latency_us", pa.int64()),
    ]
)  # fmt: skip


def rows(*given: tuple[Any, ...]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in given], SCHEMA)


def test_counts_latency_and_what_the_release_rejects() -> None:
    clients = LiveClients(releases()["4.0.0"])
    clients.add(
        rows(
            ("a", "sarama", "1.27.2", 8, 1, 0, 40), ("a", "sarama", "1.27.2", 8, 1, 16, 60), ("a", "sarama", "1.27.2", 8, 2, None, None),
            ("b", "unknown", "unknown", 18, 99, 35, 10), ("b", None, None, 3, 12, 0, 20),
        )
    )  # fmt: skip
    first, second = clients
    assert (first.client_id, first.library, first.requests, first.errors) == ("a", "sarama", 3, 1)
    assert clients.rejected(first) == ["OffsetCommit v1"]  # 4.0 takes 2 to 9 (KIP-896)
    assert (first.quantile_us(0.5), first.quantile_us(0.99)) == (40, 60)
    # brokers answer every version of ApiVersions, and "unknown" is no name (KIP-511)
    assert (second.client_id, second.library, second.requests, clients.rejected(second), second.errors) == ("b", "", 2, [], 0)


@pytest.mark.parametrize(
    ("row", "broken"),
    [
        (("a", "apache-kafka-java", "4.4.0", 2, 11, 0, 9), []),  # negotiates: it will use a lower version
        (("a", "apache-kafka-java", "4.4.0", 71, 0, 0, 9), []),  # does without telemetry
        (("a", None, None, 2, 11, 0, 9), []),  # whether it negotiates is not in the capture
        (("a", "unknown", "unknown", 2, 11, 0, 9), ["ListOffsets v11"]),  # captured from its beginning: it does not
        (("a", "unknown", "unknown", 2, 0, 0, 9), ["ListOffsets v0"]),
        (("a", "kafka-python", "1.4.7", 3, 0, 0, 9), ["Metadata v0"]),  # a broker offers v11
    ],
)
def test_clients_are_judged_as_in_an_analysis(row: tuple[Any, ...], broken: list[str]) -> None:
    target = Target("cloud", {2: (1, 9), 3: (1, 12)}, "test", "2026-11-29")
    clients = LiveClients(target)
    clients.add(rows(row, ("b", "x", "1", 3, 11, 0, 9)))
    one = next(one for one in clients if one.client_id == "a")
    assert clients.rejected(one) == broken


@pytest.mark.parametrize("capture", [EXAMPLE, THREE_BROKERS], ids=lambda each: each.name)
def test_who_breaks_is_what_an_analysis_says(capture: Path) -> None:
    clients = LiveClients(releases().resolve("4.0"))
    with gzip.open(capture) as stream:
        for batches in iter_pieces([stream], "piped", ("requests",), None, silent_ns=3600 * 10**9, keyed=False):
            for batch in batches["requests"]:
                clients.add(batch)
    impact = run([str(capture)], options=Options(target_releases=["4.0"]))["upgrade_impact"].to_pylist()
    breaks = {(row["client_id"], f"{row['api_name']} v{row['api_version']}") for row in impact if row["verdict"] == "breaks"}
    assert {(one.client_id, use) for one in clients for use in clients.rejected(one)} == breaks


def test_connections_of_one_client_id_are_one_program() -> None:
    clients = LiveClients(Target("cloud", {2: (1, 9)}, "test", "2026-11-29"))
    clients.add(rows(("a", "unknown", "unknown", 2, 10, 0, 9), ("a", "kafkajs", "2.2", 3, 5, 0, 9)))
    assert not any(map(clients.rejected, [one for one in clients if not one.library]))


def test_an_interval_begins_from_zero() -> None:
    clients = LiveClients(releases()["4.0.0"])
    clients.add(rows(("a", None, None, 3, 12, 5, 20)))
    clients.begin_interval()
    (one,) = clients
    assert (one.requests, one.errors, one.recent, one.recent_errors, one.quantile_us(0.5)) == (1, 1, 0, 0, None)


def test_memory_has_a_bound() -> None:
    clients = LiveClients(releases()["4.0.0"], most=3)
    for number in range(50):
        clients.add(rows((f"client-{number}", None, None, 3, number, 0, 20)))
    assert len(clients) == 4
    others = next(one for one in clients if one.client_id == "(others)")
    assert others.requests == 47


@pytest.mark.parametrize("release", ["4.0", "4.0.0"])
def test_the_command_in_a_pipe(release: str) -> None:
    done = CliRunner().invoke(commands, ["watch", "--to", release, "--clients", "40"], input=gzip.decompress(EXAMPLE.read_bytes()))
    assert done.exit_code == 0, done.output
    line = next(line for line in done.output.splitlines() if "web-frontend-old" in line)
    assert "ListOffsets v0" in line
    assert f"clients break on Kafka {release} so far" in done.output


@pytest.mark.parametrize("width", [80, 100, 200])
def test_ids_and_rejected_versions_are_whole(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A narrow terminal drops latencies and cuts libraries, not what names a client."""
    monkeypatch.setattr(terminal, "_PIPE_WIDTH", width)
    terminal.console.cache_clear()
    try:
        done = CliRunner().invoke(commands, ["watch", "--to", "4.0"], input=gzip.decompress(THREE_BROKERS.read_bytes()))
    finally:
        terminal.console.cache_clear()
    lines = [line.rstrip() for line in done.output.splitlines()]
    assert all(len(line) <= width for line in lines)
    assert lines[1].split()[:2] == ["client", "library"]
    row = next(line for line in lines if line.startswith("web-frontend-old "))
    assert row.endswith("ListOffsets v0")
    # README's picture has 20 applications: handshakes before a name are not clients of their own
    assert lines[0] == "3 of 20 clients break on Kafka 4.0 so far"


def test_a_handshake_without_a_name_is_no_client_of_its_own() -> None:
    clients = LiveClients(releases()["4.0.0"])
    clients.add(rows(("a", None, None, 18, 0, 0, 20), ("a", "sarama", "1.50", 3, 12, 0, 20), ("b", None, None, 18, 0, 0, 20)))
    assert [(one.client_id, one.library) for one in clients.applications()] == [("a", "sarama"), ("b", "")]
    clients.add(rows(("a", None, None, 0, 2, 0, 20)))  # an old instance with the same id
    assert [one.library for one in clients.applications() if one.client_id == "a"] == ["", "sarama"]


def test_metrics_are_counts_by_client() -> None:
    clients = LiveClients(releases()["4.0.0"])
    clients.add(rows(("a", "sarama", "1.27.2", 8, 1, 16, 60)))
    found = {
        metric.name: [(sample.labels["client_id"], sample.value) for sample in metric.samples]
        for metric in _Collector(clients, threading.Lock()).collect()
    }
    assert found == {"kwire_requests": [("a", 1.0)], "kwire_request_errors": [("a", 1.0)], "kwire_client_breaks": [("a", 1.0)]}


@pytest.mark.parametrize("address", ["9401", "host:port", ":70000"])
def test_an_address_that_is_none(address: str) -> None:
    done = CliRunner().invoke(commands, ["watch", "--metrics", address], input=b"")
    assert done.exit_code == 1
