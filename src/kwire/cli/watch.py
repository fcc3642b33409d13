"""`kwire watch`: live clients of the brokers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

import click
import cloup

from kwire.cli.capture_options import ports_option
from kwire.cli.completion import complete_release
from kwire.cli.tables import Column, TablePrinter
from kwire.cli.target_option import command_config_option, target_of
from kwire.errors import InputError

if TYPE_CHECKING:
    from prometheus_client.core import Metric
    from rich.table import Table

    from kwire.analysis.live_clients import LiveClient, LiveClients

__all__ = ["watch"]

_LEAST_SECONDS: Final = 0.1
# Brokers end connections that are idle for 10 minutes (connections.max.idle.ms)
_SILENT_NS: Final = 3600 * 1_000_000_000
_COLUMNS: Final = (
    Column("client", least=0), Column("library"), Column("requests/s", 1), Column("errors/s", 2), Column("p50 ms", 4), Column("p99 ms", 3),
    Column("rejects", least=16),
)  # fmt: skip


@cloup.command(short_help="Show live who talks to the brokers, from a capture on standard input.")
@cloup.option(
    "--to",
    "target_release",
    metavar="RELEASE",
    shell_complete=complete_release,
    help="The Kafka version to judge by, HOST:PORT of a broker, or a file with the answer of one [default: the newest].",
)
@command_config_option()
@cloup.option(
    "--interval", type=click.FloatRange(_LEAST_SECONDS), default=2.0, show_default=True, metavar="S", help="Seconds between updates."
)
@cloup.option(
    "--clients", "shown", type=click.IntRange(1), default=25, show_default=True, metavar="N", help="Number of clients in the table."
)
@cloup.option("--metrics", metavar="HOST:PORT", help="Serve the counts to Prometheus.")
@ports_option()
def watch(
    target_release: str | None, command_config: str | None, interval: float, shown: int, metrics: str | None, ports: tuple[int, ...]
) -> None:  # fmt: skip
    """Show clients by library and client id, with request rate, errors, latency, and who breaks on a Kafka version.

    Reads a capture, or a JSON or text request log, from standard input until it ends. The table is renewed in place on a terminal, and
    printed once at the end in a pipe.

    \b
    Examples:
      sudo tcpdump -i any -U -w - 'tcp port 9092' | kwire watch
      ssh broker-1 sudo tcpdump -i any -U -w - 'tcp port 9092' | kwire watch --to 4.0
      sudo dumpcap -q -i eth0 -f 'tcp port 9092' -w - | kwire watch --metrics :9401
    """
    from rich.live import Live

    from kwire.analysis.live_clients import LiveClients
    from kwire.cli.standard_input import waiting_input
    from kwire.cli.terminal import console, held_for_display
    from kwire.schema import releases
    from kwire.tables import iter_pieces
    from kwire.tables.pandas_left_out import leave_pandas_out

    leave_pandas_out()
    release = releases().newest if target_release is None else target_of(target_release, command_config)
    clients, lock = LiveClients(release), threading.Lock()
    if metrics is not None:
        _serve(metrics, clients, lock)
    out = console()
    begin = last = time.monotonic()
    live = Live(console=out, auto_refresh=False, transient=False) if out.is_terminal else None

    def update(now: float) -> None:
        nonlocal last
        with lock:
            if live is not None:
                live.update(_table(clients, max(now - last, _LEAST_SECONDS), shown), refresh=True)
                clients.begin_interval()
        last = now

    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(interval):
            update(time.monotonic())

    renewing = threading.Thread(target=renew, daemon=True)
    if live is not None:
        live.start()
        renewing.start()
    try:
        with nullcontext() if live is None else held_for_display(out), waiting_input() as stream:
            for batches in iter_pieces([stream], "standard input", ("requests",), ports or None, silent_ns=_SILENT_NS, keyed=False):
                with lock:
                    for batch in batches["requests"]:
                        clients.add(batch)
    finally:
        ended.set()
        if live is not None:
            renewing.join(interval + 1)
            live.stop()
    if live is None:
        with lock:
            out.print(_table(clients, max(time.monotonic() - begin, _LEAST_SECONDS), shown))


def _table(clients: LiveClients, seconds: float, shown: int) -> Table:
    from kwire.cli.terminal import console
    from kwire.report.amounts import named
    from kwire.report.answer import kafka_names

    target = clients.release.name
    ordered = clients.applications()
    rejected = [clients.rejected(one) for one in ordered]
    more = f", {len(ordered) - shown} not shown" if len(ordered) > shown else ""
    rows = [
        [
            one.client_id or "(no client id)",
            f"{one.library} {one.version}".strip() or "not sent",
            _short(one.recent / seconds),
            _short(one.recent_errors / seconds),
            _milliseconds(one, 0.5),
            _milliseconds(one, 0.99),
            ", ".join(broken[:3]),
        ]
        for one, broken in zip(ordered[:shown], rejected, strict=False)
    ]
    breaking = sum(map(bool, rejected))
    title = f"{breaking} of {len(ordered)} clients break on {named(kafka_names((target,))[target])} so far{more}"
    return TablePrinter(_COLUMNS, {str(row[-1]): "red" for row in rows if row[-1]}).whole(rows, console().width, title)


def _short(value: float) -> float:
    return round(value, 1) if 0 < value < 100 else round(value)


def _milliseconds(one: LiveClient, part: float) -> float | None:
    found = one.quantile_us(part)
    return None if found is None else _short(found / 1000)


class _Collector:
    def __init__(self, clients: LiveClients, lock: threading.Lock) -> None:
        self._clients = clients
        self._lock = lock

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        labels = ("client_id", "client_software_name", "client_software_version")
        requests = CounterMetricFamily("kwire_requests", "Requests sent by a client.", labels=labels)
        errors = CounterMetricFamily("kwire_request_errors", "Failed responses (is_error) to a client.", labels=labels)
        breaks = GaugeMetricFamily("kwire_client_breaks", "1 for a client that the Kafka release rejects.", labels=(*labels, "release"))
        with self._lock:
            for one in self._clients:
                values = [one.client_id, one.library, one.version]
                requests.add_metric(values, one.requests)
                errors.add_metric(values, one.errors)
                breaks.add_metric([*values, self._clients.release.name], bool(self._clients.rejected(one)))
        yield from (requests, errors, breaks)


def _serve(address: str, clients: LiveClients, lock: threading.Lock) -> Any:
    from prometheus_client import CollectorRegistry, start_http_server

    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal() or len(port) > 5 or not int(port) < 65536:
        raise InputError(f"--metrics {address!r} is not HOST:PORT")
    registry = CollectorRegistry()
    registry.register(_Collector(clients, lock))
    try:
        return start_http_server(int(port), host.strip("[]") or "0.0.0.0", registry)
    except OSError as error:
        raise InputError(f"{address} cannot be listened on: {error.strerror or error}") from error
