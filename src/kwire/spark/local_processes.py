"""Runs the tasks of a job in processes of this machine, without Spark and without Java.

Below `LOCAL_BYTES` of captures this is what `kwire analyze` takes by default: Spark's start alone costs more there than all the reading.
A few megabytes are read in the calling process itself, because each new process loads Arrow first.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

from kwire.errors import KwireError

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

__all__ = ["LOCAL_BYTES", "PROCESS_BYTES", "Engine", "LocalProcesses", "choose_engine"]

Engine = Literal["auto", "local", "spark"]
Item = TypeVar("Item")

LOCAL_BYTES: Final = 256 << 20
"""Captures of fewer bytes, as stored, are analysed without Spark unless it is asked for."""

PROCESS_BYTES: Final = 16 << 20
"""Bytes of captures, as stored, that are worth a process of their own."""

_SAFE_PATH: Final = "PYTHONSAFEPATH"
_GONE_SECONDS: Final = 5


def choose_engine(asked: Engine, master: str | None, size: int) -> Literal["local", "spark"]:
    """Choose what runs a job.

    Args:
        asked: `auto` takes Spark where a master, a session or `spark-submit` is there already, and from `LOCAL_BYTES` on where PySpark is
            installed.
        master: the Spark master that is asked for, None without one.
        size: bytes of the captures, as stored.
    """
    if asked != "auto":
        return asked
    if master is not None or os.environ.keys() & {"SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"} or _has_session():
        return "spark"
    return "local" if size < LOCAL_BYTES or find_spec("pyspark") is None else "spark"


def _has_session() -> bool:
    """Is there a Spark session in this process? PySpark is not imported to find out."""
    sql: Any = sys.modules.get("pyspark.sql")
    return sql is not None and sql.SparkSession.getActiveSession() is not None


def _cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(slots=True)
class LocalProcesses:
    """Where tasks run: `slots` of them at once, each in a process of its own; one slot is the calling process.

    A program that calls `kwire.spark.run_job` on many captures needs Python's usual guard, ``if __name__ == "__main__":``, because new
    processes import its main module (`multiprocessing`, start method ``spawn``).
    """

    slots: int

    @classmethod
    def for_bytes(cls, size: int) -> LocalProcesses:
        """As many as `size` bytes of captures are worth, and this machine has processors."""
        return cls(max(1, min(_cores(), size // PROCESS_BYTES)))

    def run_each(self, items: Sequence[Item], work: Callable[[Item], bytes]) -> list[bytes]:
        """Do something with each item.

        Args:
            items: what; they pickle where there is more than one.
            work: what to do with one; it pickles too.

        Returns:
            The results in the order of the items.

        Raises:
            KwireError: a process ended before its task did.
        """
        count = min(self.slots, len(items))
        if count <= 1:
            return [work(item) for item in items]
        found: dict[int, bytes] = {}
        waiting = list(enumerate(items))[::-1]
        with _workers(count, work) as workers:
            busy: dict[Connection, int] = {}
            for pipe in workers:
                _give(pipe, waiting, busy)
            while busy:
                for ready in wait(list(busy)):
                    pipe = cast("Connection", ready)
                    place = busy.pop(pipe)
                    found[place] = _answer(pipe, workers[pipe])
                    _give(pipe, waiting, busy)
        return [found[place] for place in range(len(items))]


def _give(pipe: Connection, waiting: list[tuple[int, Any]], busy: dict[Connection, int]) -> None:
    if waiting:
        place, item = waiting.pop()
        pipe.send(item)
        busy[pipe] = place


def _answer(pipe: Connection, process: SpawnProcess) -> bytes:
    try:
        result: bytes | BaseException = pipe.recv()
    except (EOFError, OSError) as error:
        process.join(_GONE_SECONDS)
        code = process.exitcode
        how = "" if code is None else f" by {signal.Signals(-code).name}" if code < 0 else f" with status {code}"
        raise KwireError(
            f"a worker process was ended{how}, perhaps for lack of memory; give --engine spark, or analyse fewer files at a time"
        ) from error
    if isinstance(result, BaseException):
        raise result
    return result


@contextmanager
def _workers(count: int, work: Callable[[Any], bytes]) -> Iterator[dict[Connection, SpawnProcess]]:
    context = multiprocessing.get_context("spawn")
    found: dict[Connection, SpawnProcess] = {}
    try:
        with _safe_path():
            for _ in range(count):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, work), name="kwire-task", daemon=True)
                process.start()
                theirs.close()
                found[ours] = process
        yield found
        for pipe in found:
            pipe.close()  # its end lets the process go
        for process in found.values():
            process.join(_GONE_SECONDS)
    finally:
        for process in found.values():
            if process.is_alive():
                process.terminate()
                process.join(_GONE_SECONDS)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Start Python so that it imports nothing from the folder that it is started in: captures of other people lie there."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _serve(pipe: Connection, work: Callable[[Any], bytes]) -> None:
    """Take tasks until the other end is closed, in a process of its own."""
    from kwire.tables.pandas_left_out import leave_pandas_out

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; who started this process ends it
    leave_pandas_out()
    with suppress(EOFError, OSError):
        while True:
            item = pipe.recv()
            try:
                result: bytes | BaseException = work(item)
            except Exception as error:  # noqa: BLE001 - whatever it is, the caller shall see it
                result = error
            pipe.send(result)
