"""Named targets: those that kwire ships, those that a user adds, and their dates."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kwire.analysis.named_targets import is_stale, named_target, named_targets
from kwire.cli.entry import commands
from kwire.cli.target_option import target_of
from kwire.schema import Target, releases

TOOL = "a:9092 (id: 1 rack: null) -> (\n\tProduce(0): 3 to 8 [usable: 8],\n\tApiVersions(18): 0 to 2 [usable: 2]\n)\n"


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config"


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(commands, ["catalog", *arguments])


def test_what_servers_do_in_their_sources() -> None:
    # redpanda v24.3.1, produce.h and fetch.h; tansu v0.6.0 has no EndTxn and the versions of Kafka's messages
    found = named_targets()
    assert (found["redpanda-24.3.1"].ranges[0], found["redpanda-24.3.1"].ranges[1]) == ((0, 7), (4, 11))
    assert 26 not in found["tansu-0.6.0"].ranges
    assert found["tansu-0.6.0"].ranges[3] == (0, 12)
    for each in found.values():
        assert date.fromisoformat(each.date)
        assert each.source


def test_a_target_of_the_user(tmp_path: Path, configuration: Path) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text(TOOL)
    assert invoke("add", "our-service", str(answer)).exit_code == 0
    assert json.loads((configuration / "kwire" / "targets" / "our-service.json").read_text())["name"] == "our-service"
    found = target_of("our-service", None)
    assert isinstance(found, Target)
    assert (found.name, found.ranges, found.source) == ("our-service", {0: (3, 8), 18: (0, 2)}, str(answer))
    listed = [json.loads(line) for line in invoke("targets", "--json").stdout.splitlines()]
    assert [each["apiKeys"] for each in listed if each["name"] == "our-service"] == [
        [{"apiKey": 0, "minVersion": 3, "maxVersion": 8}, {"apiKey": 18, "minVersion": 0, "maxVersion": 2}]
    ]
    assert invoke("add", "our-service", str(answer)).exit_code == 0  # again, with a newer answer


@pytest.mark.parametrize("name", ["4.1", "a b", "../up", "host:9092", "tansu-0.6.0"])
def test_what_names_no_target_of_the_user(tmp_path: Path, name: str) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text(TOOL)
    done = invoke("add", name, str(answer))
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)


def test_the_answer_of_a_release_needs_no_name(tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    advertised = releases()["4.1.2"].advertised().items()
    answer.write_text(json.dumps({"apiKeys": [{"apiKey": key, "minVersion": v.lowest, "maxVersion": v.highest} for key, v in advertised]}))
    done = invoke("add", "ours", str(answer))
    assert (done.exit_code, "has the answer of Kafka 4.1.2" in done.stderr) == (1, True)


def test_stale_after_a_year() -> None:
    target = Target("shop", {}, "", "2025-01-01")
    assert [is_stale(target, date(*day)) for day in ((2026, 1, 1), (2026, 1, 2))] == [False, True]
    assert is_stale(Target("shop", {}, "", "some day"))


def test_the_newest_patch_of_a_shorter_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configuration: Path) -> None:
    answer = tmp_path / "redpanda-24.3"
    answer.write_text(TOOL)
    assert invoke("add", "redpanda-24.3.7", str(answer)).exit_code == 0
    assert [target_of(name, None).name for name in ("redpanda-24.3", "redpanda", "tansu")] == ["redpanda-24.3.7"] * 2 + ["tansu-0.6.0"]
    for name in ("redpanda-24", "redp", "tansu-0.6.0.1"):
        found = named_target(name)
        assert (None if found is None else found.name) == ("redpanda-24.3.7" if name == "redpanda-24" else None)
    monkeypatch.chdir(tmp_path)
    file = target_of("redpanda-24.3", None)
    assert isinstance(file, Target)
    assert file.source == "redpanda-24.3"


def test_a_stale_target_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    target_of("redpanda-24.3.1", None)
    assert "of 2024-11-26, more than a year ago" in capsys.readouterr().err
