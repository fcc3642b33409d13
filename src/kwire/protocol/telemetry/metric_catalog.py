"""Metric names of KIP-714: required ones as released, those of the draft, and the naming of Java's clients."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

__all__ = [
    "DRAFT_METRICS", "HOST_METRICS", "KAFKA_PREFIX", "REQUIRED_METRICS", "UNKNOWN_BROKER", "MetricDefinition", "MetricName",
    "missing_metrics", "split_name", "telemetry_name", "unexpected_names",
]  # fmt: skip

KAFKA_PREFIX: Final = "org.apache.kafka."
UNKNOWN_BROKER: Final = "bootstrap"
"""Label `broker_id` of a connection to a bootstrap server."""


class MetricDefinition(NamedTuple):
    """Definition of a metric."""

    kind: str  # `sum`, `gauge`, `histogram` or `text`
    labels: Mapping[str, tuple[str, ...]] = {}  # allowed values; an empty tuple allows all

    def faults(self, labels: Mapping[str, str]) -> list[str]:
        wrong = [f"label {name} is unknown" for name in labels if name not in self.labels]
        return wrong + [
            f"label {name} is {labels[name]!r}, not one of {', '.join(allowed)}"
            for name, allowed in self.labels.items()
            if allowed and name in labels and labels[name] not in allowed
        ]


class MetricName(NamedTuple):
    """Parts of a name: `client.request.rtt.avg10s` is the average of `client.request.rtt` over 10 seconds."""

    base: str
    period_s: int | None


_CREATED: Final = ("connection.creation.rate", "connection.creation.total", "node.request.latency.avg", "node.request.latency.max")

REQUIRED_METRICS: Final[Mapping[str, tuple[str, ...]]] = {
    "producer": tuple(
        f"{KAFKA_PREFIX}producer.{name}"
        for name in (
            *_CREATED, "produce.throttle.time.avg", "produce.throttle.time.max", "record.queue.time.avg", "record.queue.time.max",
        )
    ),
    "consumer": tuple(
        f"{KAFKA_PREFIX}consumer.{name}"
        for name in (
            *_CREATED, "poll.idle.ratio.avg", "coordinator.commit.latency.avg", "coordinator.commit.latency.max",
            "coordinator.assigned.partitions", "coordinator.rebalance.latency.avg", "coordinator.rebalance.latency.max",
            "coordinator.rebalance.latency.total", "fetch.manager.fetch.latency.avg", "fetch.manager.fetch.latency.max",
        )
    ),
}  # fmt: skip
"""Required metrics of producers and consumers (KIP-714 as released, "Required Metrics")."""

_BROKER: Final[Mapping[str, tuple[str, ...]]] = {"broker_id": ()}
_PARTITION: Final[Mapping[str, tuple[str, ...]]] = {"topic": (), "partition": (), "acks": ("all", "none", "leader")}
_D = MetricDefinition

DRAFT_METRICS: Final[Mapping[str, MetricDefinition]] = {
    "client.connection.creations": _D("sum"),
    "client.connection.count": _D("gauge"),
    "client.connection.errors": _D("sum", {"reason": ("disconnect", "auth", "TLS", "timeout", "close")}),
    "client.request.rtt": _D("histogram", _BROKER),
    "client.request.queue.latency": _D("histogram", _BROKER),
    "client.request.queue.count": _D("gauge", _BROKER),
    "client.request.success": _D("sum", _BROKER),
    "client.request.errors": _D("sum", {**_BROKER, "reason": ("timeout", "disconnect", "error")}),
    "client.io.wait.time": _D("histogram"),
    **{
        f"client.producer.{name}": _D("gauge")
        for name in ("record.bytes", "record.count", "queue.max.bytes", "queue.bytes", "queue.max.messages", "queue.messages")
    },
    "client.consumer.poll.interval": _D("histogram"),
    "client.consumer.poll.last": _D("gauge"),
    "client.consumer.poll.latency": _D("histogram"),
    "client.consumer.commit.count": _D("sum"),
    "client.consumer.group.assignment.strategy": _D("text"),
    "client.consumer.group.assignment.partition.count": _D("gauge"),
    "client.consumer.assignment.partition.count": _D("gauge"),
    "client.consumer.group.rebalance.count": _D("sum"),
    "client.consumer.group.error.count": _D("sum", {"error": ()}),
    "client.consumer.record.queue.count": _D("gauge"),
    "client.consumer.record.queue.bytes": _D("gauge"),
    "client.consumer.record.application.count": _D("sum"),
    "client.consumer.record.application.bytes": _D("sum"),
    "client.consumer.fetch.latency": _D("histogram"),
    "client.consumer.fetch.count": _D("sum"),  # the draft writes Count
    "client.consumer.fetch.failures": _D("sum"),
    "client.producer.partition.queue.bytes": _D("gauge", _PARTITION),
    "client.producer.partition.queue.count": _D("gauge", _PARTITION),
    "client.producer.partition.latency": _D("histogram", _PARTITION),
    "client.producer.partition.queue.latency": _D("histogram", _PARTITION),
    "client.producer.partition.record.retries": _D("sum", _PARTITION),
    "client.producer.partition.record.failures": _D("sum", {**_PARTITION, "reason": ()}),
    "client.producer.partition.record.success": _D("sum", _PARTITION),
    "client.terminating": _D("gauge", {"reason": ()}),
}
"""The draft's metrics, without `org.apache.kafka.`. The partition is `unassigned` until the partitioner runs."""

HOST_METRICS: Final[Mapping[str, MetricDefinition]] = {
    "client.process.memory.bytes": _D("gauge"),
    "client.process.cpu.user.time": _D("sum"),
    "client.process.cpu.system.time": _D("sum"),
    "client.process.io.wait.time": _D("sum"),
    "client.process.pid": _D("gauge"),
}
"""Optional process metrics of the draft; kwire does not send them."""

_AVERAGE: Final = re.compile(r"(.+)\.avg([0-9]{1,9})s", re.DOTALL)
# What Java's clients and Streams name groups; the rest of a name is theirs to choose.
_JAVA_GROUPS: Final = ("producer.", "consumer.", "admin.client.", "admin.", "stream.", "share.consumer.", "connect.", "app.info.")


def telemetry_name(group: str, name: str, tags: Mapping[str, str] | None = None) -> tuple[str, dict[str, str]]:
    """Return the name and labels of a Java client's metric (`TelemetryMetricNamingConvention`)."""
    plain = group.replace("-metrics", "")
    whole = f"{KAFKA_PREFIX}{plain}.{name}".lower().replace("-", ".")
    return whole, {key.lower().replace("-", "_"): value for key, value in (tags or {}).items()}


def split_name(name: str) -> MetricName:
    found = _AVERAGE.fullmatch(name)
    return MetricName(found[1], int(found[2])) if found else MetricName(name, None)


def missing_metrics(kind: str, names: Iterable[str]) -> list[str]:
    """Return the required metrics of a `producer` or `consumer` that are not among the pushed names."""
    there = set(names)
    return [name for name in REQUIRED_METRICS[kind] if name not in there]


def unexpected_names(names: Iterable[str]) -> list[str]:
    """Return names under `org.apache.kafka.` that neither the proposal nor Java's groups explain."""
    known = (*DRAFT_METRICS, *HOST_METRICS)
    return [
        name
        for name in names
        if name.startswith(KAFKA_PREFIX)
        and split_name(bare := name.removeprefix(KAFKA_PREFIX)).base not in known
        and not bare.startswith(_JAVA_GROUPS)
    ]
