"""`kwire report`: the page made anew, and the summary on the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

from click.testing import CliRunner, Result

from kwire.cli.entry import commands


def run(*arguments: str) -> Result:
    return CliRunner().invoke(commands, ["report", *arguments])


def test_the_page_is_written_and_the_summary_printed(analyzed: Path) -> None:
    result = run(str(analyzed))
    assert result.exit_code == 0, result.stderr
    assert (analyzed / "report.html").read_text().startswith("<!doctype html>")
    assert result.stdout.startswith("✕ 3 of 8 applications break on Kafka 4.0, 1 more may (brokers run 3.9).")
    assert "Breaks: needs a fix before the brokers are upgraded" in result.stdout
    assert "Unknown: may break, the captures do not show enough" in result.stdout
    assert "Libraries, worst first" in result.stdout
    assert result.stdout.rstrip().endswith("report.html")


def test_the_summary_as_json_leaves_the_page_alone(analyzed: Path) -> None:
    result = run(str(analyzed), "--json")
    summary = json.loads(result.stdout)
    assert {line["release"] for line in summary["targets"]} >= {"4.3.1"}
    assert not (analyzed / "report.html").exists()


def test_hostile_clients_do_not_reach_the_terminal_raw(tmp_path: Path, analysis_tables: ModuleType) -> None:
    # as client ids and as software names, in versions that 4.x rejects, so that every part of the summary shows them
    hostile = [analysis_tables.Used(text, text, text, versions=analysis_tables.JAVA_09) for text in analysis_tables.HOSTILE_IDS]
    result = run(str(analysis_tables.write_tables(tmp_path / "out", analysis_tables.tables_of(hostile))))
    assert result.exit_code == 0, result.stderr
    assert all(character.isprintable() or character == "\n" for character in result.stdout)
    assert "\\x1b[31mred" in result.stdout
