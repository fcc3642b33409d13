"""A real standalone cluster of Spark: a master and two workers as processes, and drivers whose executors' Python is a bare one."""

from __future__ import annotations

import contextlib
import ctypes
import gzip
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds
import pyspark

from kwire import analysis
from kwire.runs.packing import pack_limit, packs_of
from kwire.spark.java import ensure_java
from kwire.tables import SCHEMAS
from quick_spark import OPTIONS
from small_disk import mounting

# What comes with pyarrow and pandas.
PACKAGES = {"numpy", "pandas", "pyarrow", "msgspec", "dateutil", "python_dateutil", "pytz", "tzdata", "six"}
QUICK = " ".join(OPTIONS)
DEFAULTS = f"""\
spark.ui.enabled false
spark.driver.host 127.0.0.1
spark.driver.bindAddress 127.0.0.1
spark.cores.max 2
spark.scheduler.minRegisteredResourcesRatio 1.0
spark.scheduler.maxRegisteredResourcesWaitingTime 120s
spark.sql.extensions.test.loadFromCp false
spark.sql.shuffle.partitions 2
spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
spark.driver.memory 512m
spark.executor.memory 512m
spark.driver.extraJavaOptions {QUICK}
spark.executor.extraJavaOptions {QUICK}
"""

CAPTURE = Path(__file__).parent / "captures" / "data" / "topicids.pcap.gz"
SERIES = 16


