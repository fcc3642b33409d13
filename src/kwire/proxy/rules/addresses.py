"""`[addresses]`: clients see the proxy's address wherever a broker's stands, in all messages that hold one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

import kwire
from kwire.codec.broker_addresses import BrokerAddress, broker_fields
from kwire.errors import EncodeError
from kwire.protocol.events import Direction
from kwire.protocol.relay import Held, RelayRule
from kwire.proxy.rules.api_versions_answer import API_VERSIONS, changed_answer, ranges_of, wanted_answers, with_ranges
from kwire.proxy.rules.rule import ConnectionRule, Peer
from kwire.schema import catalog

__all__ = ["AddressesRule", "LargeAnswers", "UnknownNode"]

LargeAnswers = Literal["cap", "hold"]
UnknownNode = Literal["close", "keep"]
Address = tuple[str, int]

# Produce from 10 and Fetch from 16 on name the new leader behind the records (KIP-951), while a frame begins with its length: to rewrite
# it, the whole answer must be held.
_CAPS: Final = {0: 9, 1: 15}
# With transaction.version 2 a producer adds no partitions itself, since Produce from 12 on does it (KIP-890). Java's decides that by the
# finalized feature, also where Produce is offered up to 9 only, and the broker then says INVALID_TXN_STATE.
_TRANSACTIONS: Final = "transaction.version"
_WITHOUT_PRODUCE_12: Final = 1
_CONTROLLER: Final = "CONTROLLER"


class _AddressEdit:
    """Rewrites one kind of frame."""

    def __init__(self, rule: AddressesRule, key: int | None, version: int | None) -> None:
        self._rule = rule
        self._key, self._version = key, version  # of a response

    def pieces(self, frame: bytes | memoryview, /) -> tuple[bytes]:
        return (kwire.rewrite_brokers(frame, self._rule.seen_by_clients, self._key, self._version, strict=False),)


class AddressesRule(ConnectionRule):
    """The rule; it keeps nothing of a connection, so one object serves all.

    Arguments:
        listeners: where clients reach each broker: node id to (host, port).
        large_answers: `cap` hides Fetch from 16 and Produce from 10 on, so that records pass without being held; clients lose the hint that
            names a new leader (KIP-951) and ask Metadata instead, and transactions are of transaction.version 1 (KIP-890). `hold` keeps
            each answer until it is whole.
        unknown_node: what is done with a broker that has no listener: `close` the connection, or `keep` the broker's own address.
    """

    name = "addresses"

    def __init__(
        self, listeners: Mapping[int, Address], *, large_answers: LargeAnswers = "cap", unknown_node: UnknownNode = "close"
    ) -> None:
        self._listeners = dict(listeners)
        self._caps = _CAPS if large_answers == "cap" else {}
        self._keeps = unknown_node == "keep"

    def relay_rules(self) -> Iterator[RelayRule]:
        if self._caps:
            yield wanted_answers()
        for message in catalog().messages.values():
            if message.api_key is None or message.kind not in ("request", "response"):
                continue
            direction: Direction = "request" if message.kind == "request" else "response"
            for version in message.valid_versions:
                capped = version > self._caps.get(message.api_key, version)
                if not capped and any(broker_fields(message, version)):
                    edit = _AddressEdit(self, *((None, None) if direction == "request" else (message.api_key, version)))
                    yield RelayRule(direction, message.api_key, (version,), edit)

    def connected(self, peer: Peer) -> ConnectionRule:
        return self

    def seen_by_clients(self, found: BrokerAddress) -> Address:
        """Where clients reach a broker.

        Raises:
            EncodeError: it has no listener.
        """
        if found.listener == _CONTROLLER:
            return found.host, found.port  # DescribeQuorum lists controllers, which clients do not connect to
        known = self._listeners.get(-1 if found.node_id is None else found.node_id)
        if known is not None:
            return known
        if self._keeps:
            return found.host, found.port
        raise EncodeError(f"broker {found.node_id} at {found.host}:{found.port} has no listener ({found.message})")

    def response(self, held: Held, frame: bytes) -> bytes | None:
        correlation_id, body = changed_answer(held, frame)
        ranges = ranges_of(body)
        for key, highest in self._caps.items():
            if key in ranges:
                ranges[key] = ranges[key][0], min(ranges[key][1], highest)
        with_ranges(body, ranges)
        for feature in body.finalized_features:
            if feature.name == _TRANSACTIONS:
                feature.max_version_level = min(feature.max_version_level, _WITHOUT_PRODUCE_12)
        return kwire.encode_response(correlation_id, body, API_VERSIONS, held.api_version)
