"""Leading parts of frames that decide a relay's action."""

from __future__ import annotations

import struct
from typing import Final

from kwire.codec.classes import compiled
from kwire.errors import WireError
from kwire.protocol.tracking.passing import PRODUCE, read_acks
from kwire.protocol.tracking.reading import REQUEST_HEAD, header_reader

__all__ = [
    "API_VERSIONS", "LENGTH", "MAX_AUTHENTICATION", "MAX_HEAD", "PRODUCE", "REQUEST_HEAD", "SASL_HANDSHAKE", "SHORTEST_REQUEST",
    "SHORTEST_RESPONSE", "UNSUPPORTED_VERSION", "acks_of", "is_refused_version", "mechanism_of", "refusal",
]  # fmt: skip

LENGTH: Final = 4  # bytes before a frame
SHORTEST_REQUEST: Final = 8  # api key, version, correlation id
SHORTEST_RESPONSE: Final = 4  # correlation id
SASL_HANDSHAKE: Final = 17
API_VERSIONS: Final = 18
UNSUPPORTED_VERSION: Final = 35
# Client id and transactional id have at most 32767 bytes each; tagged fields of a header are rare and small.
MAX_HEAD: Final = 1 << 17
# Longest request that authenticates or comes before: default of sasl.server.max.receive.size (`SaslServerAuthenticator`).
MAX_AUTHENTICATION: Final = 512 << 10

_REFUSAL: Final = struct.Struct(">ih")
_RANGES: Final = struct.Struct(">ihhh")


def acks_of(payload: bytes, version: int) -> int | None:
    """Return the acks of a Produce request of a known version; None if the given bytes end before them."""
    try:
        _, offset = header_reader().read(payload, strict=False)
    except WireError:
        return None
    found = read_acks(payload, offset, version)
    return None if found is None else found[0]


def mechanism_of(payload: bytes) -> str | None:
    try:
        _, offset = header_reader().read(payload, strict=False)
        message, _ = compiled().decoder("SaslHandshakeRequest", 0).decode(payload, offset, True)
    except WireError:
        return None
    mechanism: str = message.mechanism
    return mechanism


def is_refused_version(api_key: int, response: bytes) -> bool:
    """Return whether a response refuses the version of an ApiVersions request.

    KIP-511 gives it the form of version 0; librdkafka's mock cluster writes an array that no version has. It offers no API but ApiVersions,
    so a response that an edit cannot read passes as it came.
    """
    return api_key == API_VERSIONS and response[4:6] == UNSUPPORTED_VERSION.to_bytes(2, "big")


def refusal(api_key: int, correlation_id: int, versions: tuple[int, int] | None) -> bytes:
    """Return the answer to a request of an unknown API or version: error 35 in the form of ApiVersions v0 (KIP-511)."""
    head = _REFUSAL.pack(correlation_id, UNSUPPORTED_VERSION)
    return head + _RANGES.pack(1, API_VERSIONS, *versions) if api_key == API_VERSIONS and versions is not None else head
