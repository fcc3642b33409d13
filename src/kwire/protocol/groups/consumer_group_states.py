"""State tables of a KIP-848 group, of a member at its coordinator, and of the member itself."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from kwire.protocol.transitions import Transitions

__all__ = [
    "CONSUMER_GROUP", "CONSUMER_MEMBER", "AtCoordinator", "ConsumerGroupEvent",
    "ConsumerGroupState", "ConsumerMemberEvent", "ConsumerMemberState",
]  # fmt: skip


class ConsumerGroupState(Enum):
    """States of a group (KIP-848): Kafka's `ConsumerGroup.ConsumerGroupState`."""

    EMPTY = auto()
    ASSIGNING = auto()  # its epoch is above that of the target assignment
    RECONCILING = auto()  # some member has not what the target gives it
    STABLE = auto()
    DEAD = auto()


class ConsumerGroupEvent(Enum):
    BUMPED = auto()  # the epoch rose: a member came or went, or wants other topics
    ASSIGNED = auto()  # the target of the epoch was computed
    RECONCILED = auto()  # every member has what the target gives it
    EMPTIED = auto()
    REMOVED = auto()


_G, _GE = ConsumerGroupState, ConsumerGroupEvent

CONSUMER_GROUP: Final = Transitions(
    "a group with KIP-848",
    ConsumerGroupState,
    ConsumerGroupEvent,
    _G.EMPTY,
    {
        _G.EMPTY: {_GE.BUMPED: _G.ASSIGNING, _GE.REMOVED: _G.DEAD},
        _G.ASSIGNING: {_GE.BUMPED: _G.ASSIGNING, _GE.ASSIGNED: _G.RECONCILING, _GE.EMPTIED: _G.EMPTY},
        _G.RECONCILING: {_GE.BUMPED: _G.ASSIGNING, _GE.RECONCILED: _G.STABLE, _GE.EMPTIED: _G.EMPTY},
        _G.STABLE: {_GE.BUMPED: _G.ASSIGNING, _GE.EMPTIED: _G.EMPTY},
    },
)


class AtCoordinator(Enum):
    """States of a member at its coordinator: Kafka's `modern.MemberState`."""

    STABLE = auto()
    UNREVOKED_PARTITIONS = auto()  # it has yet to give something up; its epoch stays behind
    UNRELEASED_PARTITIONS = auto()  # others have yet to give up what it is to get


class ConsumerMemberState(Enum):
    """States of a member (KIP-848): Kafka's `MemberState` of the consumer."""

    UNSUBSCRIBED = auto()
    JOINING = auto()
    RECONCILING = auto()  # gives up and takes over partitions
    ACKNOWLEDGING = auto()  # has done so, and has yet to say it
    STABLE = auto()
    FENCED = auto()  # the coordinator has forgotten it: it drops what it has and joins again
    PREPARE_LEAVING = auto()  # drops what it has
    LEAVING = auto()  # has yet to say that it leaves
    STALE = auto()  # left because its owner was silent for too long
    FATAL = auto()


class ConsumerMemberEvent(Enum):
    JOIN = auto()
    TARGET = auto()  # the coordinator gives it something else than it has
    NO_CHANGE = auto()  # it gives it what it has
    RECONCILED = auto()
    SAID = auto()  # the heartbeat that says it is out
    FENCE = auto()
    FAIL = auto()
    LEAVE = auto()
    DROPPED = auto()  # its owner has dropped all partitions
    SAID_STALE = auto()  # as `SAID`, of a member that leaves because its owner is silent


_S, _E = ConsumerMemberState, ConsumerMemberEvent
_INSIDE: Final = {_E.FENCE: _S.FENCED, _E.FAIL: _S.FATAL, _E.LEAVE: _S.PREPARE_LEAVING}

# Kafka's MemberState.previousValidStates (4.x) also has: RECONCILING after RECONCILING (here the next target waits for the first), STABLE
# after RECONCILING (an acknowledgement comes between, always), UNSUBSCRIBED after PREPARE_LEAVING (it goes through LEAVING).
CONSUMER_MEMBER: Final = Transitions(
    "a member with KIP-848",
    ConsumerMemberState,
    ConsumerMemberEvent,
    _S.UNSUBSCRIBED,
    {
        _S.UNSUBSCRIBED: {_E.JOIN: _S.JOINING, _E.FAIL: _S.FATAL, _E.LEAVE: _S.UNSUBSCRIBED},
        _S.JOINING: {_E.TARGET: _S.RECONCILING, _E.NO_CHANGE: _S.STABLE, **_INSIDE},
        _S.RECONCILING: {_E.RECONCILED: _S.ACKNOWLEDGING, **_INSIDE},
        _S.ACKNOWLEDGING: {_E.TARGET: _S.RECONCILING, _E.NO_CHANGE: _S.ACKNOWLEDGING, _E.SAID: _S.STABLE, **_INSIDE},
        _S.STABLE: {_E.TARGET: _S.RECONCILING, _E.NO_CHANGE: _S.STABLE, **_INSIDE},
        _S.FENCED: {_E.JOIN: _S.JOINING, _E.LEAVE: _S.UNSUBSCRIBED},
        _S.PREPARE_LEAVING: {_E.DROPPED: _S.LEAVING, _E.FENCE: _S.FENCED, _E.FAIL: _S.FATAL},
        _S.LEAVING: {_E.SAID: _S.UNSUBSCRIBED, _E.SAID_STALE: _S.STALE, _E.FENCE: _S.FENCED, _E.FAIL: _S.FATAL},
        _S.STALE: {_E.JOIN: _S.JOINING, _E.LEAVE: _S.UNSUBSCRIBED},
    },
)
