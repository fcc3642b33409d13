"""A disk that fills up ends a run with a sentence that names the folder, and leaves nothing that looks like an analysis."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from small_disk import run_with_disk

pytestmark = pytest.mark.matrix

FLEET = Path(__file__).parents[2] / "examples" / "upgrade-fleet.pcap.gz"
# What a task keeps in memory is so little that all of it goes to the temporary folder, whose disk is full once it has been chosen.
ROWS = """
import sys, tempfile
from pathlib import Path
from kwire.cli import main
from kwire.tables import batch_spool

Path(tempfile.gettempdir(), "filler").write_bytes(bytes(4096))
batch_spool.BatchSpool.__init__.__defaults__ = (1,)
sys.argv[0] = "kwire"
sys.exit(main())
"""
PAIRS = """
import sys, tempfile
from kwire.capture.dividing.pair_counts import RECENT_PAIRS, PairCounts
from kwire.errors import KwireError

pairs = PairCounts()
try:
    for number in range(5 * RECENT_PAIRS):
        pairs.begin(number.to_bytes(13, "big"))
except KwireError as error:
    sys.exit(f"{error}")
"""


def test_the_disk_of_the_output_fills_up(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    command = ("-m", "kwire", "analyze", str(FLEET), "--out", str(disk / "out"), "--engine", "local")
    status, said, left = run_with_disk(disk, "100k", command)
    assert (status, said) == (1, f"kwire: {disk / 'out'} cannot be written: No space left on device.\n")
    assert left == []


def test_an_analysis_that_cannot_be_appended_to_stays_as_it_was(tmp_path: Path) -> None:
    disk, more, program = tmp_path / "disk", tmp_path / "b.pcap", tmp_path / "program.py"
    more.write_bytes(gzip.decompress(FLEET.read_bytes()))
    program.write_text(
        f"""
import os, sys
from pathlib import Path
from kwire.cli.entry import commands
out = "{disk}/out"
assert commands.run(["analyze", "{FLEET}", "--out", out, "--engine", "local", "--no-report"]) == 0
before = {{str(path): path.read_bytes() for path in Path(out).rglob("*") if path.is_file()}}
free = os.statvfs(out)
Path("{disk}/filler").write_bytes(bytes(free.f_bavail * free.f_frsize - 40_000))
status = commands.run(["analyze", "{FLEET}", "{more}", "--out", out, "--engine", "local", "--no-report", "--append"])
assert {{str(path): path.read_bytes() for path in Path(out).rglob("*") if path.is_file()}} == before
sys.exit(status)
"""
    )
    status, said, left = run_with_disk(disk, "4m", (str(program),), "out")
    assert (status, said.splitlines()[-1]) == (1, f"kwire: {disk / 'out'} cannot be written: No space left on device.")
    assert "out/_SUCCESS" in left


def test_rows_that_wait_fill_the_temporary_folder(tmp_path: Path) -> None:
    disk, program = tmp_path / "disk", tmp_path / "program.py"
    program.write_text(ROWS)
    command = (str(program), "analyze", str(FLEET), "--out", str(tmp_path / "out"), "--engine", "local", "--no-report")
    status, said, left = run_with_disk(disk, "4k", command, TMPDIR=str(disk))
    reason = "No space left on device; TMPDIR names another, on a disk with more room."
    assert (status, said) == (1, f"kwire: the temporary folder {disk} cannot be written: {reason}\n")
    assert left == ["./filler"]
    assert not (tmp_path / "out").exists()


def test_pairs_of_endpoints_fill_the_temporary_folder(tmp_path: Path) -> None:
    disk, program = tmp_path / "disk", tmp_path / "program.py"
    program.write_text(PAIRS)
    status, said, left = run_with_disk(disk, "1m", (str(program),), TMPDIR=str(disk))
    reason = "database or disk is full; TMPDIR names another, on a disk with more room"
    assert (status, said) == (1, f"the temporary folder {disk} cannot be written: {reason}\n")
    assert left == []
