"""`[telemetry]`: the proxy receives client metrics (KIP-714) for brokers that do not.

Off by default: to advertise GetTelemetrySubscriptions and PushTelemetry makes every Java client from 3.7 and librdkafka from 2.5 on push.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import kwire
from kwire.errors import WireError
from kwire.protocol.relay import CALL, Held, RelayRule
from kwire.protocol.telemetry import TelemetryReceiver
from kwire.protocol.telemetry.receivers import PushContext
from kwire.proxy.rules.api_versions_answer import API_VERSIONS, changed_answer, ranges_of, wanted_answers, with_ranges
from kwire.proxy.rules.rule import Answer, ConnectionRule, Outcome, Peer, Refusal

__all__ = ["TelemetryRule"]

_KEYS: Final = (71, 72)  # GetTelemetrySubscriptions, PushTelemetry


class TelemetryRule:
    """The rule.

    Arguments:
        receiver: what is wanted of clients, and where their metrics go.
        close: called when no connection uses the rule any more.
    """

    name = "telemetry"

    def __init__(self, receiver: TelemetryReceiver, close: Callable[[], None] = lambda: None) -> None:
        self.receiver = receiver
        self._close = close

    def relay_rules(self) -> Iterable[RelayRule]:
        return (wanted_answers(), *(RelayRule("request", key, None, CALL) for key in _KEYS))

    def connected(self, peer: Peer) -> ConnectionRule:
        return _Telemetry(self.receiver, peer)

    def close(self) -> None:
        """Close what metrics are written to."""
        self._close()


class _Telemetry(ConnectionRule):
    def __init__(self, receiver: TelemetryReceiver, peer: Peer) -> None:
        self._receiver = receiver
        self._peer = peer
        self._name = f"{peer.address}:{peer.port}"

    def request(self, held: Held, frame: bytes) -> Outcome:
        peer = self._peer
        header = kwire.peek_header(frame, strict=False)
        context = PushContext(
            connection=self._name, client_id=header.client_id, software_name=peer.software_name or None,
            software_version=peer.software_version or None, source_address=peer.address, source_port=peer.port,
            principal=peer.principal or None, node_id=peer.node_id,
        )  # fmt: skip
        try:
            return Answer(self._receiver.respond(frame, context, held.time))
        except WireError as error:
            return Refusal(f"telemetry: {error}")

    def response(self, held: Held, frame: bytes) -> bytes | None:
        correlation_id, body = changed_answer(held, frame)
        if body.error_code:
            return None
        with_ranges(body, ranges_of(body) | self._receiver.advertised())
        return kwire.encode_response(correlation_id, body, API_VERSIONS, held.api_version)

    def closed(self) -> None:
        self._receiver.disconnected(self._name)
