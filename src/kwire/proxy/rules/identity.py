"""Client identity from ApiVersions (KIP-511) and SASL, for other rules, counters and the log. Always on; changes no frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import kwire
from kwire.codec import Opaque
from kwire.errors import WireError
from kwire.protocol.relay import CALL, Held, RelayRule
from kwire.protocol.sasl import SaslState
from kwire.proxy.rules.api_versions_answer import API_VERSIONS
from kwire.proxy.rules.rule import ConnectionRule, Peer

__all__ = ["IdentityRule"]

_WITH_SOFTWARE: Final = 3  # version of ApiVersions that brings name and version
_HANDSHAKE: Final = 17
_AUTHENTICATE: Final = 36
_FIELDS: Final = {
    API_VERSIONS: ("client_software_name", "client_software_version"), _HANDSHAKE: ("mechanism",), _AUTHENTICATE: ("auth_bytes",),
}  # fmt: skip


class IdentityRule:
    name = "identity"

    def relay_rules(self) -> Iterable[RelayRule]:
        return (
            RelayRule("request", API_VERSIONS, None, CALL),
            RelayRule("request", _HANDSHAKE, (1,), CALL),
            RelayRule("request", _AUTHENTICATE, None, CALL),
            RelayRule("response", _AUTHENTICATE, None, CALL),
        )

    def connected(self, peer: Peer) -> ConnectionRule:
        return _Identity(peer)


class _Identity(ConnectionRule):
    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._sasl: SaslState | None = None

    def request(self, held: Held, frame: bytes) -> None:
        try:
            found = kwire.decode_request(frame, strict=False, fields=_FIELDS[held.api_key])
        except WireError:
            return  # the broker's to judge
        self._peer.client_id = found.header.client_id
        if isinstance(found.body, Opaque):
            return
        if held.api_key != API_VERSIONS:
            self._authenticating(held, found.body)
        elif held.api_version >= _WITH_SOFTWARE:
            self._peer.software_name, self._peer.software_version = found.body.client_software_name, found.body.client_software_version

    def _authenticating(self, held: Held, body: Any) -> None:
        if held.api_key == _HANDSHAKE:
            if self._sasl is None:
                self._sasl = SaslState()
                self._peer.principal = ""  # a certificate does not count any more
            self._sasl.handshake(body.mechanism, held.api_version)
        elif self._sasl is not None:
            self._sasl.client_token(body.auth_bytes)

    def response(self, held: Held, frame: bytes) -> None:
        if self._sasl is None:
            return
        try:
            found = kwire.decode_response(frame, held.api_key, held.api_version, fields=("error_code", "auth_bytes")).body
        except WireError:
            return
        self._sasl.server_token(found.auth_bytes, found.error_code)
        if self._sasl.principal is not None:
            self._peer.principal = self._sasl.principal
