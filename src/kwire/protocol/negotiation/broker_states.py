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


_S, _E = BrokerState, BrokerEvent
_ENDS: Final = dict.fromkeys((_E.UNSUPPORTED, _E.OUT_OF_ORDER, _E.GARBLED, _E.LEFT), _S.CLOSED)
_TO_TOKENS: Final = {_E.HANDSHAKE: _S.TOKENS, _E.RAW_HANDSHAKE: _S.RAW_TOKENS, _E.NOT_AUTHENTICATED: _S.CLOSED}
_FROM_TOKENS: Final = {_E.AUTHENTICATED: _S.SERVING, _E.NOT_AUTHENTICATED: _S.CLOSED}

BROKER_ROLE: Final = Transitions(
    "a negotiating broker",
    BrokerState,
    BrokerEvent,
    _S.NEW,
    {
        _S.NEW: {_E.PLAIN_LISTENER: _S.SERVING, _E.SASL_LISTENER: _S.FIRST_OF_SASL},
        _S.FIRST_OF_SASL: {_E.VERSIONS: _S.VERSIONS_TOLD, _E.VERSIONS_REFUSED: _S.FIRST_OF_SASL, **_TO_TOKENS, **_ENDS},
        _S.VERSIONS_TOLD: {**_TO_TOKENS, **_ENDS},
        _S.TOKENS: {_E.TOKEN: _S.TOKENS, **_FROM_TOKENS, **_ENDS},
        _S.RAW_TOKENS: {_E.TOKEN: _S.RAW_TOKENS, **_FROM_TOKENS, _E.GARBLED: _S.CLOSED, _E.LEFT: _S.CLOSED},
        _S.SERVING: {
            _E.VERSIONS: _S.SERVING,
            _E.VERSIONS_REFUSED: _S.SERVING,
            _E.REQUEST: _S.SERVING,
            _E.EMPTY_ANSWER: _S.SERVING,
            _E.HANDSHAKE: _S.TOKENS,  # authentication again (KIP-368)
            _E.NOT_AUTHENTICATED: _S.CLOSED,
            **_ENDS,
        },
    },
)
