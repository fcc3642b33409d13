"""Metrics pushed by clients (KIP-714): both roles, sans-IO. Input is bytes or messages and a clock; output is messages and outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from kwire.protocol.telemetry.client_role import TelemetryClient
    from kwire.protocol.telemetry.metric_points import MAX_METRICS, MAX_POINTS, POINTS_OF_ANY_PUSH, decode_metrics, first_points
    from kwire.protocol.telemetry.metric_store import MetricStore
    from kwire.protocol.telemetry.receiver_role import TelemetryReceiver
    from kwire.protocol.telemetry.receivers import MemoryReceiver, MetricsReceiver
    from kwire.protocol.telemetry.selection import MetricSelector
    from kwire.protocol.telemetry.subscriptions import Subscription, SubscriptionTable

__all__ = [
    "MAX_METRICS", "MAX_POINTS", "POINTS_OF_ANY_PUSH", "MemoryReceiver", "MetricSelector", "MetricStore", "MetricsReceiver",
    "Subscription", "SubscriptionTable", "TelemetryClient", "TelemetryReceiver", "decode_metrics", "first_points",
]  # fmt: skip

_POINTS = "kwire.protocol.telemetry.metric_points"

# A reader of captures needs the points and not the machines.
_HOME = {
    "MAX_METRICS": _POINTS,
    "MAX_POINTS": _POINTS,
    "POINTS_OF_ANY_PUSH": _POINTS,
    "MemoryReceiver": "kwire.protocol.telemetry.receivers",
    "MetricSelector": "kwire.protocol.telemetry.selection",
    "MetricStore": "kwire.protocol.telemetry.metric_store",
    "MetricsReceiver": "kwire.protocol.telemetry.receivers",
    "Subscription": "kwire.protocol.telemetry.subscriptions",
    "SubscriptionTable": "kwire.protocol.telemetry.subscriptions",
    "TelemetryClient": "kwire.protocol.telemetry.client_role",
    "TelemetryReceiver": "kwire.protocol.telemetry.receiver_role",
    "decode_metrics": _POINTS,
    "first_points": _POINTS,
}

if not TYPE_CHECKING:
    __getattr__ = lazy_getattr(globals(), _HOME)
