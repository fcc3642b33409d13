"""`report --clients-to` of captures of old brokers, held against what the newer clients meet there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kwire.analysis.library_profiles import known_libraries
from kwire.cli.entry import commands
from kwire.report.client_upgrade import judge_move
from kwire.schema import releases
from running_proxy import RunningProxy

End = tuple[int, int, str]  # records sent, records read, error
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "rehearsal"), str(ROOT / "tools")]

from builds import Build, command, have  # noqa: E402

from kafka_broker import free_ports, start_old_broker  # noqa: E402

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]


def end_of(build: Build, port: int, client_id: str) -> End:
    folder = have(build, ROOT / ".cache" / "builds").resolve()
    program, environment = command(build, folder, f"127.0.0.1:{port}", client_id, client_id, client_id, "5", "20")
    done = subprocess.run(program, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return 0, 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    return found["produced"], found["consumed"], found["error"]


def test_each_library_by_default(tmp_path: Path) -> None:
    builds = {
        "librdkafka": Build("confluent-kafka", "2.16.1", "3.11"),
        "kafka-python": Build("kafka-python", "3.0.12", "3.11"),
        "aiokafka": Build("aiokafka", "0.14.0", "3.11"),
        "sarama": Build("sarama", "1.61.1", "2.8.0"),  # its default
        "franz-go": Build("franz-go", "1.22.2"),
        "kafkajs": Build("kafkajs", "2.2.4"),
    }
    with start_old_broker("0.10.2.2", tmp_path, ROOT / ".cache" / "kafka-jars") as port:
        ends = {name: end_of(build, port, name) for name, build in builds.items()}
    known = {library.name: library.brokers for library in known_libraries() if library.brokers is not None}
    judged = {name: judge_move(known[name], None, (), {18: 0}, "0.10.2")[0] for name in builds}
    assert judged == {name: "compatible" if end == (5, 5, "") else "breaks" for name, end in ends.items()}
    assert set(known) == {*builds, "apache-kafka-java"}
    assert "nil pointer dereference" in ends["sarama"][2]


@pytest.mark.parametrize(
    ("release", "verdicts", "of_java", "of_aiokafka"),
    [
        # Kafka supports this less than it works
        ("2.0.1", ("deprecated", "compatible"), (5, 5, ""), (5, 5, "")),
        ("0.10.2.2", ("breaks", "breaks"), (0, 0, "UnsupportedVersionException"), (0, 0, "CorruptRecordException")),
    ],
)
def test_newer_clients(release: str, verdicts: tuple[str, str], of_java: End, of_aiokafka: End, tmp_path: Path) -> None:
    newest = releases().newest.name
    (listen,) = free_ports(1)
    with start_old_broker(release, tmp_path, ROOT / ".cache" / "kafka-jars") as port:
        proxy = RunningProxy(tmp_path, port, f'[tap]\nfile = "{tmp_path}/tap.pcapng"\n', listen=listen)
        try:
            assert end_of(Build("kafka-clients", "2.4.1"), listen, "billing") == (5, 5, "")
            # by its id an older one
            assert end_of(Build("aiokafka", "0.14.0", "3.11"), listen, "aiokafka-0.8.1") == of_aiokafka
        finally:
            proxy.stop()
        assert end_of(Build("kafka-clients", newest), port, "moved") == of_java
    out = str(tmp_path / "out")
    captures = [str(path) for path in sorted(tmp_path.glob("tap*.pcapng"))]
    assert CliRunner().invoke(commands, ["analyze", *captures, "--out", out, "--no-report"]).exit_code == 0
    done = CliRunner().invoke(commands, ["report", out, "--json", "--clients-to", newest])
    found = {each["client"]: each["verdict"] for each in json.loads(done.stdout)["clients_to"]}
    assert (found["billing"], found["aiokafka-0.8.1"]) == verdicts
