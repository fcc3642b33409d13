"""Runs tasks on Spark, and tells how far they are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from kwire.errors import KwireError
from kwire.spark.parts import progress_file
from kwire.spark.series_task import SeriesResult, SeriesTask, run_task

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["run_on", "slots_of", "watching"]

_POLL_SECONDS: Final = 0.2
# Where Spark does not say how many tasks it can run at once (Spark Connect).
_SLOTS: Final = 8


def slots_of(spark: SparkSession) -> int:
    """How many tasks can run at once."""
    from pyspark.errors import PySparkException

    with suppress(PySparkException, AttributeError):
        return int(spark.sparkContext.defaultParallelism)
    return _SLOTS


@contextmanager
def watching(tasks: Sequence[SeriesTask], total: int, progress: Callable[[str, int, int], None]) -> Iterator[None]:
    """Tell how many bytes the tasks have read, while they run.

    Args:
        tasks: which.
        total: bytes of their files, a file as often as it is read.
        progress: told what is going on, and how many of how many bytes are read.
    """
    files = [file for task in tasks if (file := progress_file(task.out, task.number)) is not None]
    over = threading.Event()

    def count(file: Path) -> int:
        try:
            return int(file.read_text() or 0)
        except (OSError, ValueError):  # not begun, or being written
            return 0

    def watch() -> None:
        while not over.wait(_POLL_SECONDS):
            progress("Reading captures", min(sum(map(count, files)), total), total)

    watcher = threading.Thread(target=watch, name="kwire-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def run_on(spark: SparkSession, tasks: Sequence[SeriesTask]) -> list[SeriesResult]:
    """Run tasks, one row and one partition each; works on Spark Connect too, which has no RDDs.

    Raises:
        KwireError: the job failed.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql import functions

    # PySpark's stubs lack it. Unlike mapInArrow it needs no pandas on the driver.
    arrow_udf: Any = functions.arrow_udf  # type: ignore[attr-defined]

    def read(numbers: pa.Array) -> pa.Array:  # type: ignore[type-arg]
        found = [run_task(tasks[number.as_py()]).to_bytes() for number in numbers]
        return pa.array(found, pa.binary())

    frame = spark.range(0, len(tasks), 1, len(tasks)).select(arrow_udf(read, "binary")(functions.col("id")).alias("result"))
    try:
        found = [SeriesResult.from_bytes(bytes(row.result)) for row in frame.collect()]
    except PySparkException as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise KwireError(f"The Spark job failed: {lines[-1] if lines else type(error).__name__}") from error
    return sorted(found, key=lambda result: result.number)
