"""What the terminal shows at 60, 80 and 120 columns, held in `golden/`.

`KWIRE_WRITE_GOLDEN=1 pytest tests/unit/cli/test_widths.py` writes the files again; look at each change.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from kwire.cli import terminal
from kwire.cli.entry import commands
from kwire.runs.job_request import JobRequest
from kwire.spark.job import run_job
from large_fleet import write_large_fleet

SAMPLE = str(Path(__file__).parents[3] / "examples" / "upgrade-fleet.pcap.gz")
GOLDEN = Path(__file__).parent / "golden"
WIDTHS = (60, 80, 120)
OLD_FIXES = ("1.8.2+", "0.4.42+", "1.41+", "V2_1_0_0+", "1.8.0+", "0.11.0.2+", "Produce v3+")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The analysis of the sample capture."""
    out = tmp_path_factory.mktemp("widths") / "report"
    run_job(JobRequest(inputs=(SAMPLE,), out=str(out), engine="local"))
    return out


@pytest.fixture(params=WIDTHS)
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal of so many columns."""
    columns: int = request.param
    monkeypatch.setattr(terminal, "_PIPE_WIDTH", columns)
    terminal.console.cache_clear()
    yield columns
    terminal.console.cache_clear()


def shown(*arguments: str) -> list[str]:
    result = CliRunner().invoke(commands, list(arguments))
    assert result.exit_code == 0, result.stderr
    return [line.rstrip() for line in result.stdout.splitlines()]


def held(name: str, lines: list[str]) -> None:
    """Compare with a golden file."""
    path = GOLDEN / name
    text = "\n".join(lines) + "\n"
    if os.environ.get("KWIRE_WRITE_GOLDEN") == "1":
        path.write_text(text)
    assert text == path.read_text()


def cells(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "FW" else 1 for character in line)


def test_the_summary(fleet: Path, width: int) -> None:
    lines = [line for line in shown("report", str(fleet)) if not line.startswith("Report: ")]
    assert lines[0].startswith("✕ 12 of 27 applications break on Kafka 4.0")
    assert all(cells(line) <= width for line in lines)
    held(f"summary-{width}.txt", lines)


@pytest.mark.parametrize("width", [60, 80, 100, 200], indirect=True)
def test_a_fix_keeps_its_version(fleet: Path, width: int) -> None:
    lines = shown("report", str(fleet))
    fixes = " ".join(lines[: next(at for at, line in enumerate(lines) if line.startswith("Libraries"))])
    for version in OLD_FIXES:
        assert version in fixes


@pytest.mark.parametrize("table", ["requests", "connections", "clients", "upgrade_impact"])
def test_the_rows_of_a_capture(table: str, width: int) -> None:
    lines = shown("inspect", SAMPLE, "--table", table, "--client-id" if table in ("requests", "upgrade_impact") else "--port",
                  "erp-bridge" if table in ("requests", "upgrade_impact") else "19092")  # fmt: skip
    rows = lines[2:]
    assert all(cells(line) <= width for line in lines)
    assert all(rows), "a row takes one line"
    held(f"{table}-{width}.txt", lines[:12])


@pytest.mark.parametrize("width", [80], indirect=True)
def test_who_breaks_comes_first_at_any_size(tmp_path: Path, width: int) -> None:
    """Of 1,000 clients those that break stand before the libraries, one row a fix; compatible libraries come after those that break."""
    lines = shown("report", str(write_large_fleet(tmp_path / "out", 1_000)), "--wide")
    breaks = next(number for number, line in enumerate(lines) if line.startswith("Breaks: "))
    libraries = next(number for number, line in enumerate(lines) if line.startswith("Libraries, worst first"))
    assert breaks < libraries
    first = [line.split()[0] for line in lines[libraries + 3 : libraries + 6]]
    assert first == ["breaks"] * 3
    assert "… more" not in "".join(lines[:breaks])
    # 47 libraries, 6 of which are old: 1,000 // 47 clients of each, give or take one
    said = int(lines[0].split()[1].replace(",", ""))
    assert said == pytest.approx(1_000 * 6 / 47, abs=6)


def test_wide_cuts_nothing(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown("report", str(fleet), "--wide")
    assert not any("…" in line for line in lines)


def test_a_terminal_that_has_ascii_alone(fleet: Path) -> None:
    """In the POSIX locale of old machines nothing else can be written; texts are cut there too."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "FORCE_COLOR": "1", "COLUMNS": "60", "TERM": "xterm"}
    done = subprocess.run([sys.executable, "-m", "kwire", "report", str(fleet)], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode("ascii")).splitlines()
    assert lines[0].startswith("x 12 of 27 applications break")
    assert any("..." in line for line in lines)
    assert all(len(line) <= 60 for line in lines if not line.startswith("Report: "))
