"""mypy and pyright on code that uses kwire: examples, and a file in which each wrong line says which error it has to be.

`reading_and_writing.py` states types with `assert_type`; a checker that no longer finds one of its faults reports the comment as unused.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TYPED = ["examples", "tests/integration/typed"]

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("types")]


def run(*command: str) -> str:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_mypy_accepts_what_is_right_and_nothing_else() -> None:
    assert "no issues found" in run("mypy", "--strict", "--config-file=", "--python-version=3.11", *TYPED)


def test_pyright_accepts_what_is_right_and_nothing_else() -> None:
    assert "0 errors, 0 warnings" in run("pyright", "--pythonpath", sys.executable)
