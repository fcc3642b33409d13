"""Report as metrics in Prometheus' text format, for node_exporter's textfile collector or a Pushgateway.

`kwire_client_connections` counts the captured connections by software name and version, like the broker's gauge `connections` (KIP-511),
but also for older brokers.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kwire.analysis.digests.of_clients import WORST_FIRST
from kwire.report.contents import Report
from kwire.report.inventory import IDENTITY_SOURCES
from kwire.report.wire_text import visible

if TYPE_CHECKING:
    from prometheus_client import Gauge

__all__ = ["metrics"]


def metrics(report: Report) -> str:
    """Return the text with a final line break. Labels have no client ids, so their number depends only on libraries and Kafka versions."""
    from prometheus_client import CollectorRegistry, Gauge, generate_latest  # only this form of the report needs it

    registry = CollectorRegistry()

    def gauge(name: str, about: str, *labels: str) -> Gauge:
        return Gauge(f"kwire_{name}", about, labels, registry=registry)

    gauge("report_timestamp_seconds", "When the report was made").set(report.made.timestamp())
    found = gauge("applications", "Applications by verdict on a Kafka version", "kafka_version", "verdict")
    for target in report.matrix.targets:
        verdicts = report.matrix.fleet.at(target)
        for verdict in WORST_FIRST:
            found.labels(report.names.get(target, target), verdict).set(verdicts[verdict])
    software = ("client_software_name", "client_software_version", "identified_by")
    sums: dict[str, Counter[tuple[str, str, str]]] = {"connections": Counter(), "requests": Counter(), "errors": Counter()}
    for group in report.matrix.fleet.applications:
        source = IDENTITY_SOURCES.get(group.identity_source, "not sent")
        label = visible(group.library) or "unknown", visible(group.version) or "unknown", source
        for name, counts in sums.items():
            counts[label] += getattr(group, name) or 0
    for name, counts in sums.items():
        each = gauge(f"client_{name}", f"{name.capitalize()} of clients by software", *software)
        for label, number in counts.items():
            each.labels(*label).set(number)
    rules = gauge("violations", "Protocol violations by rule", "rule", "severity")
    for rule in report.rules:
        rules.labels(rule.rule, rule.severity).set(rule.times)
    gauge("brokers", "Brokers of the cluster").set(len(report.brokers))
    return generate_latest(registry).decode()
