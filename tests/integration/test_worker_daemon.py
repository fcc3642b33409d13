"""The Python workers of a session that kwire starts for its own tasks: forks of a process that has loaded what they need, or a sentence."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark import SparkContext

import kwire
import kwire.spark
from kwire.spark.session import open_spark
from kwire.spark.task_running import SparkWorkers

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark-processes"), pytest.mark.usefixtures("without_session")]

# Built-in functions are what any worker can unpickle, with nothing imported for it.
ASK = """repr((
    [name in __import__("sys").modules for name in ("kwire.runs.series_task", "pyarrow.acero", "pandas")],
    open(f"/proc/{__import__('os').getppid()}/cmdline").read().split(chr(0))[2],
    "MALLOC_TRIM_THRESHOLD_" in __import__("os").environ,
    __import__("sys").flags.safe_path,
)).encode()"""


needs_proc = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs Linux' /proc to see what a worker was forked from")


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkContext]:
    """What kwire starts for its own tasks; a session for other work has PySpark's own workers (test_spark_functions.py)."""
    with open_spark("local[2]", "kwire tests of workers") as found:
        assert isinstance(found, SparkContext)
        yield found


@needs_proc
def test_workers_have_what_tasks_need_before_the_first_task(spark: SparkContext) -> None:
    told = [ast.literal_eval(one.decode()) for one in SparkWorkers(spark).run_each([ASK, ASK], eval)]
    assert told == [([True, True, False], "kwire.spark.worker_daemon", True, True)] * 2


OTHER_RELEASE = """\
import collections, sys
sys.version_info = collections.namedtuple("version_info", "major minor micro releaselevel serial")(3, 99, 0, "final", 0)
sys.version = "3.99.0 (main, Jan  1 2026, 00:00:00) [GCC 12.2.0]"
"""


def test_pythons_that_cannot_serve_are_told_in_a_sentence(spark: SparkContext, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a session on this machine, which asks its Python as executors do."""
    (tmp_path / "sitecustomize.py").write_text(OTHER_RELEASE)
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {sys.executable} "$@"\n')
    other.chmod(0o755)
    report = kwire.spark.ship(spark)
    assert (report.ok, report.executors[0].twin, spark.listArchives) == (True, "native", [])
    assert str(report).endswith("\n\nAll is well.")
    monkeypatch.setattr(spark, "pythonExec", "/nowhere/python3")
    with pytest.raises(
        kwire.KwireError,
        match=r'^The executors cannot run .*: a Python worker could not be started: Cannot run program "/nowhere/python3"',
    ):
        kwire.spark.doctor(spark)
    monkeypatch.setattr(spark, "pythonExec", str(other))
    (wrong,) = kwire.spark.doctor(spark).faults
    this = ".".join(map(str, sys.version_info[:3]))
    assert re.match(rf"On the executor \(.*\) Python is 3\.99\.0 \(.*\), this driver's {this}: PySpark needs the same minor version", wrong)
    with pytest.raises(kwire.KwireError, match=re.escape(wrong)):
        kwire.spark.ship(spark)
