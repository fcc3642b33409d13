"""Client's side of KIP-714: asks a broker for its subscription, pushes metrics, and ends with a terminating push.

Rules, as in Kafka's `ClientTelemetryReporter`. The id in the first answer is used with every broker for the client's life. The first push
after a subscription is delayed by a random part of the interval, later ones by exactly the interval. After errors the client asks again at
once, after an interval, or never. Telemetry must not harm the application: faults are outcomes, never exceptions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, Literal

from kwire.codec.catalog_codec import Codec
from kwire.codec.records.packing import pack
from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.errors import KwireError, WireError
from kwire.protocol.telemetry.client_outcomes import Accepted, Disabled, Failed, PushLost, Subscribed, TelemetryOutcome
from kwire.protocol.telemetry.client_states import TELEMETRY_CLIENT, PushEvent, PushState
from kwire.protocol.telemetry.metric_store import MetricStore
from kwire.protocol.telemetry.otlp import encode_metrics
from kwire.protocol.telemetry.selection import MetricSelector
from kwire.protocol.transitions import InvalidTransition
from kwire.schema import catalog, error_name

__all__ = [
    "DEFAULT_INTERVAL_MS", "GET_SUBSCRIPTIONS", "JAVA_JITTER", "LIBRDKAFKA_JITTER", "PUSH", "InstanceIdTimeout", "InstanceIdWait",
    "TelemetryClient",
]  # fmt: skip

GET_SUBSCRIPTIONS: Final = 71
PUSH: Final = 72
DEFAULT_INTERVAL_MS: Final = 300_000  # ClientTelemetryReporter.DEFAULT_PUSH_INTERVAL_MS
JAVA_JITTER: Final = (0.5, 1.5)
LIBRDKAFKA_JITTER: Final = (0.8, 1.2)

_MS: Final = 1_000_000
_ASK_AT_ONCE: Final = (117, 76)  # UNKNOWN_SUBSCRIPTION_ID, UNSUPPORTED_COMPRESSION_TYPE
_ASK_LATER: Final = (118, 89)  # TELEMETRY_TOO_LARGE, THROTTLING_QUOTA_EXCEEDED
_WITH_ID: Final = 3  # the request header that carries the instance id
_TERMINATING_METRIC: Final = "org.apache.kafka.client.terminating"  # of the proposal's draft

Pack = Callable[[int, bytes], bytes]


class InstanceIdTimeout(KwireError): ...


class InstanceIdWait:
    def __init__(self, client: TelemetryClient, deadline: int) -> None:
        self._client = client
        self.deadline = deadline

    def result(self, t: int) -> Uuid | None:
        """Return the id, or None while it is pending. Raises InstanceIdTimeout: no id was assigned in time."""
        if self._client.instance_id != ZERO_UUID:
            return self._client.instance_id
        if t >= self.deadline:
            raise InstanceIdTimeout("no broker assigned the client instance id in time")
        return None


class TelemetryClient:
    """Metrics of one client, over all its connections. Times are nanoseconds of the Unix epoch, as in the points.

    Arguments:
        codec: codec of the built-in catalog by default.
        instance_id: id chosen by the client (KIP-1313); with zero, the first broker assigns one.
        enabled: `enable.metrics.push` (the proposal also writes `enable.telemetry`).
        random: source of the jitter.
        jitter: lowest and highest fraction of the interval before the first push.
        compressions: types that this side can write, besides none.
        packer: compression function.
        compress_above: payloads up to this many bytes are not compressed. The proposal's draft uses 1000; Java and librdkafka compress all
            payloads.
        request_timeout_ms: time after which a request counts as lost.
        lost: action after a lost request: `retry` after the default interval, or `stop` (Java's clients of 2024).
        terminating_metric: push the draft's `client.terminating` with the reason when the client ends.

    Attributes:
        instance_id: zero until a broker assigns it.
        subscription: the latest `Subscribed`, None before.
        lost_pushes: number of rejected pushes.
    """

    def __init__(
        self,
        store: MetricStore,
        *,
        codec: Codec | None = None,
        client_id: str | None = "kwire",
        instance_id: Uuid = ZERO_UUID,
        enabled: bool = True,
        random: Random | None = None,
        jitter: tuple[float, float] = JAVA_JITTER,
        compressions: Sequence[int] = (4, 3, 1, 2),
        packer: Pack = lambda kind, plain: pack(kind, 2, plain),
        compress_above: int = 0,
        request_timeout_ms: int = 30_000,
        lost: Literal["retry", "stop"] = "retry",
        terminating_metric: bool = False,
    ) -> None:
        self.codec = codec or Codec(catalog())
        self.store = store
        self.client_id = client_id
        self.enabled = enabled
        self.jitter = jitter
        self.compress_above = compress_above
        self.request_timeout_ms = request_timeout_ms
        self.lost_policy = lost
        self.terminating_metric = terminating_metric
        self.state = TELEMETRY_CLIENT.start
        self.instance_id = instance_id
        self.subscription: Subscribed | None = None
        self.lost_pushes = 0
        self._random = random or Random()
        self._compressions = set(compressions)
        self._pack = packer
        self._due: int | None = 0
        self._in_flight: tuple[int, int] | None = None  # api key and number of points
        self._reason = ""
        self._version = 0

    @property
    def due(self) -> int | None:
        """Time of the next `next_request` or `tick`, None for never."""
        if not self.enabled or self.state is PushState.TERMINATED:
            return None
        return 0 if self.state is PushState.TERMINATING_PUSH_NEEDED else self._due

    @property
    def _waiting(self) -> bool:
        return self._in_flight is not None and self.state.name.endswith("IN_PROGRESS")

    def _move(self, event: PushEvent) -> list[TelemetryOutcome]:
        try:
            self.state = TELEMETRY_CLIENT.after(self.state, event)
        except InvalidTransition as error:
            self.enabled = False  # as Kafka's maybeSetState: no telemetry rather than a wrong one
            return [Disabled(reason=str(error))]
        return []

    def _wait(self, t: int, ms: float | None) -> None:
        self._due = None if ms is None else t + int(ms * _MS)

    def next_request(self, t: int, *, supported: bool = True, version: int = 0) -> Any:
        """Return the body of the due request, or None.

        Arguments:
            supported: whether the broker advertises both telemetry APIs; if not, the client waits the default interval and tries another.
            version: version of the API; from 1 on (dialect `kip-1313`), only the header has the instance id.
        """
        due = self.due
        if due is None or t < due:
            return None
        if self._waiting:
            return None  # `tick` says that it is late
        if not supported:
            if self.state is PushState.TERMINATING_PUSH_NEEDED:
                self._move(PushEvent.ENDED)
            elif self.state is PushState.PUSH_NEEDED:
                self._move(PushEvent.FAILED)
            self._wait(t, DEFAULT_INTERVAL_MS)
            return None
        self._version = version
        body = self._ask() if self.state is PushState.SUBSCRIPTION_NEEDED else self._push(t)
        self._wait(t, self.request_timeout_ms)
        return body

    def next_frame(self, t: int, correlation_id: int, *, supported: bool = True, version: int = 0) -> bytes | None:
        body = self.next_request(t, supported=supported, version=version)
        if body is None:
            return None
        assert self._in_flight is not None
        key = self._in_flight[0]
        more = {"client_instance_id": self.instance_id} if self.codec.header_version("request", key, version) >= _WITH_ID else {}
        header = self.codec.messages.RequestHeader(
            api_key=key, api_version=version, correlation_id=correlation_id, client_id=self.client_id, **more
        )
        return self.codec.encode_request(header, body)

    @property
    def _body_id(self) -> Uuid:
        return ZERO_UUID if self._version else self.instance_id

    def _ask(self) -> Any:
        self._move(PushEvent.ASKED)
        self._in_flight = GET_SUBSCRIPTIONS, 0
        return self.codec.messages.GetTelemetrySubscriptionsRequest(client_instance_id=self._body_id)

    def _push(self, t: int) -> Any:
        terminating = self.state is PushState.TERMINATING_PUSH_NEEDED
        subscription = self.subscription
        assert subscription is not None
        if terminating and self.terminating_metric:
            self.store.set(_TERMINATING_METRIC, 1, reason=self._reason)
        points = self.store.collect(subscription.wanted, subscription.temporality, t)
        if terminating and self.terminating_metric and not subscription.wanted(_TERMINATING_METRIC):
            points += self.store.collect(_TERMINATING_METRIC.__eq__, subscription.temporality, t)
        compression_type, metrics = self._compressed(subscription.compression_type, encode_metrics(points))
        self._move(PushEvent.PUSHED)
        self._in_flight = PUSH, len(points)
        return self.codec.messages.PushTelemetryRequest(
            client_instance_id=self._body_id,
            subscription_id=subscription.subscription_id,
            terminating=terminating,
            compression_type=compression_type,
            metrics=metrics,
        )

    def _compressed(self, kind: int, plain: bytes) -> tuple[int, bytes]:
        if not kind or not plain or len(plain) <= self.compress_above:
            return 0, plain
        try:
            return kind, self._pack(kind, plain)
        except (KwireError, ValueError, OSError, RuntimeError):
            # This push goes out as it is, the next subscription without this type, as in ClientTelemetryReporter.createPushRequest.
            self._compressions.discard(kind)
            return 0, plain

    def receive_frame(self, frame: bytes, t: int) -> list[TelemetryOutcome]:
        if self._in_flight is None:
            return []
        try:
            body = self.codec.decode_response(frame, self._in_flight[0], self._version).body
        except WireError as error:
            return self._failed(t, None, f"the answer cannot be read: {error}", self._lost_ms())
        return self.receive(body, t)

    def receive(self, body: Any, t: int) -> list[TelemetryOutcome]:
        """Handle the response to the request in flight; ignore a response to a request given up before."""
        flying = self._in_flight
        self._in_flight = None
        if flying is None or not self.state.name.endswith("IN_PROGRESS"):
            return []
        code = body.error_code
        if code:
            wait: int | None = None
            if code in _ASK_AT_ONCE:
                wait = 0
            elif code in _ASK_LATER:
                wait = self.subscription.interval_ms if self.subscription else DEFAULT_INTERVAL_MS
            self._in_flight = flying
            return self._failed(t, code, f"the broker answered {error_name(code)} ({code})", wait)
        if flying[0] == GET_SUBSCRIPTIONS:
            return self._subscribed(body, t)
        terminating = self.state is PushState.TERMINATING_PUSH_IN_PROGRESS
        outcomes = self._move(PushEvent.ACCEPTED)
        assert self.subscription is not None
        self._wait(t, self.subscription.interval_ms)
        return [*outcomes, Accepted(terminating=terminating)]

    def _subscribed(self, body: Any, t: int) -> list[TelemetryOutcome]:
        if body.client_instance_id == ZERO_UUID and self.instance_id == ZERO_UUID:
            self._in_flight = GET_SUBSCRIPTIONS, 0
            return self._failed(t, None, "the broker did not assign a client instance id", None)
        if self.instance_id == ZERO_UUID:
            self.instance_id = Uuid(body.client_instance_id)
        wanted = MetricSelector(body.requested_metrics)
        kind = next((each for each in body.accepted_compression_types if each in self._compressions), 0)
        subscription = Subscribed(
            subscription_id=body.subscription_id,
            wanted=wanted,
            interval_ms=body.push_interval_ms if body.push_interval_ms > 0 else DEFAULT_INTERVAL_MS,
            temporality="delta" if body.delta_temporality else "cumulative",
            compression_type=kind,
            max_bytes=body.telemetry_max_bytes,
        )
        self.subscription = subscription
        part = 1.0 if wanted.nothing else self._random.uniform(*self.jitter)
        self._wait(t, subscription.interval_ms * part)
        return [*self._move(PushEvent.NOTHING_WANTED if wanted.nothing else PushEvent.METRICS_WANTED), subscription]

    def tick(self, t: int) -> list[TelemetryOutcome]:
        return self.lost(t) if self._waiting and self._due is not None and t >= self._due else []

    def _lost_ms(self) -> int | None:
        return DEFAULT_INTERVAL_MS if self.lost_policy == "retry" else None

    def lost(self, t: int, *, unsupported: bool = False) -> list[TelemetryOutcome]:
        """Give up the request in flight. `unsupported`: this broker does not support the API, so another one is asked."""
        if self._in_flight is None:
            return []
        wait = DEFAULT_INTERVAL_MS if unsupported else self._lost_ms()
        return self._failed(t, None, "the broker does not support the api" if unsupported else "the request was lost", wait)

    def _failed(self, t: int, code: int | None, reason: str, wait: int | None) -> list[TelemetryOutcome]:
        flying = self._in_flight
        self._in_flight = None
        if not self.state.name.endswith("IN_PROGRESS"):
            return []
        outcomes = self._move(PushEvent.FAILED)
        self._wait(t, wait)
        again = None if self.state is PushState.TERMINATED else wait
        outcomes.append(Failed(reason=reason, error_code=code, again_in_ms=again))
        if flying is not None and flying[0] == PUSH and self.subscription is not None:
            self.lost_pushes += 1
            outcomes.append(PushLost(points=flying[1], temporality=self.subscription.temporality))
        return outcomes

    def close(self, reason: str = "closed by application") -> list[TelemetryOutcome]:
        """End the client: one more push is due at once if metrics are wanted; `terminating_metric` pushes the reason."""
        if self.state.name.startswith("TERMINAT"):
            return []
        self._reason = reason
        wanted = self.subscription is not None and not self.subscription.wanted.nothing
        pushes = self.enabled and wanted and TELEMETRY_CLIENT.allows(self.state, PushEvent.CLOSING)
        return self._move(PushEvent.CLOSING if pushes else PushEvent.ENDED)

    def client_instance_id(self, t: int, timeout_ms: int) -> InstanceIdWait:
        """Wait for the client instance id; the first request for it is due at once.

        Raises:
            ValueError: the timeout is negative.
            KwireError: telemetry is off, so no broker is asked.
        """
        if timeout_ms < 0:
            raise ValueError("the timeout cannot be negative")
        if not self.enabled and self.instance_id == ZERO_UUID:
            raise KwireError("metrics are not pushed (enable.metrics.push is false), so no broker assigns a client instance id")
        if self.instance_id == ZERO_UUID and self.state is PushState.SUBSCRIPTION_NEEDED:
            self._due = min(t, t if self._due is None else self._due)
        return InstanceIdWait(self, t + timeout_ms * _MS)
