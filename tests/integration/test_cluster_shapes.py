"""Recipes of docs/how-to/clusters.md as far as one machine can try them: YARN, the command for Kubernetes, a catalog on disk."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pyarrow.dataset as ds
import pyspark
import pytest

from kwire import analysis
from kwire.spark.java import ensure_java
from pcap_files import pieces_of
from standalone_cluster import bare_python, end_with_parent

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark-processes")]

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
PAGE = (ROOT / "docs" / "how-to" / "clusters.md").read_text("utf-8")
DATA = TESTS / "captures" / "data"
INPUTS = [str(DATA / name) for name in ("topicids.pcap.gz", "seed.pcap.gz")]
# What Hadoop's classes for tests need beside Spark's jars.
BESIDE_HADOOP = [
    ("org.junit.jupiter:junit-jupiter-api", "5.12.2"), ("org.junit.platform:junit-platform-commons", "1.12.2"),
    *((f"org.bouncycastle:{part}-jdk18on", "1.82") for part in ("bcprov", "bcutil", "bcpkix")),
]  # fmt: skip
LOCAL = {"spark.master": "local-cluster[2,1,1024]", "spark.executor.cores": "1"}
QUIET = (TESTS / "spark" / "spark-defaults.conf").read_text() + "spark.driver.host 127.0.0.1\nspark.driver.bindAddress 127.0.0.1\n"


def environment(folder: Path, defaults: str) -> dict[str, str]:
    conf = folder / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text(QUIET + defaults)
    ensure_java()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "SPARK_CONF_DIR": str(conf), "SPARK_HOME": str(Path(pyspark.__file__).parent), "PATH": path}


def ran(*command: str, folder: Path, env: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def recipe(cluster: str, **places: str) -> str:
    """The shell block of the page for a kind of cluster, with the places of this machine instead of its own."""
    block = re.search(rf"^## {cluster}\n.*?^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert block is not None
    for place in places:
        assert place in block[1]
    return reduce(lambda text, place: text.replace(*place), places.items(), block[1])


def assert_analyzed(out: Path) -> None:
    for table, expected in analysis.run(INPUTS).items():
        assert ds.dataset(out / table, format="parquet").count_rows() == len(expected), table
    assert (out / "report.html").exists()


@pytest.fixture
def captures(tmp_path: Path) -> str:
    folder = tmp_path / "captures"
    folder.mkdir()
    for name in INPUTS:
        (folder / Path(name).name).symlink_to(name)
    return folder.as_uri()


@pytest.fixture
def yarn(tmp_path: Path) -> Iterator[str]:
    """A resource manager and a node manager in a process; the folder of their configuration."""
    from kafka_jars import fetch

    ensure_java()
    jars = Path(pyspark.__file__).parent / "jars"
    (api,) = jars.glob("hadoop-client-api-*.jar")
    hadoop = ("org.apache.hadoop:hadoop-client-minicluster", api.stem.rpartition("-")[2])
    paths = [*map(str, fetch([hadoop, *BESIDE_HADOOP], ROOT / ".cache" / "hadoop-jars").values()), f"{jars}/*"]
    folder = tmp_path / "hadoop"
    folder.mkdir()
    java = ["java", "-Xmx512m", f"-Dtest.build.data={folder}", "--add-opens=java.base/java.lang=ALL-UNNAMED", "-cp", os.pathsep.join(paths)]
    command = [*java, str(TESTS / "integration" / "java" / "YarnCluster.java"), str(folder / "yarn-site.xml")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, preexec_fn=end_with_parent, text=True
        )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", (folder / "log").read_text()
        yield str(folder)
        process.communicate("")


def test_recipe_of_yarn(yarn: str, captures: str, tmp_path: Path) -> None:
    """Nodes whose Python has no kwire: `--archives kwire.zip#kwire` unpacks it into their folders."""
    nodes, out = str(bare_python(tmp_path / "bare")), tmp_path / "out"
    places = {"/etc/hadoop/conf": yarn, "/opt/python/bin/python3": nodes, "hdfs:///captures/": captures}
    block = recipe("YARN", **places, **{"hdfs:///reports/september/": out.as_uri()})
    ran("sh", "-ec", block, folder=tmp_path, env=environment(tmp_path, "spark.executor.instances 1\n"))
    assert_analyzed(out)


def test_recipe_of_kubernetes(captures: str, tmp_path: Path) -> None:
    """Its settings and its command, with executors of this machine in place of pods."""
    settings, out = "deploy/kubernetes/spark-defaults.conf", tmp_path / "out"
    here = re.sub(r"(?m)^spark\.(?:kubernetes|submit|executor\.instances).*\n", "", (ROOT / settings).read_text())
    here = re.sub(r"(?m)^(spark\.master|spark\.executor\.cores) .*", lambda line: f"{line[1]} {LOCAL[line[1]]}", here)
    env = environment(tmp_path, "")
    (tmp_path / "pods.conf").write_text(QUIET + here)
    places = {settings: str(tmp_path / "pods.conf"), "s3://captures/2026-09/": captures, "s3://reports/2026-09/": out.as_uri()}
    _image, submit = recipe("Kubernetes", **places).split("\n", 1)
    ran("sh", "-ec", submit, folder=tmp_path, env=env | {"PYSPARK_PYTHON": sys.executable})
    assert_analyzed(out)


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
