"""Verdicts for servers of each kind, asked live, against runs of the programs of `upgrade-fleet` on them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import confluent_kafka
import pyarrow.dataset
import pytest
from click.testing import CliRunner
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kwire.analysis.judged_cases import Cases, Program
from kwire.analysis.named_targets import named_targets
from kwire.cli.entry import commands
from kwire.cli.target_option import target_of
from kwire.schema import Target, releases
from other_brokers import kfake, mock, tansu

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "rehearsal"), str(ROOT / "tools")]

from builds import BUILDS, Build, command, have  # noqa: E402
from rehearse import rehearse  # noqa: E402

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

Breaking = Mapping[str, set[tuple[str, str]]]

COUNT = 5
# The build of each client of examples/upgrade-fleet.pcap.gz; each produces, reads in a group, and commits.
PROGRAMS = {
    "erp-bridge": "kafka-clients 0.9.0.1",
    "pricing-svc": "kafka-clients 0.10.2.2",
    "mailer": "kafka-clients 0.11.0.3",
    "shipping": "kafka-clients 2.3.1",
    "fraud-scorer": "kafka-clients 3.9.2",
    "recommendations": "kafka-clients 4.4.0",
    "etl-nightly": "kafka-python 2.0.2",
    "clickstream": "confluent-kafka 0.11.6",
    "ad-bidder": "confluent-kafka 1.9.2",
    "gateway-v2": "sarama 1.27.2 (2.0.0)",
    "pipeline-old": "kafka-go 0.2.0",
    "web-frontend": "kafkajs 2.2.4",
}
# Releases around that which reads MEMBER_ID_REQUIRED; all send JoinGroup v1 with Config.Version 1.0.0.
SARAMA = ("1.27.2", "1.33.0", "1.34.0", "1.61.1")


@pytest.fixture(scope="module")
def addresses(kafka_broker: Callable[[str], Any]) -> Iterator[dict[str, str]]:
    with ExitStack() as running:
        others = {"tansu": tansu, "kfake": kfake, "mock": mock}
        found = {name: running.enter_context(start()) for name, start in others.items()}
        yield {"Apache": kafka_broker(releases().newest.name).address, **found}


@pytest.fixture(scope="module")
def breaking(addresses: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Breaking:
    """Return the APIs that break by the command's tables, and their clients, of each server."""
    out = tmp_path_factory.mktemp("analysis") / "out"
    sample = str(ROOT / "examples" / "upgrade-fleet.pcap.gz")
    asked = [option for address in addresses.values() for option in ("--to", address)]
    done = CliRunner().invoke(commands, ["analyze", sample, "--out", str(out), "--no-report", *asked])
    assert done.exit_code == 0, done.output
    rows = pyarrow.dataset.dataset(out / "upgrade_impact", format="parquet").to_table().to_pylist()
    names = {name: target_of(address, None).name for name, address in addresses.items()}
    return {
        name: {(row["client_id"], row["api_name"]) for row in rows if row["target_release"] == found and row["verdict"] == "breaks"}
        for name, found in names.items()
    }


@pytest.mark.parametrize(("server", "name"), [("tansu", "tansu-0.6.0"), ("kfake", "kfake-20260918")])
def test_the_answer_that_kwire_ships(addresses: Mapping[str, str], server: str, name: str) -> None:
    live = target_of(addresses[server], None)
    assert isinstance(live, Target)
    assert live == named_targets()[name]


@pytest.mark.parametrize("server", ["Apache", "tansu", "kfake", "mock"])
def test_programs_end_as_their_verdicts_say(addresses: Mapping[str, str], breaking: Breaking, server: str) -> None:
    wanted = {str(build): build for build in BUILDS}
    judged = {client for client, _ in breaking[server]}
    works = {client: run(wanted[name], addresses[server], server != "mock") for client, name in PROGRAMS.items()}
    assert {client for client, worked in works.items() if not worked} == judged & PROGRAMS.keys()


