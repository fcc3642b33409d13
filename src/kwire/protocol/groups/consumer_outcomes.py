"""Outcomes of the KIP-848 roles beyond `Ask` and `Failed`."""

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
    """Member: revoke and add partitions, in this order, then call `reconciled`; `target` is the resulting assignment."""

    epoch: int
    revoke: Partitions
    add: Partitions
    target: Partitions


@dataclass(frozen=True, slots=True)
class Drop:
    """Member: give up all partitions, then call `dropped` to leave."""

    partitions: Partitions


@dataclass(frozen=True, slots=True)
class Fenced:
    """Member: the coordinator has removed it. Drop its partitions without committing, because another member may own them; then call
    `join`."""

    error: GroupError
    partitions: Partitions


ConsumerMemberOutcome = Ask | Failed | Reconcile | Drop | Fenced
