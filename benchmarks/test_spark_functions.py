"""`map_frames` on binary columns in Parquet: headers of requests of some 130 bytes, and one row a partition of MetadataResponses of 15 KB;
and the functions of other columns.

Held against the way through Spark alone (`mapInArrow` that changes nothing, or gives columns that were there before: the floor), the same
jobs with kio or plain Python in `mapInArrow`, a function in the JVM that uses Kafka's own classes, and kwire's data source, whose tasks
open the files themselves. All of it is time of the processor, of Spark and its workers together, when they are
warm: a noisy machine and what runs side by side do not count.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from pyspark.sql import functions

import kwire.spark
from frames import Corpus
from java_decoder import HAS_JAVA, JARS, ROOT, kafka_jars
from kwire.codec.records import RecordBatch
from kwire.codec.records import encode as encode_records
from kwire.protocol.telemetry.otlp import encode_metrics
from kwire.spark.session import open_session
from processor_time import Used

# A job has costs of its own, some 0.3 s: those that take 3 us a row, or 1 ms a body, have fewer.
HEADERS, SLOW_HEADERS, BODIES, SLOW_BODIES, DIFFERENT = 3_000_000, 600_000, 12_000, 4_000, 200
FRAME_BYTES = 130
TURNS, WARM_UPS = 3, 2
TOPICS, PARTITIONS = 50, 6
FIELDS = "topics.name,topics.partitions.partition_index,topics.partitions.leader_id"
ROW = "name STRING, partition_index INT, leader_id INT"
HEADER_ROW = "api_key SMALLINT, api_version SMALLINT, correlation_id INT, client_id STRING"

SPARK_JARS = (*JARS, ("kafka-group-coordinator", "4.4.0"))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the time that processes have used is read from /proc")


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """A jar with the Java functions and the folder's jars of Kafka, None where there is no Java to compile it."""
    if not HAS_JAVA or shutil.which("javac") is None:
        return None
    folder = tmp_path_factory.mktemp("classes")
    jars = [str(jar) for jar in kafka_jars.fetch(SPARK_JARS, ROOT / ".cache" / "kafka-jars").values()]
    path = os.pathsep.join([*jars, str(Path(pyspark.__file__).parent / "jars" / "*")])
    sources = [str(Path(__file__).parent / "java" / f"{name}.java") for name in ("MetadataRows", "HeaderRow", "ColumnRows")]
    subprocess.run(["javac", "-cp", path, "-d", str(folder), *sources], check=True, capture_output=True)
    return Path(shutil.make_archive(str(folder / "rows"), "zip", folder, ".")).rename(folder / "rows.jar")


@pytest.fixture(scope="module")
def spark(classes: Path | None) -> Iterator[Any]:
    before = {name: os.environ.get(name) for name in ("PYSPARK_SUBMIT_ARGS", "PYTHONPATH")}
    # workers look for modules neither in the folder where they start nor beside this file
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(Path(__file__).parent), str(ROOT), before["PYTHONPATH"])))
    if classes is not None:
        jars = [str(classes), *map(str, kafka_jars.fetch(SPARK_JARS, ROOT / ".cache" / "kafka-jars").values())]
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"--jars {','.join(jars)} pyspark-shell"
    try:
        with open_session("local[1]", "kwire benchmarks") as session:
            yield session
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def stored(values: list[bytes], count: int, path: Path, spark: Any) -> Any:
    column = pa.array(values, pa.binary()).take(pa.array(range(count)).cast(pa.int64()).to_numpy() % len(values))
    pq.write_table(pa.table({"frame": column}), path, compression="lz4", use_dictionary=False)
    return spark.read.parquet(str(path))


