"""`kwire.spark.convert` on Spark: rows of the data source with the same options, in a table that Spark reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kwire.errors import InputError
from kwire.spark import convert, register_tables

DATA = Path(__file__).resolve().parents[1] / "captures" / "data"
SEED = DATA / "seed.pcap.gz"
# Metadata v12: api key, version, correlation id, client id "a", no tags; every fifth frame ends in its header
FRAMES = [bytes.fromhex(f"0003000c{number:08x}00016100")[: 9 if number % 5 == 0 else None] for number in range(1000)]

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark")]


@pytest.fixture
def frames(tmp_path: Path) -> Path:
    rows = pa.table({"day": ["mon", "tue"] * 500, "value": pa.array(FRAMES, pa.binary())})
    (tmp_path / "in").mkdir()
    pq.write_table(rows, tmp_path / "in" / "a.parquet", row_group_size=64)
    with pa.ipc.new_file(str(tmp_path / "in" / "a.arrow"), rows.schema) as writer:
        writer.write_table(rows.combine_chunks(), 64)
    return tmp_path / "in"


def same_rows(spark: SparkSession, path: Path, out: Path, **options: str) -> Any:
    """Convert with the options, and return the report; the rows are those of the data source."""
    report = convert(str(path), str(out), spark=spark, **options)
    expected = spark.read.format("kwire").options(**options).load(str(path))
    found = spark.read.parquet(str(out)).select(*(f"`{name}`" for name in expected.columns))
    assert [(each.name, each.dataType) for each in found.schema] == [(each.name, each.dataType) for each in expected.schema]
    assert found.exceptAll(expected).count() == expected.exceptAll(found).count() == 0
    assert report.rows == found.count() > 0
    assert report.engine == "spark"
    return report


@pytest.mark.parametrize(
    ("path", "options"),
    [
        (SEED, {"columns": "client_id,api_name,api_version,request_time,response_time"}),
        (DATA / "old-0.11-requests.log.gz", {}),
        (SEED, {"message": "MetadataResponse", "version": "1", "fields": "topics.name"}),
    ],
    ids=["capture", "log", "message"],
)
def test_rows_of_captures(spark: SparkSession, tmp_path: Path, path: Path, options: dict[str, str]) -> None:
    assert same_rows(spark, path, tmp_path / "out", **options).errors == {}


# `remote("local[1]")` starts a server of its own and connects to it.
CONNECTED = """
import sys
from pyspark.sql import SparkSession
from kwire.spark import convert, prepare

prepare()
spark = SparkSession.builder.remote("local[1]").getOrCreate()
report = convert(sys.argv[1], sys.argv[2], spark=spark, partition_by="api_version", columns="client_id,api_name,api_version")
print(type(spark).__module__, report.engine, report.rows, spark.read.parquet(sys.argv[2]).count())
"""


def test_rows_over_spark_connect(tmp_path: Path) -> None:
    """The session has no JVM beside its client; its table is that of local processes."""
    far, near = (str(tmp_path / name) for name in ("far", "near"))
    program = [sys.executable, "-c", CONNECTED, str(SEED), far]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    report = convert(str(SEED), near, partition_by="api_version", columns="client_id,api_name,api_version")
    rows = [sorted(map(tuple, (each.values() for each in pq.read_table(out).to_pylist()))) for out in (far, near)]
    assert rows[0] == rows[1]
    assert done.stdout.splitlines()[-1] == f"pyspark.sql.connect.session spark {report.rows} {len(rows[1])}"


@pytest.mark.parametrize("source", ["parquet", "arrow"])
def test_rows_of_frames(spark: SparkSession, frames: Path, source: str) -> None:
    report = same_rows(spark, frames, frames.parent / "out", source=source, column="value", keep="day")
    assert report.errors == {"TRUNCATED": 200}


def test_a_table_of_the_catalog(spark: SparkSession, frames: Path) -> None:
    out, options = str(frames.parent / "out"), {"source": "parquet", "column": "value", "keep": "day", "spark": spark}
    rows = pa.table({"day": ["007"], "value": pa.array([FRAMES[1]], pa.binary())})
    pq.write_table(rows, frames / "b.parquet")
    try:
        for by, overwrite in (("day", False), ("api_version", True), (None, True)):
            convert(str(frames), out, partition_by=by, overwrite=overwrite, **options)
            assert register_tables(spark, out, "converted.frames") == ["converted.frames"]
            table = spark.table("converted.frames")
            assert sorted(table.columns) == ["api_key", "api_version", "client_id", "correlation_id", "day", "error"]
            counts = {tuple(row) for row in table.groupBy("day", "api_version").count().collect()}
            assert counts == {("mon", 12, 500), ("tue", 12, 500), ("007", 12, 1)}
        convert(str(frames), str(frames.parent / "other"), **options)
        with pytest.raises(InputError, match=r"converted\.frames is there already and is of file:"):
            register_tables(spark, str(frames.parent / "other"), "converted.frames")
    finally:
        spark.sql("DROP NAMESPACE IF EXISTS converted CASCADE")


def test_folders_of_values_are_columns(spark: SparkSession, frames: Path) -> None:
    convert(str(frames), str(frames.parent / "out"), source="parquet", column="value", keep="day", partition_by="day", spark=spark)
    counts = spark.read.parquet(str(frames.parent / "out")).groupBy("day").count().collect()
    assert {tuple(row) for row in counts} == {("mon", 500), ("tue", 500)}


def test_a_fault_of_a_row_is_a_sentence_and_leaves_nothing(spark: SparkSession, frames: Path) -> None:
    with pytest.raises(InputError, match="the mode is FAILFAST"):
        convert(str(frames), str(frames.parent / "out"), source="parquet", column="value", mode="FAILFAST", spark=spark)
    assert not (frames.parent / "out").exists()
