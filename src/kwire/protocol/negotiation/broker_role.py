"""Broker's side of a connection: answers ApiVersions, authenticates, rejects unsupported requests, passes on the rest.

Rules, as in Kafka's `SaslServerAuthenticator`, `RequestContext` and `KafkaApis`. Unknown versions of ApiVersions are answered in version 0,
with error 35 and, since 2.4, with the range of ApiVersions; the body is not read. Any other unknown API or version closes the connection.
ApiVersions may come twice around SASL: before SaslHandshake and after authentication. Requests are answered in order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from kwire.codec.catalog_codec import Codec
from kwire.codec.frames import Request
from kwire.errors import BadLength, KwireError, TrailingBytes, UnknownApi, UnsupportedVersion, WireError
from kwire.protocol.endpoint_frames import EndpointFrames, framed
from kwire.protocol.instance_ids import InstanceIdRule
from kwire.protocol.negotiation import API_VERSIONS
from kwire.protocol.negotiation.broker_states import BROKER_ROLE, BrokerEvent, BrokerState
from kwire.protocol.negotiation.outcomes import Authenticated, CloseReason, Identified, Outcome, Over, Received, Send
from kwire.protocol.negotiation.software import SoftwareRule, is_valid_software
from kwire.protocol.negotiation.version_choice import Range, as_versions
from kwire.schema import Versions, catalog, releases

__all__ = ["Authenticator", "NegotiatingBroker", "TokenAnswer"]

_SASL_HANDSHAKE: Final = 17
_SASL_AUTHENTICATE: Final = 36
_PRODUCE: Final = 0

_UNSUPPORTED_SASL_MECHANISM: Final = 33
_ILLEGAL_SASL_STATE: Final = 34
_UNSUPPORTED_VERSION: Final = 35
_INVALID_REQUEST: Final = 42
_SASL_AUTHENTICATION_FAILED: Final = 58
_REBOOTSTRAP_REQUIRED: Final = 129

UNKNOWN: Final = "unknown"  # ClientInformation.UNKNOWN_NAME_OR_VERSION


class TokenAnswer(NamedTuple):
    """Answer of an authenticator to a client's token."""

    token: bytes = b""
    principal: str | None = None  # set once authentication is complete
    refused: str | None = None  # refusal text, which the client sees


Authenticator = Callable[[str, bytes], TokenAnswer]  # mechanism and token of the client


class _Slot:
    __slots__ = ("frame", "header")

    def __init__(self, header: Any, frame: bytes | None = None) -> None:
        self.header = header
        self.frame = frame


