"""BrokerMetadata of the KIP-35 draft (dialect `kip-35-draft`), the broker's side: brokers, their protocol versions and their tags.

Add it to a broker with `NegotiatingBroker(..., answers={key: BrokerMetadata(...).answer})`; ranges with the key advertise it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from kwire.codec.catalog_codec import Codec
from kwire.codec.frames import Request

__all__ = ["THIS_BROKER", "BrokerMetadata", "DraftBroker"]

THIS_BROKER: Final = -1


class DraftBroker(NamedTuple):
    """A broker with its range of protocol versions (`kwire.drafts.protocol_versions`) and its tags."""

    node_id: int
    host: str
    port: int
    lowest: int
    highest: int
    tags: Mapping[str, str] = {}


class BrokerMetadata:
    """Answers BrokerMetadata requests.

    No ids means all brokers, -1 the answering one; unknown ids are left out. The draft does not define two cases: here -1 may be among
    other ids, and a broker requested twice is returned once.

    Arguments:
        codec: codec of a catalog with the dialect.
        this: the broker that answers.
        brokers: all brokers, with or without `this`.
    """

    def __init__(self, codec: Codec, this: DraftBroker, brokers: Iterable[DraftBroker] = ()) -> None:
        self._response = codec.messages.BrokerMetadataResponse
        self._this = this
        self._brokers = {each.node_id: each for each in (this, *brokers)}

    def answer(self, request: Request) -> Any:
        """Return the response body to a request."""
        asked = dict.fromkeys(self._this.node_id if each == THIS_BROKER else each for each in request.body.node_ids)
        found = [self._brokers[each] for each in asked or sorted(self._brokers) if each in self._brokers]
        return self._response(brokers=[self._entry(each) for each in found])

    def _entry(self, broker: DraftBroker) -> Any:
        return self._response.BrokerMetadata(
            node_id=broker.node_id,
            host=broker.host,
            port=broker.port,
            protocol_version_min=broker.lowest,
            protocol_version_max=broker.highest,
            tags=[self._response.BrokerTag(key=key, value=value) for key, value in broker.tags.items()],
        )
