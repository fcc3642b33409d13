"""State table of a client that pushes metrics, as in Kafka's `ClientTelemetryState`."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from kwire.protocol.transitions import Transitions

__all__ = ["TELEMETRY_CLIENT", "PushEvent", "PushState"]


class PushState(Enum):
    """States of a client that pushes metrics."""

    SUBSCRIPTION_NEEDED = auto()
    SUBSCRIPTION_IN_PROGRESS = auto()
    PUSH_NEEDED = auto()
    PUSH_IN_PROGRESS = auto()
    TERMINATING_PUSH_NEEDED = auto()
    TERMINATING_PUSH_IN_PROGRESS = auto()
    TERMINATED = auto()


class PushEvent(Enum):
    ASKED = auto()
    METRICS_WANTED = auto()
    NOTHING_WANTED = auto()
    PUSHED = auto()
    ACCEPTED = auto()
    FAILED = auto()  # refused, lost, not possible with this broker
    CLOSING = auto()  # with metrics to say goodbye with
    ENDED = auto()


_S, _E = PushState, PushEvent
_ENDS: Final = {_E.FAILED: _S.SUBSCRIPTION_NEEDED, _E.CLOSING: _S.TERMINATING_PUSH_NEEDED, _E.ENDED: _S.TERMINATED}

TELEMETRY_CLIENT: Final = Transitions(
    "a client that pushes metrics",
    PushState,
    PushEvent,
    PushState.SUBSCRIPTION_NEEDED,
    {
        _S.SUBSCRIPTION_NEEDED: {_E.ASKED: _S.SUBSCRIPTION_IN_PROGRESS, _E.ENDED: _S.TERMINATED},
        _S.SUBSCRIPTION_IN_PROGRESS: {_E.METRICS_WANTED: _S.PUSH_NEEDED, _E.NOTHING_WANTED: _S.SUBSCRIPTION_NEEDED, **_ENDS},
        _S.PUSH_NEEDED: {_E.PUSHED: _S.PUSH_IN_PROGRESS, **_ENDS},
        _S.PUSH_IN_PROGRESS: {_E.ACCEPTED: _S.PUSH_NEEDED, **_ENDS},
        _S.TERMINATING_PUSH_NEEDED: {_E.PUSHED: _S.TERMINATING_PUSH_IN_PROGRESS, _E.ENDED: _S.TERMINATED},
        _S.TERMINATING_PUSH_IN_PROGRESS: dict.fromkeys((_E.ACCEPTED, _E.FAILED, _E.ENDED), _S.TERMINATED),
    },
)
