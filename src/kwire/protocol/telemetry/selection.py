"""Metrics of a subscription: prefixes of names."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["ALL_METRICS", "MetricSelector"]

ALL_METRICS = "*"


class MetricSelector:
    """Selection of the metrics that a broker requests: one empty string or one `*` selects all, an empty list none; other texts are
    prefixes.

    A prefix has no wildcards: `a.b.` does not match `a.b`, and `*` among other prefixes is matched literally. For all metrics the proposal
    writes an empty string, Kafka's broker `*` (`ClientTelemetryUtils.getSelectorFromRequestedMetrics`).
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