class NegotiatingBroker:
    """One connection of a broker with one client.

    It keeps the frame being received and the headers of unanswered requests. The caller limits their number; Kafka reads no further while
    one waits. Sources: KIP-511, KIP-35, `SaslServerAuthenticator`, `KafkaApis.handleApiVersionsRequest`.

    Arguments:
        advertised: versions in ApiVersions, by API key.
        accepted: accepted versions by API key, if different: 4.x brokers advertise Produce v0 and accept v3 (KIP-896).
        codec: codec of the built-in catalog by default.
        legacy_fallback: send error 35 without versions, as brokers before 2.4 do.
        software_rule: pattern of software name and version.
        unsupported: action for an unknown API or version: `close`, as released; `empty_answer`, the draft of KIP-35.
        mechanisms: SASL mechanisms; if empty, the listener does not authenticate.
        cluster_id, node_id: ids of this broker; a client that
        expects others gets error 129 (KIP-1242).
        instance_ids: rule that the client keeps one instance id (KIP-1313).
        answers: functions from request to response body, by API key.

    Attributes:
        software: name and version of the client, `unknown` until sent.
        principal: None without authentication.
    """

    def __init__(
        self,
        advertised: Mapping[int, Range],
        accepted: Mapping[int, Range] | None = None,
        *,
        codec: Codec | None = None,
        legacy_fallback: bool = False,
        software_rule: SoftwareRule = "released",
        unsupported: Literal["close", "empty_answer"] = "close",
        mechanisms: Sequence[str] = (),
        authenticate: Authenticator | None = None,
        cluster_id: str | None = None,
        node_id: int = -1,
        instance_ids: InstanceIdRule | None = None,
        answers: Mapping[int, Callable[[Request], Any]] | None = None,
    ) -> None:
        self.codec = codec or Codec(catalog())
        self.advertised = {key: as_versions(each) for key, each in advertised.items()}
        self.accepted = self.advertised if accepted is None else {key: as_versions(each) for key, each in accepted.items()}
        self._versions = self.accepted.get(API_VERSIONS, Versions(0, 0))
        self.legacy_fallback = legacy_fallback
        self.software_rule: SoftwareRule = software_rule
        self.unsupported = unsupported
        self.mechanisms = tuple(mechanisms)
        self.cluster_id = cluster_id
        self.node_id = node_id
        self.instance_ids = instance_ids
        self.software = (UNKNOWN, UNKNOWN)
        self.principal: str | None = None
        self.mechanism: str | None = None
        self._authenticate = authenticate
        self._answers = dict(answers or {})
        self._frames = EndpointFrames()
        self._slots: deque[_Slot] = deque()
        opened = BrokerEvent.SASL_LISTENER if mechanisms else BrokerEvent.PLAIN_LISTENER
        self.state = BROKER_ROLE.after(BROKER_ROLE.start, opened)

    @classmethod
    def of_release(cls, name: str, **more: Any) -> NegotiatingBroker:
        """Create a broker that advertises and accepts the versions of a release, such as `3.9`.

        Raises:
            InputError: no such release.
        """
        release = releases().resolve(name)
        accepted = {key: release.accepts(key) for key in release.api_keys}
        before_2_4 = release.key < (2, 4)
        options: dict[str, Any] = {"legacy_fallback": before_2_4, **more}
        return cls(release.advertised(), {key: each for key, each in accepted.items() if each}, **options)

    @property
    def over(self) -> bool:
        return self.state is BrokerState.CLOSED

    def _move(self, event: BrokerEvent) -> None:
        self.state = BROKER_ROLE.after(self.state, event)

    def _over(self, event: BrokerEvent, reason: CloseReason, error: KwireError | None = None) -> list[Outcome]:
        self._move(event)
        self._slots.clear()
        return [Over(reason, error)]

    def receive(self, data: bytes | bytearray | memoryview, t: int) -> list[Outcome]:
        """Receive bytes from the client; ignore bytes after the end."""
        if self.over:
            return []
        try:
            frames = self._frames.feed(data)
        except BadLength as error:
            return self._over(BrokerEvent.GARBLED, "garbled", error)
        return self._take(frames)

    def _take(self, frames: list[bytes]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for frame in frames:
            if self.over:
                break
            outcomes += self._raw_token(frame) if self.state is BrokerState.RAW_TOKENS else self._frame(frame)
        return outcomes

    def _frame(self, frame: bytes) -> list[Outcome]:
        if len(frame) < 8:
            return self._over(BrokerEvent.GARBLED, "garbled", BadLength(f"a frame of {len(frame)} bytes is too short for its header"))
        key = int.from_bytes(frame[:2], "big", signed=True)
        version = int.from_bytes(frame[2:4], "big", signed=True)
        if key != API_VERSIONS or version in self._versions:
            taken = self.accepted.get(key)
            if taken is None and key in (_SASL_HANDSHAKE, _SASL_AUTHENTICATE) and self.mechanisms:
                taken = Versions(0, 1)
            if taken is None or version not in taken:
                return self._not_supported(frame, key, version, taken)
        try:
            request = self.codec.decode_request(frame, strict=False)
        except WireError as error:
            return self._over(BrokerEvent.GARBLED, "garbled", error)
        # Kafka passes over bytes behind a body; librdkafka's Metadata requests have some.
        fault = request.violation
        if fault is not None and not isinstance(fault, TrailingBytes) and (key != API_VERSIONS or version in self._versions):
            return self._over(BrokerEvent.GARBLED, "garbled", fault)
        self._slots.append(_Slot(request.header))
        if (
            key != _SASL_HANDSHAKE
            and self.instance_ids is not None
            and (why := self.instance_ids.see(self.codec.header_version("request", key, version), request.header.client_instance_id))
        ):
            return self._invalid(why)
        if key == API_VERSIONS:
            return self._api_versions(request, version)
        if key == _SASL_HANDSHAKE:
            return self._handshake(request)
        if key == _SASL_AUTHENTICATE:
            return self._token(request)
        if not BROKER_ROLE.allows(self.state, BrokerEvent.REQUEST):
            return self._out_of_order(key, version)
        self._move(BrokerEvent.REQUEST)
        if key in self._answers:
            return self._answer(self._answers[key](request))
        if key == _PRODUCE and request.body.acks == 0:
            self._slots.pop()
            return [Received(request, answered=False)]
        return [Received(request)]

    def _not_supported(self, frame: bytes, key: int, version: int, taken: Versions | None) -> list[Outcome]:
        name = self.codec.catalog.api_name(key)
        if self.unsupported == "empty_answer" and BROKER_ROLE.allows(self.state, BrokerEvent.EMPTY_ANSWER):
            self._move(BrokerEvent.EMPTY_ANSWER)
            self._slots.append(_Slot(None, frame[4:8]))
            return self._flush()
        if taken is None:
            unknown = UnknownApi(f"this broker has no api {name or key}", api_key=key, api_version=version)
            return self._over(BrokerEvent.UNSUPPORTED, "unknown_api", unknown)
        error = UnsupportedVersion(f"this broker has {name} {taken}, not {version}", offset=2, api_key=key, api_version=version)
        return self._over(BrokerEvent.UNSUPPORTED, "unsupported_version", error)

    def _out_of_order(self, key: int, version: int) -> list[Outcome]:
        name = self.codec.catalog.api_name(key) or str(key)
        error = KwireError(f"{name} v{version} is not allowed while the connection is in state {self.state.name}")
        # Where a token has to come Kafka says so before it closes, with ILLEGAL_SASL_STATE; before the handshake it does not.
        outcome = self._refuse(_ILLEGAL_SASL_STATE) if self.state is BrokerState.TOKENS else []
        return outcome + self._over(BrokerEvent.OUT_OF_ORDER, "out_of_order", error)

    def _refuse(self, code: int) -> list[Outcome]:
        header = self._slots[-1].header
        message = self.codec.catalog.response(header.api_key)
        version = 0 if header.api_key == API_VERSIONS and header.api_version not in self._versions else header.api_version
        if message is None or not any(field.name == "ErrorCode" and version in field.versions for field in message.fields):
            return []
        return self._answer(self.codec.message_class(message.name)(error_code=code), version)

    def _invalid(self, why: str) -> list[Outcome]:
        return self._refuse(_INVALID_REQUEST) or self._over(BrokerEvent.UNSUPPORTED, "invalid_request", KwireError(why))

    def _api_versions(self, request: Request, version: int) -> list[Outcome]:
        answer = self.codec.messages.ApiVersionsResponse
        outcome = BrokerEvent.VERSIONS
        outcomes: list[Outcome] = []
        known = version in self._versions
        if not BROKER_ROLE.allows(self.state, BrokerEvent.VERSIONS):
            return self._out_of_order(API_VERSIONS, version)
        if not known:
            body, written, outcome = answer(error_code=_UNSUPPORTED_VERSION, api_keys=self._own_range()), 0, BrokerEvent.VERSIONS_REFUSED
        elif version >= 3 and not is_valid_software(*_software_of(request), self.software_rule):
            body, written, outcome = answer(error_code=_INVALID_REQUEST), version, BrokerEvent.VERSIONS_REFUSED
        elif version >= 5 and self._means_another(request.body):
            body, written, outcome = answer(error_code=_REBOOTSTRAP_REQUIRED), version, BrokerEvent.VERSIONS_REFUSED
        else:
            body, written = answer(api_keys=[self._range(key) for key in sorted(self.advertised)]), version
            self.software = (UNKNOWN, UNKNOWN) if version < 3 else _software_of(request)
            outcomes.append(Identified(*self.software))
        self._move(outcome)
        return outcomes + self._answer(body, written)

    def _means_another(self, body: Any) -> bool:
        other_cluster = body.cluster_id is not None and self.cluster_id is not None and body.cluster_id != self.cluster_id
        return other_cluster or (body.node_id != -1 and self.node_id != -1 and body.node_id != self.node_id)

    def _range(self, key: int) -> Any:
        versions = self.advertised[key]
        return self.codec.messages.ApiVersionsResponse.ApiVersion(api_key=key, min_version=versions.lowest, max_version=versions.highest)

    def _own_range(self) -> list[Any]:
        return [] if self.legacy_fallback or API_VERSIONS not in self.advertised else [self._range(API_VERSIONS)]

    def _handshake(self, request: Request) -> list[Outcome]:
        response = self.codec.messages.SaslHandshakeResponse
        if not self.mechanisms:  # KafkaApis: this listener does not authenticate
            self._move(BrokerEvent.REQUEST)
            return self._answer(response(error_code=_ILLEGAL_SASL_STATE))
        raw = request.header.api_version == 0
        event = BrokerEvent.RAW_HANDSHAKE if raw else BrokerEvent.HANDSHAKE
        if not BROKER_ROLE.allows(self.state, event):
            return self._out_of_order(_SASL_HANDSHAKE, request.header.api_version)
        if request.body.mechanism not in self.mechanisms:
            refused = self._answer(response(error_code=_UNSUPPORTED_SASL_MECHANISM, mechanisms=list(self.mechanisms)))
            return refused + self._over(BrokerEvent.NOT_AUTHENTICATED, "authentication_failed")
        self.mechanism = request.body.mechanism
        self._move(event)
        return self._answer(response(mechanisms=list(self.mechanisms)))

    def _token(self, request: Request) -> list[Outcome]:
        response = self.codec.messages.SaslAuthenticateResponse
        if not self.mechanisms:
            self._move(BrokerEvent.REQUEST)
            return self._answer(response(error_code=_ILLEGAL_SASL_STATE, error_message="SaslAuthenticate without SaslHandshake"))
        if self.state is not BrokerState.TOKENS:
            return self._out_of_order(_SASL_AUTHENTICATE, request.header.api_version)
        said = self._ask_authenticator(request.body.auth_bytes)
        if said.refused is not None:
            outcome = self._answer(response(error_code=_SASL_AUTHENTICATION_FAILED, error_message=said.refused))
            return outcome + self._over(BrokerEvent.NOT_AUTHENTICATED, "authentication_failed")
        outcome = self._answer(response(auth_bytes=said.token))
        return outcome + self._progress(said)

    def _raw_token(self, token: bytes) -> list[Outcome]:
        said = self._ask_authenticator(token)
        if said.refused is not None:  # version 0 has no way to say so
            return self._over(BrokerEvent.NOT_AUTHENTICATED, "authentication_failed")
        return [Send(framed(said.token)), *self._progress(said)]

    def _ask_authenticator(self, token: bytes) -> TokenAnswer:
        if self._authenticate is None or self.mechanism is None:
            return TokenAnswer(refused="Authentication failed")
        return self._authenticate(self.mechanism, token)

    def _progress(self, said: TokenAnswer) -> list[Outcome]:
        if said.principal is None:
            self._move(BrokerEvent.TOKEN)
            return []
        self._move(BrokerEvent.AUTHENTICATED)
        self.principal = said.principal
        return [Authenticated(said.principal, self.mechanism or "")]

    def respond(self, body: Any, version: int | None = None) -> list[Outcome]:
        """Answer the oldest unanswered request.

        Arguments:
            body: response of the codec's messages.
            version: version to write, by default that of the request.

        Raises:
            KwireError: no request waits.
            EncodeError: see `kwire.encode_response`; the request still waits.
        """
        slot = next((each for each in self._slots if each.frame is None), None)
        if slot is None:
            raise KwireError("no request waits for a response")
        return self._answer(body, version, slot)

    def _answer(self, body: Any, version: int | None = None, slot: _Slot | None = None) -> list[Outcome]:
        slot = slot or self._slots[-1]
        header = slot.header
        asked = header.api_version if version is None else version
        slot.frame = self.codec.encode_response(header.correlation_id, body, header.api_key, asked)
        return self._flush()

    def _flush(self) -> list[Outcome]:
        outcomes: list[Outcome] = []
        while self._slots and (frame := self._slots[0].frame) is not None:
            outcomes.append(Send(framed(frame), int.from_bytes(frame[:4], "big", signed=True)))
            self._slots.popleft()
        return outcomes

    @property
    def waiting(self) -> int:
        return sum(each.frame is None for each in self._slots)

    def leave(self) -> list[Outcome]:
        """Handle the end of the connection, by either side."""
        return [] if self.over else self._over(BrokerEvent.LEFT, "left")


def _software_of(request: Request) -> tuple[str, str]:
    body = request.body
    return body.client_software_name, body.client_software_version
