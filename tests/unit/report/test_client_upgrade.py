"""Which applications may move to newer clients, with the brokers as they are."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from kwire.analysis.library_profiles import known_libraries, library_of
from kwire.cli.entry import commands
from kwire.report import render_report
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.client_upgrade import ClientMove, ClientMoves, client_moves, judge_move
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
    moves = tuple(ClientMove(client="a", library="", to="sarama 1.61.1", verdict=verdict, reason="") for verdict in verdicts)
    assert ClientMoves(releases().resolve("4.1"), moves).sentences == [
        "0 applications may move to kafka-clients 4.1 today",
        "2 applications may move to sarama 1.61.1 today; 2 talk to a broker that is too old; "
        "1 cannot be judged: no broker's versions were captured",
    ]


@pytest.fixture
def two_brokers(tmp_path: Path, analysis_tables: ModuleType) -> Path:
    """A fleet whose first client talks to an old broker alone, and the others to a new one."""
    tables = analysis_tables.tables_of(analysis_tables.FLEET)
    (broker,) = tables["brokers"]
    new, old = ([{"api_key": key, "api_name": "", "min_version": 0, "max_version": high} for key in range(60)] for high in (20, 2))
    older = {**broker, "node_id": 4, "addresses": ["10.0.0.4:9092"], "release_guess": "0.10.2", "versions": old}
    tables["brokers"] = [{**broker, "addresses": ["10.0.0.3:9092"], "versions": new}, older]
    moved = analysis_tables.FLEET[0].key
    for row in tables["connections"]:
        if row["client_key"] == moved:
            row["server_address"] = "10.0.0.4"
    folder: Path = analysis_tables.write_tables(tmp_path / "out", tables)
    return folder


def test_each_application_has_its_own_brokers(two_brokers: Path, analysis_tables: ModuleType) -> None:
    moves = client_moves(AnalysisFolder(two_brokers), releases().resolve("4.1")).moves
    assert {move.client for move in moves if move.verdict == "breaks"} == {analysis_tables.FLEET[0].client_id}
    assert len(moves) > 2


def test_all_outputs_have_the_same_answers(two_brokers: Path) -> None:
    folder, to = str(two_brokers), releases().resolve("4.1")
    reached = {
        row["client_id"]: row["server_address"] for row in AnalysisFolder(folder).rows("connections", ["client_id", "server_address"])
    }
    options = ["report", folder, "--clients-to", "4.1", "--wide", *(each for form in ("html", "md", "json") for each in ("--format", form))]
    done = CliRunner().invoke(commands, options)
    assert done.exit_code == 0, done.output
    page, text = (two_brokers / "report.html").read_text(), (two_brokers / "report.md").read_text()
    found = json.loads((two_brokers / "report.json").read_text())["clients_to"]
    assert found == json.loads(CliRunner().invoke(commands, ["report", folder, "--clients-to", "4.1", "--json"]).stdout)["clients_to"]
    (old,) = (client for client, server in reached.items() if server == "10.0.0.4")
    assert [each["client"] for each in found if each["verdict"] == "breaks"] == [old]
    section = re.search(r'<section id="moves".*?</section>', page, re.DOTALL)
    assert section
    cells = [
        [unescape(re.sub("<.*?>", "", cell)) for cell in re.findall("<td.*?</td>", row)] for row in re.findall("<tr>.*", section[0])[1:]
    ]
    of_text = text[text.index("## Client upgrades") :]
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in of_text[: of_text.index("## Libraries")].splitlines()
    ]
    for move in found:
        one = [move[name] for name in ("verdict", "client", "library", "to", "reason")]
        assert one in cells
        assert one in rows
        line = [line for line in done.stdout.splitlines() if move["reason"] and move["reason"] in line]
        assert bool(move["reason"]) == any(move["client"] in each for each in line)
    assert len(cells) == len(found)
    for sentence in client_moves(AnalysisFolder(folder), to).sentences:
        assert all(sentence in each for each in (unescape(section[0]), of_text, done.stdout))
    assert "Client upgrades" not in render_report(folder, "html") + render_report(folder, "md")
    assert json.loads(render_report(folder, "json"))["clients_to"] is None


def test_a_fleet_on_3_9(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert CliRunner().invoke(commands, ["analyze", str(FLEET), "--out", out, "--no-report"]).exit_code == 0
    done = CliRunner().invoke(commands, ["report", out, "--json", "--clients-to", "4.1"])
    verdicts = {each["client"]: each["verdict"] for each in json.loads(done.stdout)["clients_to"]}
    assert (verdicts["fraud-scorer"], verdicts["loyalty"]) == ("compatible", "compatible")  # 3.9.2 and 2.4.1
    assert "recommendations" not in verdicts  # 4.4.0 already
    assert (verdicts["ad-bidder"], verdicts["gateway-v3"], verdicts["chat-relay"]) == ("compatible",) * 3  # librdkafka, sarama, aiokafka
    assert "iot-collector" not in verdicts  # no-kafka, whose needs are not known
    alone = CliRunner().invoke(commands, ["report", out, "--format", "md", "--out", "-", "--clients-to", "4.1"])
    assert "10 applications may move to kafka-clients 4.1 today." in alone.stdout
    kept = CliRunner().invoke(commands, ["report", out, "--format", "csv", "--out", "-", "--clients-to", "4.1"])
    assert (kept.exit_code, "--clients-to goes into html, md, json" in kept.stderr) == (2, True)
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
