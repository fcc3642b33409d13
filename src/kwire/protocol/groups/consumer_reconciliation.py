"""Steps of a member from its assignment to its target (`CurrentAssignmentBuilder`): a partition is assigned only after its previous owner
has revoked it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kwire.codec.uuids import Uuid
from kwire.protocol.groups.consumer_group_states import AtCoordinator
from kwire.protocol.groups.consumer_outcomes import Partitions

__all__ = ["ConsumerMember", "is_subset", "reconcile"]


@dataclass(slots=True)
class ConsumerMember:
    """Member at its coordinator."""

    member_id: str
    instance_id: str | None
    topics: tuple[str, ...] = ()
    topic_regex: str | None = None
    epoch: int = 0
    previous_epoch: int = 0  # -2 is the epoch of a static member that is away
    state: AtCoordinator = AtCoordinator.STABLE
    assigned: Partitions = field(default_factory=dict)  # may be used; `revoking` must still be given up
    revoking: Partitions = field(default_factory=dict)
    rebalance_ns: int = 0
    heard: int = 0  # time of its last heartbeat
    revoke_until: int | None = None

    def _reach(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.previous_epoch, self.epoch = self.epoch, epoch


def is_subset(some: Partitions | None, others: Partitions) -> bool:
    """Return whether `others` contain all of `some`; False if either is unknown (None)."""
    return some is not None and all(numbers <= others.get(topic, frozenset()) for topic, numbers in some.items())


def _owns(owned: Partitions | None, some: Partitions) -> bool:
    return owned is None or any(numbers & owned.get(topic, frozenset()) for topic, numbers in some.items())


def reconcile(
    member: ConsumerMember, target: Partitions, target_epoch: int, owned: Partitions | None, is_taken: Callable[[Uuid, int], bool]
) -> None:
    """Move a member one step towards its target; `owned` is None if it does not report its partitions."""
    if member.state is AtCoordinator.STABLE and member.epoch == target_epoch:
        return
    if member.state is AtCoordinator.UNREVOKED_PARTITIONS and _owns(owned, member.revoking):
        return
    keep: dict[Uuid, frozenset[int]] = {}
    revoke: dict[Uuid, frozenset[int]] = {}
    add: dict[Uuid, frozenset[int]] = {}
    waits = False
    for topic in sorted({*target, *member.assigned}):
        wanted, has = target.get(topic, frozenset()), member.assigned.get(topic, frozenset())
        new = wanted - has
        free = frozenset(number for number in new if not is_taken(topic, number))
        waits = waits or free != new
        for found, numbers in ((keep, wanted & has), (revoke, has - wanted), (add, free)):
            if numbers:
                found[topic] = numbers
    if revoke and _owns(owned, revoke):
        member.assigned, member.revoking = keep, revoke
        member.state = AtCoordinator.UNREVOKED_PARTITIONS
        return
    member.assigned = {topic: keep.get(topic, frozenset()) | add.get(topic, frozenset()) for topic in {*keep, *add}}
    member.revoking = {}
    member.state = AtCoordinator.UNRELEASED_PARTITIONS if waits else AtCoordinator.STABLE
    member._reach(target_epoch)
