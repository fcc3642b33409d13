"""Has one Java load what the Sparks of tests load; `quick_spark.py` runs it to write an archive of these classes.

Run with a version of PySpark of its own: `python spark_training.py CAPTURE FOLDER`, with `--catalog` for one that has catalogs on disk in
the tests too, and with `--whole` for that of the environment, of which there are clusters and Spark Connect as well. What a class is used
for does not matter, only that it is loaded.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, Final

import pyspark
from pyspark.sql import SparkSession

import kwire.spark.session as session

FEATURES: Final = Path(__file__).parent / "integration" / "spark_features.py"
# The features that load what others do not
FEW: Final = ("analyze", "map_frames", "batch_source", "stream_source")
# What a Java of its own is in a cluster, in the jar of Spark's core
PROCESSES: Final = tuple(f"org/apache/spark/{name}/" for name in ("deploy/client", "deploy/master", "deploy/worker", "executor"))
CLIENT: Final = """
import sys
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.range(3).select(udf(str)("id")).show()
spark.createDataFrame([(1, b"x")], "number INT, bytes BINARY").collect()
"""


def daemons(java: Any, folder: Path) -> None:
    """A master and a worker, and what executors have beside what a driver has."""
    module = getattr(java.org.apache.spark.deploy, "LocalSparkCluster$").__getattr__("MODULE$")
    cluster = module.apply(1, 1, 512, java.org.apache.spark.SparkConf())
    cluster.start()
    cluster.stop()
    (jar,) = (Path(pyspark.__file__).parent / "jars").glob("spark-core_*.jar")
    loader = java.java.lang.Thread.currentThread().getContextClassLoader()
    for name in zipfile.ZipFile(jar).namelist():
        if name.startswith(PROCESSES) and name.endswith(".class"):
            java.java.lang.Class.forName(name.removesuffix(".class").replace("/", "."), False, loader)
    with zipfile.ZipFile(folder / "some.zip", "w") as archive:
        archive.writestr("name", "content")
    java.org.apache.hadoop.fs.FileUtil.unZip(java.java.io.File(str(folder / "some.zip")), java.java.io.File(str(folder / "unpacked")))


def catalog(folder: Path, **more: str) -> SparkSession:
    """A session with a catalog on disk, which was used."""
    from pyspark import SparkConf

    os.environ["PYSPARK_PYTHON"] = sys.executable
    derby = f"jdbc:derby:;databaseName={folder}/metastore;create=true"
    settings = {
        **session.LOCAL_SETTINGS,
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": derby,
        **more,
    }
    spark = SparkSession.builder.config(conf=SparkConf().setMaster("local[1]").setAll(list(settings.items()))).getOrCreate()
    spark.sql("CREATE DATABASE tables")
    spark.range(9).selectExpr("id", "CAST(id AS STRING) text").write.parquet(str(folder / "written"))
    spark.catalog.createTable("tables.written", str(folder / "written"), "parquet")
    spark.sql("ALTER TABLE tables.written SET TBLPROPERTIES ('a' = 'b')")
    spark.table("tables.written").groupBy("text").count().collect()
    return spark


def sessions(folder: Path) -> None:
    """A catalog on disk, and a client of Spark Connect."""
    plugin = "org.apache.spark.sql.connect.SparkConnectPlugin"
    spark = catalog(folder, **{"spark.plugins": plugin, "spark.connect.grpc.binding.port": "0"})
    java: Any = spark._jvm
    service = getattr(java.org.apache.spark.sql.connect.service, "SparkConnectService$").__getattr__("MODULE$")
    subprocess.run([sys.executable, "-c", CLIENT, f"sc://127.0.0.1:{service.localPort()}"], check=True, timeout=600)
    spark.stop()


def main(capture: str, folder: Path, more: str = "") -> None:
    """Load classes until the Java ends, which then writes the archive."""
    session._JAVA_SECONDS = 600  # type: ignore[misc]
    features = runpy.run_path(str(FEATURES))["main"]
    end, session._end_java = session._end_java, lambda: None
    try:
        if more != "--whole":
            features(Path(capture), folder)
            if more:
                catalog(folder).stop()
            return
        features(Path(capture), folder, *FEW)
        java: Any = pyspark.SparkContext._gateway.jvm  # type: ignore[union-attr]
        daemons(java, folder)
        sessions(folder)
    finally:
        end()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
