"""The page of a rehearsal: which command makes it, and what becomes of one that fails or has to stop."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from kwire.cli.entry import commands
from kwire.cli.rehearsal_page import RehearsalPage
from kwire.errors import InputError


def test_the_command(tmp_path: Path) -> None:
    page = RehearsalPage(str(tmp_path / "out"), "4.3")
    captures, analysis = str(tmp_path / "out" / "captures"), tmp_path / "out" / "analysis"
    first = page.command([9092, 9093])
    assert first[1:7] == ["-m", "kwire", "analyze", captures, "--out", str(analysis)]
    assert first[7:] == ["--engine", "local", "--target-release", "4.3", "--port", "9092", "--port", "9093"]
    analysis.mkdir()
    (analysis / "_SUCCESS").touch()
    assert page.command([]) == [*first[:11], "--append"]
    assert page.tap().file == captures + "/rehearsal.pcapng"


def test_it_is_made_again_and_again_and_a_stop_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    page, made = RehearsalPage(str(tmp_path), "4.3"), tmp_path / "made"
    scripts = iter(
        ["import sys; sys.exit('first')", f"open({str(made)!r}, 'w')", f"open({str(made)!r} + '2', 'w'); import time; time.sleep(600)"]
    )
    monkeypatch.setattr(page, "command", lambda ports: [sys.executable, "-c", next(scripts)])

    async def go() -> None:
        keeping = asyncio.ensure_future(page.keep_up([1], 0))
        while not (tmp_path / "made2").exists():
            await asyncio.sleep(0.02)
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping

    asyncio.run(asyncio.wait_for(go(), 60))
    assert made.exists()
    assert "the page was not made: first" in caplog.text
    monkeypatch.setattr(page, "command", lambda ports: [sys.executable, "-c", "import sys; sys.exit('nothing to read')"])
    with pytest.raises(InputError, match="the page was not made: nothing to read"):
        page.finish([])


@pytest.mark.parametrize("mode", [["--break"], []])
def test_out_goes_with_count(mode: list[str], tmp_path: Path) -> None:
    rehearse = ["--rehearse", "4.3", *mode] if mode else []
    result = CliRunner().invoke(commands, ["proxy", "--listen", ":1", "--broker", "b:1", *rehearse, "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert not (tmp_path / "out").exists()
