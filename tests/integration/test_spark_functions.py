"""The column functions in a Spark session: types, SQL and modes as a user meets them."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import kwire.spark
from kwire.errors import InputError
from sample_frames import frame, one
from twin_codecs import vectors_of

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROOT = Path(__file__).parents[2]


def test_requests(spark: SparkSession) -> None:
    whole = frame(one("HeartbeatRequest", 0))
    df = spark.createDataFrame([(1, whole), (2, whole[:-1]), (3, None)], "id INT, frame BINARY")
    options = {"columnNameOfCorruptRecord": "_corrupt_record"}
    rows = df.select("id", kwire.spark.from_kafka_request("frame", options).alias("r")).orderBy("id").collect()
    assert (rows[0].r.message, rows[0].r.error, rows[0].r._corrupt_record) == ("HeartbeatRequest", None, None)
    assert json.loads(rows[0].r.body).keys() == {"groupId", "generationId", "memberId"}
    assert (rows[1].r.body, rows[1].r.error, bytes(rows[1].r._corrupt_record)) == (None, "TRUNCATED", whole[:-1])
    assert rows[2].r is None
    with pytest.raises(PySparkException, match="FAILFAST"):
        df.select(kwire.spark.from_kafka_request("frame", {"mode": "FAILFAST"})).collect()


def test_columns_of_text_are_refused_by_the_analyzer(spark: SparkSession) -> None:
    """The check costs nothing: the optimizer removes it."""
    df = spark.createDataFrame([(b"", "")], "frame BINARY, text STRING")
    functions = kwire.spark
    for refused in (
        lambda: functions.from_kafka_request("text"),
        lambda: functions.from_kafka_response("text", 3, 1),
        lambda: functions.from_record_batch("text"),
        lambda: functions.from_otlp("text"),
        lambda: functions.from_consumer_offsets("text", "frame"),
        lambda: functions.from_consumer_offsets("frame", "text"),
    ):
        with pytest.raises(AnalysisException, match="DATATYPE_MISMATCH"):
            df.select(refused())
    with pytest.raises(InputError, match="map_frames takes a BINARY column; 'text' is of type STRING"):
        functions.map_frames(df, "text")
    read = df.select(functions.from_kafka_request("frame"))
    assert read.columns == ["from_kafka_request(frame)"]
    assert "bitmap_count" not in read._jdf.queryExecution().optimizedPlan().toString().replace(read.columns[0], "")


def test_typed_bodies_have_the_ddl(spark: SparkSession) -> None:
    fields = "topics.name,topics.partitions.leader_id,topics.topic_id"
    df = spark.createDataFrame([(3, 12, frame(one("MetadataResponse", 12)))], "key INT, version INT, frame BINARY")
    read = kwire.spark.from_kafka_response("frame", "key", F.col("version"), message="MetadataResponse", version=12, fields=fields)
    body = df.select(read.alias("r")).select("r.body.*")
    declared = spark.createDataFrame([], kwire.spark.ddl("MetadataResponse", 12, fields))
    assert body.schema == declared.schema
    exploded = body.select(F.explode("topics").alias("t")).select("t.name", F.explode("t.partitions.leader_id").alias("leader")).first()
    response = kwire.decode_response(frame(one("MetadataResponse", 12)), 3, 12).body
    assert tuple(exploded) == (response.topics[0].name, response.topics[0].partitions[0].leader_id)


def test_sql(spark: SparkSession) -> None:
    kwire.spark.register(spark)
    spark.createDataFrame([(frame(one("HeartbeatResponse", 4)),)], "frame BINARY").createOrReplaceTempView("answers")
    inner = "SELECT from_kafka_response(frame, 12, 4) r FROM answers"
    row = spark.sql(f"SELECT r.message, from_json(r.body, 'errorCode INT').errorCode AS code FROM ({inner})").first()
    assert tuple(row) == ("HeartbeatResponse", kwire.decode_response(frame(one("HeartbeatResponse", 4)), 12, 4).body.error_code)


@pytest.mark.matrix
def test_records_and_offsets(spark: SparkSession) -> None:
    batch = next(
        each for each in vectors_of("records-sample") if (each["case"], each["magic"], each["compression"]) == ("headers", 2, "none")
    )
    df = spark.createDataFrame([(1, bytearray.fromhex(batch["hex"])), (2, None)], "id INT, data BINARY")
    rows = df.select("id", kwire.spark.from_record_batch("data").alias("r")).orderBy("id").collect()
    told = batch["batches"][0]["records"]
    assert [(each.offset, each.timestamp) for each in rows[0].r] == [(each["offset"], each["timestamp"]) for each in told]
    assert [[h.key for h in each.headers] for each in rows[0].r] == [[key for key, _ in each["headers"]] for each in told]
    assert rows[1].r is None

    key = bytes.fromhex("000100016700017400000002")  # OffsetCommit of group g, topic t, partition 2
    value = bytes.fromhex("000300000000000000070000000100000000000000000009")  # offset 7, leader epoch 1, at 9 ms
    df = spark.createDataFrame([(1, key, value), (2, key, None), (3, key, value[:-1])], "id INT, key BINARY, value BINARY")
    read = kwire.spark.from_consumer_offsets("key", "value")
    flat = df.select("id", read.alias("r")).select(
        "r.kind", "r.group", "r.partition", "r.offset_commit.offset", "r.is_tombstone", "r.error"
    )
    assert [tuple(row) for row in flat.collect()] == [
        ("OffsetCommit", "g", 2, 7, False, None),
        ("OffsetCommit", "g", 2, None, True, None),
        ("OffsetCommit", "g", 2, None, False, "TRUNCATED"),
    ]
    assert df.where("id = 1").selectExpr("from_consumer_offsets(key, value).offset_commit.commit_timestamp").first()[0] == 9


def test_map_frames_of_all_versions(spark: SparkSession) -> None:
    # Heartbeat responses: correlation id 9; version 0 has an error code, version 1 a throttle time before it, version 4 tags
    rows = [(4, "00000009 00 00000005 001b 00", 12), (0, "00000009 001b", 12), (1, "00000009 00000005 001b", 12), (1, "00000009", 3)]
    df = spark.createDataFrame([(version, bytearray.fromhex(text), key) for version, text, key in rows], "v INT, frame BINARY, k SMALLINT")
    given = {"api_key": "k", "api_version": "v"}
    found = kwire.spark.map_frames(df, "frame", "HeartbeatResponse", **given)
    assert found.columns == ["k", "api_version", "throttle_time_ms", "error_code", "error", "error_offset", "error_path"]
    assert sorted(tuple(row)[:5] for row in found.drop("error_offset").collect()) == [
        (12, 0, None, 27, None),
        (12, 1, 5, 27, None),
        (12, 4, 5, 27, None),
    ]
    counted = kwire.spark.map_frames(df, "frame", "HeartbeatResponse", columns="api_version", aggregate="count", **given)
    assert sorted(tuple(row) for row in counted.collect()) == [(0, 1), (1, 1), (4, 1)]
    with pytest.raises(InputError, match="map_frames finds no column 'version'"):
        kwire.spark.map_frames(df, "frame", "HeartbeatResponse", api_version="version")


def test_map_frames(spark: SparkSession) -> None:
    whole = frame(one("MetadataResponse", 12))
    df = spark.createDataFrame([("a", whole), ("b", whole[:-1])], "id STRING, frame BINARY")
    fields = ["topics.name", "topics.partitions.leader_id"]
    rows = kwire.spark.map_frames(df, "frame", "MetadataResponse", 12, fields, options={"columnNameOfCorruptRecord": "bad"})
    assert rows.columns == ["id", "topics.name", "topics.partitions.leader_id", "error", "error_offset", "error_path", "bad"]
    response = kwire.decode_response(whole, 3, 12).body
    told = [(topic.name, each.leader_id) for topic in response.topics for each in topic.partitions]
    held = rows.where("error IS NULL").select("id", "`topics.name`", "`topics.partitions.leader_id`").collect()
    assert [tuple(row) for row in held] == [("a", *each) for each in told]
    assert [(row.id, row.error, bytes(row.bad)) for row in rows.where("error IS NOT NULL").collect()] == [("b", "TRUNCATED", whole[:-1])]
    dropped = kwire.spark.map_frames(df, "frame", "MetadataResponse", 12, fields, keep=["id"], options={"mode": "DROPMALFORMED"})
    assert {row.id for row in dropped.collect()} == {"a"}
    with pytest.raises(InputError, match="finds no column 'other'"):
        kwire.spark.map_frames(df, "other")
    with pytest.raises(InputError, match="creates a column 'error' that the DataFrame has too"):
        kwire.spark.map_frames(df.withColumnRenamed("id", "error"), "frame")


@pytest.mark.matrix
def test_pushed_metrics(spark: SparkSession) -> None:
    case = next(each for each in vectors_of("telemetry-sample") if each["compression"] == "gzip")
    df = spark.createDataFrame([(bytearray.fromhex(case["metrics_hex"]), case["compression_id"])], "metrics BINARY, kind INT")
    points = df.select(F.explode(kwire.spark.from_otlp("metrics", "kind")).alias("p")).select("p.metric", "p.resource").collect()
    assert [(row.metric, row.resource) for row in points] == [(each["name"], each["resource"]) for each in case["metrics"]]


@pytest.mark.matrix
def test_the_example_of_the_documentation(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "spark_functions.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "HeartbeatRequest" in said
    assert "TRUNCATED" in said
    assert '{"groupId":"billing","generationId":7,"memberId":"billing-1"}' in said


def test_columns_that_cross_and_sums_of_workers(spark: SparkSession) -> None:
    """Two tasks that meet the same groups: their sums come together."""
    whole = frame(one("HeartbeatRequest", 0))
    df = spark.createDataFrame(
        [(number % 2, whole[: len(whole) - number % 3]) for number in range(100)], "id INT, frame BINARY"
    ).repartition(2)
    found = kwire.spark.map_frames(df, "frame", columns="frame_length, api_key", keep=())
    assert found.columns == ["frame_length", "api_key"]
    sizes = sorted(row.frame_length for row in found.collect())
    assert sizes == sorted(len(whole) - number % 3 for number in range(100))
    sums = kwire.spark.map_frames(df, "frame", columns="api_key", keep=["id"], aggregate="count,sum(frame_length),max(frame_length)")
    assert sums.schema.simpleString() == "struct<id:int,api_key:smallint,count:bigint,sum(frame_length):bigint,max(frame_length):int>"
    for row in sums.collect():
        expected = [len(whole) - number % 3 for number in range(100) if number % 2 == row.id]
        assert tuple(row) == (row.id, 12, 50, sum(expected), len(whole))
    with pytest.raises(InputError, match="Unknown column 'topic'"):
        kwire.spark.map_frames(df, "frame", columns="topic")


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs Linux' /proc to see what a worker was forked from")
def test_functions_have_pyspark_s_own_workers_which_look_away_from_their_folder(spark: SparkSession) -> None:
    """Those of kwire's own tasks are others (test_worker_daemon.py)."""
    ask = """(
        open(f"/proc/{__import__('os').getppid()}/cmdline").read().split(chr(0))[2],
        "MALLOC_TRIM_THRESHOLD_" in __import__("os").environ,
        __import__("sys").flags.safe_path,
    )"""
    # a built-in function is what any worker can unpickle, with nothing imported for it
    assert spark.sparkContext.parallelize([ask], 1).map(eval).collect() == [("pyspark.daemon", False, True)]
