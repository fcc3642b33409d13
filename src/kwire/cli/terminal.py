"""What all commands share at the terminal: text made safe, tables, JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["INSTANT", "TablePrinter", "console", "json_line", "print_table", "printable"]

_PIPE_WIDTH: Final = 4000
"""Columns of a file or a pipe, which has no width of its own: nothing is folded there."""


_LONGEST: Final = 160
"""Characters of one cell that are shown; JSON has all."""

_WIDEST: Final = 48
"""What a column is at least as wide as an earlier part of it, up to this."""


def printable(text: str) -> str:
    """Show control characters, escape sequences and characters that turn the reading direction as escapes.

    Args:
        text: any text from the wire.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


@lru_cache(maxsize=2)
def console(*, stderr: bool = False) -> Console:
    """The terminal, without rich's markup: text from the wire may look like it."""
    from rich.console import Console

    found = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not found.is_terminal:
        found.width = _PIPE_WIDTH
    return found


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_cell, value))
    text = str(value)
    if len(text) > _LONGEST:  # Kafka lets a client id have 32,767 characters
        text = f"{text[:_LONGEST]}… ({len(text):,} characters)"
    return printable(text)


class TablePrinter:
    """Prints a table whose rows come bit by bit: the heading once, columns as wide as they were.

    Args:
        headings: one a column.
        styles: how a cell is printed that holds exactly this text.
    """

    def __init__(self, headings: Sequence[str], styles: Mapping[str, str] | None = None) -> None:
        self._headings = headings
        self._styles = styles or {}
        self._widths = [0] * len(headings)
        self._begun = False

    def print(self, rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
        """Print more rows; numbers to the right, text from the wire escaped.

        Args:
            rows: as many values each as there are headings.
            title: above the table.
        """
        from rich import box
        from rich.cells import cell_len
        from rich.table import Table
        from rich.text import Text

        listed = [list(row) for row in rows]
        table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False, show_header=not self._begun, show_edge=False)
        for at, heading in enumerate(self._headings):
            values = [row[at] for row in listed if row[at] is not None]
            numeric = bool(values) and all(isinstance(value, (int, float)) for value in values)
            widest = max((cell_len(_cell(value)) for value in values), default=0)
            self._widths[at] = min(max(self._widths[at], widest, cell_len(heading)), _WIDEST)
            least = self._widths[at] if self._begun else None
            table.add_column(heading, justify="right" if numeric else "left", overflow="fold", min_width=least)
        for row in listed:
            table.add_row(*(Text(_cell(value), style=self._styles.get(value, "") if isinstance(value, str) else "") for value in row))
        console().print(table)
        self._begun = True


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None, styles: Mapping[str, str] | None = None
) -> None:
    """Print a whole table and an empty line behind it.

    Args:
        headings: one a column.
        rows: as many values each.
        title: above the table.
        styles: how a cell is printed that holds exactly this text.
    """
    TablePrinter(headings, styles).print(rows, title=title)
    console().print()


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def json_line(value: object) -> str:
    """One line of JSON in plain ASCII, so that nothing in it can act on a terminal; times in ISO 8601, UTC."""
    return json.dumps(value, default=_plain, separators=(",", ":"))


class _Instant(click.ParamType[datetime]):
    """A time as people write it: ISO 8601; without an offset it is UTC."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a time; write 2026-09-30T12:00:00 (UTC) or 2026-09-30T14:00:00+02:00.", param, ctx)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found


INSTANT: Final = _Instant()
