"""SASL tokens without a Kafka header, as after SaslHandshake v0 (KIP-43, `SaslServerAuthenticator.handleSaslToken`).

Raw tokens follow only a response with error 0. A broker answers an authenticated client with error 34 and reads its next frame as a request
(`KafkaApis.handleSaslHandshakeRequest`). A relay must know exactly where they end, because the next frame of the client is a request and is
owed a response. Most mechanisms have a fixed number of tokens. GSSAPI does not: its tokens begin with 0x60 (RFC 2743, 3.1) or 05 04 (RFC
4121, 4.2.6.2), unlike any API key. Tokens of other mechanisms cannot be distinguished from requests, and a relay does not guess.
"""

from __future__ import annotations

from typing import Final

from kwire.protocol.sasl import EXCHANGES, SaslState

__all__ = ["FIRST_TOKEN", "RawTokens"]

# The first byte of a GSSAPI exchange without a handshake, as clients before Kafka 0.10 begin.
FIRST_TOKEN: Final = b"\x60"
_GSSAPI: Final = "GSSAPI"
_WRAP: Final = b"\x05\x04"


class RawTokens:
    """Raw tokens of one connection; `is_open` while the client's next frame may be a token."""

    __slots__ = ("_asked", "_closing", "sasl")

    def __init__(self) -> None:
        self.sasl = SaslState()
        self._asked: str | None = None  # mechanism of a handshake that waits for its response
        self._closing = False  # an OAUTHBEARER client acknowledges its refusal (RFC 7628, 3.2.3)

    @property
    def is_open(self) -> bool:
        return self.sasl.raw

    def handshake(self, mechanism: str | None) -> bool:
        """Take a SaslHandshake v0 request; return False if the end of this mechanism's tokens cannot be recognised."""
        self._asked = mechanism
        return mechanism in EXCHANGES or mechanism == _GSSAPI

    def handshake_answered(self, error_code: int) -> None:
        if error_code == 0:
            self.sasl.handshake(self._asked, 0)
            self._closing = False

    def begins(self) -> None:
        self.sasl.handshake(_GSSAPI, 0)

    def is_token(self, frame: bytes) -> bool:
        """Return whether the next frame of the client is a token, judged by its first two bytes; if not, end the raw tokens."""
        expected = self.sasl.expected
        if expected is None:
            is_token = len(frame) < 2 or frame[:1] == FIRST_TOKEN or frame == _WRAP
        else:
            is_token = self._closing or (self.sasl.pending and self.sasl.tokens < expected)
        if not is_token:
            self.sasl.went_on()
        return is_token

    def client_token(self, token: bytes) -> bool:
        """Record a token of the client; return False if the server sends no answer to it."""
        answered = not self._closing
        self._closing = False
        self.sasl.client_token(token)
        return answered

    def server_token(self, token: bytes) -> None:
        self.sasl.server_token(token)
        self._closing = bool(token) and self.sasl.mechanism == "OAUTHBEARER"
