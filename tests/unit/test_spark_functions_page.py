"""The page of the column functions shows what its example, which runs in a Spark session, does."""

from __future__ import annotations

import re
from pathlib import Path

import kwire.spark

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "spark-functions.md").read_text("utf-8")


def test_code_of_the_page_stands_in_its_example():
    example = (ROOT / "examples" / "spark_functions.py").read_text("utf-8").splitlines()
    blocks = re.findall(r"^```py\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == PAGE.count("```py\n") > 3
    for line in "".join(blocks).splitlines():
        assert line in example


def test_the_table_has_every_function():
    table = set(re.findall(r"^\| `(\w+)\(", PAGE, re.MULTILINE))
    session = {"doctor", "ensure_java", "open_session", "run_job", "ship", "write_archive"}
    assert table == {name for name in kwire.spark.__all__ if name[0].islower()} - session
