"""An analysis as tables of Spark's own catalog: on the folder, copied by date, again after --append, and never over another's table."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from pyspark.sql import SparkSession

from kwire.errors import InputError
from kwire.runs.job_request import JobRequest
from kwire.spark.catalog_tables import DATED, register_tables
from kwire.spark.job import run_job
from kwire.tables.column_comments import comment_of
from kwire.tables.dates import BEGINS
from kwire.tables.schemas import SCHEMAS
from pcap_files import pieces_of

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark")]

DATA = Path(__file__).parents[1] / "captures" / "data"


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("in")
    paths = [folder / f"trace_{number:05d}.pcap" for number in range(2)]
    for path, data in zip(paths, pieces_of(gzip.decompress((DATA / "topicids.pcap.gz").read_bytes()), 2), strict=True):
        path.write_bytes(data)
    return paths


def analyzed(files: list[Path], out: Path, **more: Any) -> str:
    run_job(JobRequest(inputs=tuple(map(str, files)), out=str(out), engine="local", **more))
    return str(out)


def counts(spark: SparkSession, namespace: str, tables: Iterable[str] = SCHEMAS) -> dict[str, int]:
    # one query: each costs Spark more than it takes to count
    found = spark.sql(" UNION ALL ".join(f"SELECT '{table}', COUNT(*) FROM {namespace}.{table}" for table in tables)).collect()
    return {row[0]: row[1] for row in found}


def written(out: str, tables: Iterable[str] = SCHEMAS) -> dict[str, int]:
    return {table: ds.dataset(f"{out}/{table}").count_rows() for table in tables}


def assert_left_alone(spark: SparkSession, out: str, namespace: str) -> None:
    """A namespace where somebody has a table of that name gets none; after that it has no tables at all."""
    spark.sql(f"CREATE NAMESPACE {namespace}")
    spark.sql(f"CREATE TABLE {namespace}.requests (mine INT) USING parquet")
    with pytest.raises(InputError, match=rf"the table {namespace}\.requests is there already and is not of an analysis"):
        register_tables(spark, out, namespace)
    assert spark.table(f"{namespace}.requests").columns == ["mine"]
    assert not spark.catalog.tableExists(f"{namespace}.captures")
    spark.sql(f"DROP TABLE {namespace}.requests")


@pytest.mark.parametrize("partition_by", [None, "date"])
def test_tables_follow_the_folder_and_no_other(spark: SparkSession, pieces: list[Path], partition_by: str | None, tmp_path: Path) -> None:
    namespace = f"kafka_{partition_by}"
    out = analyzed(pieces[:1], tmp_path / "out")
    try:
        if partition_by is None:  # what somebody else has there is looked at before anything is written, whichever way
            assert_left_alone(spark, out, namespace)
        assert register_tables(spark, out, namespace, partition_by) == [f"{namespace}.{table}" for table in SCHEMAS]
        if partition_by is None:
            other = analyzed(pieces[:1], tmp_path / "other")
            with pytest.raises(InputError, match=r"is of file:///.*/out; choose another --catalog"):
                register_tables(spark, other, namespace)
        before = written(out)
        assert counts(spark, namespace) == before
        analyzed(pieces, tmp_path / "out", append=True)
        register_tables(spark, out, namespace, partition_by)
        assert counts(spark, namespace) == written(out) != before
        columns = {field.name: field for field in spark.table(f"{namespace}.requests").schema}
        assert columns["latency_us"].metadata["comment"] == comment_of("requests", "latency_us")
        assert ("date" in columns) == (partition_by == "date")
        if partition_by:
            assert columns["date"].metadata["comment"] == "day of the row [UTC]"
            rows = spark.sql(f"SELECT DISTINCT date, CAST(hour AS STRING) hour FROM {namespace}.client_hourly").collect()
            assert {str(row.date) for row in rows} == {row.hour[:10] for row in rows}  # the session is in UTC
            assert set(DATED) < set(SCHEMAS)
    finally:
        spark.sql(f"DROP NAMESPACE {namespace} CASCADE")
    assert written(out)["requests"]  # the files of the analysis stay


@pytest.mark.parametrize("partition_by", [None, "date"])
def test_tables_of_a_folder_by_date(
    spark: SparkSession, pieces: list[Path], partition_by: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of its tables: those whose parts lie in folders of dates, one that has a date in catalogs alone, one that has none."""
    tables = (*BEGINS, "client_hourly", "captures")
    monkeypatch.setattr("kwire.spark.catalog_tables.SCHEMAS", {table: SCHEMAS[table] for table in tables})
    namespace = f"dated_{partition_by}"
    out = analyzed(pieces[:1], tmp_path / "out", partition_by="date")
    try:
        register_tables(spark, out, namespace, partition_by)
        analyzed(pieces, tmp_path / "out", append=True, partition_by="date")
        register_tables(spark, out, namespace, partition_by)
        assert counts(spark, namespace, tables) == written(out, tables)
        rows = spark.sql(f"SELECT DISTINCT date, CAST(request_time AS DATE) day FROM {namespace}.requests").collect()
        assert rows
        assert all(row.date == row.day for row in rows)  # the session is in UTC
        assert "date" in spark.table(f"{namespace}.telemetry").columns
    finally:
        spark.sql(f"DROP NAMESPACE {namespace} CASCADE")
    assert written(out)["requests"]


def test_spark_writes_and_reads_folders_by_date(spark: SparkSession, pieces: list[Path], tmp_path: Path) -> None:
    local = analyzed(pieces, tmp_path / "local", partition_by="date")
    run_job(JobRequest(inputs=tuple(map(str, pieces)), out=str(tmp_path / "spark"), engine="spark", partition_by="date"))
    names = SCHEMAS["requests"].names
    mine, theirs = (spark.read.parquet(f"{folder}/requests") for folder in (local, tmp_path / "spark"))
    assert mine.columns == [*names, "date"]
    assert sorted(map(str, mine.collect())) == sorted(map(str, theirs.collect()))


def test_what_cannot_be_registered(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no complete analysis"):
        register_tables(spark, str(tmp_path), "nothing")
    with pytest.raises(InputError, match="partitioned by date, not by hour"):
        register_tables(spark, str(tmp_path), "nothing", "hour")
