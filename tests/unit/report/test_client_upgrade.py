"""Which applications may move to newer clients, with the brokers as they are."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from kwire.analysis.library_profiles import known_libraries, library_of
from kwire.cli.entry import commands
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.client_upgrade import ClientMove, client_moves, judge_move, moves_sentences
from kwire.schema import releases

FLEET = Path(__file__).parents[3] / "examples" / "upgrade-fleet.pcap.gz"
# What a broker of 1.1 offers of Produce, Fetch, Metadata, OffsetCommit and InitProducerId
OF_1_1 = {0: 5, 1: 7, 3: 5, 8: 3, 22: 0}


@pytest.mark.parametrize(
    ("used", "offers", "running", "to", "reason"),
    [
        ({1, 3, 18}, OF_1_1, "1.1.1", "3.9", ""),
        ({1, 3, 18}, OF_1_1, "", "4.1", ""),
        # 4.0 removed OffsetCommit v0 and v1, and brokers of 0.8.2 have no more
        ({8}, {8: 1}, "", "4.1", "clients of 4.1 send OffsetCommit v2 or later, and the brokers have v1 at most"),
        ({8}, {8: 1}, "", "3.9", ""),
        # idempotent by default from 3.0 on (KIP-679); InitProducerId came with 0.11
        ({0}, {0: 2}, "", "3.9", "it uses InitProducerId, which the brokers lack, unless enable.idempotence=false is set"),
        ({0}, {0: 2}, "", "2.8", ""),
        ({0}, OF_1_1, "", "3.9", ""),
        ({78}, OF_1_1, "", "4.2", "it uses ShareFetch, which the brokers lack"),
    ],
)
def test_what_keeps_java(used: set[int], offers: dict[int, int], running: str, to: str, reason: str) -> None:
    assert judge("apache-kafka-java", used, offers, running, to) == ("breaks" if reason else "compatible", reason)


def judge(library: str, used: set[int], offers: dict[int, int], running: str, to: str = "") -> tuple[str, str]:
    found, _ = library_of(library, "") or (None, None)
    assert found is not None
    assert found.brokers is not None
    return judge_move(found.brokers, releases().resolve(to) if to else None, used, offers, running)


@pytest.mark.parametrize(
    ("library", "to", "running", "verdict", "said"),
    [
        # KIP-896 says 2.1; runs against 2.0.1 end well (tests/integration/test_client_upgrades_with_brokers.py)
        ("apache-kafka-java", "4.1", "2.0", "deprecated", "Kafka 2.1 is the oldest that it supports (KIP-896), and the brokers run 2.0"),
        ("apache-kafka-java", "4.1", "2.1.1", "compatible", ""),
        ("apache-kafka-java", "3.9", "2.0", "compatible", ""),
        ("aiokafka", "", "0.10.2", "breaks", "Kafka 0.11 is the oldest that it supports (aiokafka 0.14.0: docs/index.rst:17), and the"),
        ("aiokafka", "", "0.11.0", "compatible", ""),
        ("sarama", "", "0.10.2", "breaks", "and the brokers run 0.10.2, unless Config.Version is set to their release"),
        ("librdkafka", "", "0.10.2", "compatible", ""),
        ("franz-go", "", "0.10.0", "compatible", ""),
        ("kafka-python", "", "0.9.0", "breaks", "unless api_version is set to their release"),
        ("kafkajs", "", "0.9.0", "breaks", "(kafkajs 2.2.4: README.md:39)"),
    ],
)
def test_brokers_that_are_too_old(library: str, to: str, running: str, verdict: str, said: str) -> None:
    found = judge(library, {1, 3, 18}, OF_1_1, running, to)
    assert found[0] == verdict
    assert said in found[1]
    assert judge(library, {1, 3, 18}, {}, "", to) == ("unknown", "no broker's versions were captured")


def test_the_sentences() -> None:
    verdicts = ("compatible", "compatible", "breaks", "deprecated", "unknown")
    moves = [ClientMove(client="a", library="", to="sarama 1.61.1", verdict=verdict, reason="") for verdict in verdicts]
    assert moves_sentences(moves, releases().resolve("4.1")) == [
        "0 applications may move to kafka-clients 4.1 today",
        "2 applications may move to sarama 1.61.1 today; 2 talk to a broker that is too old; "
        "1 cannot be judged: no broker's versions were captured",
    ]


def test_each_application_has_its_own_brokers(tmp_path: Path, analysis_tables: ModuleType) -> None:
    tables = analysis_tables.tables_of(analysis_tables.FLEET)
    (broker,) = tables["brokers"]
    new, old = ([{"api_key": key, "api_name": "", "min_version": 0, "max_version": high} for key in range(60)] for high in (20, 2))
    older = {**broker, "node_id": 4, "addresses": ["10.0.0.4:9092"], "release_guess": "0.10.2", "versions": old}
    tables["brokers"] = [{**broker, "addresses": ["10.0.0.3:9092"], "versions": new}, older]
    moved = analysis_tables.FLEET[0].key
    for row in tables["connections"]:
        if row["client_key"] == moved:
            row["server_address"] = "10.0.0.4"
    moves = client_moves(AnalysisFolder(analysis_tables.write_tables(tmp_path / "out", tables)), releases().resolve("4.1"))
    assert {move.client for move in moves if move.verdict == "breaks"} == {analysis_tables.FLEET[0].client_id}
    assert len(moves) > 2


def test_a_fleet_on_3_9(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert CliRunner().invoke(commands, ["analyze", str(FLEET), "--out", out, "--no-report"]).exit_code == 0
    done = CliRunner().invoke(commands, ["report", out, "--json", "--clients-to", "4.1"])
    verdicts = {each["client"]: each["verdict"] for each in json.loads(done.stdout)["clients_to"]}
    assert (verdicts["fraud-scorer"], verdicts["loyalty"]) == ("compatible", "compatible")  # 3.9.2 and 2.4.1
    assert "recommendations" not in verdicts  # 4.4.0 already
    assert (verdicts["ad-bidder"], verdicts["gateway-v3"], verdicts["chat-relay"]) == ("compatible",) * 3  # librdkafka, sarama, aiokafka
    assert "iot-collector" not in verdicts  # no-kafka, whose needs are not known
    kept = CliRunner().invoke(commands, ["report", out, "--format", "md", "--out", "-", "--clients-to", "4.1"])
    assert (kept.exit_code, "--clients-to adds to the summary" in kept.stderr) == (2, True)
    shown = CliRunner().invoke(commands, ["report", out, "--format", "md", "--clients-to", "4.1"])
    assert "10 applications may move to kafka-clients 4.1 today." in shown.stdout
    assert "3 applications may move to librdkafka 2.15.0 today." in shown.stdout
    unknown = CliRunner().invoke(commands, ["report", out, "--clients-to", "9"])
    assert (unknown.exit_code, "unknown Kafka release 9" in unknown.stderr) == (1, True)
    assert "clients_to" not in json.loads(CliRunner().invoke(commands, ["report", out, "--json"]).stdout)


def test_the_page_names_what_each_library_needs() -> None:
    page = (FLEET.parents[1] / "docs" / "explanation" / "verdicts.md").read_text()
    for library in known_libraries():
        needs = library.brokers
        if needs is not None and not library.kafka_release:
            (row,) = [line for line in page.splitlines() if line.startswith(f"| {library.name} ")]
            assert row.startswith(f"| {library.name} {needs.version} | {needs.lowest} |")
            assert needs.source.replace("`", "") == f"{library.name} {needs.version}: {row.split('|')[4].replace('`', '').strip()}"
