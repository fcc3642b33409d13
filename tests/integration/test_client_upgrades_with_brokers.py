"""`report --clients-to` of captures of old brokers, held against what the newer clients meet there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kwire.cli.entry import commands
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
    found = json.loads(done.stdout.splitlines()[-1])
    return found["produced"], found["consumed"], found["error"]


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
