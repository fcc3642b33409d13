"""State tables of a classic group and of its member."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from kwire.protocol.transitions import Transitions

__all__ = ["GROUP_COORDINATOR", "GROUP_MEMBER", "GroupEvent", "GroupState", "MemberEvent", "MemberState"]


class GroupState(Enum):
    """States of a group: Kafka's `ClassicGroupState`."""

    EMPTY = auto()
    PREPARING_REBALANCE = auto()  # waits for members to join
    COMPLETING_REBALANCE = auto()  # waits for the leader's assignments
    STABLE = auto()
    DEAD = auto()


class GroupEvent(Enum):
    REBALANCE = auto()
    JOINED = auto()  # all who are to be in the next generation
    EMPTIED = auto()
    ASSIGNED = auto()
    REMOVED = auto()  # the group itself: deleted, expired, or moved to another coordinator


_G, _GE = GroupState, GroupEvent
_DEAD: Final = {_GE.REMOVED: _G.DEAD}

GROUP_COORDINATOR: Final = Transitions(
    "a group at its coordinator",
    GroupState,
    GroupEvent,
    _G.EMPTY,
    {
        _G.EMPTY: {_GE.REBALANCE: _G.PREPARING_REBALANCE, **_DEAD},
        _G.PREPARING_REBALANCE: {_GE.JOINED: _G.COMPLETING_REBALANCE, _GE.EMPTIED: _G.EMPTY, **_DEAD},
        _G.COMPLETING_REBALANCE: {_GE.ASSIGNED: _G.STABLE, _GE.REBALANCE: _G.PREPARING_REBALANCE, **_DEAD},
        _G.STABLE: {_GE.REBALANCE: _G.PREPARING_REBALANCE, **_DEAD},
    },
)


class MemberState(Enum):
    """States of a member: Kafka's `AbstractCoordinator.MemberState`, and two final states."""

    UNJOINED = auto()
    PREPARING_REBALANCE = auto()  # JoinGroup is under way
    COMPLETING_REBALANCE = auto()  # SyncGroup is under way
    STABLE = auto()
    FAILED = auto()
    LEFT = auto()


class MemberEvent(Enum):
    ASKED = auto()  # JoinGroup goes out
    JOINED = auto()
    SYNCED = auto()
    REJOIN = auto()  # the answer says to join again
    REFUSED = auto()  # an error that joining again does not cure
    LEAVE = auto()


_S, _E = MemberState, MemberEvent
_ENDS: Final = {_E.REFUSED: _S.FAILED, _E.LEAVE: _S.LEFT}

GROUP_MEMBER: Final = Transitions(
    "a member of a group",
    MemberState,
    MemberEvent,
    MemberState.UNJOINED,
    {
        _S.UNJOINED: {_E.ASKED: _S.PREPARING_REBALANCE, _E.REFUSED: _S.FAILED, _E.REJOIN: _S.UNJOINED, _E.LEAVE: _S.LEFT},
        _S.PREPARING_REBALANCE: {_E.JOINED: _S.COMPLETING_REBALANCE, _E.REJOIN: _S.UNJOINED, **_ENDS},
        _S.COMPLETING_REBALANCE: {_E.SYNCED: _S.STABLE, _E.REJOIN: _S.UNJOINED, **_ENDS},
        _S.STABLE: {_E.REJOIN: _S.UNJOINED, **_ENDS},
    },
)
