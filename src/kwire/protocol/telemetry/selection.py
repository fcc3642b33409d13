"""Metrics of a subscription: prefixes of names."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["ALL_METRICS", "MetricSelector"]

ALL_METRICS = "*"


class MetricSelector:
    """Metrics that a broker asked for: all for one empty string or one `*`, none for an empty list, else prefixes.

    A prefix has no wildcards, so `a.b.` does not mean `a.b`, and `*` among other prefixes is a prefix like any. The proposal writes all as
    an empty string, Kafka's broker as `*` (`ClientTelemetryUtils.getSelectorFromRequestedMetrics`).
    """

    __slots__ = ("everything", "nothing", "prefixes")

    def __init__(self, requested: Iterable[str]) -> None:
        self.prefixes = tuple(requested)
        self.nothing = not self.prefixes
        self.everything = self.prefixes in ((ALL_METRICS,), ("",))

    def __call__(self, name: str) -> bool:
        return self.everything or name.startswith(self.prefixes)

    def __repr__(self) -> str:
        return f"MetricSelector({list(self.prefixes)!r})"
