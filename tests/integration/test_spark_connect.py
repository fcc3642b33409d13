"""The column functions in a session of Spark Connect, which has no JVM beside the client: examples/spark_functions.py, unchanged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

EXAMPLE = Path(__file__).parents[2] / "examples" / "spark_functions.py"
# `remote("local[1]")` starts a server of its own and connects to it.
RUN = """
import runpy, sys
from pyspark.sql import SparkSession
session = SparkSession.builder.remote("local[1]").getOrCreate()
print(type(session).__module__)
runpy.run_path(sys.argv[1], run_name="__main__")
"""
# What the frames and records of the example say, worked out by hand
SHOWN = [
    '|1  |HeartbeatRequest|app      |{"groupId":"billing","generationId":7,"memberId":"billing-1"}|NULL     |NULL      |',
    "|2  |HeartbeatRequest|app      |NULL                                                         |TRUNCATED|member_id |",
    "|  1| billing|billing-1|",
    "|  2|    NULL|     NULL|",
    "|  1| billing| NULL|        NULL|      NULL|",
    "|billing|orders|        2|    42|",
    "|OffsetCommit|           1|",
]


def test_all_functions_work_in_spark_connect() -> None:
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", RUN, str(EXAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert lines[0] == "pyspark.sql.connect.session"
    assert [line for line in lines if line.startswith("|") and any(character.isdigit() for character in line)] == SHOWN
