"""kwire on a real standalone cluster: a master and two workers as processes, whose Python has pyarrow and pandas and nothing of kwire.

Every driver is a process of its own. A worker is ended with its whole process group, as when its machine goes; the Python processes of its
executor are in none of those groups, and have to notice by themselves.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import struct
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kwire
import kwire.spark
from kwire import analysis
from standalone_cluster import Cluster, Drivers, assert_whole, finished, waited

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark-processes"), pytest.mark.usefixtures("without_session")]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "executors.py"
FUNCTIONS = ROOT / "examples" / "spark_functions.py"
CAPTURES = ROOT / "tests" / "captures" / "data"


@pytest.fixture
def cluster(standalone_cluster: Cluster) -> Cluster:
    return standalone_cluster.ready()


def test_the_analysis_ships_kwire_and_survives_a_worker(cluster: Cluster, two_packs: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["-m", "kwire", "analyze", *two_packs, "--out", out.as_uri(), "--master", cluster.url, "--group-files", "file", "--no-report"]
    events = tmp_path / "events"
    events.mkdir()
    log = {"enabled": "true", "compress": "false", "dir": events.as_uri()}
    settings = " ".join(f"--conf spark.eventLog.{name}={value}" for name, value in log.items())
    driver = cluster.driver(*command, PYSPARK_SUBMIT_ARGS=f"{settings} pyspark-shell")
    waited(lambda: driver.poll() is not None or any(out.glob("_staging/requests/*")))  # half a file is enough
    cluster.end_worker()
    assert driver.poll() is None, driver.communicate()
    _, stderr = finished(driver)
    assert stderr == ""
    assert_whole(out, two_packs)
    logs = [file for file in events.rglob("*") if file.is_file() and not file.name.startswith(".")]
    logged = [json.loads(line) for file in logs for line in file.read_text().splitlines()]
    reasons = [event["Task End Reason"]["Reason"] for event in logged if event["Event"] == "SparkListenerTaskEnd"]
    assert "ExecutorLostFailure" in reasons  # a task was at it


def blocks_of(page: str, kind: str, master: str) -> str:
    """The blocks of a page in one language, with the master of a test."""
    text = (ROOT / "docs" / "how-to" / page).read_text("utf-8")
    found = "\n".join(re.findall(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    return re.sub(r"spark://\w+:7077", master, found)


def test_blocks_of_the_pages(cluster: Cluster, tmp_path: Path) -> None:
    """All of "Run on a Spark cluster", and the commands for a standalone cluster."""
    stdout, _ = finished(cluster.driver("-c", blocks_of("executors.md", "py", cluster.url)))
    assert "On both executors kwire is missing: call kwire.spark.ship(spark)" in stdout
    assert stdout.endswith(f"2 executors with kwire {kwire.__version__}, native\napp asks for orders\n")
    doctor, analyze, *_ = blocks_of("clusters.md", "sh", cluster.url).splitlines()
    assert analyze.startswith("kwire analyze s3://captures/2026-09/ --out s3://reports/2026-09/ --master spark://")
    for place in ("captures", "reports"):
        analyze = analyze.replace(f"s3://{place}/2026-09/", (tmp_path / place).as_uri())
    (tmp_path / "captures").mkdir()
    shutil.copy(CAPTURES / "seed.pcap.gz", tmp_path / "captures")
    asked = cluster.driver("-m", *shlex.split(doctor))
    assert "kwire is missing" in asked.communicate(timeout=240)[0]
    assert asked.returncode == 1
    finished(cluster.driver("-m", *shlex.split(analyze)))
    assert pq.read_table(tmp_path / "reports" / "requests").num_rows == len(analysis.run([str(CAPTURES / "seed.pcap.gz")])["requests"])


PURE = """
import json, sys
from pyspark.sql import SparkSession
import kwire.spark
from kwire.runs.job_request import JobRequest
from kwire.spark.job import run_job

spark = SparkSession.builder.master(sys.argv[1]).getOrCreate()
try:
    kwire.spark.ship(spark)
except kwire.InputError as error:
    told = str(error)
