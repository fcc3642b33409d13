"""CPU of an analysis beside the range that `kwire plan` estimates: that of the tasks lies within it, or outside by a factor of two at most.

Starting and ending are a large part of what all processes use for so little, and none of the estimate.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from captures import repeat_capture
from processor_time import command_seconds

WORK = "CPU of an analysis and its estimate"
COPIES, FACTOR = 240, 2


@pytest.mark.parametrize("packs", [False, True], ids=["rotated files", "a file"])
def test_plan(record, tmp_path: Path, packs):
    count = 1 if packs else 4
    paths = [tmp_path / f"trace_{number:05d}.pcap" for number in range(count)]
    size = sum(repeat_capture(path, COPIES // count, number * COPIES // count) for number, path in enumerate(paths))
    program = [sys.executable, "-m", "kwire"]
    _, printed = command_seconds([*program, "plan", *map(str, paths), "--json"])
    low, high = json.loads(printed)["cpu_seconds"]
    options = ["--out", str(tmp_path / "out"), "--engine", "local", "--no-report", "--json"]
    seconds, printed = command_seconds([*program, "analyze", *map(str, paths), *options])
    cost = json.loads(printed)["cost"]
    assert cost["bytes_read"] == size
    tasks = cost["task_cpu_seconds"]
    name = "one file" if packs else "rotated files"
    for contender, figure in (("tasks", tasks), ("all processes", seconds), ("estimate, few clients", low), ("estimate, 50,000", high)):
        record(WORK, f"{contender}, {name}", figure, 1, size)
    assert low / FACTOR <= tasks <= FACTOR * high, (low, tasks, high)
