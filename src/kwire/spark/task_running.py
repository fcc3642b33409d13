"""Runs tasks on Spark, and tells how far they are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import pyarrow as pa

from kwire.errors import KwireError
from kwire.spark.parts import progress_file
from kwire.spark.series_task import SeriesResult, SeriesTask, run_task

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["run_on", "slots_of", "watching"]

_POLL_SECONDS: Final = 0.2
# Where Spark does not say how many tasks it can run at once (Spark Connect).
_SLOTS: Final = 8


def _context_of(spark: SparkSession | SparkContext) -> SparkContext | None:
    """The context, None on Spark Connect, which has none."""
    from pyspark import SparkContext
    from pyspark.errors import PySparkException

    if isinstance(spark, SparkContext):
        return spark
    with suppress(PySparkException, AttributeError):
        return spark.sparkContext
    return None


def slots_of(spark: SparkSession | SparkContext) -> int:
    """How many tasks can run at once."""
    context = _context_of(spark)
    return _SLOTS if context is None else int(context.defaultParallelism)


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


def run_on(spark: SparkSession | SparkContext, tasks: Sequence[SeriesTask]) -> list[SeriesResult]:
    """Run tasks, one partition each.

    Raises:
        KwireError: the job failed.
    """
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    context = _context_of(spark)
    try:
        packed = _by_session(cast("SparkSession", spark), tasks) if context is None else _by_context(context, tasks)
    except (PySparkException, Py4JJavaError) as error:
        raise KwireError(f"The Spark job failed: {_reason(error)}") from error
    return sorted(map(SeriesResult.from_bytes, packed), key=lambda result: result.number)


def _by_context(context: SparkContext, tasks: Sequence[SeriesTask]) -> list[bytes]:
    """Without SQL, whose planner and code generator take the JVM longer than all the rest of its work."""
    return context.parallelize(tasks, len(tasks)).map(_packed).collect()


def _packed(task: SeriesTask) -> bytes:
    return run_task(task).to_bytes()


def _by_session(spark: SparkSession, tasks: Sequence[SeriesTask]) -> list[bytes]:
    """Spark Connect has columns and no RDDs; `arrow_udf` needs no pandas on the driver, unlike `mapInArrow`."""
    from pyspark.sql import functions

    arrow_udf: Any = functions.arrow_udf  # type: ignore[attr-defined]  # PySpark's stubs lack it

    def read(numbers: pa.Array) -> pa.Array:  # type: ignore[type-arg]
        return pa.array([_packed(tasks[number.as_py()]) for number in numbers], pa.binary())

    frame = spark.range(0, len(tasks), 1, len(tasks)).select(arrow_udf(read, "binary")(functions.col("id")).alias("result"))
    return [bytes(row.result) for row in frame.collect()]


def _reason(error: Exception) -> str:
    """The last line that Python said, where it said something; what follows it are frames of the JVM."""
    java = getattr(error, "java_exception", None)
    text = str(error) if java is None else str(java.getMessage())
    lines = [line.strip() for line in text.partition("Driver stacktrace:")[0].splitlines()]
    told = [line for line in lines if line and not line.startswith("at ")]
    return told[-1] if told else type(error).__name__
