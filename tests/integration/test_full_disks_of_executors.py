"""A standalone cluster of two workers, one of which has a disk that fills up: the analysis is whole, or a sentence says which disk it was.

What an executor writes to its disk is what Spark sends it, in `SPARK_LOCAL_DIRS`, and rows that wait, in the temporary folder.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from standalone_cluster import Cluster, SmallDisk, assert_whole

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.spark, pytest.mark.xdist_group("spark-processes"), pytest.mark.usefixtures("without_session"),
]  # fmt: skip

# What a task keeps in memory is so little that all of its rows wait in the temporary folder. Its worker is kwire's alone, without pandas.
WAITING_ON_DISK = """
import sys
from kwire.cli import main
from kwire.runs import read_running

plain = read_running.run_each

def run_each(spark, items, work):
    def with_small_memory(item):
        import sys
        from kwire.tables import batch_spool
        assert "pandas" not in sys.modules
        batch_spool.BatchSpool.__init__.__defaults__ = (1,)
        return work(item)
    return plain(spark, items, with_small_memory)

read_running.run_each = run_each
sys.argv[0] = "kwire"
sys.exit(main())
"""
EXCLUDING = "--conf spark.excludeOnFailure.enabled=true pyspark-shell"
# By default a task may fail four times: where the other executor is done by then, the run ends right after all.
FAILING = "--conf spark.task.maxFailures=1 pyspark-shell"
# The archive of kwire is some megabytes; one capture has some hundred kilobytes of rows.
DISKS = {"SPARK_LOCAL_DIRS": "1m", "TMPDIR": "64k"}


@pytest.fixture(scope="module", params=list(DISKS))
def disk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SmallDisk:
    return SmallDisk(tmp_path_factory.mktemp("disk"), DISKS[request.param], request.param)


@pytest.fixture(scope="module")
def cluster(disk: SmallDisk, standalone_cluster: Cluster) -> Cluster:
    return standalone_cluster.ready(disk)


def analyzed(cluster: Cluster, inputs: list[str], folder: Path, **environment: str) -> tuple[int, str, Path]:
    out = folder / "out"
    program = folder / "program.py"
    program.write_text(WAITING_ON_DISK)
    command = ["analyze", *inputs, "--out", out.as_uri(), "--master", cluster.url, "--group-files", "file", "--no-report"]
    driver = cluster.driver(str(program), *command, **environment)
    try:
        _, stderr = driver.communicate(timeout=600)
    finally:
        driver.kill()
    return driver.returncode, stderr, out


def test_tasks_that_fail_there_end_the_run_with_a_sentence(cluster: Cluster, disk: SmallDisk, two_packs: list[str], tmp_path: Path) -> None:
    status, said, out = analyzed(cluster, two_packs, tmp_path, PYSPARK_SUBMIT_ARGS=FAILING)
    if disk.variable == "TMPDIR":
        reason = (
            f"the temporary folder {disk.place} cannot be written: No space left on device; TMPDIR names another, on a disk with more room."
        )
        assert said == f"kwire: The Spark job failed: {reason}\n"
    else:
        assert said.startswith("kwire: The executors cannot run Python functions of this driver: executor ")
        assert " on 127.0.0.1 cannot write to its local folder: No space left on device; SPARK_LOCAL_DIRS or " in said
        assert said.count("\n") == 1
    assert status == 1
    assert not out.exists()


def test_spark_that_keeps_away_from_it_ends_the_run_right(cluster: Cluster, disk: SmallDisk, two_packs: list[str], tmp_path: Path) -> None:
    status, said, out = analyzed(cluster, two_packs, tmp_path, PYSPARK_SUBMIT_ARGS=EXCLUDING)
    assert status == 0, said
    if disk.variable == "TMPDIR":
        assert said == ""
    else:  # kwire itself did not fit
        assert said == "kwire: Only 1 of 2 executors had room for a task; the others were not checked.\n"
    assert_whole(out, two_packs)
