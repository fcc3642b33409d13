"""Tasks of a Spark that kwire has to itself leave pandas out of their workers; those of other sessions leave the workers as they are."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark import cloudpickle

from kwire.spark.lone_work import LoneWork
from kwire.spark.session import ALONE
from kwire.spark.task_running import SparkWorkers

WORKER = "import pickle, sys; print(pickle.load(sys.stdin.buffer)(7).decode())"


@pytest.mark.parametrize("is_alone", [True, False])
def test_pandas_is_left_out_of_the_worker_where_the_work_arrives(is_alone: bool) -> None:
    def work(item: int) -> bytes:
        import sys

        import pyarrow

        return f"{pyarrow.array([item])[0]} {'pandas' in sys.modules}".encode()

    sent = cloudpickle.dumps(LoneWork(work) if is_alone else work)
    done = subprocess.run([sys.executable, "-c", WORKER], input=sent, capture_output=True, check=True, timeout=60)
    assert done.stdout.decode() == f"7 {not is_alone}\n"


@pytest.mark.parametrize("settings", [{ALONE: "true"}, {}])
def test_the_settings_of_a_session_say_whether_it_is_kwire_s_own(settings: dict[str, str]) -> None:
    sent = []

    class Tasks:
        def __init__(self, items: Any, _parts: int) -> None:
            self.items = items

        def map(self, work: Callable[[int], bytes]) -> Tasks:
            sent.append(work)
            return Tasks(list(map(work, self.items)), 0)

        def collect(self) -> Any:
            return self.items

    context = SimpleNamespace(environment={}, getConf=lambda: settings, parallelize=Tasks)
    spark: Any = SimpleNamespace(sparkContext=context)
    assert SparkWorkers(spark).run_each([1, 2], bytes) == [b"\0", b"\0\0"]
    assert (type(sent[0]) is LoneWork) == bool(settings)
