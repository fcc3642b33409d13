"""Receivers of metrics: the interface, one in memory, and one that queues."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from kwire.codec.uuids import Uuid
from kwire.errors import KwireError
from kwire.protocol.telemetry.metric_points import MAX_METRICS, MAX_POINTS, decode_metrics

__all__ = [
    "OTLP_CONTENT_TYPE", "MemoryReceiver", "MetricsPayload", "MetricsReceiver", "PushContext", "PushQuota", "PushQuotaExceeded",
    "QueueingReceiver",
]  # fmt: skip

OTLP_CONTENT_TYPE: Final = "OTLP"
"""Content type of payloads for Kafka's broker plug-ins (`ClientTelemetryPayload.contentType`)."""


class PushQuotaExceeded(KwireError):
    """A connection exceeded its bytes per interval."""


class PushQuota:
    """Limit of the bytes that one connection may push in an interval: the sum of sent, unpacked and stored bytes."""

    __slots__ = ("_since", "_used", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._used = 0
        self._since: int | None = None

    def begin(self, t: int, interval_ms: int) -> None:
        if self._since is None or t - self._since >= interval_ms * 1_000_000:
            self._since, self._used = t, 0

    def take(self, count: int) -> None:
        self._used += count
        if self._used > self.limit:
            raise PushQuotaExceeded("too many bytes of metrics in an interval")


@dataclass(frozen=True, slots=True, kw_only=True)
class PushContext:
    """Connection of a request; texts are None if the client did not send them.

    Attributes:
        connection: unique name of the connection.
        quota: quota of the connection, None without a limit. Receivers charge stored bytes to it.
    """

    connection: str
    client_id: str | None = None
    software_name: str | None = None
    software_version: str | None = None
    source_address: str | None = None
    source_port: int | None = None
    principal: str | None = None
    node_id: int | None = None
    quota: PushQuota | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsPayload:
    """Payload of a push.

    Attributes:
        data: OTLP `MetricsData`, unpacked.
        labels: labels to add to each resource, as `with_resource_labels` does.
        terminating: the client ends.
        push_interval_ms: push interval of the client's subscription (KIP-1217).
    """

    instance_id: Uuid
    data: bytes
    labels: Mapping[str, object] = field(default_factory=dict)
    terminating: bool = False
    push_interval_ms: int = 0
    content_type: str = OTLP_CONTENT_TYPE

    def points(self, *, limit: int = MAX_METRICS, max_points: int = MAX_POINTS) -> list[dict[str, Any]]:
        """Return the points, their resources with the labels added.

        Raises:
            WireError: the payload is not OTLP metrics or exceeds a limit.
        """
        found = decode_metrics(self.data, 0, limit=limit, max_points=max_points)
        labelled: dict[int, dict[str, Any]] = {}
        for point in found:
            resource = point["resource"]
            if id(resource) not in labelled:
                labelled[id(resource)] = {**resource, **self.labels}
            point["resource"] = labelled[id(resource)]
        return found


class MetricsReceiver(Protocol):
    """Interface like Kafka's `ClientTelemetryReceiver`. It is called while a request is handled and must not block."""

    def export(self, context: PushContext, payload: MetricsPayload) -> None:
        """Receive a payload; any error except `PushQuotaExceeded` is answered with INVALID_RECORD (87)."""


class MemoryReceiver:
    """Receiver that keeps the latest payloads and their points."""

    def __init__(self, keep: int = 1000) -> None:
        self.payloads: deque[tuple[PushContext, MetricsPayload]] = deque(maxlen=keep)
        self.points: deque[list[dict[str, Any]]] = deque(maxlen=keep)

    def export(self, context: PushContext, payload: MetricsPayload) -> None:
        self.points.append(payload.points())
        self.payloads.append((context, payload))


class QueueingReceiver:
    """Receiver that queues payloads for another receiver; payloads beyond `limit` are dropped and counted."""

    def __init__(self, receiver: MetricsReceiver, limit: int = 1000) -> None:
        self.receiver = receiver
        self.limit = limit
        self.dropped = 0
        self._waiting: deque[tuple[PushContext, MetricsPayload]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def export(self, context: PushContext, payload: MetricsPayload) -> None:
        if len(self._waiting) >= self.limit:
            self.dropped += 1
        else:
            self._waiting.append((context, payload))

    def drain(self, most: int | None = None) -> int:
        """Pass on at most `most` queued payloads and return their number; an error loses the payload that caused it."""
        done = 0
        while self._waiting and (most is None or done < most):
            self.receiver.export(*self._waiting.popleft())
            done += 1
        return done
