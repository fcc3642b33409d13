"""`[[refusals]]`: clients that may not use the cluster, by library, version, client id or principal.

A refused client gets what it would get without permission: Metadata with TOPIC_AUTHORIZATION_FAILED for each topic, FindCoordinator and
InitProducerId with the error of their kind. Clients then fail at once with a clear exception. An error in ApiVersions would not do: Java
retries until max.block.ms, librdkafka until its message timeout, and some clients never send it.
"""

from __future__ import annotations

import fnmatch
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import kwire
from kwire.errors import InputError
from kwire.protocol.relay import CALL, Held, RelayRule
from kwire.proxy.rules.rule import ConnectionRule, Peer
from kwire.schema.version_numbers import version_numbers

__all__ = ["Condition", "RefusalsRule"]

_METADATA, _FIND_COORDINATOR, _INIT_PRODUCER_ID = 3, 10, 22
_TOPIC_AUTHORIZATION_FAILED: Final = 29
_GROUP_AUTHORIZATION_FAILED: Final = 30
_TRANSACTIONAL_ID_AUTHORIZATION_FAILED: Final = 53
_MOST_COUNTED: Final = 1000
_OTHER: Final = "other"
_GROUP, _TRANSACTION = 0, 1  # key types of FindCoordinator
_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<=": lambda one, other: one <= other, ">=": lambda one, other: one >= other, "<": lambda one, other: one < other,
    ">": lambda one, other: one > other, "=": lambda one, other: one == other,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Condition:
    """Which clients are refused: those for which all that is given holds.

    Arguments:
        software: name of the library (KIP-511), a pattern with `*`; clients that send none have the empty name.
        version: such as `<2.1`, of the library.
        client_id: a pattern with `*`.
        principal: a pattern with `*`.
        address: a pattern with `*`.

    Raises:
        InputError: nothing is given, or the version begins with no operator.
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

    def holds(self, peer: Peer) -> bool:
        """Whether it holds for a client, by what it has said so far."""
        texts = (
            (self.software, peer.software_name), (self.client_id, peer.client_id or ""), (self.principal, peer.principal),
            (self.address, peer.address),
        )  # fmt: skip
        if any(pattern is not None and not fnmatch.fnmatchcase(text, pattern) for pattern, text in texts):
            return False
        bound = None if self.version is None else self._bound()
        if bound is None:
            return True
        version = version_numbers(peer.software_version)
        return bool(version) and _OPERATORS[bound[0]](version[: len(bound[1])] if bound[0] == "=" else version, bound[1])


class RefusalsRule:
    """The rule.

    Arguments:
        conditions: a client is refused for which any of them holds.

    Attributes:
        refused: responses that say so, by software name and version (`other` beyond 1,000 kinds), and api key.
    """

    name = "refusals"

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self._conditions = tuple(conditions)
        self.refused: Counter[tuple[str, str, int]] = Counter()

    def holds(self, peer: Peer) -> bool:
        """Whether a client is refused, by what it has said so far."""
        return any(condition.holds(peer) for condition in self._conditions)

    def count(self, peer: Peer, api_key: int) -> None:
        """Count one response to a refused client."""
        what = peer.software_name, peer.software_version, api_key
        self.refused[what if what in self.refused or len(self.refused) < _MOST_COUNTED else (_OTHER, _OTHER, api_key)] += 1

    def relay_rules(self) -> Iterable[RelayRule]:
        for key in (_METADATA, _FIND_COORDINATOR, _INIT_PRODUCER_ID):
            yield RelayRule("request", key, None, CALL)
            yield RelayRule("response", key, None, CALL)

    def connected(self, peer: Peer) -> ConnectionRule:
        return _Refusing(self, peer)


class _Refusing(ConnectionRule):
    def __init__(self, rule: RefusalsRule, peer: Peer) -> None:
        self._rule = rule
        self._peer = peer
        self._errors: deque[int] = deque()  # of the FindCoordinator requests that wait; responses come in their order

    def request(self, held: Held, frame: bytes) -> None:
        if held.api_key != _FIND_COORDINATOR:
            self._peer.client_id = kwire.peek_header(frame, strict=False).client_id
            return
        found = kwire.decode_request(frame, strict=False)
        self._peer.client_id = found.header.client_id
        is_transaction = getattr(found.body, "key_type", _GROUP) == _TRANSACTION
        self._errors.append(_TRANSACTIONAL_ID_AUTHORIZATION_FAILED if is_transaction else _GROUP_AUTHORIZATION_FAILED)

    def response(self, held: Held, frame: bytes) -> bytes | None:
        error = self._errors.popleft() if held.api_key == _FIND_COORDINATOR and self._errors else _GROUP_AUTHORIZATION_FAILED
        if not self._rule.holds(self._peer):
            return None
        self._rule.count(self._peer, held.api_key)
        found = kwire.decode_response(frame, held.api_key, held.api_version)
        body = found.body
        if held.api_key == _METADATA:
            for topic in body.topics:
                topic.error_code, topic.partitions = _TOPIC_AUTHORIZATION_FAILED, []
        elif held.api_key == _INIT_PRODUCER_ID:
            body.error_code, body.producer_id, body.producer_epoch = _TRANSACTIONAL_ID_AUTHORIZATION_FAILED, -1, -1
        else:
            for each in body.coordinators or (body,):
                each.error_code, each.node_id, each.host, each.port = error, -1, "", -1
        return kwire.encode_response(found.header.correlation_id, body, held.api_key, held.api_version)
