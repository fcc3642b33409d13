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


def test_every_class_is_there_and_the_first_of_a_title_with_its_bytes() -> None:
    lines = PAGE.read_text("utf-8").split("\n")
    first = {each.title: each for each in reversed(DIFFERENCES)}
    for title, each in first.items():
        assert f"## {title}" in lines
        assert each.example.data.hex() in "".join(lines)
