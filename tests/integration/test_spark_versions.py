"""What works in which other Spark: each version does what docs/reference/spark-versions.md says, no less and no more.

PySpark 3.5 and 4.0 are installed beside the environment, into `.cache/pyspark-VERSION`, on the first run; everything else they share. That
of the environment is in test_spark_features.py.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from other_sparks import OTHERS, documented, installed, yes_or_no

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "tests" / "captures" / "data" / "topicids.pcap.gz"

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark-versions")]


@pytest.mark.parametrize("version", OTHERS)
def test_the_table_of_versions(version: str, tmp_path: Path) -> None:
    capture = tmp_path / "trace.pcap"
    capture.write_bytes(gzip.decompress(CAPTURE.read_bytes()))
    path = [str(installed(version)), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
    program = Path(__file__).with_name("spark_features.py")
    done = subprocess.run(
        (sys.executable, program, capture, tmp_path / "out"), env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found.pop("version") == version
    assert yes_or_no(found) == documented(version), found


def test_what_the_package_asks_for_is_what_was_tried() -> None:
    asked = re.search(r'^spark = \[.*"pyspark>=([\d.]+),', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert asked is not None
    assert min(OTHERS).startswith(asked[1])
