"""`kwire report`: makes the report of an analysis again, or another form of it."""

from __future__ import annotations

import shlex

import click
import cloup

from kwire.cli.completion import complete_release
from kwire.cli.exit_status import CLIENTS_BREAK
from kwire.cli.report_options import failing, forms_option, open_option, open_page, show_reports, wide_option, with_fail_on
from kwire.cli.store_options import with_store_options
from kwire.cli.target_option import command_config_option, from_option, judged_for, targets_of, targets_option
from kwire.errors import InputError

__all__ = ["report"]

_STANDARD_OUTPUT = "-"
_WITH_MOVES = ("html", "md", "json")


@cloup.command(short_help="Make the report of an analysis again, or as Markdown, JSON, CSV, SARIF, JUnit.")
@cloup.argument("folder", metavar="DIR")
@cloup.option_group(
    "Report",
    forms_option(),
    cloup.option(
        "--before", metavar="DIR", default="", help="Earlier analysis to compare with: new, gone, newly failing and slower clients."
    ),
    cloup.option("--out", metavar="FILE", help="Output file, instead of DIR/report.FORMAT; - is standard output."),
    open_option(),
)
@cloup.option_group(
    "Verdicts",
    targets_option("Kafka version to judge, or a broker, file or name, as in analyze (repeatable) [default: those of the analysis]."),
    command_config_option(),
    from_option("With --to: ", "that of the analysis"),
)  # fmt: skip
@cloup.option_group(
    "Summary",
    wide_option(),
    cloup.option("--json", "as_json", is_flag=True, help="Print the summary as JSON; write no files."),
    cloup.option(
        "--clients-to",
        metavar="R",
        shell_complete=complete_release,
        help="Release of Kafka's Java clients: say which applications may move to it, or to the newest version of another library, "
        "with the brokers as they are.",
    ),
    with_fail_on(),
)
@with_store_options
def report(
    folder: str,
    forms: tuple[str, ...],
    before: str,
    out: str | None,
    targets: tuple[str, ...],
    command_config: str | None,
    broker_release: str | None,
    open_it: bool,
    wide: bool,
    as_json: bool,
    clients_to: str | None,
    fail_on: str | None,
) -> int:
    """Write DIR/report.html again from the tables in DIR and print the summary.

    DIR is the output of `kwire analyze`, a folder or a URI. With --to, the report is for those versions only, which need not be those of
    the analysis; the tables stay as they are.

    \b
    Examples:
      kwire report report/ --open
      kwire report report/ --format md --out - | gh issue create --title "Kafka clients" --body-file -
      kwire report report/ --format sarif --format junit --fail-on breaks
      kwire report tuesday/ --before monday/
      kwire report report/ --to broker-1:9092 --command-config client.properties
      kwire report report/ --clients-to 4.1

    Exit status: 0; 1 the report could not be written; 2 wrong options; 5 a client has a verdict that --fail-on names.
    """
    from dataclasses import asdict

    from kwire.tables.pandas_left_out import leave_pandas_out

    leave_pandas_out()
    from kwire.analysis.digests import EVERYTHING
    from kwire.cli.summary import print_moves, print_summary
    from kwire.cli.terminal import json_line, no_width
    from kwire.report import render_report, summarize, write_reports
    from kwire.report.analysis_folder import AnalysisFolder
    from kwire.report.client_upgrade import client_moves
    from kwire.schema import releases

    moving = None if clients_to is None else releases().resolve(clients_to)
    if broker_release and not targets:
        raise click.UsageError("--from goes with --to.")
    asked = targets_of(targets, command_config)
    judged = judged_for([each for each in (folder, before) if each], asked, broker_release)
    options = [("--before", before), *(("--to", each) for each in targets), ("--from", broker_release), ("--clients-to", clients_to)]
    command = shlex.join(["kwire", "report", folder, *(part for name, value in options if value for part in (name, value))])
    if out is not None and not as_json:
        if len(forms) != 1:
            raise InputError("--out takes one --format; without --out each has its own file in DIR")
        if moving is not None and forms[0] not in _WITH_MOVES:
            raise click.UsageError(f"--clients-to goes into {', '.join(_WITH_MOVES)} and the summary; {forms[0]} does not have it.")
        _write(out, render_report(folder, forms[0], before=before, command=command, judged=judged, clients_to=moving))
        return CLIENTS_BREAK if fail_on and failing(summarize(folder, judged.get(folder)), fail_on) else 0
    written = [] if as_json else write_reports(folder, forms, before=before, command=command, judged=judged, clients_to=moving)
    summary = summarize(folder, judged.get(folder))
    moves = None if moving is None else client_moves(AnalysisFolder(folder, EVERYTHING), moving)
    if as_json:
        click.echo(json_line(asdict(summary) | ({} if moves is None else {"clients_to": [asdict(move) for move in moves.moves]})))
    else:
        if wide:
            no_width()
        print_summary(summary)
        if moves is not None:
            print_moves(moves)
        show_reports(written)
    if open_it and written:
        open_page(written[0])
    return CLIENTS_BREAK if failing(summary, fail_on) else 0


def _write(out: str, text: str) -> None:
    if out == _STANDARD_OUTPUT:
        click.echo(text.encode(), nl=False)
        return
    with click.open_file(out, "wb", atomic=True) as file:
        file.write(text.encode())
