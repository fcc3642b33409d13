"""`spark.read.format("kwire")` in a Spark session, as a user meets it: found by its name, options, SQL, schemas, errors."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kwire.analysis import run
from kwire.spark.source.data_source import KwireDataSource
from kwire.tables import from_capture

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "captures" / "data"
FLEET = str(ROOT / "examples" / "upgrade-fleet.pcap.gz")
PAGE = (ROOT / "docs" / "how-to" / "data-source.md").read_text("utf-8")


@pytest.mark.matrix
def test_rows_of_a_capture(spark: SparkSession) -> None:
    """Nothing is registered, and what Spark says of types is what the tables say."""
    requests = spark.read.format("kwire").load(FLEET)
    expected = from_capture(FLEET)
    assert requests.toArrow().drop_columns("series").equals(expected.drop_columns("series"))
    assert spark.read.format("KWIRE").option("table", "brokers").load(FLEET).toArrow().equals(run([str(FLEET)])["brokers"])


def test_messages(spark: SparkSession) -> None:
    fields = "topics.name,topics.partitions.leader_id"
    reader = spark.read.format("kwire").option("message", "MetadataResponse").option("version", 1).option("fields", fields)
    leaders = reader.load(FLEET)
    requests = spark.read.format("kwire").load(FLEET)
    joined = leaders.join(requests, ["series", "connection_id", "request_index"])
    rows = (
        joined.where("`topics.partitions.leader_id` IS NOT NULL")
        .select("api_name", "api_version", "`topics.partitions.leader_id`")
        .collect()
    )
    assert {tuple(row) for row in rows} == {("Metadata", 1, 3)}  # the one broker of the capture is node 3


@pytest.mark.matrix
def test_sql_lists_and_a_schema_of_ones_own(spark: SparkSession) -> None:
    seed, late = (str(DATA / f"{name}.pcap.gz") for name in ("seed", "late-join"))
    spark.sql(f"CREATE TEMPORARY VIEW both USING kwire OPTIONS (path '{DATA}/[sl][ea][et]*.pcap.gz', table 'captures')")
    counted = {row.capture: row.requests for row in spark.sql("SELECT capture, requests FROM both").collect()}
    assert counted == {each: from_capture(each, "captures")["requests"][0].as_py() for each in (seed, late)}
    read = spark.read.format("kwire").schema("api_name STRING, request_time TIMESTAMP").load([seed, late])
    assert read.columns == ["api_name", "request_time"]
    assert read.count() == sum(from_capture(each).num_rows for each in (seed, late))


@pytest.mark.matrix
def test_conditions_go_to_the_reader_and_spark_checks_them(spark: SparkSession) -> None:
    reader = spark.read.format("kwire").option("pushFilters", "true")
    with pytest.raises(PySparkException, match="DATA_SOURCE_PUSHDOWN_DISABLED"):
        reader.load(FLEET).where("api_key = 3").count()
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        condition = "api_key IN (1, 3) AND client_id LIKE 'a%' AND request_time > timestamp'2020-01-01' AND latency_us % 2 = 0"
        assert reader.load(FLEET).where(condition).count() == spark.read.format("kwire").load(FLEET).where(condition).count() > 0
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_errors_are_a_sentence(spark: SparkSession, tmp_path: Path) -> None:
    """What kwire says is the last line; above it Spark shows one place in Python at most."""
    no_capture = tmp_path / "a.pcap"
    no_capture.write_text("something else altogether")
    reader = spark.read.format("kwire")
    for said, work in (
        (r"has no table 'request'; its tables are captures,", lambda: spark.read.format("kwire").option("table", "request").load(FLEET)),
        (r"/nowhere\.pcap does not exist", lambda: reader.load("/nowhere.pcap").count()),
        (r"a\.pcap is not a capture file", lambda: reader.load(str(no_capture)).count()),
    ):
        with pytest.raises(PySparkException, match=said) as raised:
            work()
        told = str(raised.value).partition("JVM stacktrace")[0]
        assert len(re.findall(r'File ".*kwire/', told)) == 1


@pytest.mark.matrix
def test_it_can_be_registered_by_hand(spark: SparkSession) -> None:
    spark.dataSource.register(KwireDataSource)
    assert spark.read.format("kwire").option("columns", "api_key").load(str(DATA / "seed.pcap.gz")).columns == ["api_key"]


@pytest.mark.matrix
def test_the_example_of_the_page(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "read_captures.py"), run_name="__main__")
    said = capsys.readouterr().out
    rows = from_capture(FLEET).to_pylist()
    failed = sum((row["error_code"] or 0) != 0 or row["state"] == "unanswered" for row in rows)
    assert f"{failed} requests failed" in said
    assert "shop.orders" in said


def test_the_page_has_every_option() -> None:
    source = (ROOT / "src" / "kwire" / "spark" / "source" / "options.py").read_text("utf-8")
    known = set(re.findall(r'_taken\(given, "(\w+)"', source)) | set(re.findall(r'given\.pop\("(\w+)"', source)) - {"paths"}
    rows = [line.split(" | ")[0] for line in PAGE.splitlines() if line.startswith("| `")]
    told = {name.lower() for row in rows for name in re.findall(r"`(\w+)`", row)} | {"maxbytespertrigger", "maxfilespertrigger"}
    assert len(known) > 12
    assert {name.lower() for name in known} <= told
