"""Tries what kwire does with Spark in the PySpark that is on the path, and prints one JSON object: by feature, `yes` or why not.

Run by test_spark_versions.py, with a version of PySpark of its own: `python spark_features.py CAPTURE FOLDER [NAME...]`.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import kwire
import kwire.spark
from kwire import messages
from kwire.runs.job_request import JobRequest
from kwire.spark.job import run_job

# Java for each query, as in a session of a user; the settings of the tests leave it out
CODEGEN = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
FEATURES: dict[str, Callable[[SparkSession, Path, Path], object]] = {}


def feature(name: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    def add(function: Callable[..., object]) -> Callable[..., object]:
        FEATURES[name] = function
        return function

    return add


def frames(spark: SparkSession) -> Any:
    """Frame 1 is whole, 2 is cut, 3 is null."""
    header = messages.RequestHeader(api_key=12, api_version=0, correlation_id=1, client_id="app")
    whole = kwire.encode_request(header, messages.HeartbeatRequest(group_id="billing", generation_id=7, member_id="billing-1"))
    return spark.createDataFrame([(1, whole), (2, whole[:-3]), (3, None)], "id INT, frame BINARY")


@feature("`kwire analyze`")
def analyze(_spark: SparkSession, capture: Path, folder: Path) -> None:
    run_job(JobRequest(inputs=(str(capture),), out=str(folder / "local"), engine="local"))
    run_job(JobRequest(inputs=(str(capture),), out=str(folder / "spark"), engine="spark"))
    for table in ("requests", "connections", "upgrade_impact"):
        first, second = (ds.dataset(folder / out / table).to_table().to_pylist() for out in ("local", "spark"))
        assert sorted(map(str, first)) == sorted(map(str, second)), table


@feature("`kwire doctor`")
def doctor(spark: SparkSession, _capture: Path, _folder: Path) -> None:
    found = kwire.spark.doctor(spark)
    assert not found.faults, found.faults


@feature("`map_frames`")
def map_frames(spark: SparkSession, _capture: Path, _folder: Path) -> None:
    headers = kwire.spark.map_frames(frames(spark), "frame").orderBy("id").collect()
    assert [(row.id, row.api_key, row.client_id) for row in headers] == [(1, 12, "app"), (2, 12, "app"), (3, None, None)], headers
    bodies = kwire.spark.map_frames(frames(spark), "frame", "HeartbeatRequest", 0, "group_id").orderBy("id").collect()
    assert [(row.group_id, row.error) for row in bodies] == [("billing", None), (None, "TRUNCATED"), (None, None)], bodies


@feature("`from_kafka_request`, `from_kafka_response`")
def requests(spark: SparkSession, _capture: Path, _folder: Path) -> None:
    df = frames(spark)
    rows = df.select("id", kwire.spark.from_kafka_request("frame").alias("r")).orderBy("id").collect()
    assert json.loads(rows[0].r.body)["groupId"] == "billing", rows
    assert (rows[1].r.error, rows[2].r) == ("TRUNCATED", None), rows
    typed = kwire.spark.from_kafka_request("frame", message="HeartbeatRequest", version=0, fields="group_id")
    assert df.where("id = 1").select(typed.alias("r")).first().r.body.group_id == "billing"
    metadata = messages.MetadataResponse(topics=[messages.MetadataResponse.MetadataResponseTopic(name="orders")])
    answer = spark.createDataFrame([(kwire.encode_response(1, metadata, 3, 12),)], "frame BINARY")
    read = kwire.spark.from_kafka_response("frame", 3, 12, message="MetadataResponse", version=12, fields="topics.name")
    assert answer.select(F.explode(read.getField("body").getField("topics")).alias("t")).first().t.name == "orders"
    framed = df.select(F.concat(F.unhex(F.lpad(F.hex(F.length("frame")), 8, "0")), "frame").alias("frame"))
    heads = kwire.spark.from_kafka_request("frame", body="none", framed=True)
    rows = framed.where(heads["api_key"] == 12).select(heads.alias("r")).collect()
    assert [(row.r.client_id, row.r.error, "body" in row.r) for row in rows] == [("app", None, False)] * 2, rows
    asked = kwire.encode_request(messages.RequestHeader(api_key=18), messages.ApiVersionsRequest())
    empty = kwire.spark.from_kafka_request("frame", message="ApiVersionsRequest", version=0)
    rows = spark.createDataFrame([(asked,), (asked[:-1],)], "frame BINARY").select(empty.alias("r")).collect()
    assert [(row.r.body is None, row.r.error) for row in rows] == [(False, None), (True, "TRUNCATED")], rows
    assert df.select(kwire.spark.from_kafka_request("frame")).columns == ["from_kafka_request(frame)"]
    with pytest.raises(AnalysisException, match="DATATYPE_MISMATCH"):
        _ = df.select(kwire.spark.from_kafka_request(F.hex("frame"))).schema


@feature("`from_record_batch`")
def records(spark: SparkSession, _capture: Path, _folder: Path) -> None:
    from kwire import records as codec

    batch = codec.encode(codec.RecordBatch([(b"k", b"v", 1_700_000_000_000), (b"l", None, 1_700_000_000_001)]))
    df = spark.createDataFrame([(batch,), (None,)], "batch BINARY")
    rows = df.select(kwire.spark.from_record_batch("batch").alias("r")).collect()
    assert [(bytes(each.key), each.value and bytes(each.value)) for each in rows[0].r] == [(b"k", b"v"), (b"l", None)], rows


@feature("`from_consumer_offsets`")
def offsets(spark: SparkSession, _capture: Path, _folder: Path) -> None:
    key = bytes.fromhex("0001 0007 62696c6c696e67 0006 6f7264657273 00000002")
    value = bytes.fromhex("0003 000000000000002a 00000001 0000 0000019000000000")
    df = spark.createDataFrame([(1, key, value), (2, key, None), (3, None, None)], "id INT, key BINARY, value BINARY")
    rows = df.select("id", kwire.spark.from_consumer_offsets("key", "value").alias("o")).orderBy("id").collect()
    assert (rows[0].o.group, rows[0].o.partition, rows[0].o.offset_commit.offset) == ("billing", 2, 42), rows
    assert (rows[1].o.is_tombstone, rows[2].o) == (True, None), rows


@feature("`from_otlp`")
def metrics(spark: SparkSession, _capture: Path, _folder: Path) -> None:
    df = spark.createDataFrame([(b"\xff\xff",), (b"",), (None,)], "metrics BINARY")
    rows = df.select(kwire.spark.from_otlp("metrics").alias("m")).collect()
    assert [row.m and [bool(each.error) for each in row.m] for row in rows] == [[True], [], None], rows


@feature("the functions in SQL (`register`)")
def in_sql(spark: SparkSession, _capture: Path, _folder: Path) -> None:
    kwire.spark.register(spark)
    frames(spark).createOrReplaceTempView("frames")
    row = spark.sql("SELECT r.client_id FROM (SELECT from_kafka_request(frame) r FROM frames WHERE id = 1)").first()
    assert row.client_id == "app", row
    kwire.spark.register(spark, "heartbeats", message="HeartbeatRequest", version=0)
    row = spark.sql("SELECT r.body.generation_id FROM (SELECT heartbeats(frame) r FROM frames WHERE id = 1)").first()
    assert row.generation_id == 7, row


@feature("`to_kafka_request`")
def written(spark: SparkSession, _capture: Path, _folder: Path) -> None:
    given = frames(spark).where("id <> 2")
    for typed in ({}, {"message": "HeartbeatRequest", "version": 0}):
        read = given.select("id", "frame", kwire.spark.from_kafka_request("frame", **typed).alias("r"))
        rows = read.select("frame", kwire.spark.to_kafka_request("r").alias("made")).orderBy("id").collect()
        assert [row.made for row in rows] == [row.frame for row in rows], rows


@feature('`spark.read.format("kwire")`')
def batch_source(spark: SparkSession, capture: Path, _folder: Path) -> None:
    rows = spark.read.format("kwire").load(str(capture))
    assert rows.where("api_name = 'Metadata'").count() > 0


@feature('`spark.readStream.format("kwire")`')
def stream_source(spark: SparkSession, capture: Path, folder: Path) -> None:
    inputs = folder / "in"
    inputs.mkdir()
    (inputs / capture.name).write_bytes(capture.read_bytes())
    rows = spark.readStream.format("kwire").option("stateLocation", str(folder / "state")).option("closedAfter", "0s").load(str(inputs))
    query = rows.writeStream.format("memory").queryName("streamed").option("checkpointLocation", str(folder / "check"))
    query.trigger(availableNow=True).start().awaitTermination()
    assert spark.sql("SELECT * FROM streamed").count() > 0


def tried(spark: SparkSession, capture: Path, folder: Path, *names: str) -> dict[str, str]:
    """Each feature, or some of them by the names of their functions, in a session."""
    found = {}
    for name, function in FEATURES.items():
        if names and function.__name__ not in names:
            continue
        target = folder / function.__name__
        target.mkdir(parents=True)
        try:
            function(spark, capture, target)
            found[name] = "yes"
        except Exception as error:  # noqa: BLE001 - whatever it is, the table says it
            traceback.print_exc()
            found[name] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return found


def main(capture: Path, folder: Path, *names: str) -> None:
    with kwire.spark.open_session("local[2]", "features") as spark:
        for setting, value in CODEGEN.items():
            spark.conf.set(setting, value)
        found = tried(spark, capture, folder, *names)
    print(json.dumps({"version": pyspark.__version__, **found}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
