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

if not TYPE_CHECKING:
    # A reader of captures needs the points and not the machines.
    __getattr__ = lazy_getattr(
        globals(),
        client_role="TelemetryClient",
        metric_points="MAX_METRICS MAX_POINTS POINTS_OF_ANY_PUSH decode_metrics first_points",
        metric_store="MetricStore",
        receiver_role="TelemetryReceiver",
        receivers="MemoryReceiver MetricsReceiver",
        selection="MetricSelector",
        subscriptions="Subscription SubscriptionTable",
    )
