"""A whole `kwire analyze` of a capture cut in eight, two tasks at once, all tables; its phases apart, as it tells them itself.

Both passes and tshark are held against each other by the time of the processor, since two tasks and one process suffer differently from
whatever else a machine does: half of what the two tasks used is what they take on two cores that have nothing else to do. Start-up of
Spark and the command are by the clock. tshark reads one of the eight files: it takes its time, and as long for each.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from captures import PORT, repeat_capture
from test_capture_rows import ROWS_OF_COPY, TSHARK_FIELDS

PIECES, COPIES, TASKS = 8, 60, 2
TURNS = 2
WORK = "capture to all tables"


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, int]]:
    folder = tmp_path_factory.mktemp("cut")
    paths = [folder / f"trace_{number:05d}.pcap" for number in range(PIECES)]
    return [(path, repeat_capture(path, COPIES, number * COPIES)) for number, path in enumerate(paths)]


def analyze(paths: list[Path], out: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "kwire", "analyze", *map(str, paths), "--out", str(out), "--master", f"local[{TASKS}]", "--json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


@pytest.mark.parametrize("turn", range(TURNS))
def test_analyze(record, pieces, tmp_path, turn):
    paths, size = [path for path, _ in pieces], sum(size for _, size in pieces)
    rows = PIECES * COPIES * ROWS_OF_COPY
    began = time.perf_counter()
    told = analyze(paths, tmp_path / "out")
    whole = time.perf_counter() - began
    seconds = told["cost"]["seconds"]
    assert told["cost"]["bytes_read"] == size
    assert (tmp_path / "out" / "_SUCCESS").exists()
    tasks = told["cost"]["task_cpu_seconds"] / TASKS
    first_pass = seconds["read"] / (seconds["read"] + seconds["second_pass"])
    record(WORK, "native", tasks, rows, size)
    record(WORK, "native pass 1", tasks * first_pass, rows, size)
    record(WORK, "native pass 2", tasks * (1 - first_pass), rows, size)
    record(WORK, "native Spark", seconds["start_spark"], rows, size)
    record(WORK, "native command", whole, rows, size)
    tshark = shutil.which("tshark")
    if tshark is None:
        return
    command = [tshark, "-r", str(paths[0]), "-d", f"tcp.port=={PORT},kafka", "-Y", "kafka.api_key", "-T", "fields"]
    for field in TSHARK_FIELDS:
        command += ["-e", field]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    record(WORK, "tshark", used, rows / PIECES, pieces[0][1])
    assert done.stdout.count(b"\n") > COPIES * ROWS_OF_COPY
