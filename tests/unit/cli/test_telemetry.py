"""`kwire broker telemetry show`: what a receiver wrote, as a table, as JSON, and what clients do not push though they must."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kwire.cli.entry import commands
from kwire.codec.uuids import Uuid
from kwire.protocol.telemetry.otlp import encode_metrics
from kwire.protocol.telemetry.receivers import MetricsPayload, PushContext
from kwire.telemetry_export import JsonLinesReceiver

ID = Uuid.parse("SqxhZUVdTqSO1rz6EUOYhQ")
P = "org.apache.kafka.producer."


@pytest.fixture
def file(tmp_path: Path) -> str:
    points = [
        {"metric": f"{P}connection.creation.total", "type": "sum", "value": 3, "time_unix_nano": 1_700_000_000_000_000_000},
        {"metric": "librdkafka.x", "type": "gauge", "value": 1.5, "attributes": {"broker": "\x1b[2J7"}},
    ]
    labels = {"client_instance_id": str(ID), "client_id": "app", "client_software_name": "librdkafka", "client_software_version": "2.5"}
    path = tmp_path / "metrics.jsonl"
    with JsonLinesReceiver(path) as receiver:
        receiver.export(PushContext(connection="1"), MetricsPayload(instance_id=ID, data=encode_metrics(points), labels=labels))
    return str(path)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(commands, ["broker", "telemetry", "show", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_K714_102_received_metrics_are_shown(file: str) -> None:
    shown = run(file)
    for text in ("2023-11-14 22:13:20", "app", "librdkafka 2.5", str(ID), f"{P}connection.creation.total", "sum", "1.5"):
        assert text in shown
    assert "\x1b" not in shown


def test_points_are_chosen(file: str) -> None:
    (row,) = (json.loads(line) for line in run(file, "--metric", P, "--json").splitlines())
    assert (row["metric"], row["value"], row["resource"]["client_id"]) == (f"{P}connection.creation.total", 3, "app")
    assert run(file, "--instance", "nobody", "--json") == ""


@pytest.mark.requirement("K714-70", "K714-71")
def test_required_metrics_that_are_not_pushed(file: str) -> None:
    lacking = [json.loads(line) for line in run(file, "--required", "producer", "--json").splitlines()]
    assert {row["client_instance_id"] for row in lacking} == {str(ID)}
    assert len(lacking) == 7
    assert f"{P}connection.creation.total" not in {row["missing"] for row in lacking}
    assert f"{P}connection.creation.rate" in run(file, "--required", "producer")


def test_a_file_that_no_receiver_wrote_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('\n{"metric": 1}\n')
    result = CliRunner().invoke(commands, ["broker", "telemetry", "show", str(path)])
    assert result.exit_code == 1
    assert "line 2: not a point that a receiver of kwire wrote." in result.stderr
