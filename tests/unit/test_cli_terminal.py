"""Text, tables and JSON lines at the terminal."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta, timezone

import click
import pytest
from rich.console import Console

from kwire.cli import terminal
from kwire.cli.terminal import INSTANT, TablePrinter, json_line, print_table, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünïcode 日本", "plain, ünïcode 日本"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("abc\u202edef\u200b", "abc\\u202edef\\u200b"),
        ("\udc80 \x9b", "\\udc80 \\x9b"),
    ],
)
def test_text_from_the_wire_is_made_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    out = io.StringIO()
    shown = Console(file=out, force_terminal=True, width=100, markup=False, highlight=False, emoji=False, color_system=None)
    monkeypatch.setattr(terminal, "console", lambda: shown)
    return out


def test_a_table_shows_markup_and_escapes_as_text(screen: io.StringIO) -> None:
    print_table(["id", "n"], [["[bold red]x[/] :smile:", 1], ["\x1b]0;title\x07", None]])
    assert "[bold red]x[/] :smile:" in screen.getvalue()
    assert "\\x1b]0;title\\x07" in screen.getvalue()
    assert "\x1b" not in screen.getvalue()


def test_a_long_text_is_cut_in_a_table_and_says_so(screen: io.StringIO) -> None:
    print_table(["id"], [["x" * 32767]])
    assert screen.getvalue().count("x") == 160
    assert "(32,767 characters)" in screen.getvalue().replace("\n", " ")


def test_a_table_that_comes_bit_by_bit_has_one_heading(screen: io.StringIO) -> None:
    printer = TablePrinter(["name", "n"])
    printer.print([["a long name", 1]])
    printer.print([["b", 22]])
    heading, line, first, second = (each.rstrip() for each in screen.getvalue().splitlines())
    assert heading.split() == ["name", "n"]
    assert set(line) == {"─"}
    assert (first, second) == ("a long name   1", "b" + 13 * " " + "22")


def test_numbers_stand_to_the_right(screen: io.StringIO) -> None:
    print_table(["n", "text"], [[5, "5"], [12345, "12345"], [None, None]])
    assert "    5   5" in screen.getvalue()


def test_json_lines_are_ascii_and_one_line() -> None:
    line = json_line({"id": "a\n\x1b\u202e日", "at": datetime(2026, 9, 30, 14, 0, 0, 5, timezone(timedelta(hours=2))), "raw": b"\xca\xfe"})
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line) == {"id": "a\n\x1b\u202e日", "at": "2026-09-30T12:00:00.000005Z", "raw": "cafe"}


def test_a_time_without_an_offset_is_utc() -> None:
    assert INSTANT.convert("2026-09-30T12:00:00", None, None) == datetime(2026, 9, 30, 12, tzinfo=UTC)
    assert INSTANT.convert("2026-09-30T14:00:00+02:00", None, None) == datetime(2026, 9, 30, 12, tzinfo=UTC)
    with pytest.raises(click.BadParameter, match="is not a time"):
        INSTANT.convert("noon", None, None)
