"""`kwire inspect`: the rows of one capture, without Spark and without Java."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import click

from kwire.cli.redaction_options import redaction_of, with_redaction
from kwire.cli.terminal import INSTANT

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc

    from kwire.analysis.redaction import Redaction, Redactor

__all__ = ["inspect"]

_TABLES: Final = ("requests", "connections", "violations", "captures")

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
}  # fmt: skip

# The columns that say when a row was: it counts as inside a time range when it touches it.
_TIMES: Final = {"requests": ("request_time", "response_time"), "connections": ("first_seen", "last_seen"), "captures": ("start", "end")}


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
        return row[names[0]]
    if names == ("api_name", "api_version"):
        return None if row["api_key"] is None else f"{row['api_name'] or row['api_key']} v{row['api_version']}"
    return " ".join(dict.fromkeys(str(row[name]) for name in names if row[name] is not None)) or None


def _restrict(
    table: str, batch: pa.RecordBatch, client_ids: Sequence[str], addresses: Sequence[str], since: datetime | None, until: datetime | None
) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = pa.Table.from_batches([batch])
    conditions: list[pc.Expression] = []
    if client_ids:
        conditions.append(pc.field("client_id").isin(list(client_ids)))
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


@click.command(short_help="Show the rows of one capture, without Spark.")
@click.argument("capture", metavar="CAPTURE")
@click.option("--table", type=click.Choice(_TABLES), default="requests", show_default=True, help="Which rows.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines with every column; times in ISO 8601.")
@click.option(
    "--port", "ports", type=click.IntRange(1, 65535), multiple=True, metavar="N", help="A port where brokers listen; found out by default."
)
@click.option("--client-id", "client_ids", multiple=True, metavar="ID", help="Only rows with this client id.")
@click.option("--address", "addresses", multiple=True, metavar="A", help="Only rows of connections with this IP address at either end.")
@click.option("--since", type=INSTANT, help="Only what happened at this time or later.")
@click.option("--until", type=INSTANT, help="Only what happened before this time.")
@click.option(
    "--log-zone", metavar="ZONE", help="Time zone of a request log (Europe/Berlin), which does not say it itself; UTC by default."
)
@with_redaction
def inspect(
    capture: str, table: str, as_json: bool, ports: tuple[int, ...], client_ids: tuple[str, ...], addresses: tuple[str, ...],
    since: datetime | None, until: datetime | None, log_zone: str | None, redact: bool, key_file: str | None, keep_prefix: int | None,
) -> None:  # fmt: skip
    """Show the rows of CAPTURE, a pcap or pcapng file or a broker's request log (gzip and zstd too), a URI, or - for standard input.

    Needs no Spark and no Java. A table on the terminal, or JSON lines for scripts.

    \b
    Examples:
      kwire inspect kafka.pcap --table connections
      tcpdump -w - 'tcp port 9092' | kwire inspect - --json
      tail -F kafka-request.log | kwire inspect - --json
      kwire inspect kafka.pcap --client-id billing --since 2026-09-30T12:00:00
    """
    import sys

    from kwire.cli.terminal import TablePrinter, json_line
    from kwire.tables import iter_capture

    if table == "captures" and (client_ids or addresses):
        raise click.UsageError("A row of captures is a file: --client-id and --address do not go with it.")
    if table == "violations" and (since or until):
        raise click.UsageError("Rows of violations have no time of their own: --since and --until do not go with them.")
    redactor = _redactor(redaction_of(redact, key_file, keep_prefix), capture)
    source = sys.stdin.buffer if capture == "-" else capture
    shown = _SHOWN[table]
    printer = TablePrinter(list(shown))
    count = 0
    for batch in iter_capture(source, table, ports or None, log_zone=log_zone):
        rows = _restrict(table, batch, client_ids, addresses, since, until)
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
