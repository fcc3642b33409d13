"""State table of a pushing client at the broker. Refused requests change nothing."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from kwire.protocol.transitions import Transitions

__all__ = ["PUSHING_INSTANCE", "InstanceEvent", "InstanceState"]


class InstanceState(Enum):
    """The last request of a client instance."""

    NEW = auto()
    SUBSCRIBED = auto()
    PUSHED = auto()
    TERMINATED = auto()


class InstanceEvent(Enum):
    ASKED = auto()
    PUSH = auto()
    LAST_PUSH = auto()
    SUBSCRIPTIONS_CHANGED = auto()


_S, _E = InstanceState, InstanceEvent
_MOVES: Final = {_E.ASKED: _S.SUBSCRIBED, _E.PUSH: _S.PUSHED, _E.LAST_PUSH: _S.TERMINATED, _E.SUBSCRIPTIONS_CHANGED: _S.NEW}

PUSHING_INSTANCE: Final = Transitions(
    "a client instance at the broker",
    InstanceState,
    InstanceEvent,
    InstanceState.NEW,
    {
        _S.NEW: _MOVES,
        _S.SUBSCRIBED: _MOVES,
        _S.PUSHED: _MOVES,
        # A broker that sees new subscriptions makes a new instance, and with that forgets that it ended.
        _S.TERMINATED: {_E.ASKED: _S.TERMINATED, _E.SUBSCRIPTIONS_CHANGED: _S.NEW},
    },
)
