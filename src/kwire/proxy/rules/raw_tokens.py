"""`raw_sasl_tokens = false`: clients must authenticate with SaslHandshake v1 and SaslAuthenticate (KIP-152).

Tokens that follow SaslHandshake v0, or begin a connection as in Kafka 0.9 (GSSAPI), are not Kafka frames, so rules cannot read them, and
the principal is unknown. The setting is the default with tenants and refusals, which clients must not bypass.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kwire.codec import VersionLimits
from kwire.protocol.relay import CLOSE, RelayRule
from kwire.proxy.rules.api_versions_answer import limited_answers
from kwire.proxy.rules.rule import Peer

__all__ = ["RawTokensRule"]

_HANDSHAKE: Final = 17
_NEWEST: Final = 1


class RawTokensRule:
    """Rule of this setting; GSSAPI tokens without SaslHandshake close the connection too."""

    name = "raw_sasl_tokens"
    raw_gssapi = False

    def relay_rules(self) -> Iterator[RelayRule]:
        yield RelayRule("request", _HANDSHAKE, (0,), CLOSE)
        yield from limited_answers(VersionLimits({_HANDSHAKE: (_NEWEST, _NEWEST)}, others=True))

    def connected(self, peer: Peer) -> None: ...
