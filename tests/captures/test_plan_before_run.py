"""`kwire plan` beside the run that it is about: the manifest has the same plan, and nothing was written before."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from counted_rows import run, written
from kwire.cli.entry import commands
from kwire.runs import planning
from kwire.spark import job
from pcap_files import pieces_of

DATA = Path(__file__).parent / "data"

pytestmark = pytest.mark.usefixtures("job_in_process")


def plan(*arguments: str) -> Any:
    done = CliRunner().invoke(commands, ["plan", *arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def cut(into: Path, pieces: int) -> list[str]:
    return written(pieces_of(gzip.decompress((DATA / "topicids.pcap.gz").read_bytes()), pieces), into)


@pytest.mark.parametrize("cores", [1, 3])
def test_the_plan_is_that_of_the_run(cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With three cores the tasks share the rotated files, and packets are routed to them."""
    files = cut(tmp_path, 3)
    monkeypatch.setattr(job, "slots_of", lambda _spark: cores)
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    monkeypatch.chdir(tmp_path)
    found = plan(*files, "--cores", str(cores))
    assert sorted(path.name for path in tmp_path.iterdir()) == [Path(file).name for file in files]
    cost = json.loads((run(files, tmp_path / "out") / "_manifest.json").read_text())["cost"]
    assert (found["plan"], found["bytes"]) == (cost["plan"], cost["bytes_read"])
    assert found["plan"]["tasks"] == cores
    size = sum(Path(file).stat().st_size for file in files)
    assert (found["files"], found["file_groups"], found["unpacked_bytes"]) == (3, 1, size)
    assert found["scratch_bytes"] == (round(1.04 * size) if cores > 1 else 0)


def test_small_captures_are_packed_as_in_the_run(tmp_path: Path) -> None:
    files = [str(DATA / name) for name in ("seed.pcap.gz", "ipv6.pcap.gz", "groups.pcapng.gz")]
    found = plan(*files)
    manifest = json.loads((run(files, tmp_path / "out") / "_manifest.json").read_text())
    assert found["plan"] == manifest["cost"]["plan"] == {"tasks": 1, "packed": 3, "shared": []}


def test_the_cost_grows_with_the_bytes_and_names_what_cannot_be_divided(tmp_path: Path) -> None:
    """A terabyte of zeros that are not there: by docs/explanation/costs.md a GB takes 8 to 39 s, and routing 2 to 4 s of it."""
    header = gzip.decompress((DATA / "seed.pcap.gz").read_bytes())[:24]
    plain, packed = tmp_path / "plain.pcap", tmp_path / "other.pcap.gz"
    plain.write_bytes(header)
    packed.write_bytes(gzip.compress(header))
    for path, size in ((plain, 10**12), (packed, 10**9)):
        with path.open("r+b") as file:
            file.truncate(size)
    found = plan(str(plain), "--cores", "1000")
    assert found["cpu_seconds"] == [1000 * (8 + 2) + 1500, 1000 * (39 + 4) + 1500]
    assert (found["scratch_bytes"], found["undivided"]) == (1_040_000_000_000, [])
    assert found["longest_task_seconds"] == [8, 39]
    found = plan(str(packed), "--cores", "8")
    assert found["unpacked_bytes"] == 4 * 10**9
    assert found["undivided"] == [{"file": str(packed), "bytes": 10**9, "reason": "gzip without the blocks of bgzip"}]
    said = CliRunner().invoke(commands, ["plan", str(packed), "--cores", "8"])
    assert "gzip without the blocks of bgzip, so one task" in said.stderr
    assert "4.2 GB" in said.stdout


def test_what_cannot_be_read_is_said() -> None:
    done = CliRunner().invoke(commands, ["plan", "nowhere.pcap"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "nowhere.pcap" in done.stderr
