"""`kwire analyze`: captures in, the tables and the page out, on Spark."""

from __future__ import annotations

import logging
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

import click

from kwire.cli.redaction_options import redaction_of, with_redaction
from kwire.cli.report_options import with_forms
from kwire.cli.store_options import with_store_options
from kwire.cli.tls_options import with_tls_options
from kwire.errors import InputError

if TYPE_CHECKING:
    from kwire.spark.job import Progress
    from kwire.spark.planning import Sharing

__all__ = ["INCOMPLETE_INPUT", "THIN_EVIDENCE", "analyze"]

INCOMPLETE_INPUT: Final = 3
THIN_EVIDENCE: Final = 4
"""Exit status when the analysis was written although some inputs could not be read."""


@contextmanager
def _progress_bar() -> Iterator[Progress]:
    """A bar on stderr where that is a terminal; silence in a pipe."""
    from kwire.cli.terminal import console

    err = console(stderr=True)
    if not err.is_terminal:
        yield lambda _what, _done, _total: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[amount]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("Looking for captures", total=None, amount="")

        def show(what: str, done: int, total: int) -> None:
            amount = f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB" if total else ""
            bar.update(task, description=what, completed=done, total=total or None, amount=amount)

        yield show


@contextmanager
def _stopped_cleanly() -> Iterator[None]:
    """Make SIGTERM clean up as Ctrl-C does, and both of them silently: what a batch system stops leaves no half-written folder."""
    ended = False

    def interrupt(_number: int, _frame: object) -> None:
        nonlocal ended
        ended = True
        signal.raise_signal(signal.SIGINT)  # PySpark listens to this one, and cancels its jobs

    before = signal.signal(signal.SIGTERM, interrupt)
    # an interrupted py4j logs stack traces, to a terminal where nothing else is set up
    deaf = logging.NullHandler()
    logging.getLogger().addHandler(deaf)
    try:
        yield
    except KeyboardInterrupt:
        if ended:
            sys.exit(128 + signal.SIGTERM)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
        logging.getLogger().removeHandler(deaf)


def _tell(sentence: str) -> None:
    from kwire.cli.terminal import printable

    click.echo(f"kwire: {printable(sentence.rstrip('.'))}.", err=True)


