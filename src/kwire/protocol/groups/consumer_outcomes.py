"""What the two roles of a group with KIP-848 say beyond `Ask` and `Failed`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kwire.codec.uuids import Uuid
from kwire.protocol.groups.group_errors import GroupError
from kwire.protocol.groups.outcomes import Ask, Failed

__all__ = ["ConsumerMemberOutcome", "Drop", "Fenced", "Partitions", "Reconcile"]

Partitions = Mapping[Uuid, frozenset[int]]
"""Numbers of partitions by topic id."""


@dataclass(frozen=True, slots=True)
class Reconcile:
    """Member: give up and take over partitions, in this order, then call `reconciled`.

    Attributes:
        epoch: the member's.
        revoke, add: what it has and is not to have, and the other way round.
        target: all that it is to have.
    """

    epoch: int
    revoke: Partitions
    add: Partitions
    target: Partitions


@dataclass(frozen=True, slots=True)
class Drop:
    """Member: give up all partitions, then call `dropped`: it leaves."""

    partitions: Partitions


@dataclass(frozen=True, slots=True)
class Fenced:
    """Member: the coordinator does not know it any more. Its partitions may be another member's by now: drop them without committing, then
    call `join`."""

    error: GroupError
    partitions: Partitions


ConsumerMemberOutcome = Ask | Failed | Reconcile | Drop | Fenced
