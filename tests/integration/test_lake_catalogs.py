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
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from kwire.spark.java import ensure_java
from kwire.tables.schemas import SCHEMAS
from other_sparks import installed
from pcap_files import pieces_of
from quick_spark import UNVERIFIED

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark-versions")]

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "tests" / "captures" / "data" / "topicids.pcap.gz"
PAGE = ROOT / "docs" / "how-to" / "query-tables.md"
# Statistics of columns, plans that adapt and code for each query are the engine's own business; with them it takes half as much again.
QUIET = """\
spark.ui.enabled false
spark.driver.host 127.0.0.1
spark.driver.bindAddress 127.0.0.1
spark.sql.shuffle.partitions 1
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
# A driver that finds the tables of an earlier one, brings them up to date and sees that.
LATER = """
import json, sys
from pyspark.sql import SparkSession
from kwire.cli.entry import commands
from kwire.tables.schemas import SCHEMAS

spark = SparkSession.builder.getOrCreate()
namespace, kind, *append = sys.argv[1:]

def found():
    history = f"SELECT * FROM {namespace}.requests.snapshots" if kind == "iceberg" else f"DESCRIBE HISTORY {namespace}.requests"
    fields = spark.table(f"{namespace}.requests").schema.fields
    dates = spark.sql(f"SELECT DISTINCT date, CAST(request_time AS DATE) AS day FROM {namespace}.requests").collect()
    counts = " UNION ALL ".join(f"SELECT '{table}', COUNT(*) FROM {namespace}.{table}" for table in SCHEMAS)  # each query costs seconds
    return {
        "rows": {row[0]: row[1] for row in spark.sql(counts).collect()},
        "versions": spark.sql(history).count(),
        "comment": {field.name: field.metadata.get("comment") for field in fields}["latency_us"],
        "dates": [row.date == row.day for row in dates],
        "provider": {row[0]: row[1] for row in spark.sql(f"DESCRIBE TABLE EXTENDED {namespace}.requests").collect()}["Provider"],
    }

before = found()
assert commands.run(["analyze", *append]) == 0
print("found", json.dumps([before, found()]))
"""


def recipe(kind: str) -> str:
    """The settings that the page gives for a catalog."""
    found = re.search(rf"```properties\n([^`]*\.{kind}\.[^`]*)```", PAGE.read_text("utf-8"))
    assert found is not None
    return found[1]


@pytest.mark.parametrize(("kind", "namespace"), [("iceberg", "lake.kafka"), ("delta", "kafka")])
def test_a_catalog_of_a_lake_is_kept_up_to_date(kind: str, namespace: str, tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    from kafka_jars import fetch

    jars = fetch(JARS[kind], ROOT / ".cache" / "lake-jars")
    settings = re.sub(r"(?m)^spark\.jars\.packages .*$", f"spark.jars {','.join(map(str, jars.values()))}", recipe(kind))
    settings = settings.replace("s3a://lake/warehouse", str(tmp_path / "warehouse"))
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(QUIET + settings)
    ensure_java()
    path = os.pathsep.join([str(installed("4.0.1")), str(ROOT / "src")])
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
    written = []
    ran("-m", "kwire", "analyze", str(pieces[0]), *options)
    written.append({table: ds.dataset(tmp_path / "out" / table).count_rows() for table in SCHEMAS})
    told = re.search(r"found (\[.*\])", ran("later.py", namespace, kind, *map(str, pieces), *options, "--append"))
    assert told is not None
    found = json.loads(told[1])
    written.append({table: ds.dataset(tmp_path / "out" / table).count_rows() for table in SCHEMAS})
    assert [each["rows"] for each in found] == written
    assert found[0]["rows"]["requests"] < found[1]["rows"]["requests"]
    assert found[0]["versions"] < found[1]["versions"]  # the rows of the first run are still in the history
    assert [each["provider"] for each in found] == [kind, kind]
    assert found[1]["dates"] == [True]
    assert found[1]["comment"]
