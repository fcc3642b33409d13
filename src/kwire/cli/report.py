"""`kwire report`: makes the page of an analysis anew, or another form of it."""

from __future__ import annotations

import click

from kwire.cli.report_options import with_forms
from kwire.cli.store_options import with_store_options
from kwire.errors import InputError

__all__ = ["report"]

_STANDARD_OUTPUT = "-"


@click.command(short_help="Make the page of an analysis anew, or as Markdown, JSON, CSV.")
@click.argument("folder", metavar="DIR")
@with_forms
@click.option("--before", metavar="DIR", default="", help="An earlier analysis to compare with: what is new, gone, newly failing, slower.")
@click.option("--out", metavar="FILE", help="Where to write instead of DIR/report.FORMAT; - is standard output.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON and leave the page alone.")
@with_store_options
def report(folder: str, forms: tuple[str, ...], before: str, out: str | None, as_json: bool) -> None:
    """Write DIR/report.html anew from the tables in DIR and print the summary.

    DIR is the output of `kwire analyze`, a folder or a URI.

    \b
    Examples:
      kwire report report/
      kwire report report/ --format md --out - | gh issue create --title "Kafka clients" --body-file -
      kwire report report/ --format csv --format json
      kwire report tuesday/ --before monday/
    """
    from dataclasses import asdict

    from kwire.tables.pandas_left_out import leave_pandas_out

    leave_pandas_out()
    from kwire.cli.summary import print_summary
    from kwire.cli.terminal import json_line
    from kwire.report import render_report, summarize, write_reports

    if as_json:
        click.echo(json_line(asdict(summarize(folder))))
        return
    command = f"kwire report {folder}" + (f" --before {before}" if before else "")
    if out is not None:
        if len(forms) != 1:
            raise InputError("--out takes one --format; without it each has its own file in DIR.")
        _write(out, render_report(folder, forms[0], before=before, command=command))
        return
    written = write_reports(folder, forms, before=before, command=command)
    print_summary(summarize(folder))
    for path in written:
        click.echo(f"{'Page' if path.endswith('.html') else 'Report'}: {path}")


def _write(out: str, text: str) -> None:
    """UTF-8 with the line ends that the form has."""
    if out == _STANDARD_OUTPUT:
        click.echo(text.encode(), nl=False)
        return
    with click.open_file(out, "wb", atomic=True) as file:
        file.write(text.encode())
