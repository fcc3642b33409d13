"""docs/explanation/machines.md is what the tables of the machines say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_drawn_from_the_tables_as_they_are() -> None:
    made = subprocess.run([sys.executable, ROOT / "tools" / "build_machines_page.py", "--check"], check=False)
    assert made.returncode == 0, "run `python tools/build_machines_page.py`"


def test_every_machine_is_there() -> None:
    text = (ROOT / "docs" / "explanation" / "machines.md").read_text("utf-8")
    for title in ("## A negotiating client", "## A negotiating broker"):
        assert title in text
    assert text.count("```mermaid\nstateDiagram-v2\n") == text.count("\n## ")