@pytest.mark.parametrize("version", SARAMA)
def test_sarama_of_each_version_joins_as_it_is_judged(addresses: Mapping[str, str], version: str) -> None:
    cases = Cases([named_targets()["tansu-0.6.0"]])
    program = cases.program(Program(("sarama", f"v{version}"), "client", False, "some", False, None))
    cases.case(program, 11, "JoinGroup", 1, 9, ((), ()), False)
    (row,) = cases.table().to_pylist()
    assert reads(Build("sarama", version, "1.0.0"), addresses["tansu"], make=True) == (row["verdict"] == "compatible")


@pytest.mark.parametrize("server", ["Apache", "tansu", "kfake", "mock"])
def test_transactions(addresses: Mapping[str, str], breaking: Breaking, server: str) -> None:
    """The capture's `audit-log` uses them."""
    topic(addresses[server], "audit", server != "mock")
    producer = confluent_kafka.Producer({"bootstrap.servers": addresses[server], "transactional.id": "audit", "log_level": 0})
    error = None
    try:
        producer.init_transactions(10)
        producer.begin_transaction()
        producer.produce("audit", b"1")
        producer.commit_transaction(10)
    except confluent_kafka.KafkaException as raised:
        error = raised
    assert (error is not None) == (("audit-log", "EndTxn") in breaking[server])
    assert (error is not None) == (server == "tansu")


def test_an_api_that_the_mock_lacks(addresses: Mapping[str, str], breaking: Breaking) -> None:
    with pytest.raises(confluent_kafka.KafkaException):
        topic(addresses["mock"], "lacking", make=True)
    assert ("loyalty", "CreateTopics") in breaking["mock"]


class Other(NamedTuple):
    """A server as `rehearse` takes it."""

    address: str
    release: str


@pytest.mark.parametrize("server", ["tansu", "kfake"])
def test_a_rehearsal_ends_as_the_programs_do(kafka_broker: Callable[[str], Any], addresses: Mapping[str, str], server: str) -> None:
    wanted = [build for build in BUILDS if str(build) in {PROGRAMS["pricing-svc"], PROGRAMS["mailer"], PROGRAMS["shipping"]}]
    rows, _ = rehearse(wanted, ROOT / ".cache" / "builds", kafka_broker("3.9.2"), Other(addresses[server], addresses[server]))
    assert {str(row.build): row.faults for row in rows} == {str(build): [] for build in wanted}


def topic(address: str, name: str, make: bool) -> list[TopicPartition]:
    """Make a topic and return its partitions; the mock makes those that it is asked for."""
    admin = AdminClient({"bootstrap.servers": address, "enable.metrics.push": False})
    if make:
        admin.create_topics([NewTopic(name, 1, 1)], request_timeout=8)[name].result(10)
    return [TopicPartition(name, number) for number in admin.list_topics(name, timeout=10).topics[name].partitions]


def named(build: Build) -> str:
    return str(build).translate(str.maketrans(" ()@/", "-----"))


def reads(build: Build, address: str, make: bool) -> bool:
    """Return whether a program sent and read its records."""
    name = named(build)
    topic(address, name, make)
    folder = have(build, ROOT / ".cache" / "builds").resolve()
    program, more = command(build, folder, address, name, name, name, str(COUNT), "8")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | more
    done = subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)
    ends = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert ends, done.stderr
    return not ends[-1]["error"] and ends[-1]["produced"] == ends[-1]["consumed"] == COUNT


def run(build: Build, address: str, make: bool) -> bool:
    """Return whether a program sent and read its records, and committed."""
    if not reads(build, address, make):
        return False
    name = named(build)
    partitions = topic(address, name, make=False)
    asked = ConsumerGroupTopicPartitions(name, partitions)
    admin = AdminClient({"bootstrap.servers": address})
    group = admin.list_consumer_group_offsets([asked])[name].result(10)
    return any(each.offset >= 0 for each in group.topic_partitions)
