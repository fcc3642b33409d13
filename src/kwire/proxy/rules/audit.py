"""`[audit]`: one JSON line for each request that changes the cluster, with its answer, and for each client that the proxy refuses.

Secrets are blanked as in a request log; values of configurations are among them, their names are not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

import kwire
from kwire.capture.request_logs.exchange_entries import exchange_entry
from kwire.json_encoding import encode_json
from kwire.protocol.events import RequestCompleted
from kwire.protocol.impl import frame_blanker
from kwire.protocol.relay import CALL, Held, RelayRule
from kwire.protocol.relay.moves import api_text
from kwire.proxy.rules.rule import ConnectionRule, Peer, Watched

__all__ = ["AuditRule"]

# Topics, records, ACLs, configurations, log directories, partitions, tokens, groups, elections, reassignments, offsets, quotas, SCRAM,
# features, brokers, voters.
_CHANGES: Final = (19, 20, 21, 30, 31, 33, 34, 37, 38, 39, 40, 42, 43, 44, 45, 47, 49, 51, 57, 64, 80, 81, 91, 92)


class AuditRule:
    """Rule and writer of the lines; `store` receives them."""

    name = "audit"

    def __init__(self, store: Callable[[bytes], object]) -> None:
        self._store = store

    def relay_rules(self) -> Iterable[RelayRule]:
        return [RelayRule("request", key, None, CALL) for key in _CHANGES]

    def connected(self, peer: Peer) -> ConnectionRule:
        return _Auditing(self, peer)

    def changed(self, peer: Peer, asked: Held, request: bytes, response: bytes) -> None:
        done = RequestCompleted(0, asked.api_key, api_version=asked.api_version, state="answered")
        entry = exchange_entry(done, "", request, response, {}, frame_blanker()())
        found = {name: entry[name] for name in ("request", "response", "error") if name in entry}
        self._write("changed", peer, api_text(asked.api_key, asked.api_version), **found)

    def refused(self, peer: Peer, api: str, reason: str) -> None:
        self._write("refused", peer, api, reason=reason)

    def _write(self, event: str, peer: Peer, api: str, **more: object) -> None:
        line = {"time": _now(), "event": event, "api": api, **peer.fields(), **more}
        self._store(encode_json(line).encode() + b"\n")


def _now() -> str:
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest // 1_000_000:03d}Z"


class _Auditing(ConnectionRule):
    def __init__(self, rule: AuditRule, peer: Peer) -> None:
        self._rule = rule
        self._peer = peer

    def request(self, held: Held, frame: bytes) -> Watched:
        self._peer.client_id = kwire.peek_header(frame, strict=False).client_id
        return Watched(frame, partial(self._answered, held, frame))

    def _answered(self, asked: Held, request: bytes, held: Held, response: bytes) -> None:
        self._rule.changed(self._peer, asked, request, response)
