"""State table of the client's side of negotiation."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from kwire.protocol.transitions import Transitions

__all__ = ["CLIENT_ROLE", "ClientEvent", "ClientState"]


class ClientState(Enum):
    """States of the client's side of a connection."""

    NEW = auto()
    ASKING = auto()
    READY = auto()
    ASSUMING = auto()
    CLOSED = auto()


class ClientEvent(Enum):
    CONNECTED = auto()
    AGREED = auto()
    FELL_BACK = auto()
    REFUSED = auto()
    SENT = auto()
    ANSWERED = auto()
    ASKED_AGAIN = auto()
    GARBLED = auto()
    TIMED_OUT = auto()
    LOST = auto()
    LOST_UNANSWERED = auto()
    LEFT = auto()


_S, _E = ClientState, ClientEvent
_ENDS: Final = dict.fromkeys((_E.GARBLED, _E.TIMED_OUT, _E.LOST, _E.LEFT), _S.CLOSED)

CLIENT_ROLE: Final = Transitions(
    "a negotiating client",
    ClientState,
    ClientEvent,
    _S.NEW,
    {
        _S.NEW: {_E.CONNECTED: _S.ASKING, _E.LEFT: _S.CLOSED},
        _S.ASKING: {
            _E.AGREED: _S.READY,
            _E.FELL_BACK: _S.ASKING,
            _E.ANSWERED: _S.ASKING,
            _E.REFUSED: _S.CLOSED,
            _E.LOST_UNANSWERED: _S.ASSUMING,
            **_ENDS,
        },
        _S.READY: {_E.SENT: _S.READY, _E.ANSWERED: _S.READY, _E.ASKED_AGAIN: _S.ASKING, **_ENDS},
        _S.ASSUMING: {_E.CONNECTED: _S.READY, _E.LEFT: _S.CLOSED},
    },
)
