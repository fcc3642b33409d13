"""Early check for local files that executors on other machines cannot reach."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kwire.errors import InputError
from kwire.spark.task_running import context_of

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["check_shared", "check_shared_with"]

_THIS_HOST: Final = frozenset(("localhost", "127.0.0.1", "::1", "[::1]"))


def check_shared(master: str | None, out: str, inputs: Iterable[str]) -> None:
    """Check that executors can reach the inputs and the output of a job.

    A plain path is local. With a ``file://`` URI, the user states that the folder is mounted on all machines.
    """
    if master is None or not (master == "yarn" or "://" in master):
        return
    for place, what in ((out, "the output folder"), *((each, "the input") for each in inputs)):
        if "://" not in place:
            shared = Path(place).absolute().as_uri()
            raise InputError(
                f"{what} {place} is on this machine, but executors of {master} may be on others; use a URI that all of them can reach "
                f"(s3://bucket/...), or {shared} if that folder is mounted on all of them."
            )


def check_shared_with(spark: SparkSession | SparkContext, out: str, inputs: Iterable[str]) -> None:
    check_shared(_master_of(spark), out, inputs)


def _master_of(spark: SparkSession | SparkContext) -> str | None:
    from pyspark import SparkContext
    from pyspark.errors import PySparkException

    if isinstance(spark, SparkContext):
        return spark.master
    with suppress(PySparkException):
        master: Any = spark.conf.get("spark.master")
        # Spark Connect: local is local to its server. Spark 3.5 raises RuntimeError where a session has no client.
        client: Any = getattr(spark, "client", None) if context_of(spark) is None else None
        host = None if client is None else client.host
        return str(master) if host is None or host in _THIS_HOST else f"sc://{host}"
    return None
