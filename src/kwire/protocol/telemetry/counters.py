"""A broker's telemetry counters, with the names of Kafka's `ClientMetricsStats`."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Final

from kwire.codec.uuids import Uuid

__all__ = ["COUNTED", "TelemetryCounters"]

_OF_ALL: Final = "unknown-subscription-request"  # Kafka gives this one no tag
COUNTED: Final = ("unknown-subscription-request", "throttle", "plugin-export", "plugin-error")
_WINDOW: Final = 60_000_000_000  # two samples of 30 s, Kafka's default


class TelemetryCounters:
    """Counts by name and instance; call `forget` for dropped instances to limit memory."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[Uuid]] = {name: Counter() for name in COUNTED}
        self._recent: dict[str, deque[tuple[int, Uuid]]] = {name: deque(maxlen=65_536) for name in COUNTED}
        self._export_ns: dict[Uuid, tuple[int, int]] = {}

    def count(self, name: str, instance_id: Uuid, t: int) -> None:
        self._counts[name][instance_id] += 1
        self._recent[name].append((t, instance_id))

    def exported(self, instance_id: Uuid, t: int, took_ns: int) -> None:
        self.count("plugin-export", instance_id, t)
        total, most = self._export_ns.get(instance_id, (0, 0))
        self._export_ns[instance_id] = total + took_ns, max(most, took_ns)

    def forget(self, instance_id: Uuid) -> None:
        for counts in self._counts.values():
            del counts[instance_id]
        self._export_ns.pop(instance_id, None)

    def _in_window(self, name: str, t: int, is_meant: Callable[[Uuid], bool]) -> int:
        recent = self._recent[name]
        while recent and t - recent[0][0] >= _WINDOW:
            recent.popleft()
        return sum(is_meant(instance_id) for _, instance_id in recent)

    def values(self, t: int, instance_count: int, instance_id: Uuid | None = None) -> dict[str, float]:
        """Return all metrics of one instance (tag `client_instance_id`), or of all together."""
        found: dict[str, float] = {"instance-count": instance_count} if instance_id is None else {}
        for name, counts in self._counts.items():
            if instance_id is not None and name == _OF_ALL:
                continue
            found[f"{name}-count"] = counts[instance_id] if instance_id is not None else sum(counts.values())
            found[f"{name}-rate"] = self._in_window(name, t, lambda each: instance_id is None or each == instance_id) * 1e9 / _WINDOW
        times = list(self._export_ns.values()) if instance_id is None else [self._export_ns.get(instance_id, (0, 0))]
        exports = found["plugin-export-count"]
        found["plugin-export-time-avg"] = sum(total for total, _ in times) / exports / 1e6 if exports else 0.0
        found["plugin-export-time-max"] = max((most for _, most in times), default=0) / 1e6
        return found
