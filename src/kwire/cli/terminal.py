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

__all__ = ["INSTANT", "console", "json_line", "print_table", "printable"]

_PIPE_WIDTH: Final = 200
"""Columns of a table that goes into a file or a pipe, which has no width of its own."""


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
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_cell, value))
    return printable(str(value))


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None, styles: Mapping[str, str] | None = None
) -> None:
    """Print rows as a table; numbers to the right, text from the wire escaped.

    Args:
        headings: one a column.
        rows: as many values each.
        title: above the table.
        styles: how a cell is printed that holds exactly this text.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shades = styles or {}
    listed = [list(row) for row in rows]
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for at, heading in enumerate(headings):
        values = [row[at] for row in listed if row[at] is not None]
        numeric = bool(values) and all(isinstance(value, (int, float)) for value in values)
        table.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    for row in listed:
        table.add_row(*(Text(_cell(value), style=shades.get(value, "") if isinstance(value, str) else "") for value in row))
    console().print(table)


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
