"""The options of `kwire analyze` and `kwire report` that say which forms of the report are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

__all__ = ["FORMS", "with_forms"]

FORMS: Final = ("html", "md", "json", "csv")
"""The keys of `kwire.report.FORMATS`, here again so that `--help` needs no Arrow."""


def with_forms(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `forms`, the chosen ones in their order, each once: `--format`."""
    return click.option(
        "--format",
        "forms",
        type=click.Choice(FORMS),
        multiple=True,
        default=("html",),
        show_default=True,
        callback=lambda _context, _option, chosen: tuple(dict.fromkeys(chosen)),
        help="Form of the report: a page, Markdown with the tickets, everything as JSON, clients and findings for a spreadsheet; "
        "give it again for more than one.",
    )(command)
