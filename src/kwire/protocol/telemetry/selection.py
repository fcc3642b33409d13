"""Which metrics a subscription means: prefixes of names, compared as text."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["ALL_METRICS", "MetricSelector"]

ALL_METRICS = "*"


class MetricSelector:
    """The metrics that a broker asked for.

    Arguments:
        requested: as in the answer: nothing, one empty string or one `*` for all, or prefixes.

    Attributes:
        everything, nothing: whether all metrics are wanted, or none.
        prefixes: what names have to begin with, otherwise.

    A prefix has no wildcards, so `a.b.` does not mean `a.b`, and `*` among other prefixes is a prefix like any. The proposal writes all
    as an empty string, Kafka's broker as `*`. Source: `ClientTelemetryUtils.getSelectorFromRequestedMetrics`.
    """

    __slots__ = ("everything", "nothing", "prefixes")

    def __init__(self, requested: Iterable[str]) -> None:
        self.prefixes = tuple(requested)
        self.nothing = not self.prefixes
        self.everything = self.prefixes in ((ALL_METRICS,), ("",))

    def __call__(self, name: str) -> bool:
        """Whether a metric of this name is wanted."""
        return self.everything or name.startswith(self.prefixes)

    def __repr__(self) -> str:
        return f"MetricSelector({list(self.prefixes)!r})"
