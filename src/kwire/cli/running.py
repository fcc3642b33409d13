"""Run of an analysis by a command: engine, clean end when interrupted, summary."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from kwire.cli.progress import progress_bar
from kwire.cli.report_options import show_reports
from kwire.cli.terminal import json_line, no_width, volume, warn

if TYPE_CHECKING:
    from kwire.report import Summary
    from kwire.runs.job_request import JobReport, JobRequest
    from kwire.runs.local_processes import Engine

__all__ = ["print_outcome", "print_result", "run_with_bar", "write_analysis"]


@contextmanager
def _stopped_cleanly(out: str) -> Iterator[None]:
    """Make SIGTERM clean up like Ctrl-C, so that a stopped batch job leaves no incomplete folder."""
    ended = False

    def interrupt(_number: int, _frame: object) -> None:
        nonlocal ended
        ended = True
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell script's `kwire analyze ... &`
            raise KeyboardInterrupt
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
        warn(f"interrupted; {out} is as it was before")
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
        logging.getLogger().removeHandler(deaf)


def run_with_bar(request: JobRequest, page: Callable[[str], object] | None) -> JobReport:
    """Run the job, and print on stderr the engine if it may surprise, and the unreadable inputs; `page` writes the reports."""
    from kwire.report.amounts import bytes_of
    from kwire.spark.job import run_job

    def chosen(engine: Engine, size: int) -> None:
        if engine == "spark":
            _hide_pandas()
        elif request.engine == "auto" and volume() > 0:
            warn(f"{bytes_of(size)} of captures: using the local engine; --engine spark uses Spark")

    with _stopped_cleanly(request.out), progress_bar("Looking for captures") as progress:
        report = run_job(request, progress=progress, page=page, chosen=chosen)
    for warning in report.warnings:
        warn(warning)
    for _, reason in report.skipped:
        warn(f"left out: {reason}")
    return report


def write_analysis(request: JobRequest, forms: Sequence[str], command: str, *, no_report: bool) -> tuple[JobReport, Summary, list[str]]:
    """Run the job and write its reports; return the outcome, the summary and the paths of the reports."""
    from kwire.report import FILES, summarize, write_reports

    report = run_with_bar(request, None if no_report else lambda folder: write_reports(folder, forms, command=command))
    paths = [] if no_report else [f"{request.out.rstrip('/')}/{FILES[form]}" for form in forms]
    return report, summarize(request.out), paths


def _hide_pandas() -> None:
    """Import a module of PySpark's tests that its first call of Java imports, without pandas, which nothing here needs."""
    from kwire.tables.pandas_left_out import pandas_hidden

    with suppress(ImportError), pandas_hidden():
        import pyspark.testing.utils  # noqa: F401


def print_outcome(report: JobReport, summary: Summary) -> None:
    from kwire.cli.summary import print_cost, print_summary

    print_summary(summary)
    print_cost(report.bytes_read, report.phases.seconds)


def print_result(report: JobReport, summary: Summary, paths: Sequence[str], document: Mapping[str, Any] | None, *, wide: bool) -> None:
    """Print `document` as JSON and warnings on stderr; without one, the summary and the paths of reports or of the tables."""
    if document is not None:
        click.echo(json_line(document))
        for fact in summary.facts:
            if fact.level == "warning":
                warn(fact.sentence)
        return
    if wide:
        no_width()
    print_outcome(report, summary)
    show_reports(paths)
    if not paths:
        click.echo(f"Tables: {report.out}")
