"""The time of the processor that Spark and its workers use: what a noisy machine and other work beside it do not change much."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_LOOK_SECONDS = 0.05
_SET_CHILD_SUBREAPER = 36  # of prctl(2)


def children_seconds() -> float:
    """What all processes below this one have used, those that are gone too."""
    return sum(own + waited for own, waited in _used_below(os.getpid()).values())


def command_seconds(command: Sequence[str]) -> tuple[float, bytes]:
    """What a command and all processes below it use, Java and Spark's Python workers among them; and what it prints.

    A worker of Spark outlives the daemon that forked it, which waits for none of them: their time is in no `getrusage`. So every process
    is looked at while it runs, and what it had used at the last look counts.

    Raises:
        CalledProcessError: the command failed.
    """
    main = subprocess.Popen([sys.executable, __file__, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    printed, told = main.communicate()
    if main.returncode:
        raise subprocess.CalledProcessError(main.returncode, command, printed, told)
    return float(told.splitlines()[-1]), printed


def _watch(command: Sequence[str]) -> int:
    """Run a command, and write what was used to stderr."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # of workers whose parent is gone this process becomes the parent
    main, used = subprocess.Popen(command), dict[int, float]()
    while main.poll() is None:
        used |= {pid: own for pid, (own, _) in _used_below(os.getpid()).items()}
        time.sleep(_LOOK_SECONDS)
    print(sum(used.values()), file=sys.stderr)
    return main.returncode


def _used_below(root: int) -> dict[int, tuple[float, float]]:
    """By process below one what it has used itself, and what those had used that it waited for."""
    parents: dict[int, list[int]] = {}
    used: dict[int, tuple[float, float]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            pid = int(entry.name)
            parents.setdefault(int(fields[1]), []).append(pid)
            used[pid] = sum(map(int, fields[11:13])) / _TICKS, sum(map(int, fields[13:15])) / _TICKS
    waiting, found = list(parents.get(root, ())), dict[int, tuple[float, float]]()
    while waiting:
        pid = waiting.pop()
        found[pid] = used[pid]
        waiting += parents.get(pid, ())
    return found


if __name__ == "__main__":
    sys.exit(_watch(sys.argv[1:]))
