"""BrokerMetadata of the KIP-35 draft, the broker's side: who the brokers are, which protocol versions they have, and their tags.

It becomes part of a broker with `NegotiatingBroker(..., answers={key: BrokerMetadata(...).answer})` and the codec of the dialect
`kip-35-draft`, which also says the key; ranges that have the key advertise it through ApiVersions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kwire.codec.catalog_codec import Codec
from kwire.codec.frames import Request

__all__ = ["THIS_BROKER", "BrokerMetadata", "DraftBroker"]

THIS_BROKER: Final = -1


@dataclass(frozen=True, slots=True)
class DraftBroker:
    """What a broker says of itself.

    Attributes:
        node_id, host, port: where it is.
        lowest, highest: the range of protocol versions that it has (`kwire.protocol.negotiation.protocol_versions`).
        tags: by name, as text.
    """

    node_id: int
    host: str
    port: int
    lowest: int
    highest: int
    tags: Mapping[str, str] = field(default_factory=dict)


class BrokerMetadata:
    """Answers BrokerMetadata requests.

    Arguments:
        codec: of a catalog with the dialect.
        this: the broker that answers.
        brokers: all brokers; `this` need not be among them.

    No ids asks for all brokers, -1 for the one that answers, and an unknown id gives nothing. Where the draft is silent: -1 among
    other ids is the one that answers as well, in its place, and a broker that is asked for twice comes once.
    """

    def __init__(self, codec: Codec, this: DraftBroker, brokers: Iterable[DraftBroker] = ()) -> None:
        self._response = codec.messages.BrokerMetadataResponse
        self._this = this
        self._brokers = {each.node_id: each for each in (this, *brokers)}

    def answer(self, request: Request) -> Any:
        """The response body to a request."""
        asked = dict.fromkeys(self._this.node_id if each == THIS_BROKER else each for each in request.body.node_ids)
        return self._response(brokers=[self._told(self._brokers[each]) for each in asked or sorted(self._brokers) if each in self._brokers])

    def _told(self, broker: DraftBroker) -> Any:
        return self._response.BrokerMetadata(
            node_id=broker.node_id,
            host=broker.host,
            port=broker.port,
            protocol_version_min=broker.lowest,
            protocol_version_max=broker.highest,
            tags=[self._response.BrokerTag(key=key, value=value) for key, value in broker.tags.items()],
        )
