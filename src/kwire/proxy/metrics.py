"""Counts of a proxy in Prometheus' text format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from kwire.protocol.capped_counts import capped
from kwire.proxy.counts import ConnectionCounts, software_of
from kwire.proxy.exchange_metrics import exchange_metrics
from kwire.proxy.rules.refusals import RefusalsRule
from kwire.proxy.rules.rehearsal import RehearsalRule
from kwire.proxy.rules.rule import Peer, Rule
from kwire.proxy.taps import Taps
from kwire.schema import catalog

if TYPE_CHECKING:
    from kwire.proxy.server import ProxyServer

__all__ = ["CONTENT_TYPE", "connection_metrics", "exposition", "metrics_of", "rule_metrics", "tap_metrics"]

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_MOST_CLIENTS: Final = 1000


class _Given(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = tuple(metrics)

    def collect(self) -> Iterator[Metric]:
        yield from self._metrics


def exposition(metrics: Iterable[Metric]) -> bytes:
    """Return metrics as text."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Given(metrics))
    found: bytes = generate_latest(registry)
    return found


def metrics_of(server: ProxyServer) -> list[Metric]:
    """Return all current metrics of a proxy; call it in the thread of its asyncio loop."""
    found = list(connection_metrics(server.counts, server.peers()))
    found += rule_metrics(server.rules.rules)
    counters = server.counters
    if counters:
        found += exchange_metrics(chain.from_iterable(each.rows() for each in counters), sum(each.dropped for each in counters))
    if server.taps is not None:
        found += tap_metrics(server.taps)
    return found


def connection_metrics(counts: ConnectionCounts, peers: Iterable[Peer]) -> Iterator[Metric]:
    """Yield open connections, by software as KIP-511's gauge `connections`, and counts of opened and closed ones."""
    names = ("client_software_name", "client_software_version", "node_id")
    yield _gauge("kwire_proxy_connections", "Clients that are connected", names, software_of(peers))
    opens, ends = counts.read()
    opened: Counter[tuple[str, ...]] = Counter({(str(node),): count for node, count in opens.items()})
    yield _counter("kwire_proxy_connections_opened", "Connections of clients", ("node_id",), opened)
    ended: Counter[tuple[str, ...]] = Counter({(str(node), reason): count for (node, reason), count in ends.items()})
    yield _counter("kwire_proxy_connections_closed", "Connections that are over, by reason", ("node_id", "reason"), ended)


def tap_metrics(taps: Taps) -> Iterator[Metric]:
    """Yield bytes that the taps wrote, dropped and missed."""
    if taps.max_queued:
        missed: Counter[tuple[str, ...]] = Counter({(): taps.missed_bytes})
        yield _counter("kwire_proxy_tap_missed_bytes", "Bytes that passed faster than the taps could blank them", (), missed)
    files = (("tap", "packets", taps.capture), ("request_log", "lines", taps.request_log), ("telemetry", "points", taps.telemetry))
    for name, what, file in files:
        if file is not None:
            written: Counter[tuple[str, ...]] = Counter({(): file.written_bytes})
            yield _counter(f"kwire_proxy_{name}_written_bytes", f"Bytes of {what} that were written", (), written)
            dropped: Counter[tuple[str, ...]] = Counter({(): file.dropped_bytes})
            about = f"Bytes of {what} that were dropped: the queue was full, or the disk"
            yield _counter(f"kwire_proxy_{name}_dropped_bytes", about, (), dropped)


def rule_metrics(rules: Iterable[Rule]) -> Iterator[Metric]:
    """Yield counts of the rules."""
    for rule in rules:
        if isinstance(rule, RefusalsRule):
            names = ("client_software_name", "client_software_version", "api")
            refused: Counter[tuple[str, ...]] = Counter()
            with rule.lock:
                counts = rule.refused.copy()
            for (name, version, key), count in counts.items():
                refused[name or "unknown", version or "unknown", catalog().api_name(key) or str(key)] += count
            yield _counter("kwire_proxy_refusals", "Responses to clients that are refused", names, refused)
        elif isinstance(rule, RehearsalRule):
            yield _counter(
                "kwire_proxy_rehearsal_rejected", f"Requests that Kafka {rule.release.name} would reject",
                ("client_software_name", "client_software_version", "client_id", "api", "version", "release"), _rejected(rule),
            )  # fmt: skip
            yield _counter("kwire_proxy_rehearsal_others", "Further ones of clients beyond the limit", (), Counter({(): rule.others}))


def _rejected(rule: RehearsalRule) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    with rule.lock:
        counts = rule.rejected.copy()
    for who, count in counts.items():
        api = catalog().api_name(who.api_key) or str(who.api_key)
        name, version = who.software_name or "unknown", who.software_version or "unknown"
        found[name, version, who.client_id, api, str(who.api_version), rule.release.name] += count
    return capped(found, _MOST_CLIENTS, 3)


def _gauge(name: str, about: str, labels: tuple[str, ...], counts: Counter[tuple[str, ...]]) -> Metric:
    found = GaugeMetricFamily(name, about, labels=labels)
    for values, count in counts.items():
        found.add_metric(values, count)
    return found


def _counter(name: str, about: str, labels: tuple[str, ...], counts: Counter[tuple[str, ...]]) -> Metric:
    found = CounterMetricFamily(name, about, labels=labels)
    for values, count in counts.items():
        found.add_metric(values, count)
    return found
