"""The page of the column functions has every function; test_docs_blocks.py reads its code."""

from __future__ import annotations

import re
from pathlib import Path

import kwire.spark

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "how-to" / "spark-functions.md").read_text("utf-8")


def test_the_table_has_every_function():
    table = set(re.findall(r"^\| `(\w+)\(", PAGE, re.MULTILINE))
    session = {"convert", "doctor", "open_session", "prepare", "register_tables", "run_job", "ship", "write_archive"}
    assert table == {name for name in kwire.spark.__all__ if name[0].islower()} - session