report = run_job(JobRequest(inputs=tuple(sys.argv[3:]), out=sys.argv[2], series_rule="file"))
print(json.dumps({"ship": told, "warnings": report.warnings, "doctor": str(kwire.spark.doctor(spark))}))
spark.stop()
"""


def test_the_pure_twin_through_py_files_works_and_says_that_it_is_slow(cluster: Cluster, tmp_path: Path) -> None:
    zipped = tmp_path / "kwire.zip"
    with zipfile.ZipFile(zipped, "w") as archive:
        for path in (ROOT / "src" / "kwire").rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                archive.write(path, path.relative_to(ROOT / "src"))
    inputs = [(CAPTURES / "seed.pcap.gz").as_uri()]
    driver = cluster.driver(
        "-c", PURE, cluster.url, (tmp_path / "out").as_uri(), *inputs, PYSPARK_SUBMIT_ARGS=f"--py-files {zipped} pyspark-shell"
    )
    stdout, _ = finished(driver)
    told = json.loads(stdout.splitlines()[-1])
    assert_whole(tmp_path / "out", inputs)
    (warning,) = told["warnings"]
    assert re.match(
        r"On both executors the pure Python backend of kwire runs, tens of times slower: it was imported from .*/kwire\.zip/kwire, "
        r"and Python loads no compiled module from a zip \(--py-files, addPyFile\); drop the zip and call kwire\.spark\.ship\(spark\)\.$",
        warning,
    )
    assert warning == told["ship"]
    assert warning in told["doctor"]
    loud = subprocess.run(
        [sys.executable, "-S", "-c", "import kwire; print(kwire.backend)"],
        env={"PYTHONPATH": str(zipped)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert loud.stdout == "pure\n"
    assert "RuntimeWarning: kwire was imported from" in loud.stderr
    assert "tens of times slower" in loud.stderr


SHIPPED = """
import json, runpy, sys, threading
from pathlib import Path

from pyspark.sql import SparkSession

import kwire.spark
from kwire.cli.entry import commands

spark = SparkSession.builder.master(sys.argv[1]).getOrCreate()
folder, told = Path(sys.argv[2]), {}

def facts(report):
    return {"kwire": [[each.kwire, each.twin, each.place] for each in report.executors], "wrong": report.faults + report.warnings}

def at_work(name, query):
    "The rows of a query, whose tasks wait for a file once they have begun."
    def run():
        try:
            told[name] = [row.asDict(recursive=True) for row in query.collect()]
        except BaseException as error:
            told[name] = repr(error)
    thread = threading.Thread(target=run)
    thread.start()
    return thread

told["bare"] = facts(kwire.spark.doctor(spark))
example, sys.argv[1:] = sys.argv[3], sys.argv[1:3]
runpy.run_path(example, run_name="__main__")
told["shipped"] = facts(kwire.spark.ship(spark))
told["status"] = commands.run(["doctor", "--master", sys.argv[1], "--json"])
told["archives"] = len(spark.sparkContext.listArchives)

frames = spark.read.parquet(str(folder / "frames.parquet")).repartition(8)
go, marks = str(folder / "go"), str(folder / "begun")

def waiting(batches):
    import os, time
    from pyspark import TaskContext
    Path(marks, f"{os.getpid()}-{TaskContext.get().partitionId()}").touch()
    while not os.path.exists(go):
        time.sleep(0.05)
    yield from batches

