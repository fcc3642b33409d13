"""Outcomes of a client that pushes metrics."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.protocol.telemetry.metric_store import Temporality
from kwire.protocol.telemetry.selection import MetricSelector

__all__ = ["Accepted", "Disabled", "Failed", "PushLost", "Subscribed", "TelemetryOutcome"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribed:
    """Subscription of a broker, with the wanted metrics."""

    subscription_id: int
    wanted: MetricSelector
    interval_ms: int
    temporality: Temporality
    compression_type: int
    max_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    terminating: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Failure of a request, for a log; `error_code` is None without an answer, `again_in_ms` if the subscription is not asked for again."""

    reason: str
    error_code: int | None
    again_in_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PushLost:
    """Contents of a push that was not accepted. Cumulative values lose nothing by it, deltas are lost."""

    points: int
    temporality: Temporality


@dataclass(frozen=True, slots=True, kw_only=True)
class Disabled:
    """Transition that Kafka's table does not have: nothing more is pushed."""

    reason: str


TelemetryOutcome = Subscribed | Accepted | Failed | PushLost | Disabled