@click.command(short_help="Analyse captures: who talks to the cluster, and who breaks when it is upgraded.")
@click.argument("captures", metavar="CAPTURE...", nargs=-1, required=True)
@click.option("--out", required=True, metavar="DIR", help="Folder or URI for the tables and the page; it must not exist yet.")
@click.option(
    "--master",
    metavar="URL",
    help="Spark master (local[4], spark://host:7077, yarn, k8s://..., sc://host); all cores of this machine by default.",
)
@click.option(
    "--port", "ports", type=click.IntRange(1, 65535), multiple=True, metavar="N", help="A port where brokers listen; found out by default."
)
@click.option(
    "--target-release",
    "targets",
    multiple=True,
    metavar="R",
    help="A Kafka release to judge (4.1, 4.0.0); by default all newer minor releases.",
)
@click.option(
    "--broker-release",
    metavar="R",
    help="The release that the observed brokers run, where the capture does not tell.",
)
@click.option(
    "--series", "series_rule", default="name", show_default=True, metavar="RULE",
    help="Which files belong to one capture point: name (rotation number or time differs), folder, all, file, or match:REGEX; "
    "points (or points:REGEX): the files are of several points that saw the same traffic, which counts once.",
)  # fmt: skip
@click.option(
    "--log-zone", metavar="ZONE", help="Time zone of request logs (Europe/Berlin), which do not say it themselves; UTC by default."
)
@click.option(
    "--sharing", type=click.Choice(["auto", "scan", "route"]), default="auto", show_default=True,
    help="How tasks share the connections of one capture point: each scans all packets, or packets are routed to them first, which needs "
    "room for them in DIR while it runs and pays from a few tasks on. The tables are the same.",
)  # fmt: skip
@click.option("--owners", metavar="FILE", help="TOML or CSV: which client ids, principals and networks belong to which team.")
@with_redaction
@click.option("--overwrite", is_flag=True, help="Replace the analysis that is in DIR.")
@click.option("--append", is_flag=True, help="Go on with the analysis that is in DIR: read new files, and what the newest has grown by.")
@with_forms
@click.option("--no-report", is_flag=True, help="Write the tables only, no page.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@with_tls_options
@with_store_options
def analyze(
    captures: tuple[str, ...], out: str, master: str | None, ports: tuple[int, ...], targets: tuple[str, ...],
    broker_release: str | None, series_rule: str, log_zone: str | None, sharing: Sharing, owners: str | None, redact: bool,
    key_file: str | None, keep_prefix: int | None, overwrite: bool, append: bool, forms: tuple[str, ...], no_report: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Analyse CAPTURES and request logs (files, folders, globs, URIs) into tables and a page in DIR.

    DIR/TABLE/*.parquet are the tables, DIR/report.html is the page. Rotated files of one capture point are read as one series. DIR is
    complete when DIR/_SUCCESS is there.

    \b
    Examples:
      kwire analyze kafka-*.pcap --out report/ --port 9092
      kwire analyze s3://bucket/captures/ --out s3://bucket/report/ --master yarn
      kwire analyze "s3://bucket/captures/*.pcap.zst" --out report/ --endpoint http://localhost:9000
      kwire analyze kafka-request.log* --out report/ --log-zone Europe/Berlin
      kwire analyze before.pcap --out report/ --target-release 4.0.0 --overwrite
      kwire analyze "captures/*.pcap" --out report/ --append
      kwire analyze kafka.pcap --out for-the-vendor/ --redact --key secret.key

    The exit status is 0; 3 when the analysis was written although some of the inputs could not be read; 4 when it rests on too little (no
    request at all, many packets lost, one direction only, nearly all TLS); and 1 when it was not written.
    """
    from kwire.tables.pandas_left_out import leave_pandas_out, pandas_hidden

    leave_pandas_out()
    with suppress(ImportError), pandas_hidden():
        import pyspark.testing.utils  # noqa: F401 - PySpark does with the first call of Java; it wants pandas for tests of its own
    from kwire.report import summarize, write_reports
    from kwire.spark.job import JobRequest, run_job

    if append and overwrite:
        raise InputError("--append goes on with the analysis in DIR and --overwrite replaces it; give one of the two.")
    request = JobRequest(
        inputs=captures, out=out, master=master, ports=ports, target_releases=targets, broker_release=broker_release,
        series_rule=series_rule, log_zone=log_zone, overwrite=overwrite, append=append, owners=owners,
        redaction=redaction_of(redact, key_file, keep_prefix), sharing=sharing,
    )  # fmt: skip
    # the command names files, and they may name their owners
    command = "kwire analyze ... --redact" if redact else shlex.join(["kwire", *sys.argv[1:]])
    with _stopped_cleanly(), _progress_bar() as progress:
        report = run_job(
            request, progress=progress, page=None if no_report else lambda folder: write_reports(folder, forms, command=command)
        )
    for warning in report.warnings:
        _tell(warning)
    for _, reason in report.skipped:
        _tell(f"left out: {reason}")
    summary = summarize(out)
    if as_json:
        from dataclasses import asdict

        from kwire.cli.terminal import json_line

        cost = {"bytes_read": report.bytes_read, "task_cpu_seconds": report.cpu_seconds, "seconds": report.phases.seconds}
        click.echo(json_line({"out": out, "read": report.read, "skipped": report.skipped, **asdict(summary), "cost": cost}))
    else:
        from kwire.cli.summary import print_cost, print_summary

        print_summary(summary)
        print_cost(report.bytes_read, report.phases.seconds)
        for form in () if no_report else forms:
            click.echo(f"{'Page' if form == 'html' else 'Report'}: {out.rstrip('/')}/report.{form}")
        if no_report:
            click.echo(f"Tables: {out}")
    if not report.requests:
        where = captures[0] if len(captures) == 1 else "these captures"
        _tell(f"no Kafka request was found in {where}; if brokers listen on unusual ports, name them with --port")
    else:
        for reason in report.thin:
            _tell(f"this rests on too little: {reason[:1].lower()}{reason[1:]}")
    return THIN_EVIDENCE if report.thin else INCOMPLETE_INPUT if report.skipped else 0
