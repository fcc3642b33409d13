"""Frames out of Parquet and Arrow files: rows as of `map_frames`, whatever the division, and what cannot be read."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import IntegerType, StringType, StructType

import kwire.spark
from kwire.capture.files.inputs import CaptureFile
from kwire.errors import InputError, Truncated
from kwire.spark.source.batch import batch_reader
from kwire.spark.source.file_rows import plan_parts
from kwire.spark.source.options import source_options
from kwire.spark.source.schema import row_schema, schema_ddl
from kwire.spark.source.stream import KwireStreamReader

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark")]


def heartbeat(number: int, group: bytes = b"g") -> bytes:
    """HeartbeatRequest v0 in header version 1: correlation id, client id "c0" to "c2", group, generation 7, member "m"."""
    head = bytes.fromhex("000c0000") + number.to_bytes(4, "big") + b"\0\2c" + str(number % 3).encode()
    return head + len(group).to_bytes(2, "big") + group + bytes.fromhex("00000007 0001") + b"m"


FRAMES = [heartbeat(number) for number in range(1000)]


@pytest.fixture
def table() -> pa.Table:
    ids = pa.array(range(1000), pa.uint16())
    days = pa.array(["mon", "tue"] * 500).dictionary_encode()
    return pa.table({"id": ids, "day": days, "value": pa.array(FRAMES, pa.binary()), "unread": pa.array(range(1000))})


@pytest.fixture(params=["parquet", "arrow"])
def folder(request: pytest.FixtureRequest, table: pa.Table, tmp_path: Path) -> Path:
    """A folder of two files of 700 and 300 rows, with several row groups or batches, beside what is none of them."""
    where = tmp_path / request.param
    where.mkdir()
    for name, part in (("a", table.slice(0, 700)), ("b", table.slice(700))):
        if request.param == "parquet":
            pq.write_table(part, where / f"{name}.parquet", row_group_size=64)
        else:
            with pa.OSFile(str(where / f"{name}.arrow"), "wb") as sink, pa.ipc.new_file(sink, part.schema) as writer:
                writer.write_table(part.combine_chunks(), 64)
    (where / "_SUCCESS").write_text("")
    (where / "notes.txt").write_text("")
    return where


def options(folder: Path, **given: str) -> Any:
    return source_options({"path": str(folder), "source": folder.name, "column": "value"} | given)


def read(found: Any, schema: StructType | None = None) -> list[dict[str, Any]]:
    given = from_arrow_schema(row_schema(found)) if schema is None else schema
    reader: Any = pickle.loads(pickle.dumps(batch_reader(given, found)))
    return [row for partition in reader.partitions() for batch in reader.read(partition) for row in batch.to_pylist()]


def test_rows_are_those_of_map_frames(spark: SparkSession, folder: Path, table: pa.Table) -> None:
    reader = spark.read.format("kwire").option("source", folder.name).option("column", "value").option("keep", "id,day")
    found = reader.load(str(folder)).orderBy("id").toArrow()
    plain = table.drop_columns("unread").set_column(1, "day", table.column("day").cast(pa.string()))
    df = spark.createDataFrame(plain.set_column(0, "id", plain.column("id").cast(pa.int32())))
    assert found.equals(kwire.spark.map_frames(df, "value").orderBy("id").toArrow())


def test_a_message_of_its_columns(spark: SparkSession, folder: Path) -> None:
    reader = spark.read.format("kwire").option("source", folder.name).option("column", "value")
    asked = reader.option("message", "HeartbeatRequest").option("version", 0).option("columns", "member_id,generation_id").load(str(folder))
    assert asked.columns == ["member_id", "generation_id"]
    assert [tuple(row) for row in asked.distinct().collect()] == [("m", 7)]
    assert asked.count() == 1000


def test_sums_of_tasks(spark: SparkSession, folder: Path) -> None:
    reader = spark.read.format("kwire").option("source", folder.name).option("column", "value").option("columns", "client_id")
    sums = reader.option("aggregate", "count,sum(frame_length)").load(str(folder))
    assert sums.schema.simpleString() == "struct<client_id:string,count:bigint,sum(frame_length):bigint>"
    found = sums.groupBy("client_id").agg(F.sum("count"), F.sum("`sum(frame_length)`")).orderBy("client_id").collect()
    size = len(FRAMES[0])
    assert [tuple(row) for row in found] == [("c0", 334, 334 * size), ("c1", 333, 333 * size), ("c2", 333, 333 * size)]


@pytest.mark.parametrize("tasks", [1, 2, 7, 400])
def test_each_row_is_read_once(folder: Path, tasks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kwire.spark.source.file_rows._OPEN_COST", 1)
    found = read(options(folder, columns="correlation_id", minPartitions=str(tasks)))
    assert sorted(row["correlation_id"] for row in found) == list(range(1000))


def test_large_files_are_divided_and_small_ones_packed() -> None:
    def sizes(*given: int, slots: int) -> list[list[tuple[str, int, int]]]:
        files = [CaptureFile(str(number), "", str(number), size << 20) for number, size in enumerate(given)]
        return [[(part.location, *part.share) for part in task] for task in plan_parts(files, slots)]

    # at most 128 MiB a task, a file costs 4 MiB to open
    assert sizes(300, slots=1) == [[("0", 0, 3)], [("0", 1, 3)], [("0", 2, 3)]]
    assert [len(task) for task in sizes(*[1] * 100, slots=4)] == [25, 25, 25, 25]
    assert sizes(slots=2) == [[]]


def test_a_schema_of_ones_own(folder: Path) -> None:
    found = read(options(folder, keep="id"), StructType().add("client_id", StringType()).add("id", IntegerType()))
    assert {frozenset(row) for row in found} == {frozenset(("client_id", "id"))}
    assert sorted(row["id"] for row in found) == list(range(1000))
    with pytest.raises(InputError, match="no column 'topic'"):
        read(options(folder), StructType().add("topic", StringType()))


def test_modes(tmp_path: Path) -> None:
    where = tmp_path / "parquet"
    where.mkdir()
    pq.write_table(pa.table({"value": pa.array([FRAMES[0], b"\0", None])}), where / "one.parquet")
    asked = {"columns": "correlation_id,error", "columnNameOfCorruptRecord": "bad"}
    assert read(options(where, **asked)) == [
        {"correlation_id": 0, "error": None, "bad": None},
        {"correlation_id": None, "error": "TRUNCATED", "bad": b"\0"},
        {"correlation_id": None, "error": None, "bad": None},
    ]
    assert len(read(options(where, mode="DROPMALFORMED"))) == 2
    with pytest.raises(Truncated):
        read(options(where, mode="FAILFAST"))


@pytest.fixture
def broken(folder: Path) -> Path:
    whole = (folder / f"a.{folder.name}").read_bytes()
    (folder / f"a.{folder.name}").write_bytes(whole[: len(whole) // 2])
    return folder


def test_a_file_that_is_cut(broken: Path) -> None:
    with pytest.raises(InputError, match=r"a\.(parquet|arrow) cannot be read"):
        read(options(broken))
    found = read(options(broken, columns="correlation_id", ignoreCorruptFiles="true"))
    assert [row["correlation_id"] for row in found] == list(range(700, 1000))


def test_files_whose_columns_differ(folder: Path) -> None:
    pq.write_table(pa.table({"other": [1]}), folder / "c.parquet") if folder.name == "parquet" else None
    if folder.name == "arrow":
        with pa.OSFile(str(folder / "c.arrow"), "wb") as sink, pa.ipc.new_file(sink, pa.schema([("other", pa.int64())])) as writer:
            writer.write_batch(pa.RecordBatch.from_pydict({"other": [1]}))
    with pytest.raises(InputError, match=r"c\.\w+ has no column 'value'"):
        read(options(folder))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"source": "csv"}, "captures, parquet or arrow, not 'csv'"),
        ({"source": "captures"}, "column of the kwire data source needs source=parquet"),
        ({"source": "parquet"}, "name it with the option column"),
        ({"source": "parquet", "column": "value", "bodies": "yes"}, "true or false, not 'yes'"),
        ({"source": "parquet", "column": "value", "aggregate": "avg(x)"}, "not 'avg"),
        ({"source": "parquet", "column": "value", "table": "requests"}, "one of the options table and source"),
    ],
)
def test_options_that_make_no_sense(given: dict[str, str], reason: str) -> None:
    given = {"path": "nowhere"} | given
    if given["source"] == "captures":
        given["column"] = "value"
    with pytest.raises(InputError, match=reason):
        source_options(given)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"column": "frame"}, "no column 'frame'; it has id, day, value, unread"),
        ({"column": "unread"}, "holds int64, but frames must be binary"),
        ({"keep": "nothing"}, "no column 'nothing'"),
        ({"columns": "api_key,topic"}, "Unknown column 'topic'"),
        ({"pathGlobFilter": "*.x", "keep": "id"}, "No file found, so the types of id are unknown"),
    ],
)
def test_columns_that_are_not_there(folder: Path, given: dict[str, str], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        schema_ddl(options(folder, **given))


def test_a_folder_without_such_files_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    reader = spark.read.format("kwire").option("source", "parquet").option("column", "value")
    with pytest.raises(PySparkException, match="holds no parquet file"):
        reader.load(str(tmp_path)).count()


def test_no_stream(tmp_path: Path) -> None:
    """Spark's own file stream follows such files."""
    with pytest.raises(InputError, match="follow parquet files with Spark"):
        KwireStreamReader(StructType().add("topic", StringType()), source_options({"path": "a", "source": "parquet", "column": "value"}))
