"""Which applications may move to a release of Kafka's Java clients, with the brokers as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kwire.cli.entry import commands
from kwire.report.client_upgrade import ClientMove, moves_sentence, obstacle
from kwire.schema import releases

FLEET = Path(__file__).parents[3] / "examples" / "upgrade-fleet.pcap.gz"
# What a broker of 1.1 offers of Produce, Fetch, Metadata, OffsetCommit and InitProducerId
OF_1_1 = {0: 5, 1: 7, 3: 5, 8: 3, 22: 0}


@pytest.mark.parametrize(
    ("used", "offers", "running", "to", "reason"),
    [
        ({1, 3, 18}, OF_1_1, "1.1.1", "3.9", ""),
        ({1, 3, 18}, OF_1_1, "1.1.1", "4.1", "clients of 4.1 need brokers of Kafka 2.1 or later (KIP-896), and these run 1.1.1"),
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
def test_what_is_in_the_way(used: set[int], offers: dict[int, int], running: str, to: str, reason: str) -> None:
    assert obstacle(used, offers, running, releases().resolve(to)) == reason


def test_the_sentence() -> None:
    moves = [ClientMove(client="a", library="", verdict=verdict, reason="") for verdict in ("compatible", "compatible", "breaks")]
    told = "2 applications may move to kafka-clients 4.1 today; 1 talks to a broker that is too old"
    assert moves_sentence(moves, releases().resolve("4.1")) == told


def test_a_fleet_on_3_9(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert CliRunner().invoke(commands, ["analyze", str(FLEET), "--out", out, "--no-report"]).exit_code == 0
    done = CliRunner().invoke(commands, ["report", out, "--json", "--clients-to", "4.1"])
    verdicts = {each["client"]: each["verdict"] for each in json.loads(done.stdout)["clients_to"]}
    assert (verdicts["fraud-scorer"], verdicts["loyalty"]) == ("compatible", "compatible")  # 3.9.2 and 2.4.1
    assert "recommendations" not in verdicts  # 4.4.0 already
    shown = CliRunner().invoke(commands, ["report", out, "--format", "md", "--clients-to", "4.1"])
    assert f"{len(verdicts)} applications may move to kafka-clients 4.1 today." in shown.stdout
    unknown = CliRunner().invoke(commands, ["report", out, "--clients-to", "9"])
    assert (unknown.exit_code, "unknown Kafka release 9" in unknown.stderr) == (1, True)
    assert "clients_to" not in json.loads(CliRunner().invoke(commands, ["report", out, "--json"]).stdout)
