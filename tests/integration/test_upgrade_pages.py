"""The shell blocks of the pages on upgrades and moves, word by word but for hosts, ports and durations.

The broker is real, and captures come from a stand-in of tcpdump.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import confluent_kafka
import pyarrow.dataset as ds
import pytest

from kwire.schema import releases
from pcap_files import HEADER, records_of
from stand_ins import write_programs
from threaded_proxy import free_port

pytestmark = pytest.mark.xdist_group("kafka")

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "upgrade-fleet.pcap.gz"
OLD = {"api.version.request": False, "broker.version.fallback": "0.9.0"}  # Produce v1, which Kafka 4.x does not accept
LOGIN = """security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-256
sasl.jaas.config=ScramLoginModule required username="alice" password="scrambled";
"""

REFUSED = re.compile(r"closed: .+ rejects Produce v\d+")

Shell = Callable[..., "subprocess.CompletedProcess[str]"]


def blocks(page: str) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs" / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    programs = write_programs(tmp_path / "programs", kwire=f'exec {sys.executable} -m kwire "$@"')
    return os.environ | {"PATH": f"{programs}:/usr/bin:/bin", "PACKETS": str(SAMPLE), "XDG_CONFIG_HOME": str(tmp_path / "config")}


@pytest.fixture
def shell(environment: dict[str, str], tmp_path: Path) -> Shell:
    def run(block: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "-euo", "pipefail", "-c", block]
        done = subprocess.run(command, cwd=tmp_path, env=environment | more, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, block + done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def broker(kafka_broker: Callable[[str], Any]) -> Any:
    return kafka_broker("3.9.2")


def delivered(address: str, settings: dict[str, Any]) -> Any:
    """Return the error of a record that is sent."""
    outcome: list[Any] = []
    producer = confluent_kafka.Producer({"bootstrap.servers": address, "message.timeout.ms": 5000, "log_level": 0, **settings})
    producer.produce("orders", b"1", on_delivery=lambda error, _message: outcome.append(error))
    assert producer.flush(15) == 0
    return outcome[0]


def rehearsed(block: str, environment: dict[str, str], folder: Path) -> tuple[list[bool], str]:
    """Start the proxy of a block, and return whether an old and a new client deliver through it, and the rest of its log."""
    port = re.search(r"127\.0\.0\.1:(\d+) --rehearse", block)
    assert port is not None
    with subprocess.Popen(
        ["bash", "-c", f"exec {block}"], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        try:
            while " INFO listening on port " not in (line := running.stderr.readline()):
                assert line, "the proxy did not start"
            outcome = [delivered(f"127.0.0.1:{port[1]}", settings) is None for settings in (OLD, {})]
        finally:
            running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 0
    return outcome, said


def without_breaking(report: Path, into: Path) -> Path:
    """Write the sample without the connections of applications that break, as if their owners had shut them down."""
    impact = ds.dataset(report / "upgrade_impact").to_table(["client_key", "verdict"]).to_pylist()
    breaking = {row["client_key"] for row in impact if row["verdict"] == "breaks"}
    rows = ds.dataset(report / "connections").to_table(["client_key", "client_port"]).to_pylist()
    ports = {row["client_port"] for row in rows if row["client_key"] in breaking}
    data = gzip.decompress(SAMPLE.read_bytes())
    # Ethernet and IPv4 without options before the ports
    kept = [record for record in records_of(data) if not ports & {*struct.unpack_from(">HH", record, 16 + 14 + 20)}]
    into.write_bytes(gzip.compress(data[:HEADER] + b"".join(kept), 1))
    return into


def test_the_six_steps(shell: Shell, environment: dict[str, str], broker: Any, tmp_path: Path) -> None:
    capture, analyze, fix, rehearse, watch, again = blocks("how-to/upgrade.md")
    shell(capture.replace("7d", "2s"))
    assert "12 of 27 applications break on Kafka 4.1 (brokers run 3.9)" in shell(analyze).stdout
    shell(fix)
    assert "kafkajs to 1.8.0" in (tmp_path / "tickets.md").read_text()
    port = free_port()
    block = rehearse.replace("broker-1:9092", broker.address).replace("proxy.example.com", "127.0.0.1").replace("19092", str(port))
    outcome, said = rehearsed(block, environment, tmp_path)
    assert outcome == [False, True]
    assert REFUSED.search(said)
    assert "12 of 29 clients break on Kafka 4.1" in shell(watch).stdout
    fixed = without_breaking(tmp_path / "before" / "report", tmp_path / "fixed.pcap.gz")
    done = shell(again.replace("1d", "2s"), PACKETS=str(fixed))
    assert "None of 15 applications break" in done.stdout
    assert re.search(r"gone\s+web-frontend-old", done.stdout)


def test_moving_to_a_managed_service(
    shell: Shell, environment: dict[str, str], broker: Any, broker_certificate: Any, tmp_path: Path
) -> None:
    listed, analyze, read, ask, name, rehearse = blocks("tutorials/managed-service.md")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert "tansu-0.6.0" in shell(listed).stdout
    shell(analyze + read)
    with (tmp_path / "who-breaks.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["api"] == "EndTxn"]
    # tansu 0.6.0 has no EndTxn, which this program sends
    assert {(row["client_ids"], row["reason"]) for row in rows} == {("audit-log", "tansu-0.6.0 does not have EndTxn, new in Kafka 0.11.0.")}
    store = f"ssl.truststore.type=PEM\nssl.truststore.location={broker_certificate.truststore}\n"
    (tmp_path / "client.properties").write_text(f"{LOGIN}{store}")
    done = shell(ask.replace("pkc-1.example.com:9092", f"127.0.0.1:{broker.sasl_tls}"))
    assert "answers as Kafka 3.9.2, whose accepted versions count" in done.stderr
    assert "None of 27 applications break up to Kafka 3.9" in done.stdout
    ranges = {key: (each.lowest, each.highest) for key, each in releases()["3.9.2"].advertised().items()} | {0: (3, 8)}  # Produce
    lines = [f"\tApi({key}): {low} to {high} [usable: {high}]" for key, (low, high) in ranges.items()]
    (tmp_path / "api-versions.txt").write_text("a:9092 (id: 1 rack: null) -> (\n" + ",\n".join(lines) + "\n)\n")
    assert "on our-service" in shell(name).stdout
    port = free_port()
    block = rehearse.replace("kafka-1:9092", broker.address).replace("proxy.example.com", "127.0.0.1").replace("19092", str(port))
    outcome, said = rehearsed(block, environment, tmp_path)
    assert outcome == [False, True]
    assert REFUSED.search(said)
