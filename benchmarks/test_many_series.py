"""`kwire analyze` of 10,000 series of 5 KB with Spark: CPU of all processes, Java and the driver included, and the files that are left.

Wanted: less than 60 s and less than 200 files. A task for each of them took 15 minutes and left 30,000.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from captures import captures_of_pods
from processor_time import command_seconds

WORK = "10,000 series of 5 KB"
SERIES, MOST_FILES, TASKS = 10_000, 200, 2


def test_many_series(record, tmp_path):
    folder, out = tmp_path / "pods", tmp_path / "out"
    folder.mkdir()
    size = sum(path.stat().st_size for path in captures_of_pods(folder, SERIES))
    options = ["--group-files", "file", "--out", str(out), "--master", f"local[{TASKS}]"]
    command = [sys.executable, "-m", "kwire", "analyze", str(folder), *options]
    seconds, printed = command_seconds([*command, "--json"])
    cost = json.loads(printed)["cost"]
    assert cost["bytes_read"] == size
    assert cost["plan"]["packed"] == SERIES
    record(WORK, "native", seconds, SERIES, size)
    record(WORK, "native tasks", cost["task_cpu_seconds"], SERIES, size)
    assert sum(path.is_file() for path in Path(out).rglob("*")) < MOST_FILES
