"""docs/reference/differences.md is what the classes of differences say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from other_decoders.differences import DIFFERENCES

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "differences.md"


def test_the_page_is_written_from_the_classes_as_they_are() -> None:
    made = subprocess.run([sys.executable, ROOT / "tools" / "build_differences_page.py", "--check"], check=False)
    assert made.returncode == 0, "run `python tools/build_differences_page.py`"


def test_every_class_is_there_with_its_bytes() -> None:
    lines = PAGE.read_text("utf-8").split("\n")
    for each in DIFFERENCES:
        assert f"## {each.title}" in lines
        assert "".join(lines).count(each.example.data.hex())
