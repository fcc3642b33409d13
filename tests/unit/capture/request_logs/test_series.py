"""Which files are one request log, in which order; and captures and logs side by side."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kwire.capture.files.inputs import expand_inputs
from kwire.capture.files.series import group_series
from kwire.capture.request_logs.names import is_log_name, log_rotation

CAPTURE = Path(__file__).parents[3] / "captures" / "data" / "seed.pcap.gz"
HEADER = "RequestHeader(apiKey=HEARTBEAT, apiVersion=1, clientId=x, correlationId=1)"
ENTRY = f"{HEADER} -- {{}} from connection 10.0.0.1:9092-10.0.0.2:5-0;totalTime:1"


def stamped(clock: str) -> str:
    return f"[2026-01-01 {clock},000] DEBUG Completed request:{ENTRY}\n"


def names_of(folder: Path, rule: str = "name") -> list[list[str]]:
    files, _ = expand_inputs([str(folder)])
    return [[piece.name for piece in series.pieces] for series in group_series(files, rule)]


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (
            ["kafka-request.log", "kafka-request.log.2026-01-01-00", "kafka-request.log.2026-01-01-23", "kafka-request.log.2026-01-02-00"],
            [1, 2, 3, 0],
        ),
        (["kafka-request.log", "kafka-request.log.1", "kafka-request.log.2.gz", "kafka-request.log.10"], [3, 2, 1, 0]),
        (["requests-2026-01-02.log", "requests-2026-01-01.log.gz"], [1, 0]),
        (["requests.jsonl.1", "requests.jsonl"], [0, 1]),
    ],
)
def test_rotation_by_name_where_there_are_no_times(names: list[str], order: list[int], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).write_text("Completed request:\n")
    assert names_of(tmp_path) == [[names[place] for place in order]]


def test_rotation_by_time_where_names_mislead(tmp_path: Path) -> None:
    """An appender that counts upwards: the number is no age."""
    (tmp_path / "request.log.1").write_text(stamped("01:00:00"))
    (tmp_path / "request.log.2").write_text(stamped("02:00:00"))
    assert names_of(tmp_path) == [["request.log.1", "request.log.2"]]


def test_two_brokers_are_two_series(tmp_path: Path) -> None:
    for name in ("broker-1/kafka-request.log", "broker-2/kafka-request.log", "broker-2/kafka-request.log.1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(stamped("01:00:00"))
    assert sorted(map(len, names_of(tmp_path))) == [1, 2]


def test_of_a_brokers_folder_the_request_logs_are_taken(tmp_path: Path) -> None:
    """Names say little there: what is no request log is left, and so is what is empty."""
    (tmp_path / "server.log").write_text("[2026-01-01 00:00:00,000] INFO started (kafka.server.KafkaServer)\n")
    (tmp_path / "kafka-authorizer.log").write_text("")
    (tmp_path / "truth.json").write_text('{"clients": []}')
    (tmp_path / "kafka-request.log").write_text(stamped("01:00:00"))
    shutil.copy(CAPTURE, tmp_path / "eth0.pcap.gz")
    assert names_of(tmp_path) == [["eth0.pcap.gz"], ["kafka-request.log"]]


@pytest.mark.parametrize("rule", ["folder", "all", "match:(tmp)"])
def test_no_rule_puts_packets_and_lines_together(rule: str, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(stamped("02:00:00"))
    (tmp_path / "b.log").write_text(stamped("01:00:00"))
    shutil.copy(CAPTURE, tmp_path / "a.pcap.gz")
    files, _ = expand_inputs([str(tmp_path)])
    found = group_series(files, rule)
    assert [[piece.name for piece in series.pieces] for series in found] == [["a.pcap.gz"], ["b.log", "a.log"]]
    assert len({series.name for series in found}) == 2


@pytest.mark.parametrize("name", ["kafka-request.log", "request.log.2026-01-01-00", "requests.jsonl.gz", "x.log.17", "stdout.txt", "a.out"])
def test_names_of_logs(name: str) -> None:
    assert is_log_name(name)


@pytest.mark.parametrize("name", [".hidden.log", "kafka.pcap", "log", "requests.log.bak", "x.parquet"])
def test_other_names(name: str) -> None:
    assert not is_log_name(name)
    assert log_rotation(name) is None or name.startswith(".")
