"""The time of the processor that Spark and its workers use: what a noisy machine and other work beside it do not change much."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def children_seconds() -> float:
    """What all processes below this one have used, those that are gone too."""
    parents: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            pid = int(entry.name)
            parents.setdefault(int(fields[1]), []).append(pid)
            used[pid] = sum(map(int, fields[11:15])) / _TICKS
    waiting, found = list(parents.get(os.getpid(), ())), 0.0
    while waiting:
        pid = waiting.pop()
        found += used[pid]
        waiting += parents.get(pid, ())
    return found
