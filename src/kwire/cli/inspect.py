"""`kwire inspect`: the rows of captures, without Spark and without Java."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import cloup

from kwire.cli.capture_options import log_zone_option, ports_option
from kwire.cli.completion import complete_columns
from kwire.cli.exit_status import INCOMPLETE_INPUT
from kwire.cli.redaction_options import redaction_of, with_redaction
from kwire.cli.report_options import wide_option
from kwire.cli.standard_input import STANDARD_INPUT, waiting_input
from kwire.cli.store_options import with_store_options
from kwire.cli.terminal import INSTANT, warn
from kwire.cli.tls_options import with_tls_options

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc

    from kwire.analysis.one_process import SeriesFiles
    from kwire.analysis.redaction import Redaction, Redactor
    from kwire.capture.files.inputs import CaptureFile
    from kwire.report.analysis_folder import AnalysisFolder
    from kwire.tables import SeriesRows

__all__ = ["inspect"]

# Rows as they are read, and what is made of them once the captures are read to their end.
_ROWS: Final = ("requests", "connections", "violations", "captures", "telemetry")
_ANSWERS: Final = ("clients", "api_usage", "topic_access", "group_events", "client_hourly", "upgrade_impact", "brokers")

# The columns that say when a row was: it counts as inside a time range when it touches it.
_SEEN: Final = ("first_seen", "last_seen")
_TIMES: Final = {
    "requests": ("request_time", "response_time"), "captures": ("start", "end"), "telemetry": ("time", "time"),
    "group_events": ("time", "time"), "client_hourly": ("hour", "hour"),
    **dict.fromkeys(("connections", "clients", "api_usage", "topic_access", "upgrade_impact", "brokers"), _SEEN),
}  # fmt: skip

# What is wrong with a file as a whole; it is said on standard error, whatever table is shown.
_FILE_RULES: Final = frozenset(
    ("capture_cut", "capture_damaged", "capture_link_type", "capture_unreadable", "series_connections", "series_order", "log_line_torn")
)


class _Address(click.ParamType[str]):
    name = "A"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return str(ipaddress.ip_address(value.strip("[]")))
        except ValueError:
            self.fail(f"{value!r} is not an IP address; write 10.4.0.17 or 2001:db8::1, without a port.", param, ctx)


def _ids_of_address(wanted: str, ids: Any) -> list[str]:
    """Return connection ids (`server_ip:port-client_ip:port-n`) with an end at this address."""
    found: list[str] = []
    for name in ids.unique().to_pylist():
        server, _, rest = (name or "").partition("-")
        client = rest.rpartition("-")[0]
        if wanted in (server.rpartition(":")[0].strip("[]").lower(), client.rpartition(":")[0].strip("[]").lower()):
            found.append(name)
    return found


def _restrict(
    table: str, batch: pa.RecordBatch, client_ids: Sequence[str], addresses: Sequence[str], groups: Sequence[str], since: datetime | None,
    until: datetime | None,
) -> pa.Table:  # fmt: skip
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = pa.Table.from_batches([batch])
    conditions: list[pc.Expression] = []
    for column, given in (("client_id", client_ids), ("group_id", groups)):
        if given and column in rows.column_names:
            conditions.append(pc.field(column).isin(list(given)))
        elif given:  # a list in tables with one row for several
            rows = rows.filter(pa.array([not set(given).isdisjoint(names or ()) for names in rows.column(f"{column}s").to_pylist()]))
    if addresses:
        ids = [name for address in addresses for name in _ids_of_address(address, rows.column("connection_id"))]
        conditions.append(pc.field("connection_id").isin(pa.array(ids, pa.string())))
    if since is not None or until is not None:
        begin, end = _TIMES[table]
        either: Any = pc.coalesce
        first, last = either(pc.field(begin), pc.field(end)), either(pc.field(end), pc.field(begin))
        if since is not None:
            conditions.append(last >= pa.scalar(since, pa.timestamp("us", "UTC")))
        if until is not None:
            conditions.append(first < pa.scalar(until, pa.timestamp("us", "UTC")))
    for condition in conditions:
        rows = rows.filter(condition)
    return rows


def _ordered(table: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort clients by their ids, clients without an id last; all other rows keep the order of their captures."""
    return sorted(rows, key=lambda row: (not row["client_ids"], row["client_ids"])) if table == "clients" else rows


def _redactor(redaction: Redaction | None, captures: Sequence[str]) -> Redactor | None:
    if redaction is None:
        return None
    from dataclasses import replace

    from kwire.analysis.redaction import Redactor

    return Redactor(replace(redaction, files=tuple(captures)))


