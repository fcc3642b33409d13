"""The tables of an analysis in the catalogs of Iceberg and Delta, by the recipes of docs/how-to/query-tables.md.

Their jars are for Spark 4.0, which is installed beside the environment (`other_sparks`); Maven fetches them into `.cache/lake-jars`.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from kwire.spark.java import ensure_java
from kwire.tables.schemas import SCHEMAS
from other_sparks import LAKES, installed
from pcap_files import pieces_of
from quick_spark import UNVERIFIED

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark-versions")]

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "tests" / "captures" / "data" / "topicids.pcap.gz"
PAGE = ROOT / "docs" / "how-to" / "query-tables.md"
# Statistics of columns, plans that adapt and code for each query are the engine's own business; with them it takes half as much again.
QUIET = """\
spark.ui.enabled false
spark.driver.host 127.0.0.1
spark.driver.bindAddress 127.0.0.1
spark.sql.shuffle.partitions 1
spark.sql.extensions.test.loadFromCp false
spark.sql.adaptive.enabled false
spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
spark.databricks.delta.snapshotPartitions 1
spark.databricks.delta.stats.collect false
"""
JARS = {
    "iceberg": [("org.apache.iceberg:iceberg-spark-runtime-4.0_2.13", "1.10.0")],
    "delta": [("io.delta:delta-spark_2.13", "4.0.0"), ("io.delta:delta-storage", "4.0.0")],
}
# A driver that finds the tables of an earlier one, brings some of them up to date and sees that. Each query costs seconds, and to overwrite
# one table is what it is for any other: one by date, one without, and one that has no rows.
LATER_TABLES = ("requests", "clients", "telemetry")
LATER = """
import json, sys
from pyspark.sql import SparkSession
from kwire.cli.entry import commands
from kwire.spark import catalog_tables

namespace, kind, tables, *append = sys.argv[1:]
catalog_tables.SCHEMAS = {table: catalog_tables.SCHEMAS[table] for table in tables.split(",")}
spark = SparkSession.builder.getOrCreate()

def found(table):
    described = {row[0]: row[1] for row in spark.sql(f"DESCRIBE TABLE EXTENDED {namespace}.{table}").collect()}
    return {"rows": spark.table(f"{namespace}.{table}").count(), "provider": described["Provider"]}

before = {table: found(table) for table in catalog_tables.SCHEMAS}
assert commands.run(["analyze", *append]) == 0
after = {table: found(table) for table in before}
history = f"SELECT * FROM {namespace}.requests.snapshots" if kind == "iceberg" else f"DESCRIBE HISTORY {namespace}.requests"
dates = spark.sql(f"SELECT DISTINCT date, CAST(request_time AS DATE) AS day FROM {namespace}.requests").collect()
fields = spark.table(f"{namespace}.requests").schema.fields
print("found", json.dumps({
    "before": before,
    "after": after,
    "tables": [row.tableName for row in spark.sql(f"SHOW TABLES IN {namespace}").collect()],
    "versions": spark.sql(history).count(),
    "comment": {field.name: field.metadata.get("comment") for field in fields}["latency_us"],
    "dates": [row.date == row.day for row in dates],
}))
"""


@pytest.fixture(scope="module")
def jars() -> dict[tuple[str, str], Path]:
    sys.path.insert(0, str(ROOT / "tools"))
    from kafka_jars import fetch

    return fetch([each for kind in JARS.values() for each in kind], ROOT / ".cache" / "lake-jars")


def rows_of_iceberg(table: Path) -> int:
    folder = table / "metadata"
    metadata = json.loads((folder / f"v{(folder / 'version-hint.text').read_text().strip()}.metadata.json").read_text())
    (newest,) = (each for each in metadata["snapshots"] if each["snapshot-id"] == metadata["current-snapshot-id"])
    return int(newest["summary"]["total-records"])


def rows_of_delta(table: Path) -> int:
    """The rows of the files that the log of a table has added and not removed again."""
    files: set[str] = set()
    for commit in sorted((table / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        files -= {action["remove"]["path"] for action in actions if "remove" in action}
        files |= {action["add"]["path"] for action in actions if "add" in action}
    return sum(ds.dataset(table / name, format="parquet").count_rows() for name in files)


def recipe(kind: str) -> str:
    found = re.search(rf"```properties\n([^`]*\.{kind}\.[^`]*)```", PAGE.read_text("utf-8"))
    assert found is not None
    return found[1]


@pytest.mark.parametrize(("kind", "namespace"), [("iceberg", "lake.kafka"), ("delta", "kafka")])
def test_a_catalog_of_a_lake_is_kept_up_to_date(kind: str, namespace: str, jars: dict[tuple[str, str], Path], tmp_path: Path) -> None:
    settings = re.sub(r"(?m)^spark\.jars\.packages .*$", f"spark.jars {','.join(str(jars[each]) for each in JARS[kind])}", recipe(kind))
    settings = settings.replace("s3a://lake/warehouse", str(tmp_path / "warehouse"))
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(QUIET + settings)
    ensure_java()
    path = os.pathsep.join([str(installed(LAKES)), str(ROOT / "src")])
    env = {**os.environ, "SPARK_CONF_DIR": str(tmp_path / "conf"), "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable}
    env["SPARK_SUBMIT_OPTS"] += f" {UNVERIFIED}"

    def ran(*command: str) -> str:
        done = subprocess.run((sys.executable, *command), cwd=tmp_path, env=env, capture_output=True, text=True, timeout=1800, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    pieces = [tmp_path / f"trace_{number:05d}.pcap" for number in range(2)]
    for piece, data in zip(pieces, pieces_of(gzip.decompress(CAPTURE.read_bytes()), 2), strict=True):
        piece.write_bytes(data)
    (tmp_path / "later.py").write_text(LATER)
    options = ("--out", "out", "--catalog", namespace, "--partition-by", "date", "--no-report", "--json")
    # To count the rows of a table costs each engine a job; what the tables' own files say of the newest version costs nothing.
    tables = tmp_path / "warehouse" / {"iceberg": "kafka", "delta": "kafka.db"}[kind]
    rows_of = {"iceberg": rows_of_iceberg, "delta": rows_of_delta}[kind]

    def written(names: Iterable[str]) -> dict[str, int]:
        rows = {table: ds.dataset(tmp_path / "out" / table).count_rows() for table in names}
        assert {table: rows_of(tables / table) for table in names} == rows
        return rows

    ran("-m", "kwire", "analyze", str(pieces[0]), *options)
    first = written(SCHEMAS)
    told = re.search(r"found (\{.*\})", ran("later.py", namespace, kind, ",".join(LATER_TABLES), *map(str, pieces), *options, "--append"))
    assert told is not None
    found = json.loads(told[1])
    second = written(LATER_TABLES)
    for each, rows in (("before", first), ("after", second)):
        assert found[each] == {table: {"rows": rows[table], "provider": kind} for table in LATER_TABLES}
    assert first["requests"] < second["requests"]
    assert sorted(found["tables"]) == sorted(SCHEMAS)
    assert found["versions"] > 1  # the rows of the first run are still in the history
    assert found["dates"] == [True]
    assert found["comment"]