def nothing_back(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What rows cost on their way in alone."""
    yield pa.RecordBatch.from_pydict({"rows": [sum(batch.num_rows for batch in batches)]})


def ready_columns(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows in, four columns back that were there before: no function on a binary column is cheaper."""
    whole = pa.RecordBatch.from_pydict({
        "api_key": pa.array([3] * 65_536, pa.int16()), "api_version": pa.array([12] * 65_536, pa.int16()),
        "correlation_id": pa.array(range(65_536), pa.int32()), "client_id": pa.array(["client-79f4d093"] * 65_536),
    })  # fmt: skip
    for batch in batches:
        yield whole.slice(0, batch.num_rows)


def ready_partitions(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Bodies in, the partitions of as many back that were there before."""
    count = TOPICS * PARTITIONS
    whole = pa.RecordBatch.from_pydict({
        "name": pa.array(["prod.orders.inventory.v1"] * count), "partition_index": pa.array([1] * count, pa.int32()),
        "leader_id": pa.array([2] * count, pa.int32()),
    })  # fmt: skip
    for batch in batches:
        yield pa.Table.from_batches([whole] * batch.num_rows).combine_chunks().to_batches()[0]


def through_spark(work: Any) -> float:
    """CPU seconds of all processes, this one too, for a DataFrame that goes nowhere or for a function."""
    before = time.process_time()
    with Used() as used:
        work() if callable(work) else work.write.format("noop").mode("overwrite").save()
    return used.seconds + time.process_time() - before


def run_in_turns(record: Callable[..., None], work: str, frames: dict[str, Any], rows: dict[str, int], size: int) -> None:
    """Measure each in turn; `rows` of each, of `size` bytes."""
    for _ in range(WARM_UPS):
        for frame in frames.values():
            through_spark(frame)
    for _ in range(TURNS):
        for who, frame in frames.items():
            record(work, who, through_spark(frame), rows[who], rows[who] * size)


def unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def headers_by_python(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Headers v1 and v2, as a user writes it who needs no more."""
    unpack = struct.Struct(">hhih").unpack_from
    for batch in batches:
        rows = []
        for frame in batch.column(0).to_pylist():
            key, version, correlation, length = unpack(frame)
            rows.append((key, version, correlation, frame[10 : 10 + length].decode() if length >= 0 else None))
        yield pa.RecordBatch.from_arrays(
            [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), HEADER_TYPES, strict=True)], names=HEADER_NAMES
        )


def headers_by_kio(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from kio.serial import entity_reader

    import peers

    readers: dict[bytes, Callable[[BytesIO], Any]] = {}
    for batch in batches:
        rows = []
        for frame in batch.column(0).to_pylist():
            read = readers.get(frame[:4])
            if read is None:
                key, version = struct.unpack_from(">hh", frame)
                read = readers[frame[:4]] = entity_reader(peers.kio_schema(key, version, "request").__header_schema__)
            header = read(frame, 0)[0]
            rows.append((header.request_api_key, header.request_api_version, header.correlation_id, header.client_id))
        yield pa.RecordBatch.from_arrays(
            [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), HEADER_TYPES, strict=True)], names=HEADER_NAMES
        )


HEADER_NAMES = ["api_key", "api_version", "correlation_id", "client_id"]
HEADER_TYPES = [pa.int16(), pa.int16(), pa.int32(), pa.string()]


def partitions_by_kio(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import peers

    read = peers.kio_decoder(3, 12, "response")
    for batch in batches:
        rows = [
            (topic.name, partition.partition_index, partition.leader_id)
            for body in batch.column(0).to_pylist()
            for topic in read(body)[0].topics
            for partition in topic.partitions
        ]
        columns = [
            pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), (pa.string(), pa.int32(), pa.int32()), strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, names=["name", "partition_index", "leader_id"])


def frames_of_requests() -> list[bytes]:
    corpus = Corpus(many=True)
    headers = [corpus.next_header(3, 12) for _ in range(DIFFERENT * 10)]
    return [header + bytes(FRAME_BYTES - len(header)) for header in headers]


def header_struct(spark: Any) -> str:
    """Make the JVM's function known; the SQL of its fields."""
    struct_type = f"STRUCT<{HEADER_ROW.replace(' ', ': ').replace(',:', ',')}>"
    spark.udf.registerJavaFunction("header_row", "HeaderRow", struct_type)
    return "header_row(frame) AS header"


def test_headers_of_requests(record, spark, classes, tmp_path):
    df = stored(frames_of_requests(), HEADERS, tmp_path / "frames.parquet", spark)
    fewer = stored(frames_of_requests(), SLOW_HEADERS, tmp_path / "fewer.parquet", spark)
    files = spark.read.format("kwire").option("source", "parquet").option("column", "frame")
    works = {
        "native": kwire.spark.map_frames(df, "frame", columns=HEADER_NAMES),
        "reading the files": files.option("columns", ",".join(HEADER_NAMES)).load(str(tmp_path / "frames.parquet")),
        "transport in": df.mapInArrow(nothing_back, "rows BIGINT"),
        "transport": df.mapInArrow(unchanged, df.schema),
        "floor": df.mapInArrow(ready_columns, HEADER_ROW),
        "plain Python": fewer.mapInArrow(headers_by_python, HEADER_ROW),
        "kio": fewer.mapInArrow(headers_by_kio, HEADER_ROW),
    }
    if classes is not None:
        works["JVM function"] = df.selectExpr(header_struct(spark)).select("header.*")
    shown = [tuple(row) for row in works["native"].limit(20).collect()]
    for who in works.keys() - {"transport in", "transport", "floor"}:
        assert [tuple(row) for row in works[who].limit(20).collect()] == shown, who
    rows = {who: SLOW_HEADERS if who in ("plain Python", "kio") else HEADERS for who in works}
    run_in_turns(record, "map_frames, request headers", works, rows, FRAME_BYTES)


