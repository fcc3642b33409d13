"""Tables on a terminal: one line per row at any width.

The library rich lays them out. On a narrow terminal, columns are left out by rank first, then texts are cut and end in an ellipsis. Numbers
are never cut. Tables of prose (`folded`) and wrapping columns (`Column.wraps`) use more lines instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kwire.cli.terminal import cell_text, console

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Column", "TablePrinter", "print_table"]

_PADDING: Final = 3
"""Number of blanks between columns, as in rich's box without lines."""


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a table; columns with the highest `rank` are left out first, and texts are cut to at least `least` characters (0: never
    cut).

    Text of a column that `wraps` continues in the next line instead of being cut.
    """

    heading: str
    rank: int = 0
    least: int = 12
    wraps: bool = False


class TablePrinter:
    """Printer of a table whose rows come in batches: the heading once, columns as wide as before.

    `styles` has styles by exact cell text; `folded` wraps long prose instead of leaving out columns and cutting texts.
    """

    def __init__(self, columns: Sequence[Column | str], styles: Mapping[str, str] | None = None, *, folded: bool = False) -> None:
        self._columns = [one if isinstance(one, Column) else Column(one, rank) for rank, one in enumerate(columns)]
        self._styles = styles or {}
        self._folded = folded
        self._widths: list[int] = []
        self._shown: list[int] = []
        self._numeric: list[bool] = []
        self.hidden: tuple[str, ...] = ()

    def print(self, rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
        listed = [list(row) for row in rows]
        out = console()
        table = self._table(listed, out.width, title)
        if not self._folded and not self._styles and not any(column.wraps for column in self._columns):
            if table.show_header or title:
                out.print(table)
            out.file.write("".join(self._lines(listed, "..." if out.options.ascii_only else "…")))
            out.file.flush()
            return
        self._add_rows(table, listed, ascii_only=out.options.ascii_only)
        out.print(table)

    def whole(self, rows: Sequence[Sequence[object]], width: int, title: str) -> Table:
        """Return a table with all its rows, for a live display."""
        table = self._table(rows, width, title)
        self._add_rows(table, rows, ascii_only=console().options.ascii_only)
        return table

    def _add_rows(self, table: Table, rows: Sequence[Sequence[object]], *, ascii_only: bool) -> None:
        from rich.text import Text

        for row in rows:
            texts = []
            for at in self._shown:
                value, wraps = row[at], self._folded or self._columns[at].wraps
                text = cell_text(value)
                if ascii_only and not wraps:  # rich's ellipsis cannot be written there
                    text = _cut(text, self._widths[at])
                style = self._styles.get(value, "") if isinstance(value, str) else ""
                texts.append(Text(text, style=style, no_wrap=not wraps, overflow="fold" if wraps else "ellipsis"))
            table.add_row(*texts)

    def _lines(self, listed: Sequence[Sequence[object]], ellipsis: str) -> Iterator[str]:
        """Lay out lines like rich, which would take a millisecond per row."""
        from rich.cells import cell_len, set_cell_size

        for row in listed:
            cells = []
            for at in self._shown:
                text, width = cell_text(row[at]), self._widths[at]
                if (size := cell_len(text)) > width:
                    text, size = set_cell_size(text, max(width - len(ellipsis), 0)) + ellipsis[:width], width
                cells.append(" " * (width - size) + text if self._numeric[at] else text + " " * (width - size))
            yield (" " * _PADDING).join(cells) + "\n"

    def _table(self, listed: Sequence[Sequence[object]], width: int, title: str | None) -> Table:
        from rich import box
        from rich.cells import cell_len
        from rich.table import Table

        begun = bool(self._shown)
        numeric, needed = [], []
        for at, column in enumerate(self._columns):
            values = [row[at] for row in listed if row[at] is not None]
            numeric.append(bool(values) and all(isinstance(value, (int, float)) for value in values))
            widest = max((cell_len(cell_text(value)) for value in values), default=0)
            needed.append(max(widest, cell_len(column.heading)))
        self._numeric = numeric
        if self._folded:
            self._shown = list(range(len(needed)))
        else:
            self._lay_out(needed, numeric, width, begun)
        table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False, show_header=not begun, show_edge=False)
        for at in self._shown:
            table.add_column(
                self._columns[at].heading,
                justify="right" if numeric[at] else "left",
                overflow="fold" if self._folded or self._columns[at].wraps else "ellipsis",
                width=None if self._folded else self._widths[at],
            )
        return table

    def _lay_out(self, needed: Sequence[int], numeric: Sequence[bool], width: int, begun: bool) -> None:
        """Choose columns and their widths; printed columns stay, and become wider if possible."""
        wanted = [max(pair) for pair in zip(self._widths, needed, strict=True)] if begun else list(needed)
        least = [
            one if number or not column.least else min(one, column.least)
            for one, number, column in zip(needed, numeric, self._columns, strict=True)
        ]

        def total(widths: Sequence[int]) -> int:
            return sum(widths[at] + _PADDING for at in self._shown) - _PADDING

        if begun:
            self._widths = wanted if total(wanted) <= width else self._widths
            return
        self._shown = list(range(len(needed)))
        while len(self._shown) > 1 and total(least) > width:
            self._shown.remove(max(self._shown, key=lambda at: (self._columns[at].rank, at)))
        while total(wanted) > width:
            cut = [at for at in self._shown if wanted[at] > least[at]] or self._shown
            widest = max(cut, key=lambda at: wanted[at])
            if wanted[widest] == 1:
                break  # no terminal is so narrow
            wanted[widest] -= 1
        self._widths = wanted
        self.hidden = tuple(column.heading for at, column in enumerate(self._columns) if at not in self._shown)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."[:width]


def print_table(
    columns: Sequence[Column | str],
    rows: Iterable[Sequence[object]],
    *,
    title: str | None = None,
    styles: Mapping[str, str] | None = None,
    folded: bool = True,
) -> None:
    """Print a whole table and an empty line after it; arguments as in `TablePrinter`."""
    TablePrinter(columns, styles, folded=folded).print(rows, title=title)
    console().print()
