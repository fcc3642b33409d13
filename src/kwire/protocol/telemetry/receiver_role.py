"""Broker's side of KIP-714: answers clients, enforces their interval, hands payloads to receivers.

Rules and their order, as in Kafka's `ClientMetricsManager`. A push is rejected for an invalid id, an earlier last push, too short an
interval (except the last push), the subscription, the compression, the size. `rules="strict"` follows Kafka 3.7 exactly. `intended` differs
in two cases: a subscription request right after error 117 or 76 is answered within the interval (as in 4.4; otherwise librdkafka waits five
minutes), and a rejected last push may be repeated (apache/kafka#23094, open in 4.4).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from kwire.codec.catalog_codec import Codec
from kwire.codec.records.compression import unpack
from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.errors import InputError, KwireError, LimitExceeded
from kwire.protocol.instance_ids import new_instance_id
from kwire.protocol.telemetry.counters import TelemetryCounters
from kwire.protocol.telemetry.instance_cache import Instance, InstanceCache
from kwire.protocol.telemetry.labels import received_labels
from kwire.protocol.telemetry.metric_points import MAX_METRICS
from kwire.protocol.telemetry.receivers import MetricsPayload, MetricsReceiver, PushContext, PushQuotaExceeded
from kwire.protocol.telemetry.subscriptions import ClientIdentity, SubscriptionTable
from kwire.schema import catalog

__all__ = ["ACCEPTED_COMPRESSIONS", "DEFAULT_MAX_BYTES", "TelemetryReceiver"]

GET_SUBSCRIPTIONS: Final = 71
PUSH: Final = 72
ACCEPTED_COMPRESSIONS: Final = (4, 3, 1, 2)  # ClientMetricsManager.SUPPORTED_COMPRESSION_TYPES: zstd, lz4, gzip, snappy
DEFAULT_MAX_BYTES: Final = 1 << 20  # telemetry.max.bytes

_UNSUPPORTED_VERSION: Final = 35
_INVALID_REQUEST: Final = 42
_UNSUPPORTED_COMPRESSION_TYPE: Final = 76
_INVALID_RECORD: Final = 87
_THROTTLING_QUOTA_EXCEEDED: Final = 89
_UNKNOWN_SUBSCRIPTION_ID: Final = 117
_TELEMETRY_TOO_LARGE: Final = 118
_ONE: Final = Uuid(bytes(15) + b"\x01")
_CODECS: Final = range(5)
_WITH_ID: Final = 3  # the request header that carries the instance id
_SWEEP: Final = 10_000_000_000


class TelemetryReceiver:
    """Telemetry of one broker, over all its connections. Times are nanoseconds of a monotonic clock.

    Arguments:
        subscriptions: subscriptions of the cluster; they may change at any time.
        receivers: receivers of payloads; if empty, the broker does not advertise telemetry.
        codec: codec of the built-in catalog by default.
        random: function that returns random bytes, for new ids.
        stopwatch: clock in nanoseconds, to measure receivers.
        max_bytes: longest payload as pushed (`telemetry.max.bytes`).
        max_unpacked: largest unpacked size in bytes; a larger payload is rejected as INVALID_RECORD.
        node_label: label of the broker's id: `broker_id` in the proposal, `node_id` in a revision of it.
        unconfigured: behavior without receivers: answer as usual (`kraft`) or with error 35 (`zookeeper`).
        known_ids: id in the answer to a client that has one: the same, as Kafka's brokers do (`echo`), or zero, as in KIP-1313 (`zero`).
        throttle_ms: function that returns the throttle time of a connection, for the response.

    Attributes:
        refused_ids: number of new instance ids rejected because one connection or address sent too many.
    """

    def __init__(
        self,
        subscriptions: SubscriptionTable,
        receivers: Sequence[MetricsReceiver] = (),
        *,
        codec: Codec | None = None,
        rules: Literal["strict", "intended"] = "intended",
        random: Callable[[int], bytes] = secrets.token_bytes,
        stopwatch: Callable[[], int] = lambda: 0,
        cache: InstanceCache | None = None,
        max_bytes: int = DEFAULT_MAX_BYTES,
        max_unpacked: int = MAX_METRICS,
        node_label: Literal["broker_id", "node_id"] = "broker_id",
        unconfigured: Literal["kraft", "zookeeper"] = "kraft",
        known_ids: Literal["echo", "zero"] = "echo",
        throttle_ms: Callable[[PushContext], int] = lambda context: 0,
    ) -> None:
        self.subscriptions = subscriptions
        self.receivers = tuple(receivers)
        self.codec = codec or Codec(catalog())
        self.rules = rules
        self.cache = InstanceCache() if cache is None else cache
        self.max_bytes = max_bytes
        self.max_unpacked = max_unpacked
        self.node_label = node_label
        self.unconfigured = unconfigured
        self.known_ids = known_ids
        self.counters = TelemetryCounters()
        self.refused_ids = 0
        self._next_sweep = 0
        self._random = random
        self._stopwatch = stopwatch
        self._throttle_ms = throttle_ms

    def advertised(self) -> dict[int, tuple[int, int]]:
        """Return the telemetry APIs for ApiVersions: none without a receiver."""
        return {GET_SUBSCRIPTIONS: (0, 0), PUSH: (0, 0)} if self.receivers else {}

    def respond(self, frame: bytes, context: PushContext, t: int) -> bytes:
        """Return the response frame to a request frame, both without their lengths.

        Raises:
            WireError: the frame is unreadable; a broker closes the connection.
            InputError: the request is not a telemetry request.
        """
        request = self.codec.decode_request(frame)
        header, body = request.header, request.body
        if self.codec.header_version("request", header.api_key, header.api_version) >= _WITH_ID:
            body.client_instance_id = header.client_instance_id
        answer = self.answer(body, context, t)
        if header.api_version and header.api_key == GET_SUBSCRIPTIONS:
            answer.client_instance_id = ZERO_UUID  # no field of version 1
        return self.codec.encode_response(header.correlation_id, answer, header.api_key, header.api_version)

    def answer(self, body: Any, context: PushContext, t: int) -> Any:
        """Return the response body to a GetTelemetrySubscriptionsRequest or a PushTelemetryRequest.

        Raises:
            InputError: another message.
        """
        if t >= self._next_sweep:
            self.expire(t)
        messages = self.codec.messages
        name = type(body).layout.message
        if name == "GetTelemetrySubscriptionsRequest":
            answer = self._subscription(body, context, t)
        elif name == "PushTelemetryRequest":
            answer = messages.PushTelemetryResponse(error_code=self._push(body, context, t))
        else:
            raise InputError(f"{name} is not a client telemetry request.")
        answer.throttle_time_ms = self._throttle_ms(context)
        return answer

    def _off(self) -> bool:
        return not self.receivers and self.unconfigured == "zookeeper"

    def _new_id(self) -> Uuid:
        while (made := new_instance_id(self._random)) in self.cache:
            pass
        return made

    def _instance(self, instance_id: Uuid, context: PushContext, t: int) -> Instance | None:
        known = self.cache.get(instance_id, t)
        if known is not None:
            if known.version != self.subscriptions.version:
                self._renew(known)
            return known
        if not self.cache.has_room(context.connection, context.source_address):
            self.refused_ids += 1
            return None
        port = None if context.source_port is None else str(context.source_port)
        identity = ClientIdentity(
            str(instance_id), context.client_id, context.software_name, context.software_version, context.source_address, port
        )
        wanted = self.subscriptions.wanted_of(identity)
        made = Instance(
            instance_id, identity, wanted, self.subscriptions.version, context.connection, context.source_address,
            t + InstanceCache.life_ns(wanted),
        )  # fmt: skip
        self.cache.add(made)
        return made

    def _renew(self, instance: Instance) -> None:
        instance.wanted = self.subscriptions.wanted_of(instance.identity)
        instance.version = self.subscriptions.version
        instance.asked = instance.pushed = None
        instance.last_error = 0
        instance.is_terminated = False  # a broker that sees new subscriptions makes a new instance, and forgets that it ended

    def _subscription(self, body: Any, context: PushContext, t: int) -> Any:
        response = self.codec.messages.GetTelemetrySubscriptionsResponse
        if self._off():
            return response(error_code=_UNSUPPORTED_VERSION)
        sent = Uuid(body.client_instance_id)
        instance = self._instance(sent if sent != ZERO_UUID else self._new_id(), context, t)
        if instance is None:
            return response(error_code=_THROTTLING_QUOTA_EXCEEDED)
        # The condition as first released asks for two errors at once, so there it never holds.
        exempt = self.rules == "intended" and instance.last_error in (_UNKNOWN_SUBSCRIPTION_ID, _UNSUPPORTED_COMPRESSION_TYPE)
        if not instance.may_ask(t):
            if not exempt:
                self.counters.count("throttle", instance.instance_id, t)
                return response(error_code=_THROTTLING_QUOTA_EXCEEDED)
            instance.asked = t
        instance.last_error = 0
        return response(
            client_instance_id=instance.instance_id if sent == ZERO_UUID or self.known_ids == "echo" else ZERO_UUID,
            subscription_id=instance.subscription_id,
            accepted_compression_types=ACCEPTED_COMPRESSIONS,
            push_interval_ms=instance.wanted.interval_ms,
            telemetry_max_bytes=self.max_bytes,
            delta_temporality=True,
            requested_metrics=instance.wanted.metrics,
        )

    def _push(self, body: Any, context: PushContext, t: int) -> int:
        if self._off():
            return _UNSUPPORTED_VERSION
        instance_id = Uuid(body.client_instance_id)
        if instance_id in (ZERO_UUID, _ONE):
            return _INVALID_REQUEST
        instance = self._instance(instance_id, context, t)
        if instance is None:
            return _THROTTLING_QUOTA_EXCEEDED
        code = self._refusal(instance, body, t)
        if not code and len(body.metrics):
            code = self._export(instance, body, context, t)
        instance.last_error = code
        instance.is_terminated |= body.terminating and (not code or self.rules == "strict")
        return code

    def _refusal(self, instance: Instance, body: Any, t: int) -> int:
        if instance.is_terminated:
            return _INVALID_REQUEST
        if not instance.may_push(t) and not body.terminating:
            self.counters.count("throttle", instance.instance_id, t)
            return _THROTTLING_QUOTA_EXCEEDED
        if body.subscription_id != instance.subscription_id:
            self.counters.count("unknown-subscription-request", instance.instance_id, t)
            return _UNKNOWN_SUBSCRIPTION_ID
        if body.compression_type not in _CODECS:
            return _UNSUPPORTED_COMPRESSION_TYPE
        if len(body.metrics) > self.max_bytes:
            return _TELEMETRY_TOO_LARGE
        return 0

    def _export(self, instance: Instance, body: Any, context: PushContext, t: int) -> int:
        started = self._stopwatch()
        quota = context.quota
        try:
            data = bytes(body.metrics)
            if quota is not None:
                quota.begin(t, instance.wanted.interval_ms)
                quota.take(len(data))
            if body.compression_type:
                data = bytes(unpack(body.compression_type, 2, data, self.max_unpacked, 0, "metrics"))
                if quota is not None:
                    quota.take(len(data))
            payload = MetricsPayload(
                instance_id=instance.instance_id,
                data=data,
                labels=received_labels(context, instance.instance_id, self.node_label),
                terminating=body.terminating,
                push_interval_ms=instance.wanted.interval_ms,
            )
            for receiver in self.receivers:
                receiver.export(context, payload)
        except PushQuotaExceeded:
            self.counters.count("throttle", instance.instance_id, t)
            return _THROTTLING_QUOTA_EXCEEDED
        except (KwireError, OSError, ValueError, RuntimeError) as error:
            if quota is not None and isinstance(error, LimitExceeded):  # the client may push less the next time
                return _TELEMETRY_TOO_LARGE
            self.counters.count("plugin-error", instance.instance_id, t)
            return _INVALID_RECORD
        self.counters.exported(instance.instance_id, t, self._stopwatch() - started)
        return 0

    def disconnected(self, connection: str) -> None:
        """Drop the instances of a closed connection, as Kafka does from 4.0 on."""
        for instance_id in self.cache.disconnected(connection):
            self.counters.forget(instance_id)

    def expire(self, t: int) -> None:
        """Drop instances whose lifetime has passed (`InstanceCache.life_ns`)."""
        self._next_sweep = t + _SWEEP  # all are looked at, so not with each request
        for instance_id in self.cache.expire(t):
            self.counters.forget(instance_id)

    def values(self, t: int, instance_id: Uuid | None = None) -> dict[str, float]:
        return self.counters.values(t, len(self.cache), instance_id)
