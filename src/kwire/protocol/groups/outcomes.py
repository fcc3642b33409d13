"""What the two roles of a classic group say."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Literal

from kwire.protocol.groups.group_errors import GroupError

__all__ = ["Answer", "Ask", "Assigned", "Failed", "GoneReason", "GroupOutcome", "JoinedGroup", "MemberGone", "MemberOutcome", "Rebalanced"]

GoneReason = Literal["left", "session_expired", "did_not_rejoin", "did_not_sync", "did_not_revoke", "replaced"]


@dataclass(frozen=True, slots=True)
class Answer:
    """Coordinator: the response to a request, now or long after it came.

    Attributes:
        to: what the owner of the machine gave with the request.
        body: a message of the codec.
        api_version: of the request.
        reason: why it says an error, for people.
    """

    to: Hashable
    body: Any
    api_version: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Rebalanced:
    """Coordinator: a generation begins. The leader has to assign."""

    generation: int
    leader: str
    protocol_name: str
    member_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemberGone:
    """Coordinator: a member is no longer in the group."""

    member_id: str
    why: GoneReason


GroupOutcome = Answer | Rebalanced | MemberGone


@dataclass(frozen=True, slots=True)
class Ask:
    """Member: a request to send, in a version that the broker has."""

    body: Any


@dataclass(frozen=True, slots=True)
class JoinedGroup:
    """Member: the coordinator took it into a generation; the assignments are under way."""

    generation: int
    member_id: str
    protocol_name: str | None
    leads: bool


@dataclass(frozen=True, slots=True)
class Assigned:
    """Member: what it is to work on."""

    generation: int
    assignment: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """Member: the join failed for good, as it does when bytes of the group cannot be parsed."""

    error: GroupError | int
    reason: str


MemberOutcome = Ask | JoinedGroup | Assigned | Failed
