"""Text, tables and JSON lines at the terminal."""

from __future__ import annotations

import io
import json
import logging
from datetime import datetime, timedelta, timezone

import click
import pytest
from click.testing import CliRunner
from rich.console import Console

from kwire.cli import tables
from kwire.cli.entry import commands
from kwire.cli.log_lines import LineFormatter
from kwire.cli.tables import Column, TablePrinter, print_table
from kwire.cli.terminal import INSTANT, json_line


def test_a_line_of_the_proxys_log_is_one_line_that_hides_nothing() -> None:
    record = logging.LogRecord("kwire.proxy", logging.WARNING, "", 0, "closed: %s", ("shop\u3164\n\x1b[2Jfake",), None)
    assert LineFormatter("%(levelname)s %(message)s").format(record) == "WARNING closed: shop\\u3164\\n\\x1b[2Jfake"


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    out = io.StringIO()
    shown = Console(file=out, force_terminal=True, width=100, markup=False, highlight=False, emoji=False, color_system=None)
    monkeypatch.setattr(tables, "console", lambda: shown)
    return out


def test_a_table_shows_markup_and_escapes_as_text(screen: io.StringIO) -> None:
    print_table(["id", "n"], [["[bold red]x[/] :smile:", 1], ["\x1b]0;title\x07", None]])
    assert "[bold red]x[/] :smile:" in screen.getvalue()
    assert "\\x1b]0;title\\x07" in screen.getvalue()
    assert "\x1b" not in screen.getvalue()


def test_a_table_that_comes_bit_by_bit_has_one_heading(screen: io.StringIO) -> None:
    printer = TablePrinter(["name", "n"])
    printer.print([["a long name", 1]])
    printer.print([["b", 22]])
    heading, line, first, second = (each.rstrip() for each in screen.getvalue().splitlines())
    assert heading.split() == ["name", "n"]
    assert set(line) == {"─"}
    assert (first, second) == ("a long name   1", "b" + 13 * " " + "22")


def lines(columns: list[Column | str], rows: list[list[object]], width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    out = io.StringIO()
    shown = Console(file=out, force_terminal=True, width=width, markup=False, highlight=False, emoji=False, color_system=None)
    monkeypatch.setattr(tables, "console", lambda: shown)
    TablePrinter(columns).print(rows)
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("width", [20, 30, 60])
def test_a_row_takes_one_line_at_any_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = lines(["name", "a text", "n"], [["apache-kafka-java", "x" * 200, 1234567], ["b", "\n", 2]], width, monkeypatch)
    assert len(shown) == 4
    assert all(len(line) <= width for line in shown)


def test_texts_end_in_an_ellipsis_and_numbers_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = lines([Column("name", least=8), Column("n")], [["recognised by its versions", 1234567]], 20, monkeypatch)
    assert shown[-1] == "recognise…   1234567"


def test_the_column_that_is_missed_least_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """23 cells hold two columns of 10 with three blanks between them, and no third."""
    columns: list[Column | str] = [Column("first", rank=1, least=0), Column("second", least=0), Column("third", least=0)]
    shown = lines(columns, [["a" * 10, "b" * 10, "c" * 10]], 23, monkeypatch)
    assert shown[0].split() == ["second", "third"]
    assert shown[-1] == f"{'b' * 10}   {'c' * 10}"


def test_prose_wraps_at_words(screen: io.StringIO) -> None:
    print_table(["what"], [["word " * 40]])
    assert screen.getvalue().count("word") == 160 // 5
    assert "… (200 characters)" in " ".join(screen.getvalue().split())  # the cell itself is cut, and says so


def test_json_lines_are_ascii_and_one_line() -> None:
    line = json_line({"id": "a\n\x1b\u202e日", "at": datetime(2026, 9, 30, 14, 0, 0, 5, timezone(timedelta(hours=2))), "raw": b"\xca\xfe"})
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line) == {"id": "a\n\x1b\u202e日", "at": "2026-09-30T12:00:00.000005Z", "raw": "cafe"}


def test_a_time_without_an_offset_is_utc() -> None:
    assert INSTANT.convert("2026-09-30T12:00:00", None, None) == datetime(2026, 9, 30, 12, tzinfo=timezone.utc)
    assert INSTANT.convert("2026-09-30T14:00:00+02:00", None, None) == datetime(2026, 9, 30, 12, tzinfo=timezone.utc)
    with pytest.raises(click.BadParameter, match="is not a time"):
        INSTANT.convert("noon", None, None)


def test_a_time_before_now_and_a_time_of_today() -> None:
    before = datetime.now(timezone.utc)
    for text, ago in (("-10m", 600), ("-90s", 90), ("-1.5h", 5400), ("-2d", 172_800)):
        found = INSTANT.convert(text, None, None)
        assert timedelta(seconds=ago) >= before - found >= timedelta(seconds=ago - 5), text
    at = INSTANT.convert("10:22:30", None, None)
    assert (at.hour, at.minute, at.second, at.tzinfo) == (10, 22, 30, timezone.utc)
    assert at.date() in (before.date(), datetime.now(timezone.utc).date())


@pytest.mark.parametrize("arguments", [["watch", "{}"], ["inspect", "--table", "{}"], ["inspect", "--{}"], ["{}"]])
def test_errors_of_usage_hide_nothing_of_a_name(arguments: list[str]) -> None:
    """Names of files come from a glob."""
    result = CliRunner().invoke(commands, [each.format("x\u2800\ufe0f\u202e\x1b") for each in arguments])
    assert result.exit_code == 2
    assert "Error:" in result.output
    assert "x\\u2800\\ufe0f\\u202e" in result.output.replace("\\\\", "\\")
    assert result.output.replace("\n", "").isprintable()
    assert "\u2800" not in result.output
