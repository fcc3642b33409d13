"""Outcomes of the roles of a classic group."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Literal

from kwire.protocol.groups.group_errors import GroupError

__all__ = ["Answer", "Ask", "Assigned", "Failed", "GoneReason", "GroupOutcome", "JoinedGroup", "MemberGone", "MemberOutcome", "Rebalanced"]

GoneReason = Literal["left", "session_expired", "did_not_rejoin", "did_not_sync", "did_not_revoke", "replaced"]


@dataclass(frozen=True, slots=True)
class Answer:
    """Coordinator: response to a request. `to` is the caller's handle of the request, `reason` explains an error."""

    to: Hashable
    body: Any
    api_version: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Rebalanced:
    """Coordinator: a generation begins; the leader must assign."""

    generation: int
    leader: str
    protocol_name: str
    member_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemberGone:
    member_id: str
    why: GoneReason


GroupOutcome = Answer | Rebalanced | MemberGone


@dataclass(frozen=True, slots=True)
class Ask:
    """Member: request to send, in a version that the broker supports."""

    body: Any


@dataclass(frozen=True, slots=True)
class JoinedGroup:
    """Member: a generation is joined; the assignments follow."""

    generation: int
    member_id: str
    protocol_name: str | None
    leads: bool


@dataclass(frozen=True, slots=True)
class Assigned:
    generation: int
    assignment: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """Member: the join failed permanently."""

    error: GroupError | int
    reason: str


MemberOutcome = Ask | JoinedGroup | Assigned | Failed