def test_headers_to_a_table(record, spark, classes, tmp_path):
    """From Parquet to Parquet: tasks that open, decode and write, against functions whose rows Spark writes."""
    source, options = str(tmp_path / "frames.parquet"), {"source": "parquet", "column": "frame"}
    df = stored(frames_of_requests(), HEADERS, tmp_path / "frames.parquet", spark)

    def written(who: str, rows: Any) -> Callable[[], None]:
        return lambda: rows.write.mode("overwrite").parquet(str(tmp_path / who))

    read = spark.read.format("kwire").options(**options, columns=",".join(HEADER_NAMES)).load(source)
    works = {
        "native": lambda: kwire.spark.convert(
            source, str(tmp_path / "native"), columns=HEADER_NAMES, overwrite=True, spark=spark, **options
        ),
        "map_frames": written("map_frames", kwire.spark.map_frames(df, "frame", columns=HEADER_NAMES)),
        "reading the files": written("reading the files", read),
    }
    if classes is not None:
        works["JVM function"] = written("JVM function", df.selectExpr(header_struct(spark)).select("header.*"))
    run_in_turns(record, "request headers to Parquet", works, dict.fromkeys(works, HEADERS), FRAME_BYTES)
    tables = {who: pq.read_table(tmp_path / who).sort_by("correlation_id") for who in works}
    for who, table in tables.items():
        assert table.num_rows == HEADERS, who
        assert table.slice(0, 10_000).equals(tables["native"].slice(0, 10_000)), who


def test_sums_of_headers(record, spark, classes, tmp_path):
    """Requests by api and version: what crosses from workers that sum are a few rows."""
    df = stored(frames_of_requests(), HEADERS, tmp_path / "frames.parquet", spark)
    keys, total = ["api_key", "api_version"], functions.sum("count").alias("count")
    files = spark.read.format("kwire").option("source", "parquet").option("column", "frame")
    sums = files.option("columns", ",".join(keys)).option("aggregate", "count").load(str(tmp_path))
    works = {
        "native": kwire.spark.map_frames(df, "frame", columns=keys, aggregate="count"),
        "reading the files": sums.groupBy(*keys).agg(total),
    }
    if classes is not None:
        works["JVM function"] = df.selectExpr(header_struct(spark)).select("header.*").groupBy(*keys).count()
    for who, frame in works.items():
        assert [tuple(row) for row in frame.collect()] == [(3, 12, HEADERS)], who
    run_in_turns(record, "request headers, counted", works, dict.fromkeys(works, HEADERS), FRAME_BYTES)


def test_partitions_of_metadata_responses(record, spark, classes, tmp_path):
    corpus = Corpus()
    bodies = [corpus.metadata_response(TOPICS, PARTITIONS) for _ in range(DIFFERENT)]
    df = stored(bodies, BODIES, tmp_path / "bodies.parquet", spark)
    fewer = stored(bodies, SLOW_BODIES, tmp_path / "fewer.parquet", spark)
    names = FIELDS.split(",")
    files = spark.read.format("kwire").option("source", "parquet").option("column", "frame").option("bodies", "true")
    files = files.option("message", "MetadataResponse").option("version", 12).option("fields", FIELDS).option("columns", FIELDS)
    works = {
        "native": kwire.spark.map_frames(df, "frame", "MetadataResponse", 12, FIELDS, bodies=True, columns=names),
        "reading the files": files.load(str(tmp_path / "bodies.parquet")),
        "transport in": df.mapInArrow(nothing_back, "rows BIGINT"),
        "transport": df.mapInArrow(unchanged, df.schema),
        "floor": df.mapInArrow(ready_partitions, ROW),
        "kio": fewer.mapInArrow(partitions_by_kio, ROW),
    }
    if classes is not None:
        spark.udf.registerJavaFunction("metadata_rows", "MetadataRows", f"ARRAY<STRUCT<{ROW.replace(' ', ': ').replace(',:', ',')}>>")
        works["JVM function"] = df.selectExpr("inline(metadata_rows(frame))")
    first = [tuple(row) for row in works["kio"].limit(600).collect()]
    assert len(set(first)) >= TOPICS * PARTITIONS
    for who, frame in works.items():
        if who not in ("transport in", "transport", "floor"):
            assert [tuple(row)[:3] for row in frame.limit(600).collect()] == first, who
    assert works["native"].count() == BODIES * TOPICS * PARTITIONS
    size = sum(map(len, bodies)) // DIFFERENT
    rows = {who: SLOW_BODIES if who == "kio" else BODIES for who in works}
    run_in_turns(record, "map_frames, partitions of MetadataResponse", works, rows, size)


