"""`[[refusals]]`: clients that may not use the cluster, by library, version, client id, principal or address.

A refused client gets the answers of a client without permission, such as TOPIC_AUTHORIZATION_FAILED for each topic in Metadata, and fails
with a clear exception. The proxy answers; only ApiVersions and SASL are forwarded. An error in ApiVersions would not stop clients: Java
retries until max.block.ms, librdkafka until its message timeout, and some clients never send it.

Each answer is delayed by two seconds, as brokers before KIP-219 did for throttled clients. Some clients ignore `throttle_time_ms` and
others reconnect after each error, so they would otherwise send thousands of requests per second.
"""

from __future__ import annotations

import fnmatch
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import kwire
from kwire.codec.decoding import MEMORY_MULTIPLE
from kwire.errors import InputError
from kwire.protocol.relay import CALL, Held, HeldBudget, RelayRule
from kwire.protocol.relay.moves import api_text
from kwire.proxy.rules.refusal_answers import refused_answer
from kwire.proxy.rules.rule import Answer, ConnectionRule, Outcome, Peer, Refusal
from kwire.schema import catalog
from kwire.schema.version_numbers import version_numbers

__all__ = ["Condition", "RefusalsRule"]

_HANDSHAKE, _API_VERSIONS, _AUTHENTICATE = 17, 18, 36  # they pass
_NAMING: Final = (3, 10, 22)  # Metadata, FindCoordinator, InitProducerId: of every client, which may come with another client id
_DELAY: Final = 2.0  # seconds; some libraries send six requests for each new client, and applications make one after each error
_MOST_COUNTED: Final = 1000
_OTHER: Final = "other"
_MEMORY: Final = 2 * MEMORY_MULTIPLE  # bytes for each byte of a request: its objects, and as many of the answer
_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<=": lambda one, other: one <= other, ">=": lambda one, other: one >= other, "<": lambda one, other: one < other,
    ">": lambda one, other: one > other, "=": lambda one, other: one == other,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Condition:
    """Condition on a client; all given parts must match, and all except `version` are patterns with `*`.

    An empty `software` matches clients that send no name (KIP-511); a version looks like `<2.1`.
    """

    software: str | None = None
    version: str | None = None
    client_id: str | None = None
    principal: str | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        if (self.software, self.version, self.client_id, self.principal, self.address) == (None,) * 5:
            raise InputError("a refusal without a condition would refuse all clients")
        if self.version is not None and self._bound() is None:
            raise InputError(f"version {self.version!r} of a refusal is not an operator and a version, such as <2.1")

    def _bound(self) -> tuple[str, tuple[int, ...]] | None:
        assert self.version is not None
        operator = next((each for each in _OPERATORS if self.version.startswith(each)), None)
        numbers = version_numbers(self.version)
        return None if operator is None or not numbers else (operator, numbers)

    def holds(self, peer: Peer, *, is_named: bool = True) -> bool:
        """Return whether the condition matches the client's data so far; with `is_named`, a missing name will not follow."""
        texts = (
            (self.software, peer.software_name), (self.client_id, peer.client_id or ""), (self.principal, peer.principal),
            (self.address, peer.address),
        )  # fmt: skip
        if any(pattern is not None and not ((text or is_named) and fnmatch.fnmatchcase(text, pattern)) for pattern, text in texts):
            return False
        bound = None if self.version is None else self._bound()
        if bound is None:
            return True
        version = version_numbers(peer.software_version)
        return bool(version) and _OPERATORS[bound[0]](version[: len(bound[1])] if bound[0] == "=" else version, bound[1])


