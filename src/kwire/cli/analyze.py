"""`kwire analyze`: makes tables and a report from captures, locally or on Spark."""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal

import click
import cloup

from kwire.cli.capture_options import group_files_option, log_zone_option, ports_option
from kwire.cli.exit_status import CLIENTS_BREAK, INCOMPLETE_INPUT, THIN_EVIDENCE
from kwire.cli.redaction_options import redaction_of, with_redaction
from kwire.cli.report_options import (
    failing,
    forms_option,
    open_option,
    open_page,
    wide_option,
    with_fail_on,
)
from kwire.cli.standard_input import STANDARD_INPUT, spooled_input
from kwire.cli.store_options import with_store_options
from kwire.cli.target_option import command_config_option, from_option, owners_option, targets_of, targets_option
from kwire.cli.terminal import warn
from kwire.cli.tls_options import with_tls_options

if TYPE_CHECKING:
    from kwire.report import Summary
    from kwire.runs.job_request import JobReport
    from kwire.runs.local_processes import Engine

__all__ = ["analyze"]


@cloup.command(short_help="Analyze captures: who talks to the cluster, and who breaks when it is upgraded.", show_constraints=False)
@cloup.argument("captures", metavar="CAPTURE...", nargs=-1, required=True)
@cloup.option_group(
    "Input",
    ports_option(),
    group_files_option(
        "Rule that joins rotated files to groups: name (all but rotation number or time), folder, all, file, or match:REGEX; "
        "overlap (or overlap:REGEX): the same traffic captured in several places, which counts once."
    ),
    log_zone_option(),
)  # fmt: skip
@cloup.option_group(
    "Verdicts",
    targets_option(
        "Kafka version to judge, such as 4.1 or 4.0.0; or HOST:PORT of a broker, which is asked; or a file with the answer of one; or "
        "a name of kwire catalog targets (repeatable) [default: all newer minor versions]."
    ),
    command_config_option(),
    from_option(),
    owners_option(),
    with_fail_on(),
)  # fmt: skip
@cloup.option_group(
    "Output",
    cloup.option("--out", required=True, metavar="DIR", help="Folder or URI for the tables and the report; it must not exist yet."),
    cloup.option("--overwrite", is_flag=True, help="Replace the analysis in DIR."),
    cloup.option("--append", is_flag=True, help="Add new files, and data appended to the newest capture, to the analysis in DIR."),
    forms_option(),
    cloup.option("--no-report", is_flag=True, help="Write the tables only."),
    open_option(),
    wide_option(),
    cloup.option("--json", "as_json", is_flag=True, help="Print the summary as JSON."),
    cloup.option(
        "--catalog",
        metavar="NAME",
        help="Register the tables in the Spark catalog too, as NAME.requests and so on; NAME is a database, or CATALOG.DATABASE.",
    ),
    cloup.option(
        "--partition-by",
        type=click.Choice(["date"]),
        help="Divide requests, connections and telemetry into folders of a day (UTC), TABLE/date=2026-11-23. With --catalog, copy the rows "
        "into tables of the catalog too, those of requests, connections, telemetry, group events and hours partitioned by day.",
    ),
)
@cloup.option_group(
    "Engine",
    cloup.option(
        "--engine", type=click.Choice(["auto", "local", "spark"]), default="auto", show_default=True,
        help="local: processes of this machine, without Java. spark: Spark, on this machine or a cluster. auto: spark with "
        "--master, under spark-submit or in a session of Spark, otherwise local at any size. The tables are the same.",
    ),
    cloup.option(
        "--master", metavar="URL",
        help="Spark master (local[4], spark://host:7077, yarn, k8s://..., sc://host) [default: all cores of this machine].",
    ),
)  # fmt: skip
@with_redaction
@with_tls_options
@with_store_options
def analyze(
    captures: tuple[str, ...], out: str, engine: Engine, master: str | None, ports: tuple[int, ...], targets: tuple[str, ...],
    broker_release: str | None, command_config: str | None, series_rule: str, log_zone: str | None, owners: str | None, redact: bool,
    key_file: str | None, keep_prefix: int | None, overwrite: bool, append: bool, forms: tuple[str, ...], no_report: bool,
    open_it: bool, wide: bool, as_json: bool, fail_on: str | None, catalog: str | None, partition_by: Literal["date"] | None,
) -> int:  # fmt: skip
    """Analyze CAPTURES and request logs (files, folders, globs, URIs, or - for standard input) into tables and a report in DIR.

    DIR/TABLE/*.parquet are the tables, DIR/report.html is the report. Rotated files are read as one file group. DIR is complete when
    DIR/_SUCCESS is there.

    \b
    Examples:
      kwire analyze kafka-*.pcap --out report/ --open
      ssh broker sudo tcpdump -i any -U -w - "'tcp port 9092'" | kwire analyze - --out report/
      kwire analyze kafka-request.log* --out report/ --log-zone Europe/Berlin
      kwire analyze "captures/*.pcap" --out report/ --append
      kwire analyze kafka.pcap --out report/ --to 4.0.0 --fail-on breaks --format junit
      kwire analyze kafka.pcap --out for-the-vendor/ --redact --redact-key secret.key
      kwire analyze s3://bucket/captures/ --out s3://bucket/report/ --master yarn

    Exit status: 0 the analysis was written; 1 it was not; 2 wrong options; 3 some inputs could not be read; 4 the captures are too
    incomplete to trust (no Kafka request, heavy packet loss, one direction only, nearly all TLS); 5 a client has a verdict that --fail-on
    names; 130 interrupted.
    """
    from kwire.tables.pandas_left_out import leave_pandas_out

    leave_pandas_out()
    if append and overwrite:
        raise click.UsageError("--append adds to the analysis in DIR and --overwrite replaces it; give one of the two.")
    if engine == "local" and master is not None:
        raise click.UsageError("--master is Spark's; leave it out, or give --engine spark.")
    if STANDARD_INPUT in captures and len(captures) > 1:
        raise click.UsageError("- is standard input, and goes without other captures.")
    if no_report and open_it:
        raise click.UsageError("--open needs a report; drop --no-report.")
    from kwire.cli.running import print_result, write_analysis
    from kwire.runs.job_request import JobRequest

    redaction = redaction_of(redact, key_file, keep_prefix)
    judged = targets_of(targets, command_config)
    if redaction is not None and any(":" in each.name for each in judged if not isinstance(each, str)):
        raise click.UsageError("--redact hides hosts, and --to HOST:PORT names one in each verdict; give a file with the broker's answer.")
    # the command names files, and they may name their owners
    command = "kwire analyze ... --redact" if redact else shlex.join(["kwire", *sys.argv[1:]])
    with ExitStack() as stack:
        inputs = captures if captures != (STANDARD_INPUT,) else (stack.enter_context(spooled_input()),)
        request = JobRequest(
            inputs=inputs, out=out, engine=engine, master=master, ports=ports, target_releases=judged,
            broker_release=broker_release, series_rule=series_rule, log_zone=log_zone, overwrite=overwrite, append=append, owners=owners,
            redaction=redaction, partition_by=partition_by,
        )  # fmt: skip
        report, summary, paths = write_analysis(request, forms, command, no_report=no_report)
        if catalog is not None:
            _register(out, catalog, partition_by, master)
    document = None
    if as_json:
        from dataclasses import asdict

        cost = {
            "plan": report.plan, "bytes_read": report.bytes_read, "task_cpu_seconds": report.cpu_seconds, "seconds": report.phases.seconds,
        }  # fmt: skip
        facts = {"out": out, "engine": report.engine, "read": report.read, "skipped": report.skipped}
        document = {**facts, **asdict(summary), "cost": cost}
    print_result(report, summary, paths, document, wide=wide)
    _warn_of_doubts(report, captures, ports)
    if open_it:
        open_page(paths[0])
    return _status(report, summary, fail_on)


