"""Judge an analysis again for another release (`kwire report DIR --to`), beside an analysis of the same captures for it.

CPU time of all processes, in turns. The report reads the tables, whatever the size of the captures; the ratio grows with that.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from captures import repeat_capture
from processor_time import command_seconds
from test_capture_rows import ROWS_OF_COPY

WORK = "analysis for another release"
PIECES, COPIES, TURNS = 4, 60, 3


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], int]:
    folder = tmp_path_factory.mktemp("judged")
    paths = [folder / f"trace_{number:05d}.pcap" for number in range(PIECES)]
    return paths, sum(repeat_capture(path, COPIES, number * COPIES) for number, path in enumerate(paths))


@pytest.mark.parametrize("turn", range(TURNS))
def test_judge_again(record, pieces, tmp_path, turn):
    paths, size = pieces
    out, page = tmp_path / "out", tmp_path / "page.html"
    program = [sys.executable, "-m", "kwire"]
    seconds, _ = command_seconds([*program, "analyze", *map(str, paths), "--out", str(out), "--engine", "local", "--to", "4.0"])
    record(WORK, "analyze", seconds, PIECES * COPIES * ROWS_OF_COPY, size)
    seconds, _ = command_seconds([*program, "report", str(out), "--to", "4.3", "--out", str(page)])
    record(WORK, "native", seconds, PIECES * COPIES * ROWS_OF_COPY, size)
    assert "4.3" in page.read_text("utf-8")
