"""Client's side of a connection: asks for versions, falls back as in KIP-511, and chooses the version of every request.

Rules, as in Kafka's `NetworkClient.handleApiVersionsResponse`. ApiVersions is sent in the highest version. The answer may be in version 0
regardless of the request; only error 35 at its fixed offset decides that. On error 35 the client asks again in the highest version that the
broker lists for API 18, or in version 0. Any other error, and 35 on version 0, is final. Retries are limited.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from importlib.metadata import version as installed_version
from typing import Any, Final, Literal, NamedTuple

from kwire.codec.catalog_codec import Codec
from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.errors import KwireError, TrailingBytes, WireError
from kwire.protocol.endpoint_frames import EndpointFrames, framed
from kwire.protocol.negotiation import API_VERSIONS
from kwire.protocol.negotiation.client_states import CLIENT_ROLE, ClientEvent, ClientState
from kwire.protocol.negotiation.outcomes import (
    Agreed,
    Answered,
    CloseReason,
    NegotiationFailed,
    NotSupported,
    Outcome,
    Over,
    Reconnect,
    RequestNotSupported,
    Retried,
    Send,
)
from kwire.protocol.negotiation.software import software_faults
from kwire.protocol.negotiation.version_choice import BrokerVersions, NoCommonVersion, Range
from kwire.schema import catalog, error_name
from kwire.schema.header_versions import header_version_of

__all__ = ["ClientIdPolicy", "NegotiatingClient"]

ClientIdPolicy = Literal["per_request", "first_wins"]

_UNSUPPORTED_VERSION: Final = 35
_INVALID_REQUEST: Final = 42
_PRODUCE: Final = 0
_SECOND: Final = 1_000_000_000


class _Sent(NamedTuple):
    correlation_id: int
    api_key: int
    api_version: int
    time: int


class NegotiatingClient:
    """One connection of a client to one broker.

    Times are nanoseconds of a monotonic clock. Methods return outcomes in order.

    Arguments:
        codec: codec of the built-in catalog by default.
        software: client software name and version, kwire's own by default; not sent below ApiVersions v3.
        instance_id: client instance id; sent if the header has a field for it (dialect `kip-1313`).
        api_versions: first version of ApiVersions; by default the highest one with request header 2. Brokers read the header of an unknown
            ApiVersions request as version 2, and would read an instance id in it as tags.
        own: versions of the client by API key, if it supports fewer than the codec's catalog.
        retries: number of repeated ApiVersions after error 35.
        timeout: nanoseconds to wait for a response.
        fallback_release: release assumed for a broker that closes on ApiVersions; None to fail.
        node: name of the broker in errors.
        cluster_id, node_id: intended broker; sent from ApiVersions v5 on (KIP-1242).
        client_ids: `per_request`: client id in every request; `first_wins`, a reading of KIP-1313: null in later requests whose header has
            the instance id. Older headers always carry it, for quotas of older brokers.
        empty_answers: an answer without a body means "not supported" (the KIP-35 draft).

    Attributes:
        versions: versions of this broker, None until known.
    """

    def __init__(
        self,
        *,
        codec: Codec | None = None,
        client_id: str | None = "kwire",
        software: tuple[str, str] | None = None,
        instance_id: Uuid = ZERO_UUID,
        api_versions: int | None = None,
        own: Mapping[int, Range] | None = None,
        retries: int = 2,
        timeout: int = 30 * _SECOND,
        fallback_release: str | None = None,
        node: str = "the broker",
        cluster_id: str | None = None,
        node_id: int = -1,
        client_ids: ClientIdPolicy = "per_request",
        empty_answers: bool = False,
    ) -> None:
        self.codec = codec or Codec(catalog())
        self.client_id = client_id
        self.software = ("kwire", installed_version("kwire")) if software is None else software
        self.instance_id = instance_id
        self.retries = retries
        self.timeout = timeout
        self.fallback_release = fallback_release
        self.node = node
        self.cluster_id = cluster_id
        self.node_id = node_id
        self.client_ids: ClientIdPolicy = client_ids
        self.empty_answers = empty_answers
        self.state = CLIENT_ROLE.start
        self.versions: BrokerVersions | None = None
        self._own = dict(own or {})
        mine = self.codec.catalog["ApiVersionsRequest"]
        self._lowest_ask = mine.valid_versions.lowest
        self._highest_ask = self._own_ask(api_versions)
        self._frames = EndpointFrames(zero_length_answers=empty_answers)
        self._waiting: deque[_Sent] = deque()
        self._unanswered: _Sent | None = None  # the latest request, when nothing came since
        self._retried = 0
        self._introduced = False  # a request went out on this connection
        self._next_id = 0

    def _own_ask(self, api_versions: int | None) -> int:
        if api_versions is not None:
            return api_versions
        mine = self.codec.catalog["ApiVersionsRequest"]
        most = BrokerVersions({}, self.codec.catalog, own=self._own).own(API_VERSIONS)
        return max(version for version in most if header_version_of(mine.header_versions, version) <= 2)

    @property
    def over(self) -> bool:
        return self.state is ClientState.CLOSED

    def _move(self, event: ClientEvent) -> None:
        self.state = CLIENT_ROLE.after(self.state, event)

    def _over(self, event: ClientEvent, reason: CloseReason, error: KwireError | None = None) -> list[Outcome]:
        self._move(event)
        self._waiting.clear()
        return [Over(reason, error)]

    def _name(self, sent: _Sent) -> str:
        return f"{self.codec.catalog.api_name(sent.api_key) or sent.api_key} v{sent.api_version}"

    @property
    def deadline(self) -> int | None:
        return self._waiting[0].time + self.timeout if self._waiting else None

    def _frame_of(self, body: Any, api_key: int, api_version: int, t: int, answered: bool = True) -> Send:
        correlation_id = self._next_id
        self._next_id = correlation_id + 1 & 0x7FFFFFFF
        short = self.client_ids == "first_wins" and self._introduced and self.codec.header_version("request", api_key, api_version) >= 3
        header = self.codec.messages.RequestHeader(
            api_key=api_key,
            api_version=api_version,
            correlation_id=correlation_id,
            client_id=None if short else self.client_id,
            client_instance_id=self.instance_id,
        )
        frame = framed(self.codec.encode_request(header, body))
        self._introduced = True
        self._unanswered = _Sent(correlation_id, api_key, api_version, t)
        if answered:
            self._waiting.append(self._unanswered)
        return Send(frame, correlation_id)

    def _ask(self, version: int, t: int) -> Send:
        name, software_version = self.software
        body = self.codec.messages.ApiVersionsRequest(
            client_software_name=name, client_software_version=software_version, cluster_id=self.cluster_id, node_id=self.node_id
        )
        return self._frame_of(body, API_VERSIONS, version, t)

    def connected(self, t: int) -> list[Outcome]:
        """Start on a new connection: the first, or one after `Reconnect`.

        Raises:
            InvalidTransition: it has started already.
        """
        assumed = self.state is ClientState.ASSUMING
        self._move(ClientEvent.CONNECTED)
        if not assumed or self.fallback_release is None:
            return [self._ask(self._highest_ask, t)]
        self._frames = EndpointFrames(zero_length_answers=self.empty_answers)
        self._introduced = False
        self.versions = BrokerVersions.of_release(self.fallback_release, self.codec.catalog, own=self._own, node=self.node)
        return [Agreed(self.versions, None)]

    def ask_again(self, t: int, version: int | None = None) -> list[Outcome]:
        """Send ApiVersions again, as clients do after SASL; by default in the highest version.

        Raises:
            InvalidTransition: not ready.
        """
        self._move(ClientEvent.ASKED_AGAIN)
        self._retried = 0
        return [self._ask(self._highest_ask if version is None else version, t)]

    def send(self, body: Any, t: int, version: int | None = None) -> Send:
        """Return a request in the highest common version, or in `version` even if the broker does not support it.

        Raises:
            InvalidTransition: not ready.
            NoCommonVersion: the broker does not support the API or any of the client's versions.
            EncodeError: the version cannot hold the body.
        """
        CLIENT_ROLE.after(self.state, ClientEvent.SENT)
        key = self.codec.catalog[type(body).layout.message].api_key
        assert key is not None
        assert self.versions is not None
        if version is None:
            version = self.versions.choose(key)
        sent = self._frame_of(body, key, version, t, answered=not (key == _PRODUCE and body.acks == 0))
        self._move(ClientEvent.SENT)
        return sent

    def receive(self, data: bytes | bytearray | memoryview, t: int) -> list[Outcome]:
        """Receive bytes from the broker; ignore bytes after the end."""
        if self.over:
            return []
        try:
            frames = self._frames.feed(data)
        except WireError as error:
            return self._over(ClientEvent.GARBLED, "garbled", error)
        return self._take(frames, t)

    def _take(self, frames: list[bytes], t: int) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for frame in frames:
            if self.over:
                break
            outcomes += self._frame(frame, t)
        return outcomes

    def _frame(self, frame: bytes, t: int) -> list[Outcome]:
        if not self._waiting:
            return self._over(ClientEvent.GARBLED, "garbled", KwireError(f"{self.node} sent a response without a request"))
        sent = self._waiting.popleft()
        self._unanswered = None
        correlation_id = int.from_bytes(frame[:4], "big", signed=True)
        if len(frame) >= 4 and correlation_id != sent.correlation_id:
            error = KwireError(f"{self.node} answered with correlation id {correlation_id} where {sent.correlation_id} is waiting")
            return self._over(ClientEvent.GARBLED, "garbled", error)
        if len(frame) == 4 and self.empty_answers and sent.api_key != API_VERSIONS:
            self._move(ClientEvent.ANSWERED)
            name = self.codec.catalog.api_name(sent.api_key) or str(sent.api_key)
            return [NotSupported(RequestNotSupported(name, sent.api_key, sent.api_version, self.node))]
        try:
            response = self.codec.decode_response(frame, sent.api_key, sent.api_version, strict=False)
            if response.violation is not None and not isinstance(response.violation, TrailingBytes):
                raise response.violation
        except WireError as error:
            unreadable = KwireError(f"the answer of {self.node} to {self._name(sent)} cannot be read: {error}")
            return self._over(ClientEvent.GARBLED, "garbled", unreadable)
        if self.state is ClientState.ASKING and sent.api_key == API_VERSIONS:
            return self._told(sent.api_version, response.body, t)
        self._move(ClientEvent.ANSWERED)
        return [Answered(response)]

    def _told(self, asked: int, body: Any, t: int) -> list[Outcome]:
        ranges = {each.api_key: (each.min_version, each.max_version) for each in body.api_keys}
        if not body.error_code:
            self._move(ClientEvent.AGREED)
            self.versions = BrokerVersions(ranges, self.codec.catalog, own=self._own, node=self.node)
            return [Agreed(self.versions, asked)]
        if body.error_code != _UNSUPPORTED_VERSION or asked == 0:
            return self._over(ClientEvent.REFUSED, "error_code", self._refusal(body.error_code, asked))
        lowest, highest = ranges.get(API_VERSIONS, (0, 0))
        version = min(highest, self._highest_ask)
        if version < max(lowest, self._lowest_ask):
            ours = BrokerVersions({}, self.codec.catalog, own=self._own).own(API_VERSIONS)
            theirs = type(ours)(lowest, highest)
            return self._over(ClientEvent.REFUSED, "no_agreement", NoCommonVersion("ApiVersions", ours, theirs, self.node))
        if self._retried >= self.retries:
            failed = NegotiationFailed(
                f"{self.node} refused ApiVersions v{asked} with UNSUPPORTED_VERSION (35) after {self._retried} retries",
                _UNSUPPORTED_VERSION,
                asked,
            )
            return self._over(ClientEvent.REFUSED, "no_agreement", failed)
        self._retried += 1
        self._move(ClientEvent.FELL_BACK)
        return [Retried(asked, version), self._ask(version, t)]

    def _refusal(self, code: int, asked: int) -> NegotiationFailed:
        why = f"{self.node} refused ApiVersions v{asked} with {error_name(code)} ({code})"
        if code == _INVALID_REQUEST and asked >= 3 and (faults := software_faults(*self.software)):
            why += f": {' and '.join(faults)} must be letters, digits, dots and hyphens, with a letter or digit at both ends"
        return NegotiationFailed(why, code, asked)

    def tick(self, t: int) -> list[Outcome]:
        if self.over or self.deadline is None or t < self.deadline:
            return []
        late = self._waiting[0]
        error = KwireError(f"{self.node} did not answer {self._name(late)} in {self.timeout / _SECOND:g} s")
        return self._over(ClientEvent.TIMED_OUT, "timed_out", error)

    def closed(self, t: int) -> list[Outcome]:
        if self.state in (ClientState.CLOSED, ClientState.ASSUMING):
            return []
        if self.state is ClientState.ASKING and self.versions is None and not self._retried and self.fallback_release is not None:
            self._move(ClientEvent.LOST_UNANSWERED)
            self._waiting.clear()
            return [Reconnect(self.fallback_release)]
        if self.state is ClientState.NEW:
            return self._over(ClientEvent.LEFT, "closed_by_peer")
        last = self._waiting[0] if self._waiting else self._unanswered
        if last is not None and self._refuses(last):
            error = KwireError(f"{self.node} closed the connection on {self._name(last)}, which it does not take")
            return self._over(ClientEvent.LOST, "closed_after_unsupported", error)
        return self._over(ClientEvent.LOST, "closed_by_peer")

    def _refuses(self, sent: _Sent) -> bool:
        if self.versions is None:
            return False  # ApiVersions itself; brokers before 0.10 close on it, and so does a port that is none of Kafka's
        return self.versions.standing(sent.api_key, sent.api_version) in ("outside", "refused")

    def leave(self) -> list[Outcome]:
        return [] if self.over else self._over(ClientEvent.LEFT, "left")
