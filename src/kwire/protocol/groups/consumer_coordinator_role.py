"""Broker's side of a KIP-848 group: epochs, fencing, reconciliation, static members (Kafka's `GroupMetadataManager`).

Order of the checks, with error codes. First the request alone: ids, mandatory fields of a joining member, the epoch (42), the assignor
(112). Then the group (69), its size limit (81), the member or its static instance (25, 111, 82), its epoch (110).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kwire import messages
from kwire.codec.uuids import Uuid
from kwire.protocol.groups.consumer_group_states import CONSUMER_GROUP, AtCoordinator, ConsumerGroupEvent, ConsumerGroupState
from kwire.protocol.groups.consumer_member_role import JOIN_EPOCH, LEAVE_EPOCH, LEAVE_FOR_A_WHILE_EPOCH
from kwire.protocol.groups.consumer_outcomes import Partitions
from kwire.protocol.groups.consumer_reconciliation import ConsumerMember, is_subset, reconcile
from kwire.protocol.groups.group_errors import GroupError
from kwire.protocol.groups.outcomes import Answer, GoneReason, MemberGone

__all__ = ["ConsumerGroupRole", "Topic"]

_MS: Final = 1_000_000
_OWN_ID: Final = 1  # from this version of the heartbeat on members name themselves


class Topic(NamedTuple):
    topic_id: Uuid
    partitions: int


Assignor = Callable[[Mapping[str, Sequence[Topic]]], Mapping[str, Partitions]]
_Fault = tuple[GroupError, str]


class ConsumerGroupRole:
    """State of one group at its coordinator.

    A new target assignment is computed as soon as the epoch rises, as with `group.consumer.assignment.interval.ms=0`; brokers of 4.4 delay
    it by default. Times are nanoseconds of a monotonic clock. Methods return outcomes in order.

    Arguments:
        topics: topics of the cluster by name; `topics_changed` replaces them.
        assign: function that returns the assignment by member id from the wanted topics by member id.
        new_id: function that creates the id of a member without one (version 0).
        assignors: `group.consumer.assignors`.
        session_ms, heartbeat_ms: `group.consumer.session.timeout.ms`, `group.consumer.heartbeat.interval.ms`.
        max_size: `group.consumer.max.size`.
        matches: function that returns whether a topic matches a pattern; brokers use RE2's syntax.
        first_epoch: epoch of the first member; 2 in brokers of 4.4.

    Attributes:
        epoch, target_epoch: epochs of the group and of its target assignment.
        members: members by id, in the order of joining.
        target: target assignment by member id.
    """

    def __init__(
        self,
        group_id: str,
        topics: Mapping[str, Topic],
        assign: Assignor,
        new_id: Callable[[], str],
        *,
        assignors: Sequence[str] = ("uniform", "range"),
        session_ms: int = 45_000,
        heartbeat_ms: int = 5_000,
        max_size: int = 2**31 - 1,
        first_epoch: int = 2,
        matches: Callable[[str, str], bool] = lambda pattern, name: re.fullmatch(pattern, name) is not None,
    ) -> None:
        self.group_id = group_id
        self.topics = dict(topics)
        self.assign = assign
        self.new_id = new_id
        self.assignors = tuple(assignors)
        self.session = session_ms * _MS
        self.heartbeat_ms = heartbeat_ms
        self.max_size = max_size
        self.matches = matches
        self.state = CONSUMER_GROUP.start
        self.exists = False
        self.epoch = first_epoch - 1
        self.target_epoch = 0
        self.members: dict[str, ConsumerMember] = {}
        self.target: dict[str, Partitions] = {}
        self._instances: dict[str, str] = {}

    def _move(self, event: ConsumerGroupEvent) -> None:
        self.state = CONSUMER_GROUP.after(self.state, event)

    @property
    def deadline(self) -> int | None:
        times = [each.heard + self.session for each in self.members.values()]
        times += [each.revoke_until for each in self.members.values() if each.revoke_until is not None]
        return min(times, default=None)

    # heartbeats

    def heartbeat(self, request: Any, version: int, to: Hashable, t: int) -> list[Answer | MemberGone]:
        """Handle a ConsumerGroupHeartbeat request; `to` is returned in `Answer`."""
        fault = self._invalid(request, version)
        if fault is not None:
            return [self._no(fault, to, version)]
        if request.member_epoch in (LEAVE_EPOCH, LEAVE_FOR_A_WHILE_EPOCH):
            return self._leave(request, version, to, t)
        joins = request.member_epoch == JOIN_EPOCH
        if self.state is ConsumerGroupState.DEAD or (not self.exists and not joins):
            return [self._no((GroupError.GROUP_ID_NOT_FOUND, f"group {self.group_id} is not there"), to, version)]
        if len(self.members) >= self.max_size and request.member_id not in self.members:
            return [self._no((GroupError.GROUP_MAX_SIZE_REACHED, f"the group has {self.max_size} members"), to, version)]
        owned = None if request.topic_partitions is None else _as_partitions(request.topic_partitions)
        member_id = request.member_id or self.new_id()
        fault = self._refuses(request, member_id, owned)
        if fault is not None:
            return [self._no(fault, to, version)]
        self.exists = True
        out: list[Answer | MemberGone] = []
        member, is_new = self._member(request, member_id, out)
        if self._told(member, request, t) or is_new:
            self._bump()
        had = member.assigned
        self._reconcile(member, owned, t)
        whole = request.rebalance_timeout_ms != -1 and request.subscribed_topic_names is not None and owned is not None
        answers_assignment = joins or whole or member.assigned != had
        body = messages.ConsumerGroupHeartbeatResponse(
            member_id=member.member_id, member_epoch=member.epoch, heartbeat_interval_ms=self.heartbeat_ms
        )
        if answers_assignment:
            body.assignment = _as_assignment(member.assigned)
        return [*out, Answer(to, body, version)]

    def _invalid(self, request: Any, version: int) -> _Fault | None:
        epoch, why = request.member_epoch, None
        if not request.member_id and (version >= _OWN_ID or epoch > JOIN_EPOCH or epoch == LEAVE_EPOCH):
            why = "the member id is empty"
        elif not request.group_id or request.instance_id == "" or request.rack_id == "":
            why = "the group id, the instance id or the rack is empty"
        elif epoch == JOIN_EPOCH and request.rebalance_timeout_ms == -1:
            why = "a joining member must send its rebalance timeout"
        elif epoch == JOIN_EPOCH and (request.topic_partitions is None or request.topic_partitions):
            why = "a joining member must send an empty list of partitions"
        elif epoch == JOIN_EPOCH and request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
            why = "a joining member must send its topics"
        elif epoch == LEAVE_FOR_A_WHILE_EPOCH and request.instance_id is None:
            why = "only a static member can leave and return"
        elif epoch < LEAVE_FOR_A_WHILE_EPOCH:
            why = f"there is no epoch {epoch}"
        if why is not None:
            return GroupError.INVALID_REQUEST, why
        if request.server_assignor is not None and request.server_assignor not in self.assignors:
            return GroupError.UNSUPPORTED_ASSIGNOR, f"unknown assignor {request.server_assignor[:80]!r}"
        return self._bad_pattern(request.subscribed_topic_regex)

    def _bad_pattern(self, pattern: str | None) -> _Fault | None:
        try:
            if pattern:
                self.matches(pattern, "")
        except re.error as error:
            return GroupError.INVALID_REGULAR_EXPRESSION, f"invalid topic pattern: {error}"
        return None

    def _refuses(self, request: Any, member_id: str, owned: Partitions | None) -> _Fault | None:
        epoch, joins = request.member_epoch, request.member_epoch == JOIN_EPOCH
        known: str | None = member_id if member_id in self.members else None
        if request.instance_id is not None:
            known = self._instances.get(request.instance_id)
            if joins and known is not None and self.members[known].epoch != LEAVE_FOR_A_WHILE_EPOCH:
                return GroupError.UNRELEASED_INSTANCE_ID, "another member has this instance id"
        if joins:
            return None
        if known is None:
            return GroupError.UNKNOWN_MEMBER_ID, "unknown member id"
        if known != member_id:
            return GroupError.FENCED_INSTANCE_ID, "another member has this instance id"
        member = self.members[known]
        if epoch == member.epoch or (epoch == member.previous_epoch and epoch < member.epoch and is_subset(owned, member.assigned)):
            return None  # the answer that raised the epoch may have been lost
        return GroupError.FENCED_MEMBER_EPOCH, f"the member is in epoch {member.epoch}"

    def _member(self, request: Any, member_id: str, out: list[Answer | MemberGone]) -> tuple[ConsumerMember, bool]:
        member = self.members.get(member_id)
        instance = request.instance_id
        if member is not None and (instance is None or request.member_epoch != JOIN_EPOCH):
            return member, False
        new = ConsumerMember(member_id, instance)
        old = self._instances.get(instance) if instance is not None else None
        if old is not None:
            # A static member came back: it takes the place of the one that it was, and what that one had.
            away = self.members.pop(old)
            new.topics, new.topic_regex, new.assigned = away.topics, away.topic_regex, away.assigned
            if old in self.target:
                self.target[member_id] = self.target.pop(old)
            if old != member_id:
                out.append(MemberGone(old, "replaced"))
        self.members[member_id] = new
        if instance is not None:
            self._instances[instance] = member_id
        return new, old is None

    def _told(self, member: ConsumerMember, request: Any, t: int) -> bool:
        member.heard = t
        if request.rebalance_timeout_ms != -1:
            member.rebalance_ns = request.rebalance_timeout_ms * _MS
        before = member.topics, member.topic_regex
        if request.subscribed_topic_names is not None:
            member.topics = tuple(sorted(set(request.subscribed_topic_names)))
        if request.subscribed_topic_regex is not None:
            member.topic_regex = request.subscribed_topic_regex or None
        return before != (member.topics, member.topic_regex)

    # assignments

    def _bump(self) -> None:
        self.epoch += 1
        self._move(ConsumerGroupEvent.BUMPED)

    def _retarget(self) -> None:
        if self.state is not ConsumerGroupState.ASSIGNING:
            return
        wanted = {
            each.member_id: [topic for name, topic in self.topics.items() if self._wants(each, name)] for each in self.members.values()
        }
        given = self.assign(wanted)
        self.target = {member_id: {topic: frozenset(p) for topic, p in given.get(member_id, {}).items() if p} for member_id in self.members}
        self.target_epoch = self.epoch
        self._move(ConsumerGroupEvent.ASSIGNED)

    def _wants(self, member: ConsumerMember, name: str) -> bool:
        return name in member.topics or (member.topic_regex is not None and self.matches(member.topic_regex, name))

    def _reconcile(self, member: ConsumerMember, owned: Partitions | None, t: int) -> None:
        self._retarget()

        def is_taken(topic: Uuid, number: int) -> bool:
            others = (each for each in self.members.values() if each is not member)
            return any(number in held.get(topic, frozenset()) for each in others for held in (each.assigned, each.revoking))

        reconcile(member, self.target.get(member.member_id, {}), self.target_epoch, owned, is_taken)
        if member.state is not AtCoordinator.UNREVOKED_PARTITIONS:
            member.revoke_until = None
        elif member.revoke_until is None:
            member.revoke_until = t + member.rebalance_ns
        self._settle()

    def _settle(self) -> None:
        if self.state is ConsumerGroupState.RECONCILING and all(
            each.state is AtCoordinator.STABLE and each.epoch == self.target_epoch for each in self.members.values()
        ):
            self._move(ConsumerGroupEvent.RECONCILED)

    def topics_changed(self, topics: Mapping[str, Topic]) -> None:
        """Replace the topics of the cluster; the next heartbeat of each member returns the change."""
        self.topics = dict(topics)
        if self.members:
            self._bump()

    # leaving

    def _leave(self, request: Any, version: int, to: Hashable, t: int) -> list[Answer | MemberGone]:
        fault: _Fault | None = None
        known = request.member_id if request.instance_id is None else self._instances.get(request.instance_id)
        if self.state is ConsumerGroupState.DEAD or not self.exists:
            fault = GroupError.GROUP_ID_NOT_FOUND, f"group {self.group_id} is not there"
        elif known is None or known not in self.members:
            fault = GroupError.UNKNOWN_MEMBER_ID, "unknown member id"
        elif known != request.member_id:
            fault = GroupError.FENCED_INSTANCE_ID, "another member has this instance id"
        if fault is not None or known is None:
            return [self._no(fault or (GroupError.UNKNOWN_MEMBER_ID, ""), to, version)]
        member = self.members[known]
        out: list[Answer | MemberGone] = []
        if request.member_epoch == LEAVE_FOR_A_WHILE_EPOCH:
            member.previous_epoch, member.epoch = member.epoch, LEAVE_FOR_A_WHILE_EPOCH
            member.revoking, member.revoke_until, member.heard = {}, None, t
        else:
            out += self._gone(member, "left")
        body = messages.ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
        return [*out, Answer(to, body, version)]

    def _gone(self, member: ConsumerMember, why: GoneReason) -> list[Answer | MemberGone]:
        del self.members[member.member_id]
        self.target.pop(member.member_id, None)
        if member.instance_id is not None:
            del self._instances[member.instance_id]
        if self.members:
            self._bump()
        else:
            self.epoch += 1
            self._move(ConsumerGroupEvent.EMPTIED)
        return [MemberGone(member.member_id, why)]

    def tick(self, t: int) -> list[Answer | MemberGone]:
        """Remove members whose session expired or that did not revoke in time."""
        out: list[Answer | MemberGone] = []
        for member in list(self.members.values()):
            if t >= member.heard + self.session:
                out += self._gone(member, "session_expired")
            elif member.revoke_until is not None and t >= member.revoke_until:
                out += self._gone(member, "did_not_revoke")
        return out

    def remove(self) -> None:
        """Delete or expire the group.

        Raises:
            InvalidTransition: it has members.
        """
        self._move(ConsumerGroupEvent.REMOVED)

    def _no(self, fault: _Fault, to: Hashable, version: int) -> Answer:
        error, why = fault
        return Answer(to, messages.ConsumerGroupHeartbeatResponse(error_code=int(error), error_message=why), version, why)


def _as_partitions(topics: Sequence[Any]) -> Partitions:
    return {Uuid(each.topic_id): frozenset(each.partitions) for each in topics if each.partitions}


def _as_assignment(partitions: Partitions) -> Any:
    response = messages.ConsumerGroupHeartbeatResponse
    topics = [response.TopicPartitions(topic_id=topic, partitions=tuple(sorted(some))) for topic, some in sorted(partitions.items())]
    return response.Assignment(topic_partitions=topics)
