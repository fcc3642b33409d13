"""The time of the processor that Spark and its workers use: what a noisy machine and other work beside it do not change much."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_LOOK_SECONDS = 0.05
_Process = tuple[int, int]  # its number, which another one may get later, and when it began
_SET_CHILD_SUBREAPER = 36  # of prctl(2)


class Used:
    """What all processes below this one use inside a `with` block, those that end in it too.

    A worker of Spark outlives the daemon that forked it, which waits for none of them: their time is in no `getrusage`. So every process
    is looked at while it runs, and what it had used at the last look counts.

    Attributes:
        seconds: of the processor; set at the end of the block.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._last: dict[_Process, float] = {}
        self._is_over = threading.Event()
        self._watch = threading.Thread(target=self._look_again, daemon=True)

    def __enter__(self) -> Used:
        self._before = _used_below(os.getpid())
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._watch.join()
        self._last |= _used_below(os.getpid())
        self.seconds = sum(used - self._before.get(process, 0) for process, used in self._last.items())

    def _look_again(self) -> None:
        while not self._is_over.wait(_LOOK_SECONDS):
            self._last |= _used_below(os.getpid())


def command_seconds(command: Sequence[str]) -> tuple[float, bytes]:
    """What a command and all processes below it use, Java and Spark's Python workers among them; and what it prints.

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
    with Used() as used:
        status = subprocess.run(command, check=False).returncode
    print(used.seconds, file=sys.stderr)
    return status


def _used_below(root: int) -> dict[_Process, float]:
    """What each process below one has used itself."""
    parents: dict[int, list[_Process]] = {}
    used: dict[_Process, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            process = int(entry.name), int(fields[19])
            parents.setdefault(int(fields[1]), []).append(process)
            used[process] = sum(map(int, fields[11:13])) / _TICKS
    waiting, found = list(parents.get(root, ())), dict[_Process, float]()
    while waiting:
        process = waiting.pop()
        found[process] = used[process]
        waiting += parents.get(process[0], ())
    return found


if __name__ == "__main__":
    sys.exit(_watch(sys.argv[1:]))
