"""Options of `kwire analyze` and `kwire report` for report formats and their use."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import cloup

from kwire.cli.exit_status import CLIENTS_BREAK

if TYPE_CHECKING:
    from kwire.report import Summary

__all__ = ["FAIL_ON", "FORMS", "failing", "forms_option", "open_option", "open_page", "show_reports", "wide_option", "with_fail_on"]

FORMS: Final = ("html", "md", "json", "csv", "sarif", "junit", "prometheus")
"""Keys of `kwire.report.FORMATS`, repeated here so that `--help` does not import Arrow."""

FAIL_ON: Final = ("breaks", "unknown")


def forms_option() -> Callable[..., Any]:
    """Return `--format` as `forms`: the chosen ones in their order, each once."""
    return cloup.option(
        "--format",
        "forms",
        type=click.Choice(FORMS),
        multiple=True,
        default=("html",),
        show_default=True,
        callback=lambda _context, _option, chosen: tuple(dict.fromkeys(chosen)),
        help="Form of the report (repeatable): a page, Markdown with a ticket per client, JSON, CSV, SARIF for code scanning, JUnit XML, "
        "Prometheus metrics.",
    )


def open_option() -> Callable[..., Any]:
    return cloup.option("--open", "open_it", is_flag=True, help="Open the page in a browser.")


def wide_option() -> Callable[..., Any]:
    return cloup.option("--wide", is_flag=True, help="Show all columns and cut no text, however wide the terminal is.")


def with_fail_on() -> Callable[..., Any]:
    return cloup.option(
        "--fail-on", type=click.Choice(FAIL_ON), metavar="VERDICT",
        help=f"Exit with {CLIENTS_BREAK} if a client breaks (breaks), or breaks or might break (unknown).",
    )  # fmt: skip


def failing(summary: Summary, fail_on: str | None) -> bool:
    answer = summary.answer
    return fail_on is not None and bool(answer.breaks or (fail_on == "unknown" and answer.unknown))


def open_page(path: str) -> None:
    """Open a page in a browser, or print its link where no browser starts."""
    if "://" not in path and not webbrowser.open(link := Path(path).absolute().as_uri()):
        click.echo(f"No browser was found; open {link}", err=True)


def show_reports(paths: Sequence[str]) -> None:
    """Print the paths of reports, as links on terminals with links (OSC 8)."""
    from rich.style import Style
    from rich.text import Text

    from kwire.cli.terminal import console, printable

    for path in paths:
        is_link = sys.stdout.isatty() and "://" not in path
        console().print(
            Text("Report: ").append(printable(path), Style(link=Path(path).absolute().as_uri()) if is_link else None), soft_wrap=True
        )
