"""`kwire report`: makes the page of an analysis anew."""

from __future__ import annotations

import click

__all__ = ["report"]


@click.command(short_help="Make the page of an analysis anew.")
@click.argument("folder", metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON and leave the page alone.")
def report(folder: str, as_json: bool) -> None:
    """Write DIR/report.html anew from the tables in DIR and print the summary.

    DIR is the output of `kwire analyze`, a folder or a URI.

    \b
    Example:
      kwire report report/
    """
    from dataclasses import asdict

    from kwire.cli.summary import print_summary
    from kwire.cli.terminal import json_line
    from kwire.report import summarize, write_page

    if as_json:
        click.echo(json_line(asdict(summarize(folder))))
        return
    page = write_page(folder, command=f"kwire report {folder}")
    print_summary(summarize(folder))
    click.echo(f"Page: {page}")
