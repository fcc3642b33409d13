"""The Python blocks of README and the pages about Spark, pasted into one Python in the order of their page.

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


# Who runs the blocks that no test here runs, and why the others are not run. `python` blocks hold doctests (tests/lint).
ELSEWHERE = {
    ("README", "sh"): "test_readme_commands.py",
    ("clusters", "sh"): "test_cluster_shapes.py",
    ("object-stores", "py"): "test_object_stores.py",
    ("object-stores", "sh"): "test_object_stores.py",
    ("pipelines", "sh"): "test_readme_commands.py",
    ("query-tables", "properties"): "test_lake_catalogs.py",
    ("query-tables", "sh"): "test_readme_commands.py",
}
NOT_RUN = {
    ("README", "text"): "answers of commands and make's targets",
    ("executors", "text"): "an answer",
    ("pipelines", "yaml"): "steps of a workflow of GitHub, which is not here",
    ("query-tables", "text"): "names of files",
    ("spark-functions", "python"): "a doctest of the analyzer's types",
    ("spark-functions", "text"): "answers",
}
HERE = {"data-source", "streaming", "spark-functions", "query-tables", "executors"}


def blocks_of(page: str) -> list[tuple[str, str]]:
    path = ROOT / "README.md" if page == "README" else ROOT / "docs" / "how-to" / f"{page}.md"
    return re.findall(r"^```(\w+)[^\n]*\n(.*?)^```$", path.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_each_block_is_run_or_says_why_not() -> None:
    pages = ["README", *HERE, "clusters", "pipelines", "object-stores"]
    kinds = {(page, kind) for page in pages for kind, _ in blocks_of(page)}
    here = {(page, "py") for page in HERE} | {("README", "python")}
    assert kinds - here == ELSEWHERE.keys() | NOT_RUN.keys()
    for (page, _), name in ELSEWHERE.items():
        assert f"{page}.md" in (ROOT / "tests" / "integration" / name).read_text("utf-8")


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
        ("executors", ["2 executors with kwire", "app asks for orders"]),
        ("README", ["Metadata", "MetadataRequest(topics=None"]),
    ],
)
def test_blocks_run_as_they_are(page: str, shown: list[str], folder: Path) -> None:
    blocks = [code for kind, code in blocks_of(page) if kind == "py" or (kind == "python" and page == "README")]
    if page == "executors":  # Spark starts this cluster by itself
        blocks[0] = blocks[0].replace("spark://host:7077", "local-cluster[2,1,1024]")
    if page == "query-tables":  # the rest of it runs in test_readme_commands.py and test_lake_catalogs.py
        blocks = [block for block in blocks if "pyspark" in block]
        analyze = [sys.executable, "-m", "kwire", "analyze", str(SAMPLE), "--out", "report/", "--engine", "local"]
        subprocess.run(analyze, cwd=folder, capture_output=True, timeout=600, check=True)
    code = "\n".join(blocks)
    assert code
    (folder / "examples").symlink_to(ROOT / "examples") if page == "README" else None
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