def two_packs(folder: Path) -> list[str]:
    """Captures that are read as two packs of small series, a task for each of two workers.

    What a series weighs for its pack is mostly packets that are none of TCP, which are soon read. What is left of a pack after its first
    series still takes long enough for a worker to be ended meanwhile.
    """
    neighbours = struct.pack(">12xH", 0x88CC) + bytes(1 << 16)  # LLDP, in an Ethernet frame
    foreign = struct.pack("<4I", 1_800_000_000, 0, len(neighbours), len(neighbours)) + neighbours
    data = gzip.decompress(CAPTURE.read_bytes()) + 30 * foreign
    limit = pack_limit([len(data)] * SERIES, 2)
    assert [len(pack) for pack in packs_of([len(data)] * SERIES, list(map(str, range(SERIES))), limit)] == [SERIES // 2] * 2
    files = [folder / f"point-{number:02d}.pcap" for number in range(SERIES)]
    for each in files:
        each.write_bytes(data)
    return [each.as_uri() for each in files]


def bare_python(folder: Path) -> Path:
    """A virtual environment that sees pyarrow, pandas and msgspec of this one."""
    venv.create(folder, with_pip=False, symlinks=True)
    (target,) = folder.glob("lib/python*/site-packages")
    for each in Path(pyspark.__file__).parents[1].iterdir():
        if re.split(r"[-.]", each.name)[0] in PACKAGES:
            (target / each.name).symlink_to(each)
    return folder / "bin" / "python"


def end_with_parent() -> None:
    """Runs in a child before its program: whatever ends the tests ends it too (prctl's PR_SET_PDEATHSIG)."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def waited(found: Callable[[], Any], seconds: float = 240) -> Any:
    until = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return value


class SmallDisk(NamedTuple):
    """A disk of a worker and its executors, at `place`; `variable` (`SPARK_LOCAL_DIRS` or `TMPDIR`) says what of theirs is on it."""

    place: Path
    size: str
    variable: str


class Drivers:
    """Drivers in this environment, whose executors' Python is a bare one."""

    def __init__(self, folder: Path) -> None:
        ensure_java()
        self._python = bare_python(folder / "bare")
        self._settings = folder / "conf"
        self._settings.mkdir()
        (self._settings / "spark-defaults.conf").write_text(DEFAULTS)

    def driver(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "SPARK_CONF_DIR": str(self._settings), "SPARK_LOCAL_IP": "127.0.0.1"}
        return subprocess.Popen(
            [sys.executable, *arguments], env={**environment, "PYSPARK_PYTHON": str(self._python), **more},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=end_with_parent,
        )  # fmt: skip


class Worker(NamedTuple):
    process: subprocess.Popen[bytes]
    disk: SmallDisk | None


class Cluster:
    """A master and workers of one core each, from the jars in pyspark."""

    def __init__(self, folder: Path, drivers: Drivers) -> None:
        self.folder, self.driver = folder, drivers.driver
        java = [f"{os.environ['JAVA_HOME']}/bin"] if "JAVA_HOME" in os.environ else [str(Path(shutil.which("java") or "").parent)]
        self._spark = Path(pyspark.__file__).parent
        self._environment = {
            "PATH": os.pathsep.join([*java, "/usr/bin", "/bin"]), "HOME": str(folder), "SPARK_HOME": str(self._spark),
            "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder / "local"), "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK,
            **{name: value for name, value in os.environ.items() if name == "JAVA_HOME"},
        }  # fmt: skip
        self._begun = 0
        self._master = self._begin("Master", "--port", "0")
        self._workers: list[Worker] = []
        self.url = ""

    def _begin(self, what: str, *arguments: str, disk: SmallDisk | None = None) -> subprocess.Popen[bytes]:
        main = f"org.apache.spark.deploy.{what.lower()}.{what}"
        command = [str(self._spark / "bin" / "spark-class"), main, "--host", "127.0.0.1", "--webui-port", "0", *arguments]
        environment = self._environment
        if disk is not None:
            command = mounting(disk.place, disk.size, *command)
            environment = environment | {disk.variable: str(disk.place)}
        with (self.folder / f"{what}-{self._begun}.log").open("wb") as log:
            return subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True, preexec_fn=end_with_parent
            )  # fmt: skip

    def ready(self, disk: SmallDisk | None = None) -> Cluster:
        """Two workers, begun anew where a test ended one; with a disk for one of them, and for none if none is given."""
        log = self.folder / "Master-0.log"
        self.url = waited(lambda: re.search(r"Starting Spark master at (spark://\S+)", log.read_text()))[1]
        for each in self._workers:
            if each.disk not in (None, disk):
                self._end(each.process)
        self._workers = [each for each in self._workers if each.process.poll() is None]
        missing = {None, disk} - {each.disk for each in self._workers}
        if len(self._workers) == 2 and missing:
            self.end_worker()
        while len(self._workers) < 2:
            self._begun += 1
            options = ("--cores", "1", "--memory", "1g", "--work-dir", str(self.folder / f"work{self._begun}"), self.url)
            given = disk if disk in missing else None
            missing.discard(given)
            self._workers.append(Worker(self._begin("Worker", *options, disk=given), given))
        waited(lambda: log.read_text().count("Registering worker") >= self._begun)
        return self

    def end_worker(self) -> None:
        self._end(self._workers.pop(0).process)

    def end(self) -> None:
        for each in (*(worker.process for worker in self._workers), self._master):
            self._end(each)

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def finished(driver: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        stdout, stderr = driver.communicate(timeout=240)
    finally:
        driver.kill()
    assert driver.returncode == 0, stdout + stderr
    return stdout, stderr


def _ordered(rows: pa.Table) -> pa.Table:
    """Rows in an order of their own; lists cannot be sorted by, and no two rows differ in them alone."""
    return rows.sort_by([(field.name, "ascending") for field in rows.schema if not pa.types.is_nested(field.type)])


@cache
def _expected(inputs: tuple[str, ...]) -> dict[str, pa.Table]:
    return {table: _ordered(rows) for table, rows in analysis.run(list(inputs), series_rule="file").items()}


def assert_whole(out: Path, inputs: list[str]) -> None:
    """The tables are those of one process, from the parts in the manifest and no others, and nothing else was left."""
    parts = json.loads((out / "_manifest.json").read_text())["parts"]
    assert {path.name for path in out.iterdir()} == {*SCHEMAS, "_digest.arrow", "_state", "_manifest.json", "_SUCCESS"}
    for table, expected in _expected(tuple(inputs)).items():
        assert sorted(path.name for path in (out / table).iterdir()) == parts[table]
        assert _ordered(ds.dataset(out / table, format="parquet").to_table()).equals(expected), table
