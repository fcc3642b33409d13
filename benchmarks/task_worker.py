"""Analyses captures as one task of `kwire analyze` does, no Spark; prints CPU seconds and peak memory in MB.

    task_worker.py FOLDER CAPTURE...

The first capture is read once before, so that what a worker learns once is not in the figures.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from kwire.runs.parts import STAGING
from kwire.runs.series_task import SeriesFiles, SeriesTask, run_task


def cpu_seconds(out: Path, captures: list[str]) -> float:
    (out / STAGING).mkdir(parents=True)
    began = time.process_time()
    run_task(SeriesTask(0, (SeriesFiles("growth", tuple(captures)),), (), str(out), str(Path.cwd()), keep_state=True))
    return time.process_time() - began


folder, *paths = sys.argv[1:]
cpu_seconds(Path(folder, "before"), paths[:1])
print(cpu_seconds(Path(folder, "measured"), paths), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
