"""Differences between two analyses as plain data, one class per kind of difference."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

__all__ = [
    "ApiChange", "ClientChange", "Comparison", "Failure", "Slowdown", "Thresholds", "TopicChange", "VerdictChange", "ViolationChange",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Thresholds above which a difference is reported.

    Attributes:
        requests: minimum on each side for latencies to be compared.
        ratio: minimum growth of a latency, as a factor.
        least_us: minimum growth of a latency, in microseconds.
        error_share: minimum growth of the share of failed requests if some failed before.
    """

    requests: int = 100
    ratio: float = 1.5
    least_us: int = 1000
    error_share: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientChange:
    change: str  # new, gone, version
    client: str
    library: str
    version_before: str | None
    version_after: str | None
    owner: str | None
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiChange:
    change: str  # new, gone
    client: str
    api: str
    version: int
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """New errors, or a large increase of errors."""

    client: str
    api: str
    version: int
    errors_before: int
    requests_before: int
    errors_after: int
    requests_after: int
    new_error_names: tuple[str, ...]

    @property
    def before(self) -> str:
        return f"{self.errors_before:,} of {self.requests_before:,}" if self.requests_before else "not used"

    @property
    def after(self) -> str:
        return f"{self.errors_after:,} of {self.requests_after:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictChange:
    """Use of an api with a worse verdict than before."""

    client: str
    api: str
    version: int
    target_release: str
    before: str | None
    after: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowdown:
    """Increased latencies, in microseconds."""

    client: str
    api: str
    version: int
    p50_before_us: int
    p50_after_us: int
    p99_before_us: int
    p99_after_us: int
    requests_before: int
    requests_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicChange:
    change: str  # new, gone
    client: str
    topic: str
    direction: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationChange:
    """Rule that a client newly violates."""

    client: str
    rule: str
    severity: str
    count: int


@dataclass(slots=True)
class Comparison:
    """All differences, the worst first; true if there are any.

    `targets` is empty if both analyses judge a target in common; else it names the one of each whose verdicts are compared.
    """

    failing: list[Failure] = field(default_factory=list)
    verdicts: list[VerdictChange] = field(default_factory=list)
    slower: list[Slowdown] = field(default_factory=list)
    clients: list[ClientChange] = field(default_factory=list)
    apis: list[ApiChange] = field(default_factory=list)
    topics: list[TopicChange] = field(default_factory=list)
    violations: list[ViolationChange] = field(default_factory=list)
    targets: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, each.name) for each in fields(self) if each.name != "targets")
