"""Identity from authentication: mechanism, attempted principal, and principal after success.

Raw tokens follow SaslHandshake v0: a length and opaque bytes in both directions. Read as a Kafka header, a PLAIN token is "api 25972
version 27648". After SaslHandshake v1 tokens travel inside SaslAuthenticate (KIP-152). They hold passwords and bearer tokens: only the name
is kept.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Final

__all__ = ["EXCHANGES", "MAX_NAME", "SaslState", "attempted_name", "is_kerberos_token"]

# Longest name that is kept; Kafka has no limit, a table has.
MAX_NAME: Final = 1024

_MAX_SCRAM: Final = 4096  # bytes of a first message whose name is read

# Object identifier 1.2.840.113554.1.2.2 in DER: Kerberos 5, near the beginning of a first GSSAPI token (RFC 2743, section 3.1).
_KERBEROS: Final = bytes.fromhex("06092a864886f712010202")

# Client tokens of one authentication, for mechanisms that have a fixed number.
EXCHANGES: Final = {"PLAIN": 1, "OAUTHBEARER": 1, "SCRAM-SHA-256": 2, "SCRAM-SHA-512": 2}


def _plain(token: bytes) -> str | None:
    # authorization id, authentication id, password (RFC 4616); Kafka lets the first be empty or equal to the second.
    parts = token.split(b"\0")
    if len(parts) != 3:
        return None
    name = parts[1] or parts[0]
    return name.decode("utf-8", "replace") or None


def _scram(token: bytes) -> str | None:
    # client-first-message of RFC 5802: n,a=authzid,n=user,r=nonce
    if len(token) > _MAX_SCRAM:
        return None
    head = token.decode("utf-8", "replace").split(",")
    if head[0] not in ("n", "y") and not head[0].startswith("p="):
        return None
    # a delegation token: the name is the token's id, the principal its owner, whom the wire does not show; ScramExtensions ignores the case
    if any(part.lower() == "tokenauth=true" for part in head):
        return None
    name = next((part[2:] for part in head[2:] if part.startswith("n=")), None)
    return None if not name else name.replace("=2C", ",").replace("=3D", "=")


def _oauth(token: bytes) -> str | None:
    # RFC 7628: gs2 header, then key=value pairs between 0x01; the bearer token is as a rule a JWT, whose payload is not encrypted.
    pairs = [part.partition(b"=") for part in token.split(b"\x01")]
    values = [value for key, _, value in pairs if key == b"auth"]
    if len(values) != 1:  # of several, Kafka takes the last and others may take the first
        return None
    scheme, _, bearer = values[0].strip().partition(b" ")
    segments = bearer.strip().split(b".")
    if scheme.lower() != b"bearer" or len(segments) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(segments[1] + b"=" * (-len(segments[1]) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return None
    subject = claims.get("sub") if isinstance(claims, dict) else None
    return subject if isinstance(subject, str) and subject else None


def attempted_name(mechanism: str | None, token: bytes) -> str | None:
    """Return the user name in a client's first token: from PLAIN, SCRAM or the unverified `sub` claim of OAUTHBEARER; None without one."""
    read = {"PLAIN": _plain, "SCRAM-SHA-256": _scram, "SCRAM-SHA-512": _scram, "OAUTHBEARER": _oauth}.get(mechanism or "")
    name = None if read is None else read(token)
    return None if name is None else name[:MAX_NAME]


def is_kerberos_token(token: bytes) -> bool:
    """Return whether these bytes are the first token of a GSSAPI exchange."""
    return token[:1] == b"\x60" and _KERBEROS in token[:24]


class SaslState:
    """Authentication on one connection. Re-authentication (KIP-368) starts over; its principal applies once it succeeds."""

    __slots__ = ("attempted_principal", "failures", "is_unclear", "mechanism", "pending", "principal", "raw", "tokens")

    def __init__(self) -> None:
        self.mechanism: str | None = None
        self.attempted_principal: str | None = None  # `User:NAME` of the latest attempt
        self.principal: str | None = None  # the same after success
        self.failures = 0
        self.raw = False  # tokens travel without Kafka headers
        self.pending = False  # an exchange has begun and is not known to have ended
        self.is_unclear = False  # the server's answer to the latest token is lost
        self.tokens = 0

    @property
    def expected(self) -> int | None:
        """Client tokens of one exchange; None if the mechanism has no fixed number."""
        return EXCHANGES.get(self.mechanism or "")

    @property
    def ends_unsaid(self) -> bool:
        return self.is_unclear or self.expected is None

    def handshake(self, mechanism: str | None, version: int) -> None:
        self.mechanism = None if mechanism is None else mechanism[:MAX_NAME]
        self.raw = version == 0
        self.pending = True
        self.is_unclear = False
        self.tokens = 0

    def handshake_answered(self, error_code: int | None) -> None:
        if error_code:
            self._fail()

    def client_token(self, token: bytes | None) -> None:
        """Record a token of the client, raw or inside SaslAuthenticate; None if it was cut off."""
        self.tokens += 1
        self.pending = True
        self.is_unclear = False
        if token is not None and (self.tokens == 1 or (self.attempted_principal is None and self.mechanism == "PLAIN")):
            name = attempted_name(self.mechanism, token)
            self.attempted_principal = None if name is None else f"User:{name}"

    def server_token(self, token: bytes | None, error_code: int | None = 0) -> None:
        """Record the server's answer to a token; token and error code are None if they were cut off."""
        if error_code:
            self._fail()
        elif error_code is None or (token is None and self.mechanism == "OAUTHBEARER"):
            self.is_unclear = True
        elif self.mechanism == "PLAIN":
            self._succeed()
        elif self.mechanism == "OAUTHBEARER":
            # A refusal comes as JSON without an error code; the client acknowledges it and is refused then (RFC 7628).
            if not token:
                self._succeed()
        elif self.mechanism is not None and self.mechanism.startswith("SCRAM-"):
            if token is not None and token.startswith(b"e="):
                self._fail()
            elif self.tokens >= 2:
                self._succeed()

    def went_on(self) -> None:
        """Record a request outside SASL: it ends an exchange whose last answer is missing, such as GSSAPI's."""
        self.raw = False
        if self.pending and self.ends_unsaid:
            self._succeed()

    def closed_by_server(self) -> None:
        """Record the server's close, which rejects an open exchange of version 0."""
        if self.pending and self.tokens:
            self._fail()

    def _succeed(self) -> None:
        self.pending = self.is_unclear = False
        self.tokens = 0
        self.principal = self.attempted_principal

    def _fail(self) -> None:
        self.pending = self.is_unclear = False
        self.raw = False
        self.tokens = 0
        self.failures += 1
