"""`kwire diff`: two analyses side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import click
import cloup

from kwire.cli.store_options import with_store_options
from kwire.cli.target_option import command_config_option, judged_for, targets_of, targets_option
from kwire.errors import KwireError

if TYPE_CHECKING:
    from kwire.analysis.differences import Comparison, Thresholds

__all__ = ["DIFFERENT", "TROUBLE", "diff"]

DIFFERENT: Final = 1
"""Exit status with --exit-code for differences, as in `git diff` and `diff`."""
TROUBLE: Final = 2
"""Exit status with --exit-code if the folders cannot be compared."""

_SHOWN: Final = 40
"""Maximum number of lines per section; --json has all."""


class _Trouble(click.ClickException):
    exit_code = TROUBLE


def _compare(before: str, after: str, thresholds: Thresholds, targets: Sequence[str], config: str | None) -> Comparison:
    from kwire.tables.pandas_left_out import leave_pandas_out

    leave_pandas_out()
    from kwire.report.analysis_folder import AnalysisFolder
    from kwire.report.before_after import compare_folders

    judged = judged_for((before, after), targets_of(targets, config))
    one, other = (AnalysisFolder(each, judged=judged.get(each)) for each in (before, after))
    return compare_folders(one, other, thresholds)


def _section(title: str, headings: Sequence[str], rows: Sequence[Sequence[object]], styles: dict[str, str]) -> None:
    from kwire.cli.tables import print_table
    from kwire.cli.terminal import console

    if not rows:
        return
    print_table(headings, rows[:_SHOWN], title=f"{title} ({len(rows)})", styles=styles)
    if len(rows) > _SHOWN:
        console().print(f"  and {len(rows) - _SHOWN} more; --json has all", style="dim")


def _print(found: Comparison) -> None:
    from kwire.report.amounts import latency

    styles = {"breaks": "bold red", "unknown": "yellow", "error": "red", "warning": "yellow", "new": "green", "gone": "red"}

    def api(each: Any) -> str:
        return f"{each.api} v{each.version}"

    failing = [(x.client, api(x), x.before, x.after, x.new_error_names) for x in found.failing]
    _section("Newly failing", ["client", "api", "errors before", "errors now", "new errors"], failing, styles)
    _section(
        "Verdicts that got worse", ["client", "api", "release", "before", "now", "reason"],
        [(x.client, api(x), x.target_release, x.before, x.after, x.reason) for x in found.verdicts], styles,
    )  # fmt: skip
    _section(
        "Slower", ["client", "api", "p50 before", "p50 now", "p99 before", "p99 now", "requests"],
        [
            (x.client, api(x), *map(latency, (x.p50_before_us, x.p50_after_us, x.p99_before_us, x.p99_after_us)), x.requests_after)
            for x in found.slower
        ],
        styles,
    )  # fmt: skip
    _section(
        "Clients", ["", "client", "library", "version before", "version now", "owner", "requests"],
        [(x.change, x.client, x.library, x.version_before, x.version_after, x.owner, x.requests) for x in found.clients], styles,
    )  # fmt: skip
    _section("Api versions", ["", "client", "api", "requests"], [(x.change, x.client, api(x), x.requests) for x in found.apis], styles)
    _section("Topics", ["", "client", "topic", "direction"], [(x.change, x.client, x.topic, x.direction) for x in found.topics], styles)
    _section(
        "Newly broken rules", ["severity", "client", "rule", "rows"],
        [(x.severity, x.client, x.rule, x.count) for x in found.violations], styles,
    )  # fmt: skip


_THRESHOLDS, _OUTPUT = cloup.OptionGroup("Thresholds"), cloup.OptionGroup("Output")


@cloup.command(short_help="Compare two analyses: new, gone, newly failing and slower clients.")
@cloup.argument("before", metavar="DIR_A")
@cloup.argument("after", metavar="DIR_B")
@cloup.option_group(
    "Verdicts",
    targets_option(
        "Kafka version to judge both for, or a broker, file or name, as in analyze (repeatable) [default: those of the analyses]."
    ),
    command_config_option(),
)  # fmt: skip
@cloup.option("--json", "as_json", group=_OUTPUT, is_flag=True, help="Print all differences as one JSON object.")
@cloup.option(
    "--exit-code",
    group=_OUTPUT,
    is_flag=True,
    help="Exit with 1 when there are differences, 0 when there are none, 2 when that cannot be told.",
)
@cloup.option(
    "--slower",
    group=_THRESHOLDS,
    type=click.FloatRange(min=1),
    default=1.5,
    show_default=True,
    metavar="X",
    help="Ratio of latencies from which a client counts as slower.",
)
@cloup.option(
    "--least-requests", group=_THRESHOLDS, type=click.IntRange(min=1), default=100, show_default=True, metavar="N",
    help="Requests that both sides must have for latencies to be compared.",
)  # fmt: skip
@with_store_options
def diff(
    before: str,
    after: str,
    targets: tuple[str, ...],
    command_config: str | None,
    as_json: bool,
    exit_code: bool,
    slower: float,
    least_requests: int,
) -> int:
    """Compare the analysis in DIR_A with the later one in DIR_B, folders or URIs that `kwire analyze` wrote.

    Clients that are new, gone or of another version; versions of APIs and topics that a client uses or used; errors that there were not
    before; verdicts that got worse, of the target of --to if it is given; latencies (p50 and p99) that grew by --slower and by a
    millisecond at least.

    \b
    Examples:
      kwire diff report-monday/ report-tuesday/
      kwire diff march/ june/ --to 4.1
      kwire diff before/ after/ --exit-code --json | jq .failing
    """
    from dataclasses import asdict

    from kwire.analysis.differences import Thresholds
    from kwire.cli.terminal import json_line

    try:
        found = _compare(before, after, Thresholds(ratio=slower, requests=least_requests), targets, command_config)
    except KwireError as error:
        if not exit_code:
            raise
        raise _Trouble(str(error)) from error
    if as_json:
        click.echo(json_line({name: value for name, value in asdict(found).items() if value or name != "targets"}))
        return DIFFERENT if exit_code and found else 0
    if found.targets:
        click.echo(f"No target is in both: verdicts for {found.targets[0]} before, for {found.targets[1]} now.")
    if found:
        _print(found)
    else:
        click.echo("No differences.")
    return DIFFERENT if exit_code and found else 0
