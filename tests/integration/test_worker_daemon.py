"""The Python workers of a session that kwire starts for its own tasks: forks of a process that has loaded what they need."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from kwire.spark.session import open_session, open_spark
from kwire.spark.task_running import run_each

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark-processes"), pytest.mark.usefixtures("without_session")]

# Built-in functions are what any worker can unpickle, with nothing imported for it.
ASK = """repr((
    [name in __import__("sys").modules for name in ("kwire.spark.series_task", "pyarrow.acero", "pandas")],
    open(f"/proc/{__import__('os').getppid()}/cmdline").read().split(chr(0))[2],
    "MALLOC_TRIM_THRESHOLD_" in __import__("os").environ,
)).encode()"""


needs_proc = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs Linux' /proc to see what a worker was forked from")


@needs_proc
def test_workers_have_what_tasks_need_before_the_first_task() -> None:
    with open_spark("local[2]", "kwire tests of workers") as spark:
        told = [ast.literal_eval(one.decode()) for one in run_each(spark, [ASK, ASK], eval)]
    assert told == [([True, True, False], "kwire.spark.worker_daemon", True)] * 2


@needs_proc
def test_a_session_for_other_work_has_pyspark_s_own() -> None:
    with open_session("local[1]", "kwire tests of workers") as spark:
        told = [ast.literal_eval(one.decode()) for one in run_each(spark, [ASK], eval)]
    assert told == [([False, False, False], "pyspark.daemon", False)]
