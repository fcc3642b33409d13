"""Metrics of a client, and the points of one push: cumulative values or changes since the last push."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from kwire.protocol.telemetry.metric_catalog import UNKNOWN_BROKER

__all__ = ["MetricStore", "Temporality"]

Temporality = Literal["delta", "cumulative"]
_Labels = tuple[tuple[str, str], ...]


class MetricStore:
    """Counters and gauges of one client. Unrecorded metrics are not pushed (`KafkaMetricsCollector`).

    Arguments:
        resource: labels of the client: `client_rack`, `group_id`, `transactional_id` and the like; `labels` changes them.
    """

    def __init__(self, resource: Mapping[str, str] | None = None) -> None:
        self.resource: dict[str, str] = dict(resource or {})
        self._counts: dict[tuple[str, _Labels], int | float] = {}
        self._gauges: dict[tuple[str, _Labels], int | float | str] = {}
        self._told: dict[tuple[str, _Labels], int | float] = {}
        self._since: int | None = None
        self._temporality: Temporality | None = None

    @staticmethod
    def _key(name: str, labels: Mapping[str, str]) -> tuple[str, _Labels]:
        return name, tuple(sorted(labels.items()))

    def add(self, name: str, amount: int | float = 1, **labels: str) -> None:
        key = self._key(name, labels)
        self._counts[key] = self._counts.get(key, 0) + amount

    def set(self, name: str, value: int | float | str, **labels: str) -> None:
        """Set a gauge; a text becomes a gauge of 1 with the label `value`."""
        self._gauges[self._key(name, labels)] = value

    def of_broker(self, node_id: int | None) -> str:
        """Return the value of the label `broker_id`; bootstrap servers have a fixed one, because their ids are unknown."""
        return UNKNOWN_BROKER if node_id is None or node_id < 0 else str(node_id)

    def labels(self, **labels: str | None) -> None:
        """Change labels of the client, such as `group_member_id` after a join; None removes one."""
        for key, value in labels.items():
            if value is None:
                self.resource.pop(key, None)
            else:
                self.resource[key] = value

    def collect(self, wanted: Callable[[str], bool], temporality: Temporality, t: int) -> list[dict[str, Any]]:
        """Return the points of one push.

        Arguments:
            wanted: function that returns by name whether a metric is pushed.
            temporality: `delta` for changes since the last call, or `cumulative` for totals since the start. When it changes, earlier
                pushes are forgotten, as in Kafka: the next delta is the whole count.
            t: current time, nanoseconds of the Unix epoch.
        """
        if temporality != self._temporality:
            self._told.clear()
            self._temporality = temporality
            self._since = None
        points = []
        start = t if self._since is None else self._since
        for (name, labels), count in self._counts.items():
            if not wanted(name):
                continue
            value = count
            if temporality == "delta":
                value = count - self._told.get((name, labels), 0)
                self._told[name, labels] = count
            points.append(self._point(name, "sum", value, labels, t) | {"temporality": temporality, "start_time_unix_nano": start})
        points += [self._point(name, "gauge", value, labels, t) for (name, labels), value in self._gauges.items() if wanted(name)]
        if temporality == "delta" or self._since is None:
            self._since = t
        return points

    def _point(self, name: str, kind: str, value: int | float | str, labels: _Labels, t: int) -> dict[str, Any]:
        return {"metric": name, "type": kind, "value": value, "attributes": dict(labels), "resource": self.resource, "time_unix_nano": t}
