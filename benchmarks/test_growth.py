"""What a task does for a gigabyte, and what it keeps in memory, whether the capture is small or large."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from captures import repeat_capture
from test_capture_rows import ROWS_OF_COPY

WORK = "capture to tables, growing"
COPIES, PIECES = 60, (4, 16)  # of 33 MB
TURNS = 2
MORE_MEMORY = 150
"""MB that the larger capture may take more: what has caps fills up at first, 64 MiB of rows, 16 MiB of sums, 20 MB of pairs."""


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, int]]:
    folder = tmp_path_factory.mktemp("growing")
    paths = [folder / f"trace_{number:05d}.pcap" for number in range(max(PIECES))]
    return [(path, repeat_capture(path, COPIES, number * COPIES)) for number, path in enumerate(paths)]


@pytest.mark.parametrize("turn", range(TURNS))
def test_growth(record, pieces, tmp_path, turn):
    peaks = []
    for count in PIECES:
        worker = [sys.executable, str(Path(__file__).with_name("task_worker.py")), str(tmp_path / str(count))]
        done = subprocess.run([*worker, *(str(path) for path, _ in pieces[:count])], check=True, capture_output=True, text=True)
        seconds, peak = done.stdout.split()
        size = sum(size for _, size in pieces[:count])
        contender = "native" if count == PIECES[0] else f"native, x{count // PIECES[0]}"
        record(WORK, contender, float(seconds), COPIES * count * ROWS_OF_COPY, size)
        peaks.append(int(peak))
    assert peaks[1] - peaks[0] <= MORE_MEMORY, peaks
