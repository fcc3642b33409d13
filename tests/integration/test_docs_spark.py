"""The Python blocks of the pages about Spark, pasted into one Python in the order of their page."""

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

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark-processes")]


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("data-source", ["requests failed", "shop.orders"]),
        ("streaming", []),
        ("spark-functions", ["TRUNCATED", "billing-1", "OffsetCommit"]),
    ],
)
def test_blocks_run_as_they_are(page: str, shown: list[str], tmp_path: Path) -> None:
    text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text("utf-8")
    code = "\n".join(re.findall(r"^```py\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    (tmp_path / "kafka.pcap").write_bytes(gzip.decompress(SAMPLE.read_bytes()))
    (tmp_path / "captures").mkdir()
    (tmp_path / "captures" / SAMPLE.name).write_bytes(SAMPLE.read_bytes())
    # Spark's workers are `python3` of the PATH, which an activated environment leads
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-"], input=code, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    for each in shown:
        assert each in done.stdout
    if page == "streaming":
        assert list((tmp_path / "tables" / "requests").glob("*.parquet"))
