"""A session as a cron job or a notebook's kernel starts it: the PATH does not lead to this Python, and only `prepare` knows it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark-processes")]

PROGRAM = """
import kwire
import kwire.spark
from kwire import messages
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

kwire.spark.prepare()
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()

def refused(act):
    try:
        act()
    except PySparkException as error:
        return str(error)
    raise AssertionError("not refused")

source = spark.read.format("kwire")
print("rows", source.option("tabel", "clients").load("kafka.pcap").count())
text = refused(lambda: source.option("mode", "FAILFAST").load("kafka.pcap").count())
assert "has no option tabel" in text, text
text = refused(lambda: spark.range(1).write.format("kwire").mode("append").save("kafka.pcap"))
assert "is read-only" in text, text

header = messages.RequestHeader(api_key=12, api_version=0, correlation_id=1, client_id="app")
frame = kwire.encode_request(header, messages.HeartbeatRequest(group_id="billing", generation_id=7, member_id="billing-1"))
frames = spark.createDataFrame([(1, "a", frame, frame.hex())], "id INT, name STRING, frame BINARY, text STRING")
read = frames.select(kwire.spark.from_kafka_request("frame"))
assert read.columns == ["from_kafka_request(frame)"], read.columns
assert read.first()[0].message == "HeartbeatRequest"
text = refused(lambda: frames.select(kwire.spark.from_kafka_request("text")))  # by the analyzer: nothing runs
assert "DATATYPE_MISMATCH" in text, text
kwire.spark.register(spark)
text = refused(lambda: frames.selectExpr("from_kafka_request(text)").collect())
assert "expected a binary column, got string" in text, text
kept = kwire.spark.map_frames(frames, "frame", keep="id, name")
assert kept.columns[:2] == ["id", "name"]
assert kept.first().api_key == 12
print("all is well")
"""


WITHOUT_ARROW = """
import kwire.spark
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

kwire.spark.ensure_java()
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
frames = spark.createDataFrame([(1, b"0")], "id INT, frame BINARY")
for act in (
    lambda: frames.select(kwire.spark.from_kafka_request("frame")).collect(),
    lambda: kwire.spark.map_frames(frames, "frame").collect(),
    lambda: spark.read.format("kwire").load("kafka.pcap").count(),
    lambda: kwire.spark.convert("kafka.pcap", "out", spark=spark),
):
    try:
        act()
    except (PySparkException, kwire.KwireError) as error:
        told = [line for line in str(error).splitlines() if "Error: " in line or "The Spark job failed: " in line]
        print("told", told[-1])
"""


def plain() -> dict[str, str]:
    own = Path(sys.executable).parent
    path = os.pathsep.join(each for each in os.environ["PATH"].split(os.pathsep) if Path(each) != own)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK_", "SPARK_", "VIRTUAL_ENV"))}
    return {**kept, "PATH": path}


def test_doctor_starts_spark_and_decodes_a_frame(tmp_path: Path) -> None:
    """A Java that says it is 17 and does not run is none; on a whole machine all works."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'Error: it does not run' >&2; exit 1\n")
    java.chmod(0o755)
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.15"\n')
    found = []
    for environment in (plain(), plain() | {"JAVA_HOME": str(tmp_path)}):
        command = [sys.executable, "-m", "kwire", "doctor", "--json"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout, done.stderr
        told = json.loads(done.stdout)
        found.append((done.returncode, told["analyze on Spark"]["ok"], told["map_frames"]["ok"]))
    assert found == [(0, True, True), (1, False, False)]
    assert told["map_frames"]["found"] == "Spark could not be started with master local[1]: it does not run."


def test_workers_without_pyarrow(tmp_path: Path) -> None:
    """A session without `prepare` whose workers run another Python: the last line of each fault is the sentence."""
    (tmp_path / "kafka.pcap").write_bytes(gzip.decompress((ROOT / "examples" / "upgrade-fleet.pcap.gz").read_bytes()))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    python = str(tmp_path / "bare" / "bin" / "python")
    environment = plain() | {"PYSPARK_PYTHON": python, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-"], input=WITHOUT_ARROW, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = [line for line in done.stdout.splitlines() if line.startswith("told ")]
    assert len(told) == 4
    for line in told:
        assert f"kwire.spark needs pyarrow, and the Python of this Spark worker, {python}, does not have it: run pip install" in line


def test_session_of_a_python_that_is_not_activated(tmp_path: Path) -> None:
    """Workers run this Python; an unknown option is named once; faults of types and modes are sentences."""
    (tmp_path / "kafka.pcap").write_bytes(gzip.decompress((ROOT / "examples" / "upgrade-fleet.pcap.gz").read_bytes()))
    done = subprocess.run([sys.executable, "-"], input=PROGRAM, cwd=tmp_path, env=plain(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "all is well" in done.stdout
    assert done.stderr.count("UserWarning: The kwire data source has no option tabel") == 1
