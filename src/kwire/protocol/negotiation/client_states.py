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


_ENDS: Final = {
    ClientEvent.GARBLED: ClientState.CLOSED,
    ClientEvent.TIMED_OUT: ClientState.CLOSED,
    ClientEvent.LOST: ClientState.CLOSED,
    ClientEvent.LEFT: ClientState.CLOSED,
}

CLIENT_ROLE: Final = Transitions(
    "a negotiating client",
    ClientState,
    ClientEvent,
    ClientState.NEW,
    {
        ClientState.NEW: {ClientEvent.CONNECTED: ClientState.ASKING, ClientEvent.LEFT: ClientState.CLOSED},
        ClientState.ASKING: {
            ClientEvent.AGREED: ClientState.READY,
            ClientEvent.FELL_BACK: ClientState.ASKING,
            ClientEvent.ANSWERED: ClientState.ASKING,
            ClientEvent.REFUSED: ClientState.CLOSED,
            ClientEvent.LOST_UNANSWERED: ClientState.ASSUMING,
            **_ENDS,
        },
        ClientState.READY: {
            ClientEvent.SENT: ClientState.READY,
            ClientEvent.ANSWERED: ClientState.READY,
            ClientEvent.ASKED_AGAIN: ClientState.ASKING,
            **_ENDS,
        },
        ClientState.ASSUMING: {ClientEvent.CONNECTED: ClientState.READY, ClientEvent.LEFT: ClientState.CLOSED},
    },
)
