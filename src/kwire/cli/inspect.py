"""`kwire inspect`: the rows of one capture, without Spark and without Java."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import click

from kwire.cli.redaction_options import redaction_of, with_redaction
from kwire.cli.store_options import with_store_options
from kwire.cli.terminal import INSTANT
from kwire.cli.tls_options import with_tls_options

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc

    from kwire.analysis.redaction import Redaction, Redactor

__all__ = ["inspect"]

# Rows as they are read, and what is made of them once the capture is read to its end.
_ROWS: Final = ("requests", "connections", "violations", "captures", "telemetry")
_ANSWERS: Final = ("clients", "api_usage", "topic_access", "group_events", "client_hourly", "upgrade_impact", "brokers")

# What a person looks at first; --json gives every column. A heading stands for one column, or for several side by side.
_SHOWN: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "requests": {
        "time": ("request_time",), "connection": ("connection_id",), "#": ("request_index",), "api": ("api_name", "api_version"),
        "client id": ("client_id",), "software": ("software_name", "software_version"), "latency us": ("latency_us",),
        "error": ("error_name",), "state": ("state",),
    },
    "connections": {
        "first seen": ("first_seen",), "connection": ("connection_id",), "protocol": ("protocol",), "state": ("state",),
        "software": ("software_name", "software_version"), "client id": ("client_id",), "principal": ("principal",),
        "requests": ("request_frames",), "responses": ("response_frames",), "gaps": ("gaps",),
    },
    "violations": {
        "severity": ("severity",), "rule": ("rule",), "connection": ("connection_id",), "#": ("request_index",),
        "packet": ("packet_number",), "explanation": ("explanation",),
    },
    "captures": {
        name.replace("_", " "): (name,) for name in (
            "capture", "start", "end", "packets", "packets_dropped", "bytes", "bytes_lost", "bytes_opaque", "connections", "requests",
            "unanswered",
        )
    },
    "telemetry": {
        "time": ("time",), "client id": ("client_id",), "software": ("software_name", "software_version"), "metric": ("metric",),
        "type": ("type",), "value": ("value",), "count": ("count",),
    },
    "clients": {
        "software": ("software_name", "software_version"), "guess": ("library_guess",), "client ids": ("client_ids",),
        "addresses": ("addresses",), "principals": ("principals",), "connections": ("connections",), "requests": ("requests",),
        "errors": ("errors",),
    },
    "api_usage": {
        "client id": ("client_id",), "software": ("software_name", "software_version"), "api": ("api_name", "api_version"),
        "requests": ("requests",), "errors": ("errors",), "p50 us": ("latency_p50_us",), "p99 us": ("latency_p99_us",),
    },
    "topic_access": {
        "client id": ("client_id",), "direction": ("direction",), "topic": ("topic",), "groups": ("group_ids",), "requests": ("requests",),
        "records": ("records",), "bytes": ("bytes",), "compression": ("compression",), "errors": ("error_names",),
    },
    "group_events": {
        "time": ("time",), "group": ("group_id",), "event": ("event",), "generation": ("generation",), "member": ("member_id",),
        "members": ("members_before", "members_after"), "reason": ("reason",), "what changed": ("diff",), "error": ("error_name",),
    },
    "client_hourly": {
        "hour": ("hour",), "software": ("software_name", "software_version"), "server": ("server",), "api": ("api_name", "api_version"),
        "requests": ("requests",), "errors": ("errors",), "connections": ("connections",), "throttled ms": ("throttle_ms",),
    },
    "upgrade_impact": {
        "client id": ("client_id",), "software": ("software_name", "software_version"), "api": ("api_name", "api_version"),
        "release": ("target_release",), "verdict": ("verdict",), "basis": ("verdict_basis",), "reason": ("reason",),
    },
    "brokers": {
        "node": ("node_id",), "host": ("host",), "port": ("port",), "rack": ("rack",), "cluster": ("cluster_id",),
        "release": ("release_guess",), "addresses": ("addresses",),
    },
}  # fmt: skip

# The columns that say when a row was: it counts as inside a time range when it touches it.
_SEEN: Final = ("first_seen", "last_seen")
_TIMES: Final = {
    "requests": ("request_time", "response_time"), "captures": ("start", "end"), "telemetry": ("time", "time"),
    "group_events": ("time", "time"), "client_hourly": ("hour", "hour"),
    **dict.fromkeys(("connections", "clients", "api_usage", "topic_access", "upgrade_impact", "brokers"), _SEEN),
}  # fmt: skip


def _ids_of_address(address: str, ids: Any) -> list[str]:
    """Connection ids (`server_ip:port-client_ip:port-n`) with an end at this address."""
    wanted = address.strip("[]").lower()
    found: list[str] = []
    for name in ids.unique().to_pylist():
        server, _, rest = (name or "").partition("-")
        client = rest.rpartition("-")[0]
        if wanted in (server.rpartition(":")[0].strip("[]").lower(), client.rpartition(":")[0].strip("[]").lower()):
            found.append(name)
    return found


def _shown(row: dict[str, Any], names: tuple[str, ...]) -> object:
    if len(names) == 1:
        value = row[names[0]]
        return " ".join(map(str, value)) if isinstance(value, list) else value
    if names == ("members_before", "members_after"):
        return None if row["members_after"] is None else f"{row['members_before']} to {row['members_after']}"
    if names == ("api_name", "api_version"):
        return None if row["api_key"] is None else f"{row['api_name'] or row['api_key']} v{row['api_version']}"
    return " ".join(dict.fromkeys(str(row[name]) for name in names if row[name] is not None)) or None


def _restrict(
    table: str, batch: pa.RecordBatch, client_ids: Sequence[str], addresses: Sequence[str], groups: Sequence[str], since: datetime | None,
    until: datetime | None,
) -> pa.Table:  # fmt: skip
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = pa.Table.from_batches([batch])
    conditions: list[pc.Expression] = []
    if client_ids:
        conditions.append(pc.field("client_id").isin(list(client_ids)))
    if groups:
        conditions.append(pc.field("group_id").isin(list(groups)))
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


def _redactor(redaction: Redaction | None, capture: str) -> Redactor | None:
    if redaction is None:
        return None
    from dataclasses import replace

    from kwire.analysis.redaction import Redactor

    return Redactor(replace(redaction, files=(capture,)))


def _batches(source: str | BinaryIO, table: str, ports: tuple[int, ...], log_zone: str | None) -> Iterable[pa.RecordBatch]:
    if table in _ROWS:
        from kwire.tables import iter_capture

        return iter_capture(source, table, ports or None, log_zone=log_zone)
    from kwire.analysis import of_capture

    return of_capture(source, ports, log_zone=log_zone)[table].to_batches()


@click.command(short_help="Show the rows of one capture, without Spark.")
@click.argument("capture", metavar="CAPTURE")
@click.option("--table", type=click.Choice(_ROWS + _ANSWERS), default="requests", show_default=True, help="Which rows.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines with every column; times in ISO 8601.")
@click.option(
    "--port", "ports", type=click.IntRange(1, 65535), multiple=True, metavar="N", help="A port where brokers listen; found out by default."
)
@click.option("--client-id", "client_ids", multiple=True, metavar="ID", help="Only rows with this client id.")
@click.option("--address", "addresses", multiple=True, metavar="A", help="Only rows of connections with this IP address at either end.")
@click.option("--group", "groups", multiple=True, metavar="G", help="Only rows of this consumer group.")
@click.option("--since", type=INSTANT, help="Only what happened at this time or later.")
@click.option("--until", type=INSTANT, help="Only what happened before this time.")
@click.option(
    "--log-zone", metavar="ZONE", help="Time zone of a request log (Europe/Berlin), which does not say it itself; UTC by default."
)
@with_redaction
@with_tls_options
@with_store_options
def inspect(
    capture: str, table: str, as_json: bool, ports: tuple[int, ...], client_ids: tuple[str, ...], addresses: tuple[str, ...],
    groups: tuple[str, ...], since: datetime | None, until: datetime | None, log_zone: str | None, redact: bool, key_file: str | None,
    keep_prefix: int | None,
) -> None:  # fmt: skip
    """Show the rows of CAPTURE, a pcap or pcapng file or a broker's request log (gzip and zstd too), a URI, or - for standard input.

    Needs no Spark and no Java. A table on the terminal, or JSON lines for scripts. Rows of requests, connections, violations and telemetry
    come as they are read, those of the other tables when the capture is read to its end.

    \b
    Examples:
      kwire inspect kafka.pcap --table connections
      tcpdump -w - 'tcp port 9092' | kwire inspect - --json
      tail -F kafka-request.log | kwire inspect - --json
      kwire inspect kafka.pcap --client-id billing --since 2026-09-30T12:00:00
      kwire inspect kafka.pcap --table group_events --group billing
    """
    import sys

    from kwire.cli.terminal import TablePrinter, json_line
    from kwire.tables import SCHEMAS
    from kwire.tables.pandas_left_out import leave_pandas_out

    leave_pandas_out()
    restrictions = (("--client-id", client_ids, "client_id"), ("--address", addresses, "connection_id"), ("--group", groups, "group_id"))
    for option, given, column in restrictions:
        if given and column not in SCHEMAS[table].names:
            raise click.UsageError(f"Rows of {table} have no column {column}: {option} does not go with them.")
    if table == "violations" and (since or until):
        raise click.UsageError("Rows of violations have no time of their own: --since and --until do not go with them.")
    redactor = _redactor(redaction_of(redact, key_file, keep_prefix), capture)
    source = sys.stdin.buffer if capture == "-" else capture
    shown = _SHOWN[table]
    printer = TablePrinter(list(shown))
    count = 0
    for batch in _batches(source, table, ports, log_zone):
        rows = _restrict(table, batch, client_ids, addresses, groups, since, until)
        count += rows.num_rows
        if redactor is not None:
            rows = redactor.table(table, rows)
        if as_json:
            # one write a batch: a line a row would cost more than reading it
            sys.stdout.write("".join(f"{json_line(row)}\n" for row in rows.to_pylist()))
            sys.stdout.flush()
        elif rows.num_rows:
            printer.print([_shown(row, names) for names in shown.values()] for row in rows.to_pylist())
    if not count and not as_json:
        click.echo(f"No {table} in {'standard input' if capture == '-' else capture}.", err=True)
