"""Streaming queries in Spark: drivers that are killed, Trigger.AvailableNow, and the example of the documentation."""

from __future__ import annotations

import gzip
import json
import re
import runpy
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from pcap_files import pieces_of

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "captures" / "data"
PROVENANCE = {"series", "capture", "packet_number"}

# A query that writes each batch under its number, as sinks that count a batch once do, and that dies in one of them with its JVM.
DRIVER = """
import os
import signal
import sys

from kwire.spark.session import open_session

folder, tables, batch, moment = sys.argv[1:]


def dies(at):
    if at == moment:
        os.killpg(0, signal.SIGKILL)


def write(rows, number):
    if number == int(batch):
        rows.first()
        dies("while reading")
    rows.write.mode("overwrite").parquet(f"{tables}/rows/batch={number}")
    if number == int(batch):
        rows.write.mode("overwrite").parquet(f"{tables}/killed/batch={number}")
        dies("before the commit")


with open_session("local[1]", "kwire killed") as spark:
    stream = spark.readStream.format("kwire").option("stateLocation", f"{tables}/checkpoint").option("closedAfter", "0s")
    stream = stream.option("maxFilesPerTrigger", "1").load(folder).writeStream.foreachBatch(write)
    stream.option("checkpointLocation", f"{tables}/checkpoint").trigger(availableNow=True).start().awaitTermination()
"""


def rows_of(frame: Any) -> Counter[str]:
    rows = (row.asDict() for row in frame.collect())
    return Counter(json.dumps({k: v for k, v in row.items() if k not in PROVENANCE and k != "batch"}, default=str) for row in rows)


def test_a_driver_that_is_killed_goes_on_where_it_was(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Other moments, which would each cost a JVM, are those of a driver without one: tests/integration/test_stream_restarts.py."""
    folder, tables = tmp_path / "in", tmp_path / "tables"
    folder.mkdir()
    pieces = pieces_of(gzip.decompress((DATA / "topicids.pcap.gz").read_bytes()), 3)
    log = gzip.decompress((DATA / "topicids-requests.jsonl.gz").read_bytes())
    torn = len(log) // 2
    assert log[torn - 1 : torn] != b"\n"

    (folder / "trace_00000.pcap").write_bytes(pieces[0])
    run(folder, tables, 0, "while reading")
    (folder / "trace_00001.pcap").write_bytes(pieces[1])
    (folder / "kafka-request.log").write_bytes(log[:torn])
    run(folder, tables, 2, "before the commit")
    (folder / "trace_00002.pcap").write_bytes(pieces[2])
    with (folder / "kafka-request.log").open("ab") as file:
        file.write(log[torn:])

    spark: SparkSession = request.getfixturevalue("spark")
    stream = spark.readStream.format("kwire").option("stateLocation", f"{tables}/checkpoint").load(str(folder), closedAfter="0s")
    written = f"{tables}/rows"
    query = (
        stream.writeStream.foreachBatch(lambda rows, number: rows.write.mode("overwrite").parquet(f"{written}/batch={number}"))
        .option("checkpointLocation", f"{tables}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found = rows_of(spark.read.parquet(written))
    batch = spark.read.format("kwire").load(str(folder))
    # the capture and the log end here, which a stream does not know: the last requests may still be answered
    assert rows_of(batch.where("state = 'answered'")) == Counter({row: n for row, n in found.items() if '"state": "answered"' in row})
    assert found - rows_of(batch) == Counter()
    # what was read before the driver died is what was read when it was back
    again = spark.read.parquet(f"{written}/batch=2")
    assert rows_of(spark.read.parquet(f"{tables}/killed/batch=2")) == rows_of(again) != Counter()


def run(folder: Path, tables: Path, batch: int, moment: str) -> None:
    """Run a driver until it is killed; in a session of its own, so that its JVM goes with it."""
    command = [sys.executable, "-c", DRIVER, str(folder), str(tables), str(batch), moment]
    done = subprocess.run(command, start_new_session=True, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr


def test_what_is_wrong_is_said_in_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    stream = spark.readStream.format("kwire").option("stateLocation", str(tmp_path / "state")).load(str(tmp_path / "nowhere"))
    query = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    with pytest.raises(StreamingQueryException, match=r"nowhere does not exist"):
        query.awaitTermination()


def test_the_example_of_the_documentation(spark: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "follow_captures.py"), run_name="__main__")
    said = capfd.readouterr().out
    logged = len(gzip.decompress((DATA / "upgrade-fleet-requests.jsonl.gz").read_bytes()).splitlines())
    told = re.search(r"^(\d+) requests$", said, re.MULTILINE)
    assert told is not None
    # by the broker's own log; a few connections have said no more than who they are, and their rows wait
    assert 0.98 * logged < int(told[1]) <= logged
    assert "apache-kafka-java" in said
    assert "complete" in said
