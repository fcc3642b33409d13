"""What happens to a client that pushes metrics."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.protocol.telemetry.metric_store import Temporality
from kwire.protocol.telemetry.selection import MetricSelector

__all__ = ["Accepted", "Disabled", "Failed", "PushLost", "Subscribed", "TelemetryOutcome"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribed:
    """A broker subscribed to metrics.

    Attributes:
        subscription_id: to be sent with each push.
        wanted: which metrics.
        interval_ms: between pushes.
        temporality: of what is pushed.
        compression_type: of the pushes.
        max_bytes: longest payload.
    """

    subscription_id: int
    wanted: MetricSelector
    interval_ms: int
    temporality: Temporality
    compression_type: int
    max_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A push was taken."""

    terminating: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A request came to nothing; for a log, the application goes on.

    Attributes:
        reason: one sentence.
        error_code: of the answer, None where there was none.
        again_in_ms: when the subscription is asked for, None for never.
    """

    reason: str
    error_code: int | None
    again_in_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PushLost:
    """What was in a push that was not taken. Cumulative values lose nothing by it, deltas are gone."""

    points: int
    temporality: Temporality


@dataclass(frozen=True, slots=True, kw_only=True)
class Disabled:
    """A move that Kafka's table does not have: nothing more is pushed."""

    reason: str


TelemetryOutcome = Subscribed | Accepted | Failed | PushLost | Disabled