def _register(out: str, catalog: str, partition_by: str | None, master: str | None) -> None:
    from kwire.spark.catalog_tables import register_tables
    from kwire.spark.session import open_session

    with open_session(master) as spark:
        if spark.conf.get("spark.sql.catalogImplementation", None) == "in-memory" and spark.catalog.currentCatalog() == "spark_catalog":
            warn(f"this Spark keeps its catalog in memory: the tables of {catalog} are gone with it; set spark.sql.catalogImplementation")
        register_tables(spark, out, catalog, partition_by)


def _warn_of_doubts(report: JobReport, captures: tuple[str, ...], ports: tuple[int, ...]) -> None:
    if not report.requests:
        where = "standard input" if captures == (STANDARD_INPUT,) else captures[0] if len(captures) == 1 else "these captures"
        warn(f"no Kafka request was found in {where}; {_ports_hint(captures, ports)}")
    else:
        for reason in report.thin:
            warn(f"too incomplete to trust: {reason[:1].lower()}{reason[1:]}")


def _ports_hint(captures: tuple[str, ...], ports: tuple[int, ...]) -> str:
    from kwire.capture.files.inputs import expand_inputs
    from kwire.cli.seen_ports import elsewhere

    if ports and captures != (STANDARD_INPUT,):
        other = elsewhere(expand_inputs(captures)[0], ports)
        if other:
            return other
    return "if brokers listen on unusual ports, name them with --port"


def _status(report: JobReport, summary: Summary, fail_on: str | None) -> int:
    if failing(summary, fail_on):
        return CLIENTS_BREAK
    return THIN_EVIDENCE if report.thin else INCOMPLETE_INPUT if report.skipped or report.unread else 0
