"""The Python blocks of the pages about Spark, pasted into one Python in the order of their page.

Each page has a Python of its own, which finds its Java as a program does that `spark-submit` runs. They have one Java in turn, which is
soon done with what it has done for an earlier page.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kwire.spark.java import ensure_java

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


@pytest.fixture(scope="module")
def java(folder: Path) -> Iterator[Any]:
    from pyspark.java_gateway import launch_gateway

    ensure_java()
    with pytest.MonkeyPatch.context() as patch, (folder / "java.log").open("wb") as log:
        # Spark's workers are `python3` of the PATH, which an activated environment leads
        patch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        gateway: Any = launch_gateway(popen_kwargs={"cwd": folder, "stdout": log, "stderr": log})  # type: ignore[no-untyped-call]
        try:
            patch.setenv("PYSPARK_GATEWAY_PORT", str(gateway.gateway_parameters.port))
            patch.setenv("PYSPARK_GATEWAY_SECRET", gateway.gateway_parameters.auth_token)
            yield gateway
        finally:
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait(60)


@pytest.fixture
def without_context(java: Any) -> Iterator[None]:
    yield
    active = getattr(getattr(java.jvm.org.apache.spark, "SparkContext$"), "MODULE$").getActive()
    if active.isDefined():
        active.get().stop()


@pytest.mark.usefixtures("without_context")
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
    done = subprocess.run([sys.executable, "-"], input=code, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr + (folder / "java.log").read_text("utf-8")
    for each in shown:
        assert each in done.stdout
    if page == "streaming":
        assert list((folder / "tables" / "requests").glob("*.parquet"))