class RefusalsRule:
    """Rule that refuses a client if any condition matches; `addresses` has the brokers' addresses by tenant and node id, and `audit` gets
    the first request of a refused connection, with the reason.

    Attributes:
        lock: lock for readers of `refused`.
        refused: answers by software name and version (`other` beyond 1,000 kinds), and API key.
        knows_principals: whether a condition needs the principal, so that clients with an unknown principal are closed.
    """

    name = "refusals"

    def __init__(
        self,
        conditions: Sequence[Condition],
        addresses: Mapping[tuple[str, int], tuple[str, int]] | None = None,
        budget: HeldBudget | None = None,
        audit: Callable[[Peer, str, str], None] | None = None,
    ) -> None:
        self._conditions = tuple(conditions)
        self._addresses = {} if addresses is None else addresses
        self.budget = budget
        self.audit = audit
        self.lock = threading.Lock()
        self.refused: Counter[tuple[str, str, int]] = Counter()
        self.knows_principals = any(each.principal is not None for each in self._conditions)

    def holds(self, peer: Peer, *, is_named: bool) -> bool:
        return any(condition.holds(peer, is_named=is_named) for condition in self._conditions)

    def count(self, peer: Peer, api_key: int) -> None:
        what = peer.software_name, peer.software_version, api_key
        with self.lock:
            self.refused[what if what in self.refused or len(self.refused) < _MOST_COUNTED else (_OTHER, _OTHER, api_key)] += 1

    def address(self, peer: Peer) -> tuple[int, str, int]:
        return peer.node_id, *self._addresses.get((peer.tenant, peer.node_id), ("", -1))

    def relay_rules(self) -> Iterable[RelayRule]:
        yield RelayRule("request", _HANDSHAKE, (1,), CALL)
        for key in (_API_VERSIONS, _AUTHENTICATE, *_NAMING):
            yield RelayRule("request", key, None, CALL)

    def watching_rules(self) -> Iterable[RelayRule]:
        for message in catalog().messages.values():
            if message.kind == "request" and message.api_key not in (None, _HANDSHAKE, _API_VERSIONS, _AUTHENTICATE, *_NAMING):
                yield RelayRule("request", message.api_key, None, CALL)

    def connected(self, peer: Peer) -> ConnectionRule:
        return _Refusing(self, peer)


class _Refusing(ConnectionRule):
    """Rule of one connection: it watches until the first request other than ApiVersions and SASL, and again after later ones of these."""

    def __init__(self, rule: RefusalsRule, peer: Peer) -> None:
        self._rule = rule
        self._peer = peer
        self._is_refused = self._is_told = False
        self._uses_sasl = False
        self.watches = True

    def request(self, held: Held, frame: bytes) -> Outcome:
        self._uses_sasl |= held.api_key in (_HANDSHAKE, _AUTHENTICATE)
        is_named = held.api_key not in (_HANDSHAKE, _API_VERSIONS, _AUTHENTICATE)
        if is_named:
            self._peer.client_id = kwire.peek_header(frame, strict=False).client_id
        self._is_refused = self._is_refused or self._rule.holds(self._peer, is_named=is_named)
        self.watches = self._is_refused or not is_named
        if not is_named:
            return None
        if self._is_refused:
            return self._answer(held, frame)
        if self._uses_sasl and self._rule.knows_principals and not self._peer.principal:
            return Refusal("a client with an unknown principal, which a condition of [[refusals]] needs", _DELAY)
        return None

    def _answer(self, held: Held, frame: bytes) -> Answer | Refusal:
        self._rule.count(self._peer, held.api_key)
        if self._rule.audit is not None and not self._is_told:
            self._rule.audit(self._peer, api_text(held.api_key, held.api_version), "[[refusals]]")
            self._is_told = True
        budget, size = self._rule.budget, _MEMORY * len(frame)
        if budget is not None and not budget.take(size):
            return Refusal(f"a refused request of {len(frame)} bytes, whose answer would exceed the memory limit", _DELAY)
        try:
            found = refused_answer(held, frame, self._rule.address(self._peer))
        finally:
            if budget is not None:
                budget.give(size)
        return (
            Refusal(f"{api_text(held.api_key, held.api_version)} of a refused client", _DELAY) if found is None else Answer(found, _DELAY)
        )