read = kwire.spark.from_kafka_request("frame", message="MetadataRequest", version=1)
thread = at_work("rows", frames.mapInArrow(waiting, frames.schema).select("id", read.alias("r")))
print("READY", flush=True)
thread.join()
told["bulk"] = [row.asDict() for row in kwire.spark.map_frames(frames, "frame", "MetadataRequest", 1, "topics.name").collect()]
told["requests"] = spark.read.format("kwire").option("table", "requests").load(str(folder / "seed.pcap.gz")).count()
told["after"] = facts(kwire.spark.doctor(spark))
print(json.dumps(told))
spark.stop()
"""


def metadata_request(number: int, topics: list[bytes]) -> bytes:
    """A MetadataRequest v1: header v1, then the array of topic names."""
    names = b"".join(struct.pack(">h", len(topic)) + topic for topic in topics)
    return struct.pack(">hhih", 3, 1, number, 3) + b"app" + struct.pack(">i", len(topics)) + names


def test_functions_on_shipped_executors(cluster: Cluster, tmp_path: Path) -> None:
    topics = {number: [f"t{number}.{each}" for each in range(number % 3 + 1)] for number in range(200)}
    frames = [metadata_request(number, [name.encode() for name in names]) for number, names in topics.items()]
    pq.write_table(pa.table({"id": list(topics), "frame": frames}), tmp_path / "frames.parquet")
    (tmp_path / "begun").mkdir()
    shutil.copy(CAPTURES / "seed.pcap.gz", tmp_path)
    # Spark plans the data source with the driver's Python, which is another here
    driver = cluster.driver("-c", SHIPPED, cluster.url, str(tmp_path), str(EXAMPLE), PYSPARK_DRIVER_PYTHON=sys.executable)
    assert driver.stdout is not None
    said, line = "", driver.stdout.readline()
    while line and line != "READY\n":
        said, line = said + line, driver.stdout.readline()
    waited(lambda: driver.poll() is not None or len({path.name.split("-")[0] for path in (tmp_path / "begun").iterdir()}) == 2)
    cluster.end_worker()
    (tmp_path / "go").touch()
    stdout, _ = finished(driver)
    told = json.loads(stdout.splitlines()[-1])

    assert told["bare"] == {
        "kwire": [[None, None, None]] * 2,
        "wrong": ["On both executors kwire is missing: call kwire.spark.ship(spark) to install it (kwire analyze does so automatically)."],
    }  # fmt: skip
    assert told["shipped"]["wrong"] == []
    assert {(version, twin) for version, twin, _ in told["shipped"]["kwire"]} == {(kwire.__version__, "native")}
    places = {Path(place) for _, _, place in told["shipped"]["kwire"]}
    assert [place.is_relative_to(cluster.folder) for place in places] == [True, True]  # in the executors' own folders
    assert f"2 executors with kwire {kwire.__version__}, native\napp asks for orders\n" in said
    assert (told["status"], told["archives"]) == (0, 1)
    found = json.loads(said.splitlines()[-1])
    assert [each["twin"] for each in found["executors"]] == ["native"] * 2

    rows = sorted(told["rows"], key=lambda row: row["id"])
    assert [row["id"] for row in rows] == list(topics)
    assert [row["r"]["correlation_id"] for row in rows] == list(topics)
    assert [[topic["name"] for topic in row["r"]["body"]["topics"]] for row in rows] == list(topics.values())
    bulk = Counter((row["id"], row["topics.name"]) for row in told["bulk"])
    assert bulk == Counter((number, name) for number, names in topics.items() for name in names)
    assert told["requests"] == len(analysis.run([str(CAPTURES / "seed.pcap.gz")])["requests"])
    assert told["after"]["wrong"] == []


# `remote("local[1]")` starts a server of its own and connects to it.
CONNECTED = """
import runpy, sys
from pyspark.sql import SparkSession
session = SparkSession.builder.remote("local[1]").getOrCreate()
print(type(session).__module__)
shipping, functions, sys.argv[1:] = *sys.argv[1:], "local[1]"
runpy.run_path(shipping, run_name="__main__")
print("FUNCTIONS")
runpy.run_path(functions, run_name="__main__")
"""
# What the frames and records of the example say, worked out by hand
SHOWN = [
    '|1  |HeartbeatRequest|app      |{"groupId":"billing","generationId":7,"memberId":"billing-1"}|NULL     |NULL      |',
    "|2  |HeartbeatRequest|app      |NULL                                                         |TRUNCATED|member_id |",
    "|  1| billing|billing-1|",
    "|  2|    NULL|     NULL|",
    "|  1| billing|billing-1|",
    "|  2|    NULL|     NULL|",
    "|  1| billing| NULL|        NULL|      NULL|",
    "|          0| billing|             NULL|     NULL|        NULL|      NULL|",
    "|          0|    NULL|             NULL|TRUNCATED|          28| member_id|",
    "|  1|     12|      app|          37|",
    "|  2|     12|      app|          34|",
    "|     12|      app|    2|               71|",
    "|billing|orders|        2|    42|",
    "|OffsetCommit|           1|",
]


def test_a_session_of_spark_connect_ships_artifacts_and_has_all_functions(drivers: Drivers) -> None:
    """The server's Python is the bare one, and there is no JVM beside the client."""
    stdout, _ = finished(drivers.driver("-c", CONNECTED, str(EXAMPLE), str(FUNCTIONS)))
    shipping, functions = stdout.split("FUNCTIONS\n")
    assert shipping.startswith("pyspark.sql.connect.session\n")
    assert "On the executor (" in shipping
    assert ") kwire is missing: call kwire.spark.ship(spark) to install it" in shipping
    assert shipping.endswith(f"1 executors with kwire {kwire.__version__}, native\napp asks for orders\n")
    assert [line for line in functions.splitlines() if line.startswith("|") and any(map(str.isdigit, line))] == SHOWN
