"""What works in the Spark of the environment is what docs/reference/spark-versions.md says (other versions: test_spark_versions.py)."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from other_sparks import documented, yes_or_no
from script_modules import module_of

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark")]

CAPTURE = Path(__file__).parents[1] / "captures" / "data" / "topicids.pcap.gz"


def test_the_table_of_versions(spark: SparkSession, tmp_path: Path) -> None:
    capture = tmp_path / "trace.pcap"
    capture.write_bytes(gzip.decompress(CAPTURE.read_bytes()))
    features = module_of(Path(__file__).with_name("spark_features.py"))
    before = {name: spark.conf.get(name) for name in features.CODEGEN}
    try:
        for name, value in features.CODEGEN.items():
            spark.conf.set(name, value)
        found = features.tried(spark, capture, tmp_path / "out")
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    assert yes_or_no(found) == documented(pyspark.__version__), found
