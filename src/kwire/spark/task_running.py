"""Running of tasks on Spark."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import pyarrow as pa

from kwire.errors import KwireError
from kwire.runs.local_processes import LocalProcesses, safe_path
from kwire.spark.lone_work import LoneWork
from kwire.spark.session import ALONE

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["SparkWorkers", "context_of", "is_local", "reason_of_spark", "slots_of", "workers_of"]

# Where Spark does not say how many tasks it can run at once (Spark Connect).
_SLOTS: Final = 8
# Spark's own words before those of a task's fault.
_TASK: Final = re.compile(r"^Job aborted due to stage failure: .*?most recent failure: Lost task .*? \(.*? executor [^)]*\): ")
_OWN: Final = re.compile(r"^kwire\.errors\.\w+: ")  # the sentence says it
# What Spark says of a Python worker that ended before it could be asked (org.apache.spark.api.python.PythonWorkerFactory), with all that
# it wrote; of one that wrote to where Spark reads the worker's address; and where there is no such program.
_ENDED: Final = re.compile(r"Error from python worker:\n(.*?)\n?PYTHONPATH was:", re.DOTALL)
_PRINTED: Final = re.compile(r"Bad data in \S+ standard output|\.PythonWorkerFactory\.startDaemon")
_NO_PROGRAM: Final = re.compile(r'Cannot run program "[^"\n]*"[^\n]*')
# Java on an executor could not write what the driver sent, or rows on their way: its exception names no folder.
_FULL: Final = re.compile(r"\((\S+) executor ([^)]+)\): java\.\S+: (?:.*: )?(No space left on device|Disk quota exceeded)")
_NO_WORKER: Final = "a Python worker could not be started"
_JAVA_GONE: Final = "SparkContext was shut down"


def context_of(spark: SparkSession | SparkContext) -> SparkContext | None:
    """Return the context, None on Spark Connect."""
    from pyspark import SparkContext
    from pyspark.errors import PySparkException

    if isinstance(spark, SparkContext):
        return spark
    with suppress(PySparkException, AttributeError):
        return spark.sparkContext
    return None


def is_local(spark: SparkSession | SparkContext) -> bool:
    """Return whether tasks run in this process's Java and Python, without executors."""
    context = context_of(spark)
    return context is not None and (context.master or "").partition("[")[0] == "local"


def slots_of(spark: SparkSession | SparkContext | LocalProcesses) -> int:
    if isinstance(spark, LocalProcesses):
        return spark.slots
    context = context_of(spark)
    return _SLOTS if context is None else int(context.defaultParallelism)


@dataclass(frozen=True, slots=True)
class SparkWorkers:
    """Python workers of Spark's executors."""

    spark: SparkSession | SparkContext

    def run_each(self, items: Sequence[Any], work: Callable[[Any], Any]) -> list[Any]:
        """Call `work` with each item in a task, and return the results in order; `work` is sent to each machine once."""
        from py4j.protocol import Py4JError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        context = context_of(self.spark)
        try:
            if context is not None:  # without SQL, whose planner and code generator take the JVM longer than all the rest of its work
                with safe_path(context.environment):
                    done = LoneWork(work) if context.getConf().get(ALONE) else work
                    return context.parallelize(items, len(items)).map(done).collect()
            return _by_session(cast("SparkSession", self.spark), items, work)
        except (PySparkException, Py4JError) as error:
            raise KwireError(f"The Spark job failed: {reason_of_spark(error)}") from error


def workers_of(spark: SparkSession | SparkContext | LocalProcesses) -> LocalProcesses | SparkWorkers:
    return spark if isinstance(spark, LocalProcesses) else SparkWorkers(spark)


def _by_session(spark: SparkSession, items: Sequence[Any], work: Callable[[Any], Any]) -> list[Any]:
    # Spark Connect has columns and no RDDs; `arrow_udf` needs no pandas on the driver, unlike `mapInArrow`
    from pyspark.sql import functions

    arrow_udf: Any = functions.arrow_udf  # type: ignore[attr-defined]  # PySpark's stubs lack it

    def read(numbers: pa.Array) -> pa.Array:  # type: ignore[type-arg]
        return pa.array([pickle.dumps(work(items[number.as_py()])) for number in numbers], pa.binary())

    frame = spark.range(0, len(items), 1, len(items)).select(arrow_udf(read, "binary")(functions.col("id")).alias("result"))
    # only the tasks above write these bytes, and Spark carries them; they run kwire's code already
    return [pickle.loads(row.result) for row in frame.collect()]  # noqa: S301


def reason_of_spark(error: Exception) -> str:
    """Return a clause with Python's message, else Java's, without stack frames."""
    # asked without an import: a client of Spark Connect has no py4j
    if type(error).__module__ == "py4j.protocol" and not hasattr(error, "java_exception"):
        return "the connection to Spark's Java process broke, so that process has ended, perhaps for lack of memory"
    java = getattr(error, "java_exception", None)
    text = (str(error) if java is None else str(java.getMessage())).partition("Driver stacktrace:")[0]
    if said := _start_fault(text):
        return said
    if full := _FULL.search(text):
        host, executor, reason = full.groups()
        return (
            f"executor {executor} on {host} cannot write to its local folder: {reason}; SPARK_LOCAL_DIRS or spark.local.dir names another, "
            "and spark.excludeOnFailure.enabled=true keeps tasks away from that executor"
        )
    lines = [line for line in text.splitlines() if line.strip()]
    traces = [number for number, line in enumerate(lines) if line.lstrip().startswith("Traceback (most recent call last):")]
    if traces:  # what follows the frames of the last one, as far to the right as its heading
        margin = lines[traces[-1]].partition("Traceback")[0]
        lines = [line for line in lines[traces[-1] + 1 :] if line.startswith(margin) and not line[len(margin)].isspace()]
    told = [line.strip() for line in lines]
    return _OWN.sub("", _TASK.sub("", told[0])) if told else type(error).__name__


def _start_fault(text: str) -> str:
    if ended := _ENDED.search(text):
        said = [line.strip() for line in ended[1].splitlines() if line.strip()]
        return f"{_NO_WORKER}: {said[-1] if said else 'it ended without a message'}"
    if missing := _NO_PROGRAM.search(text):
        return f"{_NO_WORKER}: {missing[0]}"
    if _PRINTED.search(text):
        # Spark takes the first four bytes for a length, so that this can also look as if Java had no memory left
        return f"{_NO_WORKER}: a module that it imports prints to standard output, such as a sitecustomize.py or a module on PYTHONPATH"
    if _JAVA_GONE in text:
        return f"{_NO_WORKER}, or Spark's Java process had no memory left, so that Spark ended"
    return ""
