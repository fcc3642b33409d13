"""Local engine: runs the tasks of a job in local processes, without Spark and Java.

`kwire analyze` uses it by default: Spark starts later and reads no faster on one machine (1.08 GB: 20 s, on Spark 27 s).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

from kwire.errors import KwireError

__all__ = ["PROCESS_BYTES", "Engine", "LocalProcesses", "SAFE_PATH", "processors", "safe_path"]

Engine = Literal["auto", "local", "spark"]
Item = TypeVar("Item")
Result = TypeVar("Result")

PROCESS_BYTES: Final = 16 << 20
"""Stored bytes of captures that justify another process, which must load Arrow first."""

SAFE_PATH: Final = "PYTHONSAFEPATH"
"""Environment variable that stops Python from importing modules from the working folder, which may hold untrusted files."""


def processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(slots=True)
class LocalProcesses:
    """Pool that runs `slots` tasks at once, each in its own process; a single slot is the calling process.

    A program that calls `kwire.spark.run_job` on many captures needs Python's usual guard, ``if __name__ == "__main__":``, because new
    processes import its main module (`multiprocessing`, start method ``spawn``).
    """

    slots: int

    @classmethod
    def for_bytes(cls, size: int) -> LocalProcesses:
        return cls(max(1, min(processors(), size // PROCESS_BYTES)))

    def run_each(self, items: Sequence[Item], work: Callable[[Item], Result]) -> list[Result]:
        """Call `work` with each item and return the results in order; `work` and items must be picklable.

        If a process is ended, unfinished items run once more, in half as many processes, which leaves more memory for each.
        """
        count = min(self.slots, len(items))
        if count <= 1:
            return [work(item) for item in items]
        found: dict[int, Result] = {}
        how = _attempt(count, items, work, found) and _attempt(count // 2, items, work, found)
        if how:
            raise KwireError(f"{how} twice, perhaps for lack of memory; use --engine spark, or analyze fewer files at a time")
        return [found[number] for number in range(len(items))]


def _attempt(count: int, items: Sequence[Item], work: Callable[[Item], Result], found: dict[int, Result]) -> str:
    """Run the items that have no result yet; return a clause on a process that was ended, empty if none was."""
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _begin, (work,))
    futures: dict[int, Future[Result]] = {}
    processes: list[Any] = []
    finished = False
    try:
        with suppress(BrokenProcessPool), safe_path(os.environ):
            for number, item in enumerate(items):
                if number not in found:
                    futures[number] = pool.submit(_run, item)
        processes = [each for each in multiprocessing.active_children() if each not in before]
        for number, future in futures.items():
            with suppress(BrokenProcessPool):
                found[number] = future.result()
        pool.shutdown()
        finished = True
        return "" if len(found) == len(items) else f"a worker process was ended{_how(processes)}"
    finally:
        if not finished:  # also after an interrupt: do not wait for running tasks
            for process in processes:
                process.terminate()
        pool.shutdown(cancel_futures=True)


def _how(processes: Sequence[Any]) -> str:
    """Describe how the first process ended; the pool ends the others by SIGTERM."""
    for code in (process.exitcode or 0 for process in processes):
        if code not in (0, -signal.SIGTERM):
            return f" by {signal.Signals(-code).name}" if code < 0 else f" with status {code}"
    return ""


@contextmanager
def safe_path(environment: MutableMapping[str, str]) -> Iterator[None]:
    """Set `SAFE_PATH` for child processes, and restore the environment at the end."""
    before = environment.get(SAFE_PATH)
    environment[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del environment[SAFE_PATH]
        else:
            environment[SAFE_PATH] = before


_given: Any = None  # of a worker process: sent once, as it may hold much that all tasks need


def _begin(work: Callable[[Any], Any]) -> None:
    global _given
    from kwire.tables.pandas_left_out import leave_pandas_out

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; who started this process ends it
    leave_pandas_out()
    _given = work
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker if the parent was killed; otherwise it would wait forever, because workers hold both ends of their queue."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run(item: Any) -> Any:
    return _given(item)
