"""Outcomes of a client that pushes metrics."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.protocol.telemetry.metric_store import Temporality
from kwire.protocol.telemetry.selection import MetricSelector

__all__ = ["Accepted", "Disabled", "Failed", "PushLost", "Subscribed", "TelemetryOutcome"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribed:
    """Subscription from a broker, with the requested metrics."""

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
    """Failure of a request, for a log. `error_code` is None without an answer; `again_in_ms` is None if there is no retry."""

    reason: str
    error_code: int | None
    again_in_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PushLost:
    """Contents of a rejected push. Deltas are lost; cumulative values are sent again."""

    points: int
    temporality: Temporality


@dataclass(frozen=True, slots=True, kw_only=True)
class Disabled:
    """Transition missing from Kafka's table: pushing stops."""

    reason: str


TelemetryOutcome = Subscribed | Accepted | Failed | PushLost | Disabled