REQUEST_ROW = "client_id: STRING, group_id: STRING, generation_id: INT, member_id: STRING"
OFFSET_ROW = "offset: BIGINT, leader_epoch: INT, metadata: STRING, commit_timestamp: BIGINT"
LABELS = "MAP<STRING, STRING>"
JVM_ROWS = {
    "from_kafka_request": ("Request", f"STRUCT<correlation_id: INT, {REQUEST_ROW}>"),
    "from_kafka_response": ("Response", "STRUCT<correlation_id: INT, throttle_time_ms: INT, error_code: SMALLINT>"),
    "from_consumer_offsets": (
        "Offsets",
        f"STRUCT<group: STRING, topic: STRING, partition: INT, {OFFSET_ROW}>",
    ),
    "from_record_batch": ("Records", "ARRAY<STRUCT<offset: BIGINT, timestamp: BIGINT, key: BINARY, value: BINARY>>"),
    "from_otlp": (
        "Points", f"ARRAY<STRUCT<metric: STRING, value: DOUBLE, time_unix_nano: BIGINT, attributes: {LABELS}, resource: {LABELS}>>"
    ),
}  # fmt: skip


def test_functions_of_other_columns(record, spark, classes, tmp_path):
    """A struct or an array a row, beside a function in the JVM and the same rows through a Python worker that changes nothing."""
    requests = [struct.pack(">hhih7sh7sih5s", 12, 0, row, 7, b"billing", 7, b"billing", row, 5, b"one-1") for row in range(DIFFERENT)]
    heartbeats = [struct.pack(">ibihb", row, 0, 0, 25, 0) for row in range(DIFFERENT)]  # version 4: id, tags; wait, error, tags
    commits = [struct.pack(">hqihq", 3, row, -1, 0, row) for row in range(DIFFERENT)]
    records = [encode_records(RecordBatch([(b"k", b"v" * 50, row)] * 10, base_offset=row)) for row in range(DIFFERENT)]
    point = {"type": "gauge", "attributes": {"node_id": "1", "topic": "orders"}, "resource": {"client_rack": "a"}, "time_unix_nano": 1}
    name = "org.apache.kafka.producer.request.latency"
    pushes = [encode_metrics([{"metric": f"{name}.{each}", "value": 1.0 * row, **point} for each in range(10)]) for row in range(DIFFERENT)]
    key = functions.lit(b"\0\1\0\7billing\0\6orders\0\0\0\1")
    heartbeat = {"message": "HeartbeatRequest", "version": 0}
    response = kwire.spark.from_kafka_response("frame", 12, 4, message="HeartbeatResponse", version=4)
    works = {
        "from_kafka_request": (requests, SLOW_HEADERS, kwire.spark.from_kafka_request("frame", **heartbeat)),
        "from_kafka_response": (heartbeats, SLOW_HEADERS, response),
        "from_consumer_offsets": (commits, SLOW_HEADERS, kwire.spark.from_consumer_offsets(key, "frame")),
        "from_record_batch": (records, SLOW_HEADERS // 10, kwire.spark.from_record_batch("frame")),
        "from_otlp": (pushes, BODIES, kwire.spark.from_otlp("frame", 0)),
    }
    for work, (values, count, column) in works.items():
        df = stored(values, count, tmp_path / work, spark)
        native = df.select(column.alias("made"))
        made = native.select("made.error").distinct().collect()
        assert [tuple(row) for row in made] in ([(None,)], [([None] * 10,)]), work
        frames = {"native": native, "transport": df.mapInArrow(unchanged, df.schema)}
        if work == "from_kafka_request":
            frames["map_frames"] = kwire.spark.map_frames(df, "frame", "HeartbeatRequest", 0)
        if work == "from_kafka_response":
            frames["map_frames"] = kwire.spark.map_frames(df, "frame", "HeartbeatResponse", 4)
        if classes is not None:
            class_name, kind = JVM_ROWS[work]
            spark.udf.registerJavaFunction(class_name, f"ColumnRows${class_name}", kind)
            given = [key, functions.col("frame")] if class_name == "Offsets" else [functions.col("frame")]
            frames["JVM function"] = df.select(functions.call_function(class_name, *given).alias("made"))
            assert told_of(frames["JVM function"].first()) <= told_of(native.first()), work
        run_in_turns(record, work, frames, dict.fromkeys(frames, count), sum(map(len, values)) // DIFFERENT)


def told_of(row: Any) -> set[tuple[str, str]]:
    """The fields of a row and of its structs, the first one of arrays."""
    found = set()
    for name, value in row.asDict().items():
        first = value[0] if isinstance(value, list) and value else value
        found |= told_of(first) if hasattr(first, "asDict") else {(name, repr(sorted(first.items()) if isinstance(first, dict) else first))}
    return found
