"""Hours of a small cluster: CPU of an append, of an hour alone, and of a merge of all hours, in one process.

An append keeps finished days of hourly sums as they are, and puts all other sums together, of which the steps of groups grow.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from append_worker import SHOWN

WORK = "hours of a month"
HOURS = 48


def test_appends(record, tmp_path):
    worker = [sys.executable, str(Path(__file__).with_name("append_worker.py")), str(tmp_path), str(HOURS)]
    done = subprocess.run(worker, check=True, capture_output=True, text=True)
    first, last, first_alone, last_alone, merged = map(float, done.stdout.split())
    for contender, seconds, count in (
        (f"append, hours 2 to {SHOWN + 1}", first, 1), (f"append, last {SHOWN} of {HOURS}", last, 1),
        (f"alone, hours 2 to {SHOWN + 1}", first_alone, 1), (f"alone, last {SHOWN} of {HOURS}", last_alone, 1),
        ("merge of all, an hour", merged, HOURS),
    ):  # fmt: skip
        record(WORK, contender, seconds, count, 0)
