"""`kwire broker telemetry`: metrics that clients pushed, and those that a cluster wants."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from itertools import chain
from typing import Any, BinaryIO

import click

from kwire.cli.telemetry_subscriptions import ActionGroup, alter, delete, describe, list_names
from kwire.errors import InputError

__all__ = ["telemetry"]

_HEADINGS = ("time", "client id", "software", "instance", "metric", "type", "value", "labels")


def _points(file: BinaryIO) -> Iterator[dict[str, Any]]:
    import json

    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            point = json.loads(line)
        except ValueError:
            point = None
        if not isinstance(point, dict) or not {"metric", "value", "resource", "attributes"} <= set(point):
            raise InputError(f"{file.name}, line {number}: not a point that a receiver of kwire wrote")
        yield point


def _time(nanoseconds: object) -> str:
    if not isinstance(nanoseconds, int) or not 0 < nanoseconds < 1 << 62:
        return ""
    return datetime.fromtimestamp(nanoseconds / 1e9, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def _row(point: dict[str, Any]) -> tuple[object, ...]:
    identity = point["resource"]
    software = f"{identity.get('client_software_name', '')} {identity.get('client_software_version', '')}".strip()
    labels = " ".join(f"{name}={value}" for name, value in point["attributes"].items())
    return (
        _time(point.get("time_unix_nano")), identity.get("client_id"), software, identity.get("client_instance_id"), point["metric"],
        point.get("type"), point["value"], labels,
    )  # fmt: skip


@click.group(cls=ActionGroup, short_help="Metrics that clients push (KIP-714).")
def telemetry() -> None:
    """Client telemetry (KIP-714): the metrics that a cluster requests from its clients, and those received.

    \b
    Example:
      kwire broker telemetry alter --bootstrap-server localhost:9092 --name all --metrics org.apache.kafka. --interval 60000
      kwire broker telemetry show metrics.jsonl
    """


for _command in (list_names, alter, describe, delete):
    telemetry.add_command(_command)


@telemetry.command(short_help="Show the points that a receiver wrote.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.File("rb"))
@click.option("--metric", "prefixes", multiple=True, metavar="PREFIX", help="Only metrics with this name prefix (repeatable).")
@click.option("--instance", metavar="ID", help="Only this client instance.")
@click.option("--required", type=click.Choice(["producer", "consumer"]), help="List the missing required metrics of each instance instead.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
def show(files: tuple[BinaryIO, ...], prefixes: tuple[str, ...], instance: str | None, required: str | None, as_json: bool) -> None:
    """Show the points of files that `kwire proxy` or a `JsonLinesReceiver` wrote; - is the standard input.

    Points in a capture: kwire inspect CAPTURE --table telemetry.

    \b
    Example:
      kwire broker telemetry show metrics.jsonl --metric org.apache.kafka.producer.
      kwire broker telemetry show pushed_*.jsonl --required consumer
    """
    from kwire.cli.tables import print_table
    from kwire.cli.terminal import json_line
    from kwire.protocol.telemetry.metric_catalog import missing_metrics
    from kwire.protocol.telemetry.selection import MetricSelector

    wanted = MetricSelector(prefixes or ("*",))
    points = (
        point
        for point in chain.from_iterable(map(_points, files))
        if wanted(str(point["metric"])) and instance in (None, point["resource"].get("client_instance_id"))
    )
    if required is not None:
        names: dict[str, set[str]] = {}
        for point in points:
            names.setdefault(str(point["resource"].get("client_instance_id")), set()).add(point["metric"])
        lacking = [(each, name) for each, there in names.items() for name in missing_metrics(required, there)]
        if as_json:
            for each, name in lacking:
                click.echo(json_line({"client_instance_id": each, "missing": name}))
        else:
            print_table(("instance", f"required of a {required} and not pushed"), lacking)
    elif as_json:
        for point in points:
            click.echo(json_line(point))
    else:
        print_table(_HEADINGS, [_row(point) for point in points])
