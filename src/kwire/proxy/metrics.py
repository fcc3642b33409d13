"""Counts of a proxy in Prometheus' text format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

import kwire
from kwire.protocol.capped_counts import capped
from kwire.proxy.counts import ConnectionCounts, software_of
from kwire.proxy.exchange_metrics import exchange_metrics
from kwire.proxy.rules.quotas import QuotasRule
from kwire.proxy.rules.refusals import RefusalsRule
from kwire.proxy.rules.rehearsal import RehearsalRule
from kwire.proxy.rules.rejected_counts import Rejected
from kwire.proxy.rules.rule import Peer, Rule
from kwire.proxy.taps import Taps
from kwire.schema import catalog

if TYPE_CHECKING:
    from kwire.proxy.server import ProxyServer

__all__ = ["CONTENT_TYPE", "connection_metrics", "exposition", "metrics_of", "rule_metrics", "tap_metrics"]

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_MOST_CLIENTS: Final = 1000
_BUILD: Final = InfoMetricFamily(
    "kwire_proxy_build", "Version and backend of kwire", value={"version": kwire.__version__, "backend": kwire.backend}
)


class _Given(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = tuple(metrics)

    def collect(self) -> Iterator[Metric]:
        yield from self._metrics


def exposition(metrics: Iterable[Metric]) -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Given(metrics))
    found: bytes = generate_latest(registry)
    return found


def metrics_of(server: ProxyServer) -> list[Metric]:
    """Return all current metrics of a proxy; call it in its asyncio loop's thread."""
    found = [_BUILD, *ProcessCollector(registry=None).collect(), *server_metrics(server)]
    found += connection_metrics(server.counts, server.peers())
    found += rule_metrics(server.rules.rules)
    counters = server.counters.copy()
    rows = ((tenant, row) for (_, tenant), each in counters.items() for row in each.rows())
    found += exchange_metrics(rows, sum(each.dropped for each in counters.values()))
    if server.taps is not None:
        found += tap_metrics(server.taps)
    return found


def server_metrics(server: ProxyServer) -> Iterator[Metric]:
    expiry = GaugeMetricFamily(
        "kwire_proxy_certificate_expiry_timestamp_seconds", "End of the validity of a certificate in use", labels=("listener", "file")
    )
    for labels, time in server.certificates.items():
        expiry.add_metric(labels, time)
    yield expiry
    yield GaugeMetricFamily("kwire_proxy_held_bytes", "Bytes buffered for all connections", value=server.budget.used)


def connection_metrics(counts: ConnectionCounts, peers: Iterable[Peer]) -> Iterator[Metric]:
    """Yield open connections by software, as KIP-511's gauge `connections` does, and counts of opened and closed connections."""
    names = ("client_software_name", "client_software_version", "tenant", "node_id")
    yield _filled(GaugeMetricFamily("kwire_proxy_connections", "Clients that are connected", labels=names), software_of(peers))
    opens, ends = counts.read()
    opened = {(tenant, str(node)): count for (tenant, node), count in opens.items()}
    yield _counter("kwire_proxy_connections_opened", "Connections of clients", opened, "tenant", "node_id")
    ended = {(tenant, str(node), reason): count for (tenant, node, reason), count in ends.items()}
    yield _counter("kwire_proxy_connections_closed", "Connections that are over, by reason", ended, "tenant", "node_id", "reason")
    failed = counts.failed_handshakes()
    yield _counter("kwire_proxy_tls_handshakes_failed", "TLS handshakes of clients that failed, by cause", failed, "tenant", "cause")


def tap_metrics(taps: Taps) -> Iterator[Metric]:
    if taps.max_queued:
        about = "Bytes that passed faster than the taps could blank them"
        yield _counter("kwire_proxy_tap_missed_bytes", about, {(): taps.missed_bytes})
    files = (
        ("tap", "packets", taps.capture),
        ("request_log", "lines", taps.request_log),
        ("telemetry", "points", taps.telemetry),
        ("audit", "lines", taps.audit),
    )
    for name, what, file in files:
        if file is not None:
            yield _counter(f"kwire_proxy_{name}_written_bytes", f"Bytes of {what} that were written", {(): file.written_bytes})
            about = f"Bytes of {what} that were dropped: the queue was full, or the disk"
            yield _counter(f"kwire_proxy_{name}_dropped_bytes", about, {(): file.dropped_bytes})


def rule_metrics(rules: Iterable[Rule]) -> Iterator[Metric]:
    for rule in rules:
        if isinstance(rule, RefusalsRule):
            names = ("client_software_name", "client_software_version", "api")
            refused: Counter[tuple[str, ...]] = Counter()
            with rule.lock:
                counts = rule.refused.copy()
            for (name, version, key), count in counts.items():
                refused[name or "unknown", version or "unknown", catalog().api_name(key) or str(key)] += count
            yield _counter("kwire_proxy_refusals", "Responses to clients that are refused", refused, *names)
        elif isinstance(rule, QuotasRule):
            throttled = {(tenant,): count for tenant, count in rule.read().items()}
            yield _counter("kwire_proxy_throttled", "Responses to clients that exceed a quota", throttled, "tenant")
        elif isinstance(rule, RehearsalRule):
            rejected, others = rule.counts.read()
            yield _counter(
                "kwire_proxy_rehearsal_rejected", f"Requests that {rule.release.title} would reject",
                _rejected(rule, rejected), "client_software_name", "client_software_version", "client_id", "api", "version", "release",
            )  # fmt: skip
            yield _counter("kwire_proxy_rehearsal_others", "Further ones of clients beyond the limit", {(): others})


def _rejected(rule: RehearsalRule, counts: Counter[Rejected]) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for who, count in counts.items():
        api = catalog().api_name(who.api_key) or str(who.api_key)
        name, version = who.software_name or "unknown", who.software_version or "unknown"
        found[name, version, who.client_id, api, str(who.api_version), rule.release.name] += count
    return capped(found, _MOST_CLIENTS, 3)


def _counter(name: str, about: str, counts: Mapping[Any, int], *labels: str) -> Metric:
    return _filled(CounterMetricFamily(name, about, labels=labels), counts)


def _filled(found: CounterMetricFamily | GaugeMetricFamily, counts: Mapping[Any, int]) -> Metric:
    for values, count in counts.items():
        found.add_metric(values, count)
    return found
