"""`[telemetry]`: the proxy receives client metrics (KIP-714) for brokers without that feature.

Off by default, because advertising GetTelemetrySubscriptions and PushTelemetry makes every Java client from 3.7 and librdkafka from 2.5 on
push metrics.

A broker answers both only to authenticated clients. So does the proxy: the client must have presented a certificate, logged in by SASL, or
received an answer to another request. The proxy's answer is sent after all earlier owed answers, so the request may follow another one at
once, as Java's follows Metadata. Other clients get THROTTLING_QUOTA_EXCEEDED and retry an interval later.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Final

import kwire
from kwire.errors import WireError
from kwire.protocol.relay import CALL, Held, RelayRule
from kwire.protocol.telemetry import TelemetryReceiver
from kwire.protocol.telemetry.receivers import MetricsPayload, PushContext, PushQuota
from kwire.proxy.rules.api_versions_answer import API_VERSIONS, changed_answer, ranges_of, wanted_answers, with_ranges
from kwire.proxy.rules.rule import Answer, ConnectionRule, Outcome, Peer, Refusal
from kwire.telemetry_export import point_line

__all__ = ["PushedLines", "TelemetryRule"]

_ASK: Final = 71  # GetTelemetrySubscriptions
_PUSH: Final = 72
_THROTTLING_QUOTA_EXCEEDED: Final = 89
_SHORTEST_LINE: Final = 200  # bytes of a point without a name, a value and labels, rounded down


class PushedLines:
    """Receiver that writes points as JSON lines, within the quota of their connection."""

    def __init__(self, store: Callable[[bytes], object]) -> None:
        self._store = store

    def export(self, context: PushContext, payload: MetricsPayload) -> None:
        """Store the points, unless their lines, which repeat shared labels, exceed the quota."""
        quota = context.quota
        assert quota is not None  # of `_Telemetry`
        lines = []
        for point in payload.points(max_points=quota.limit // _SHORTEST_LINE):
            lines.append(point_line(point, terminating=payload.terminating).encode())
            quota.take(len(lines[-1]))
        self._store(b"".join(lines))


class TelemetryRule:
    """Rule for telemetry; `max_pushed` limits the bytes of one connection per interval."""

    name = "telemetry"

    def __init__(self, receiver: TelemetryReceiver, max_pushed: int) -> None:
        self.receiver = receiver
        self.lock = threading.Lock()  # the receiver is for one thread, and the native loop has several
        self._max_pushed = max_pushed

    def relay_rules(self) -> Iterable[RelayRule]:
        return (wanted_answers(), *(RelayRule("request", key, None, CALL) for key in (_ASK, _PUSH)))

    def connected(self, peer: Peer) -> ConnectionRule:
        return _Telemetry(self, peer, PushQuota(self._max_pushed))


class _Telemetry(ConnectionRule):
    def __init__(self, rule: TelemetryRule, peer: Peer, quota: PushQuota) -> None:
        self._rule = rule
        self._peer = peer
        self._quota = quota
        self._name = f"{peer.address}:{peer.port}"

    def request(self, held: Held, frame: bytes) -> Outcome:
        peer = self._peer
        header = kwire.peek_header(frame, strict=False)
        if not (held.served or peer.principal or (held.asked and held.api_key == _ASK)):
            made = kwire.messages.GetTelemetrySubscriptionsResponse if held.api_key == _ASK else kwire.messages.PushTelemetryResponse
            early = made(error_code=_THROTTLING_QUOTA_EXCEEDED)
            return Answer(kwire.encode_response(held.correlation_id, early, held.api_key, held.api_version))
        context = PushContext(
            connection=self._name, client_id=header.client_id, software_name=peer.software_name or None,
            software_version=peer.software_version or None, source_address=peer.address, source_port=peer.port,
            principal=peer.principal or None, node_id=peer.node_id, quota=self._quota,
        )  # fmt: skip
        try:
            with self._rule.lock:
                return Answer(self._rule.receiver.respond(frame, context, held.time))
        except WireError as error:
            return Refusal(f"telemetry: {error}")

    def response(self, held: Held, frame: bytes) -> bytes | None:
        correlation_id, body = changed_answer(held, frame)
        if body.error_code:
            return None
        with_ranges(body, ranges_of(body) | self._rule.receiver.advertised())
        return kwire.encode_response(correlation_id, body, API_VERSIONS, held.api_version)

    def closed(self) -> None:
        with self._rule.lock:
            self._rule.receiver.disconnected(self._name)
