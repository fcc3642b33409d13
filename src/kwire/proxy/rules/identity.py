"""Always on: who the client is (KIP-511), for the other rules, the counters and the log. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import kwire
from kwire.errors import WireError
from kwire.protocol.relay import CALL, Held, RelayRule
from kwire.proxy.rules.api_versions_answer import API_VERSIONS
from kwire.proxy.rules.rule import ConnectionRule, Peer

__all__ = ["IdentityRule"]

_WITH_SOFTWARE: Final = 3  # version of ApiVersions that brings name and version


class IdentityRule:
    """The rule."""

    name = "identity"

    def relay_rules(self) -> Iterable[RelayRule]:
        return (RelayRule("request", API_VERSIONS, None, CALL),)

    def connected(self, peer: Peer) -> ConnectionRule:
        return _Identity(peer)


class _Identity(ConnectionRule):
    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    def request(self, held: Held, frame: bytes) -> None:
        try:
            found = kwire.decode_request(frame)
        except WireError:
            return  # the broker's to judge
        self._peer.client_id = found.header.client_id
        if held.api_version >= _WITH_SOFTWARE:
            self._peer.software_name, self._peer.software_version = found.body.client_software_name, found.body.client_software_version
