"""`principals = [...]` of a tenant: only clients with one of them may use its listeners.

A principal comes from a SASL exchange that the broker accepted, or from the client's certificate. Without one, only ApiVersions and SASL
pass; any other request closes the connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import kwire
from kwire import messages
from kwire.errors import InputError
from kwire.protocol.relay import CALL, Held, RelayRule
from kwire.proxy.rules.api_versions_answer import API_VERSIONS
from kwire.proxy.rules.rule import ConnectionRule, Peer, Refusal
from kwire.schema import catalog

__all__ = ["PrincipalsRule"]

_HANDSHAKE: Final = 17
_AUTHENTICATE: Final = 36
_SASL_AUTHENTICATION_FAILED: Final = 58
_TYPE: Final = "User:"
_DELAY: Final = 1.0  # seconds, for clients that connect again at once


class PrincipalsRule:
    name = "principals"

    def __init__(self, principals: Iterable[str]) -> None:
        self.allowed = frozenset(principals)
        wrong = next((each for each in sorted(self.allowed) if not each.startswith(_TYPE) or each == _TYPE), None)
        if wrong is not None:
            raise InputError(f"principal {wrong!r} of a tenant: write User:NAME, as in the broker's ACLs")
        if not self.allowed:
            raise InputError("principals of a tenant: the list is empty, so every client would be refused; add one or remove the key")

    def relay_rules(self) -> Iterator[RelayRule]:
        yield RelayRule("request", _HANDSHAKE, (1,), CALL)
        yield RelayRule("request", _AUTHENTICATE, None, CALL)
        yield RelayRule("response", _AUTHENTICATE, None, CALL)

    def watching_rules(self) -> Iterator[RelayRule]:
        for message in catalog().messages.values():
            if message.kind == "request" and message.api_key not in (None, API_VERSIONS, _HANDSHAKE, _AUTHENTICATE):
                yield RelayRule("request", message.api_key, None, CALL)

    def connected(self, peer: Peer) -> ConnectionRule:
        return _Bound(self.allowed, peer)


class _Bound(ConnectionRule):
    def __init__(self, allowed: frozenset[str], peer: Peer) -> None:
        self._allowed = allowed
        self._peer = peer
        self.watches = True

    def request(self, held: Held, frame: bytes) -> Refusal | None:
        self.watches = held.api_key in (_HANDSHAKE, _AUTHENTICATE)
        if self.watches or self._peer.principal in self._allowed:
            return None
        self.watches = True
        return Refusal(f"principal {self._peer.principal or 'unknown'} is not one of the tenant's", _DELAY)

    def response(self, held: Held, frame: bytes) -> bytes | None:
        if not self._peer.principal or self._peer.principal in self._allowed:
            return None
        refused = messages.SaslAuthenticateResponse(
            error_code=_SASL_AUTHENTICATION_FAILED, error_message="the proxy refuses this principal", auth_bytes=b""
        )
        return kwire.encode_response(held.correlation_id, refused, held.api_key, held.api_version)
