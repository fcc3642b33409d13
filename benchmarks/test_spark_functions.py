"""`map_frames` on binary columns in Parquet: headers of requests of some 130 bytes, and one row a partition of MetadataResponses of 15 KB.

Held against the way through Spark alone (`mapInArrow` that changes nothing), the same jobs with kio or plain Python in `mapInArrow`, and
a function in the JVM that uses Kafka's own classes. All of it is time of the processor, of Spark and its workers together, when they are
warm: a noisy machine and what runs side by side do not count.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

import kwire.spark
from frames import Corpus
from java_decoder import HAS_JAVA, JARS, ROOT, kafka_jars
from kwire.spark.session import open_session
from processor_time import children_seconds

HEADERS, BODIES, DIFFERENT = 600_000, 4_000, 200
FRAME_BYTES = 130
TURNS, WARM_UPS = 3, 2
TOPICS, PARTITIONS = 50, 6
FIELDS = "topics.name,topics.partitions.partition_index,topics.partitions.leader_id"
ROW = "name STRING, partition_index INT, leader_id INT"
HEADER_ROW = "api_key SMALLINT, api_version SMALLINT, correlation_id INT, client_id STRING"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the time that processes have used is read from /proc")


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """A jar with `MetadataRows` and the folder's jars of Kafka, None where there is no Java to compile it."""
    if not HAS_JAVA or shutil.which("javac") is None:
        return None
    folder = tmp_path_factory.mktemp("classes")
    jars = [str(jar) for jar in kafka_jars.fetch(JARS, ROOT / ".cache" / "kafka-jars").values()]
    path = os.pathsep.join([*jars, str(Path(pyspark.__file__).parent / "jars" / "*")])
    source = Path(__file__).parent / "java" / "MetadataRows.java"
    subprocess.run(["javac", "-cp", path, "-d", str(folder), str(source)], check=True, capture_output=True)
    return Path(shutil.make_archive(str(folder / "rows"), "zip", folder, ".")).rename(folder / "rows.jar")


@pytest.fixture(scope="module")
def spark(classes: Path | None) -> Iterator[Any]:
    before = {name: os.environ.get(name) for name in ("PYSPARK_SUBMIT_ARGS", "PYTHONPATH")}
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(Path(__file__).parent), before["PYTHONPATH"])))
    if classes is not None:
        jars = [str(classes), *map(str, kafka_jars.fetch(JARS, ROOT / ".cache" / "kafka-jars").values())]
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


def through_spark(frame: Any) -> float:
    before = children_seconds()
    frame.write.format("noop").mode("overwrite").save()
    return children_seconds() - before


def run_in_turns(record: Callable[..., None], work: str, frames: dict[str, Any], rows: int, size: int) -> None:
    for _ in range(WARM_UPS):
        for frame in frames.values():
            through_spark(frame)
    for _ in range(TURNS):
        for who, frame in frames.items():
            record(work, who, through_spark(frame), rows, size)


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


def test_headers_of_requests(record, spark, tmp_path):
    corpus = Corpus(many=True)
    frames = []
    for _ in range(DIFFERENT * 10):
        header = corpus.next_header(3, 12)
        frames.append(header + bytes(FRAME_BYTES - len(header)))
    df = stored(frames, HEADERS, tmp_path / "frames.parquet", spark)
    works = {
        "native": kwire.spark.map_frames(df, "frame"),
        "transport": df.mapInArrow(unchanged, df.schema),
        "plain Python": df.mapInArrow(headers_by_python, HEADER_ROW),
        "kio": df.mapInArrow(headers_by_kio, HEADER_ROW),
    }
    shown = [tuple(row)[:4] for row in works["native"].limit(20).collect()]
    assert shown == [tuple(row) for row in works["plain Python"].limit(20).collect()]
    assert shown == [tuple(row) for row in works["kio"].limit(20).collect()]
    run_in_turns(record, "map_frames, request headers", works, HEADERS, HEADERS * FRAME_BYTES)


def test_partitions_of_metadata_responses(record, spark, classes, tmp_path):
    corpus = Corpus()
    bodies = [corpus.metadata_response(TOPICS, PARTITIONS) for _ in range(DIFFERENT)]
    df = stored(bodies, BODIES, tmp_path / "bodies.parquet", spark)
    works = {
        "native": kwire.spark.map_frames(df, "frame", "MetadataResponse", 12, FIELDS, bodies=True),
        "transport": df.mapInArrow(unchanged, df.schema),
        "kio": df.mapInArrow(partitions_by_kio, ROW),
    }
    if classes is not None:
        spark.udf.registerJavaFunction("metadata_rows", "MetadataRows", f"ARRAY<STRUCT<{ROW.replace(' ', ': ').replace(',:', ',')}>>")
        works["JVM function"] = df.selectExpr("inline(metadata_rows(frame))")
    rows = BODIES * TOPICS * PARTITIONS
    first = [tuple(row) for row in works["kio"].limit(600).collect()]
    assert len(set(first)) >= TOPICS * PARTITIONS
    for who, frame in works.items():
        if who != "transport":
            assert [tuple(row)[:3] for row in frame.limit(600).collect()] == first, who
    assert works["native"].count() == rows
    run_in_turns(record, "map_frames, partitions of MetadataResponse", works, BODIES, sum(map(len, bodies)) * BODIES // DIFFERENT)
