"""The documentation site builds in strict mode: every page is in the navigation, every link and heading that is linked exists."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("build")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_options_come_from_the_commands_and_the_api_from_docstrings(site: Path) -> None:
    options = (site / "reference" / "options" / "index.html").read_text("utf-8")
    assert "--to" in options
    assert "--fail-on" in options
    api = (site / "reference" / "python" / "index.html").read_text("utf-8")
    assert "decode_request" in api
    assert "map_frames" in api


def test_pages_ask_no_other_host_for_fonts(site: Path) -> None:
    assert "fonts.googleapis.com" not in (site / "index.html").read_text("utf-8")