class _Inputs:
    """Captures of the command, by series; `missing` has sentences about captures that were not found."""

    def __init__(self, captures: Sequence[str], stack: ExitStack) -> None:
        self.files: list[CaptureFile] = []
        self.missing: list[str] = []
        self.series: list[SeriesFiles] = []
        if not captures:
            return
        if captures == (STANDARD_INPUT,):
            self.series.append(([stack.enter_context(waiting_input())], "standard input", ""))
            return
        from kwire.capture.files.inputs import expand_inputs
        from kwire.capture.files.series import group_series

        self.files, missing = expand_inputs(captures)
        self.missing = [each.reason for each in missing]
        for each in group_series(self.files):
            name = each.name if len(each.pieces) > 1 else each.pieces[0].name
            self.series.append(([piece.location for piece in each.pieces], name, each.disorder))


class _Notices:
    def __init__(self, redactor: Redactor | None) -> None:
        self._redactor = redactor
        self._said: set[str] = set()
        self.unreadable = 0

    def add(self, batch: pa.RecordBatch) -> None:
        import pyarrow as pa

        if not batch.num_rows:
            return
        rows = pa.Table.from_batches([batch])
        if self._redactor is not None:
            rows = self._redactor.table("violations", rows)
        for row in rows.select(["rule", "capture", "explanation"]).to_pylist():
            if row["rule"] in _FILE_RULES:
                self.unreadable += row["rule"] in ("capture_unreadable", "capture_link_type")
                text = str(row["explanation"])
                self.say(f"left out: {text}" if row["rule"] == "capture_unreadable" else f"{row['capture']}: {text[:1].lower()}{text[1:]}")

    def skip(self, error: Exception) -> None:
        self.unreadable += 1
        self.say(f"left out: {error}")

    def say(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            warn(sentence)


def _batches(inputs: _Inputs, table: str, ports: tuple[int, ...], log_zone: str | None, notices: _Notices) -> Iterator[pa.RecordBatch]:
    if table not in _ROWS:
        from kwire.analysis import finish
        from kwire.analysis.one_process import merged_series

        def seen(rows: SeriesRows) -> None:
            for batch in rows.batches("violations"):
                notices.add(batch)

        whole = merged_series(inputs.series, ports, seen, log_zone=log_zone, skipped=notices.skip)
        yield from finish(whole)[table].to_batches()
        return
    from kwire.errors import InputError
    from kwire.tables import iter_pieces

    faults: list[InputError] = []
    for sources, name, disorder in inputs.series:
        try:
            for batches in iter_pieces(sources, name, (table, "violations"), ports or None, log_zone=log_zone, disorder=disorder):
                for batch in batches["violations"]:
                    notices.add(batch)
                yield from batches[table]
        except InputError as error:
            faults.append(error)
            if len(faults) == len(inputs.series):
                raise
            notices.skip(error)


def _analysis_in(captures: Sequence[str]) -> AnalysisFolder | None:
    """Return the analysis in a single folder, or at a single URI that ends in a slash."""
    place = captures[0]
    if len(captures) > 1 or not (place.endswith("/") if "://" in place else Path(place, "_SUCCESS").exists()):
        return None
    from kwire.errors import InputError
    from kwire.report.analysis_folder import AnalysisFolder

    try:
        return AnalysisFolder(place)
    except InputError:
        if "://" in place:
            return None  # a folder of captures
        raise


def _rows_of_analysis(folder: AnalysisFolder, table: str) -> Iterator[pa.RecordBatch]:
    from kwire.tables import SCHEMAS

    names = SCHEMAS[table].names
    yield from folder.scan(table, names) if table in _ROWS else folder.read(table, names).to_batches()


@cloup.command(short_help="Show the rows of captures or of an analysis, without Spark.")
@cloup.argument("captures", metavar="CAPTURE...|DIR", nargs=-1, required=True)
@cloup.option_group(
    "Output",
    cloup.option(
        "--table",
        type=click.Choice(_ROWS + _ANSWERS),
        default="requests",
        show_default=True,
        metavar="TABLE",
        help=f"Rows to show: {', '.join(_ROWS + _ANSWERS)}.",
    ),
    cloup.option("--columns", metavar="A,B,...", shell_complete=complete_columns, help="Show these columns of the table, in this order."),
    wide_option(),
    cloup.option("--json", "as_json", is_flag=True, help="JSON lines with every column; times in ISO 8601."),
)
@cloup.option_group(
    "Filters",
    cloup.option("--client-id", "client_ids", multiple=True, metavar="ID", help="Only rows with this client id (repeatable)."),
    cloup.option("--address", "addresses", type=_Address(), multiple=True, metavar="A", help="Only connections with this IP address."),
    cloup.option("--group", "groups", multiple=True, metavar="G", help="Only rows of this consumer group."),
    cloup.option("--since", type=INSTANT, help="Only events at this time or later: 2026-09-30T12:00:00, 12:00 or -10m."),
    cloup.option("--until", type=INSTANT, help="Only events before this time."),
)
@cloup.option_group(
    "Input",
    ports_option(),
    log_zone_option(),
)  # fmt: skip
@with_redaction
@with_tls_options
@with_store_options
def inspect(
    captures: tuple[str, ...], table: str, columns: str | None, wide: bool, as_json: bool, ports: tuple[int, ...],
    client_ids: tuple[str, ...], addresses: tuple[str, ...], groups: tuple[str, ...], since: datetime | None, until: datetime | None,
    log_zone: str | None, redact: bool, key_file: str | None, keep_prefix: int | None,
) -> int:  # fmt: skip
    """Show the rows of CAPTURES: pcap or pcapng files and brokers' request logs (gzip and zstd too), folders, globs, URIs, or - for
    standard input; or of the analysis in DIR.

    Needs no Spark and no Java. A table on the terminal, or JSON lines for scripts. Rows of requests, connections, violations and telemetry
    come as they are read, those of the other tables when the captures are read to their end. A narrow terminal leaves columns out: --wide
    shows all, --columns chooses.

    \b
    Examples:
      kwire inspect kafka.pcap --table connections
      sudo tcpdump -i any -U -w - 'tcp port 9092' | kwire inspect -
      tail -F kafka-request.log | kwire inspect - --json
      kwire inspect captures/ --client-id billing --since 2026-09-30T12:00:00
      kwire inspect kafka.pcap --columns request_time,client_id,api_name,latency_us
      kwire inspect kafka.pcap --table group_events --group billing
      kwire inspect report/ --table upgrade_impact --client-id billing

    Exit status: 0; 1 nothing could be read; 2 wrong options; 3 some inputs could not be read.
    """
    import sys

    from kwire.cli.shown_columns import SHOWN, chosen_columns, columns_of, shown_value
    from kwire.cli.tables import TablePrinter
    from kwire.cli.terminal import console, json_line, no_width
    from kwire.tables import SCHEMAS
    from kwire.tables.pandas_left_out import leave_pandas_out

    leave_pandas_out()
    restrictions = (("--client-id", client_ids, "client_id"), ("--address", addresses, "connection_id"), ("--group", groups, "group_id"))
    for option, given, column in restrictions:
        if given and not {column, f"{column}s"} & set(SCHEMAS[table].names):
            raise click.UsageError(f"rows of {table} have no column {column}: leave out {option}, or choose another --table.")
    if table == "violations" and (since or until):
        raise click.UsageError("rows of violations have no time of their own: leave out --since and --until.")
    if STANDARD_INPUT in captures and len(captures) > 1:
        raise click.UsageError("- is standard input, and goes without other captures.")
    try:
        shown = SHOWN[table] if columns is None else chosen_columns(columns, SCHEMAS[table].names)
    except ValueError as error:
        raise click.UsageError(f"--columns: {error}.") from error
    redactor = _redactor(redaction_of(redact, key_file, keep_prefix), captures)
    if wide:
        no_width()
    width = console().width
    printer = TablePrinter(columns_of(table) if columns is None else list(shown))
    notices = _Notices(redactor)
    count = total = 0
    with ExitStack() as stack:
        folder = _analysis_in(captures)
        if folder is not None and (ports or log_zone):
            raise click.UsageError(f"{captures[0]} holds an analysis: leave out --port and --log-zone, which are for captures.")
        inputs = _Inputs(captures if folder is None else (), stack)
        for reason in inputs.missing:
            notices.say(f"left out: {reason}")
        for batch in _batches(inputs, table, ports, log_zone, notices) if folder is None else _rows_of_analysis(folder, table):
            total += batch.num_rows
            rows = _restrict(table, batch, client_ids, addresses, groups, since, until)
            count += rows.num_rows
            if redactor is not None:
                rows = redactor.table(table, rows)
            if as_json:
                listed = (rows if columns is None else rows.select(list(shown))).to_pylist()
                # one write a batch: a line a row would cost more than reading it
                sys.stdout.write("".join(f"{json_line(row)}\n" for row in listed))
                sys.stdout.flush()
            elif rows.num_rows:
                printer.print([shown_value(row, names, width) for names in shown.values()] for row in _ordered(table, rows.to_pylist()))
        if not count:
            where = (
                "standard input" if captures == (STANDARD_INPUT,) else captures[0] if len(captures) == 1 else f"{len(inputs.files)} files"
            )
            _say_nothing(table, where, total, inputs, ports)
        elif printer.hidden and sys.stderr.isatty():
            warn(f"columns left out for lack of room: {', '.join(printer.hidden)}; --wide shows them")
    return INCOMPLETE_INPUT if inputs.missing or notices.unreadable else 0


def _say_nothing(table: str, where: str, total: int, inputs: _Inputs, ports: tuple[int, ...]) -> None:
    from kwire.cli.seen_ports import elsewhere

    if total:
        given = click.get_current_context().params
        names = {"client_ids": "--client-id", "addresses": "--address", "groups": "--group", "since": "--since", "until": "--until"}
        asked = [
            f"{option} {value:%Y-%m-%dT%H:%M:%SZ}" if isinstance(value, datetime) else " ".join(f"{option} {one}" for one in value)
            for name, option in names.items()
            if (value := given[name])
        ]
        warn(f"0 of {total:,} {table} in {where} match {' '.join(asked)}")
        return
    other = elsewhere(inputs.files, ports) if ports else ""
    warn(other or f"no {table} in {where}")
