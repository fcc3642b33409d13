"""The pages for users of other libraries, both sides of each example; needs those libraries (the dependency group `peers`)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs" / "how-to"


@pytest.mark.parametrize("peer", ["kio", "kafka-python", "aiokafka"])
def test_both_sides_of_a_page_run(peer: str, tmp_path: Path) -> None:
    text = (DOCS / f"from-{peer}.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == text.count("```") // 2
    written = tmp_path / "examples.txt"
    written.write_text("\n".join(blocks), "utf-8")
    command = [sys.executable, "-m", "doctest", "-o", "ELLIPSIS", str(written)]
    done = subprocess.run(command, env={**os.environ, "KWIRE_PURE": "0"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_versions_that_the_pages_name_are_those_that_are_compared() -> None:
    groups = (DOCS.parents[1] / "pyproject.toml").read_text("utf-8")
    for peer in ("kio", "kafka-python", "aiokafka"):
        named = re.search(rf"pip install {peer}==([\d.]+)`", (DOCS / f"from-{peer}.md").read_text("utf-8"), re.MULTILINE)
        assert named is not None
        assert f'"{peer}=={named[1]}"' in groups
