"""docs/internals/requirements.md is what the tests say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_made_from_the_tests_as_they_are() -> None:
    made = subprocess.run([sys.executable, ROOT / "tools" / "build_requirements_page.py", "--check"], check=False)
    assert made.returncode == 0, "run `python tools/build_requirements_page.py`"
