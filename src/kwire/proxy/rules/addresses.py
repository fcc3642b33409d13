"""`[addresses]`: replaces broker addresses by the proxy's in all messages that contain them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from kwire.codec import AddressTable, Edit, EditChanges, VersionLimits, fields_about
from kwire.protocol.events import Direction
from kwire.protocol.relay import RelayRule
from kwire.proxy.rules.api_versions_answer import limited_answers
from kwire.proxy.rules.rule import Peer
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


class AddressesRule:
    """The rule.

    Arguments:
        listeners: host and port by node id. Controllers' addresses stay: only DescribeQuorum lists them, and clients do not use them.
        large_answers: `cap` hides Fetch from 16 and Produce from 10 on, so that records are streamed. Clients lose the new leader's address
            in errors (KIP-951) and send Metadata instead, and transactions use transaction.version 1 (KIP-890). `hold` buffers each answer
            until it is whole.
        unknown_node: `close` the connection for a broker without a listener, or `keep` its address.
    """

    name = "addresses"

    def __init__(
        self, listeners: Mapping[int, Address], *, large_answers: LargeAnswers = "cap", unknown_node: UnknownNode = "close"
    ) -> None:
        table = AddressTable(dict(listeners), unknown="keep" if unknown_node == "keep" else "refuse")
        self._changes = EditChanges(addresses=table)
        self._caps = _CAPS if large_answers == "cap" else {}

    def relay_rules(self) -> Iterator[RelayRule]:
        if self._caps:
            ranges = {key: (0, highest) for key, highest in self._caps.items()}
            yield from limited_answers(VersionLimits(ranges, others=True, levels={_TRANSACTIONS: _WITHOUT_PRODUCE_12}))
        for message in catalog().messages.values():
            if message.api_key is None or message.kind not in ("request", "response"):
                continue
            direction: Direction = "request" if message.kind == "request" else "response"
            for version in message.valid_versions:
                capped = version > self._caps.get(message.api_key, version)
                about = fields_about(direction, message.api_key, version)
                if not capped and (about.addresses or about.uncovered):
                    edit = Edit(direction, message.api_key, version, self._changes)
                    if not edit.is_empty:  # what is not covered may be patterns of names
                        yield RelayRule(direction, message.api_key, (version,), edit)

    def connected(self, peer: Peer) -> None: ...
