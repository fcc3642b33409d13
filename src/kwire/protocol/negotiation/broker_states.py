"""State table of the broker's side of negotiation, with SASL."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from kwire.protocol.transitions import Transitions

__all__ = ["BROKER_ROLE", "BrokerEvent", "BrokerState"]


class BrokerState(Enum):
    """States of the broker's side of a connection; those up to `SERVING` are Kafka's SaslState under other names."""

    NEW = auto()
    FIRST_OF_SASL = auto()  # ApiVersions or SaslHandshake may come
    VERSIONS_TOLD = auto()  # SaslHandshake has to come
    TOKENS = auto()  # SaslAuthenticate has to come
    RAW_TOKENS = auto()  # tokens without headers have to come
    SERVING = auto()
    CLOSED = auto()


class BrokerEvent(Enum):
    PLAIN_LISTENER = auto()
    SASL_LISTENER = auto()
    VERSIONS = auto()
    VERSIONS_REFUSED = auto()
    HANDSHAKE = auto()
    RAW_HANDSHAKE = auto()
    TOKEN = auto()
    AUTHENTICATED = auto()
    NOT_AUTHENTICATED = auto()
    REQUEST = auto()
    EMPTY_ANSWER = auto()
    UNSUPPORTED = auto()
    OUT_OF_ORDER = auto()
    GARBLED = auto()
    LEFT = auto()


_ENDS: Final = dict.fromkeys((BrokerEvent.UNSUPPORTED, BrokerEvent.OUT_OF_ORDER, BrokerEvent.GARBLED, BrokerEvent.LEFT), BrokerState.CLOSED)
_TO_TOKENS: Final = {
    BrokerEvent.HANDSHAKE: BrokerState.TOKENS,
    BrokerEvent.RAW_HANDSHAKE: BrokerState.RAW_TOKENS,
    BrokerEvent.NOT_AUTHENTICATED: BrokerState.CLOSED,
}
_FROM_TOKENS: Final = {BrokerEvent.AUTHENTICATED: BrokerState.SERVING, BrokerEvent.NOT_AUTHENTICATED: BrokerState.CLOSED}

BROKER_ROLE: Final = Transitions(
    "a negotiating broker",
    BrokerState,
    BrokerEvent,
    BrokerState.NEW,
    {
        BrokerState.NEW: {BrokerEvent.PLAIN_LISTENER: BrokerState.SERVING, BrokerEvent.SASL_LISTENER: BrokerState.FIRST_OF_SASL},
        BrokerState.FIRST_OF_SASL: {
            BrokerEvent.VERSIONS: BrokerState.VERSIONS_TOLD,
            BrokerEvent.VERSIONS_REFUSED: BrokerState.FIRST_OF_SASL,
            **_TO_TOKENS,
            **_ENDS,
        },
        BrokerState.VERSIONS_TOLD: {**_TO_TOKENS, **_ENDS},
        BrokerState.TOKENS: {BrokerEvent.TOKEN: BrokerState.TOKENS, **_FROM_TOKENS, **_ENDS},
        BrokerState.RAW_TOKENS: {
            BrokerEvent.TOKEN: BrokerState.RAW_TOKENS,
            **_FROM_TOKENS,
            BrokerEvent.GARBLED: BrokerState.CLOSED,
            BrokerEvent.LEFT: BrokerState.CLOSED,
        },
        BrokerState.SERVING: {
            BrokerEvent.VERSIONS: BrokerState.SERVING,
            BrokerEvent.VERSIONS_REFUSED: BrokerState.SERVING,
            BrokerEvent.REQUEST: BrokerState.SERVING,
            BrokerEvent.EMPTY_ANSWER: BrokerState.SERVING,
            BrokerEvent.HANDSHAKE: BrokerState.TOKENS,  # authentication again (KIP-368)
            BrokerEvent.NOT_AUTHENTICATED: BrokerState.CLOSED,
            **_ENDS,
        },
    },
)
