"""The Python blocks of the pages about Spark, pasted into one Python in the order of their page.

Each page has a Python of its own, which no environment on the PATH leads: `kwire.spark.prepare` names it to Spark's workers.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "upgrade-fleet.pcap.gz"

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark-processes")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("pages")
    (found / "kafka.pcap").write_bytes(gzip.decompress(SAMPLE.read_bytes()))
    (found / "captures").mkdir()
    (found / "captures" / SAMPLE.name).write_bytes(SAMPLE.read_bytes())
    return found


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("data-source", ["requests failed", "shop.orders"]),
        ("streaming", []),
        ("spark-functions", ["TRUNCATED", "billing-1", "OffsetCommit"]),
        ("query-tables", ["orders"]),
    ],
)
def test_blocks_run_as_they_are(page: str, shown: list[str], folder: Path) -> None:
    text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text("utf-8")
    blocks = re.findall(r"^```py\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    if page == "query-tables":  # the rest of it runs in test_readme_commands.py and test_lake_catalogs.py
        blocks = [block for block in blocks if "pyspark" in block]
        analyze = [sys.executable, "-m", "kwire", "analyze", str(SAMPLE), "--out", "report/", "--engine", "local"]
        subprocess.run(analyze, cwd=folder, capture_output=True, timeout=600, check=True)
    code = "\n".join(blocks)
    assert code
    own = Path(sys.executable).parent
    path = os.pathsep.join(each for each in os.environ["PATH"].split(os.pathsep) if Path(each) != own)
    done = subprocess.run(
        [sys.executable, "-"], input=code, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for each in shown:
        assert each in done.stdout
    if page == "streaming":
        assert list((folder / "tables" / "requests").glob("*.parquet"))
