"""`kwire merge`: one analysis out of several, by time or by place."""

from __future__ import annotations

import shlex
import sys

import click
import cloup

from kwire.cli.exit_status import CLIENTS_BREAK
from kwire.cli.report_options import failing, forms_option, open_option, open_page, wide_option, with_fail_on
from kwire.cli.store_options import with_store_options
from kwire.cli.target_option import command_config_option, from_option, owners_option, targets_of, targets_option

__all__ = ["merge"]


@cloup.command(short_help="Merge analyses, such as those of the days of a week.", show_constraints=False)
@cloup.argument("folders", metavar="DIR...", nargs=-1, required=True)
@cloup.option_group(
    "Verdicts",
    targets_option(
        "Kafka version to judge, or a broker or file, as in analyze (repeatable) [default: those of the analyses, if they are the "
        "same]."
    ),
    command_config_option(),
    from_option(default="that of the analyses"),
    owners_option(),
    with_fail_on(),
)  # fmt: skip
@cloup.option_group(
    "Output",
    cloup.option("--out", required=True, metavar="DIR", help="Folder or URI for the merged tables and report; it must not exist yet."),
    cloup.option("--overwrite", is_flag=True, help="Replace the analysis in --out."),
    forms_option(),
    cloup.option("--no-report", is_flag=True, help="Write the tables only."),
    open_option(),
    wide_option(),
    cloup.option("--json", "as_json", is_flag=True, help="Print the summary as JSON."),
)
@with_store_options
def merge(
    folders: tuple[str, ...], targets: tuple[str, ...], command_config: str | None, broker_release: str | None, owners: str | None,
    out: str, overwrite: bool, forms: tuple[str, ...], no_report: bool, open_it: bool, wide: bool, as_json: bool, fail_on: str | None,
) -> int:  # fmt: skip
    """Merge the analyses in folders DIR..., which `kwire analyze` or `kwire merge` wrote, into one in --out; captures are not read again.

    Its tables are those of one analysis of all captures, if no connection is open from one analysis to the next; otherwise a warning says
    how many are. The merged analysis can be merged again, but not appended to. Redacted analyses and those of another version of kwire
    cannot be merged.

    \b
    Examples:
      kwire merge monday/ tuesday/ wednesday/ --out week/
      kwire merge s3://reports/monday s3://reports/tuesday --out s3://reports/both --to 4.1

    Exit status: 0 the analysis was written; 1 it was not; 2 wrong options; 5 a client has a verdict that --fail-on names; 130 interrupted.
    """
    from dataclasses import asdict

    from kwire.tables.pandas_left_out import leave_pandas_out

    leave_pandas_out()
    if no_report and open_it:
        raise click.UsageError("--open needs a report; drop --no-report.")
    from kwire.cli.running import print_result, write_analysis
    from kwire.runs.job_request import JobRequest

    request = JobRequest(
        inputs=folders, out=out, engine="local", target_releases=targets_of(targets, command_config), broker_release=broker_release,
        owners=owners, overwrite=overwrite, merges=True,
    )  # fmt: skip
    report, summary, paths = write_analysis(request, forms, shlex.join(["kwire", *sys.argv[1:]]), no_report=no_report)
    document = {"out": out, "read": report.read, **asdict(summary)} if as_json else None
    print_result(report, summary, paths, document, wide=wide)
    if open_it:
        open_page(paths[0])
    return CLIENTS_BREAK if failing(summary, fail_on) else 0
