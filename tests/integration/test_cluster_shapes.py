"""Recipes of docs/how-to/clusters.md as far as one machine can try them: kwire as an archive for executors, a catalog on disk."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.dataset as ds
import pyspark
import pytest

from kwire import analysis
from kwire.spark import write_archive
from kwire.spark.java import ensure_java
from pcap_files import pieces_of
from standalone_cluster import bare_python

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark-processes")]

TESTS = Path(__file__).parents[1]
DATA = TESTS / "captures" / "data"
INPUTS = [str(DATA / name) for name in ("topicids.pcap.gz", "seed.pcap.gz")]
QUIET = (TESTS / "spark" / "spark-defaults.conf").read_text() + "spark.driver.host 127.0.0.1\nspark.driver.bindAddress 127.0.0.1\n"


def environment(folder: Path, defaults: str) -> dict[str, str]:
    conf = folder / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text(QUIET + defaults)
    ensure_java()
    return {**os.environ, "SPARK_CONF_DIR": str(conf), "SPARK_HOME": str(Path(pyspark.__file__).parent), "PYTHONSAFEPATH": "1"}


def ran(*command: str, folder: Path, env: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_yarns_recipe_with_executors_that_get_kwire_as_an_archive(tmp_path: Path) -> None:
    """Two executors of 2048 MB whose Python has no kwire: `--archives kwire.zip#kwire` unpacks it into their folders, as on YARN."""
    write_archive(str(tmp_path / "kwire.zip"))
    app = tmp_path / "app.py"
    app.write_text("import sys\nfrom kwire.cli import main\nsys.argv[0] = 'kwire'\nsys.exit(main())\n")
    env = environment(tmp_path, "spark.executor.memory 1024m\nspark.executorEnv.PYTHONSAFEPATH 1\n")
    env |= {"PYSPARK_DRIVER_PYTHON": sys.executable, "PYSPARK_PYTHON": str(bare_python(tmp_path / "bare"))}
    submit = str(Path(env["SPARK_HOME"]) / "bin" / "spark-submit")
    out = tmp_path / "out"
    ran(
        submit, "--master", "local-cluster[2,1,2048]", "--archives", f"{tmp_path / 'kwire.zip'}#kwire", str(app),
        "analyze", *INPUTS, "--out", out.as_uri(), "--engine", "spark", "--json", folder=tmp_path, env=env,
    )  # fmt: skip
    for table, expected in analysis.run(INPUTS).items():
        assert ds.dataset(out / table, format="parquet").count_rows() == len(expected), table
    assert (out / "report.html").exists()


# A driver that finds the tables of an earlier one, brings them up to date and sees that.
LATER = """
import json, sys
from pyspark.sql import SparkSession
from kwire.cli.entry import commands

spark = SparkSession.builder.enableHiveSupport().getOrCreate()
found = lambda: [spark.table(f"kafka.{table}").count() for table in ("requests", "clients")]
before = found()
assert commands.run(["analyze", *sys.argv[1:]]) == 0
print("found", json.dumps([before, found()]))
"""


def written(out: Path) -> list[int]:
    return [ds.dataset(out / table, format="parquet").count_rows() for table in ("requests", "clients")]


def test_the_command_keeps_tables_of_a_catalog_up_to_date(tmp_path: Path) -> None:
    """A catalog on disk (Derby): registered by one command, read by another process, and up to date after --append."""
    import gzip

    pieces = [tmp_path / f"trace_{number:05d}.pcap" for number in range(2)]
    for path, data in zip(pieces, pieces_of(gzip.decompress(Path(INPUTS[0]).read_bytes()), 2), strict=True):
        path.write_bytes(data)
    env = environment(tmp_path, f"spark.sql.catalogImplementation hive\nspark.sql.warehouse.dir {tmp_path / 'warehouse'}\n")
    options = ("--out", "out", "--catalog", "kafka", "--json")
    ran(sys.executable, "-m", "kwire", "analyze", str(pieces[0]), *options, folder=tmp_path, env=env)
    counts = [written(tmp_path / "out")]
    env["PYSPARK_PYTHON"] = sys.executable  # the session is the driver's own, so kwire does not set it
    told = re.search(r"found (\[.*\])", ran(sys.executable, "-c", LATER, *map(str, pieces), *options, "--append", folder=tmp_path, env=env))
    assert told is not None
    counts.append(written(tmp_path / "out"))
    assert json.loads(told[1]) == counts
    assert counts[0][0] < counts[1][0]
