"""Outcomes of the negotiation roles: bytes to send, and events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kwire.codec.frames import Request, Response
from kwire.errors import KwireError
from kwire.protocol.negotiation.version_choice import BrokerVersions

__all__ = [
    "Agreed", "Answered", "Authenticated", "CloseReason", "Identified", "NegotiationFailed", "NotSupported", "Outcome", "Over", "Received",
    "Reconnect", "RequestNotSupported", "Retried", "Send",
]  # fmt: skip

CloseReason = Literal[
    "error_code",  # the broker answered ApiVersions with an error that no retry cures
    "no_agreement",  # retries are used up, or the broker has no version of ApiVersions that the client has
    "garbled",  # bytes that are no frame, a response that cannot be read or answers nothing
    "timed_out",
    "closed_by_peer",
    "closed_after_unsupported",  # by the peer, right after a request that it does not have or does not take
    "unknown_api",
    "unsupported_version",
    "out_of_order",  # a request that may not stand at this point of authentication
    "authentication_failed",
    "invalid_request",
    "left",  # by this side, with nothing wrong
]


class NegotiationFailed(KwireError):
    """Refusal of ApiVersions of this version by a broker, with error 35 (UNSUPPORTED_VERSION) or 42 (INVALID_REQUEST)."""

    def __init__(self, message: str, error_code: int, api_version: int) -> None:
        super().__init__(message)
        self.error_code = error_code
        self.api_version = api_version


class RequestNotSupported(KwireError):
    """Request that the server answered with an empty body, which means "not supported" (the KIP-35 draft)."""

    def __init__(self, api: str, api_key: int, api_version: int, node: str) -> None:
        super().__init__(f"{api} v{api_version} is not supported by {node}")
        self.api = api
        self.api_key = api_key
        self.api_version = api_version
        self.node = node


@dataclass(frozen=True, slots=True)
class Send:
    """Frames to write to the peer, with their lengths. They may hold SASL tokens, so `repr` hides them."""

    data: bytes = field(repr=False)
    correlation_id: int | None = None


@dataclass(frozen=True, slots=True)
class Retried:
    """Client: the broker does not support a version of ApiVersions and is asked again in another."""

    refused_version: int
    version: int


@dataclass(frozen=True, slots=True)
class Agreed:
    """Client: versions of the broker, from ApiVersions of this version; None if assumed from a release."""

    versions: BrokerVersions
    api_version: int | None


@dataclass(frozen=True, slots=True)
class Reconnect:
    """Client: the broker closed without an answer, as before 0.10. Connect again and call `connected`: a release is assumed."""

    release: str


@dataclass(frozen=True, slots=True)
class Answered:
    response: Response


@dataclass(frozen=True, slots=True)
class NotSupported:
    """Client: an empty answer came (the KIP-35 draft); the connection continues."""

    error: RequestNotSupported


@dataclass(frozen=True, slots=True)
class Identified:
    """Broker: software of the client; `unknown` below version 3. A later event replaces an earlier one."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Authenticated:
    principal: str
    mechanism: str


@dataclass(frozen=True, slots=True)
class Received:
    """Broker: request that the caller answers with `respond`; `answered` is False for Produce with acks 0."""

    request: Request
    answered: bool = True


@dataclass(frozen=True, slots=True)
class Over:
    """End: the connection is closed or must be closed."""

    reason: CloseReason
    error: KwireError | None = None


Outcome = Send | Retried | Agreed | Reconnect | Answered | NotSupported | Identified | Authenticated | Received | Over
