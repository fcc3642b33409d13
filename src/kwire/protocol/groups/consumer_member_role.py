"""Client's side of a KIP-848 group: one heartbeat API replaces JoinGroup, SyncGroup and LeaveGroup (`AbstractMembershipManager`,
`ConsumerHeartbeatRequestManager`).

A member joins with epoch 0 and sends all fields; later it sends only changes. The coordinator answers with an epoch and, if it changed,
with an assignment. Epoch -1 leaves; -2, for static members, leaves temporarily.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from kwire import messages
from kwire.codec.uuids import Uuid
from kwire.protocol.groups.consumer_group_states import CONSUMER_MEMBER, ConsumerMemberEvent, ConsumerMemberState
from kwire.protocol.groups.consumer_outcomes import ConsumerMemberOutcome, Drop, Fenced, Partitions, Reconcile
from kwire.protocol.groups.group_errors import GroupError
from kwire.protocol.groups.outcomes import Ask, Failed
from kwire.protocol.transitions import InvalidTransition
from kwire.schema import error_name

__all__ = ["JOIN_EPOCH", "LEAVE_EPOCH", "LEAVE_FOR_A_WHILE_EPOCH", "ConsumerGroupMemberRole"]

JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1
LEAVE_FOR_A_WHILE_EPOCH: Final = -2

_MS: Final = 1_000_000
_FENCES: Final = frozenset((GroupError.FENCED_MEMBER_EPOCH, GroupError.UNKNOWN_MEMBER_ID))
_LATER: Final = frozenset((GroupError.COORDINATOR_LOAD_IN_PROGRESS, GroupError.COORDINATOR_NOT_AVAILABLE, GroupError.NOT_COORDINATOR))
_TAKES_TARGETS: Final = frozenset(
    (ConsumerMemberState.JOINING, ConsumerMemberState.RECONCILING, ConsumerMemberState.ACKNOWLEDGING, ConsumerMemberState.STABLE)
)
_S, _E = ConsumerMemberState, ConsumerMemberEvent


class ConsumerGroupMemberRole:
    """State of one member of one group.

    Times are nanoseconds of a monotonic clock. At most one heartbeat is in flight; the answer to a leaving heartbeat is ignored.

    Arguments:
        member_id: id of the member, such as a random UUID; version 0 of the heartbeat allows an empty one and assigns one.
        topics: names of wanted topics.
        topic_regex: pattern of more topics, in RE2's syntax; needs version 1.
        rebalance_timeout_ms: time to revoke partitions.
        server_assignor: wanted assignor, None for the coordinator's choice.
        instance_id: id of a static member (KIP-345).
        retry_backoff_ms: delay before a heartbeat is repeated after a retriable error.

    Attributes:
        epoch: member epoch, 0 outside a group.
        has: owned partitions by topic id.
        coordinator_lost: True if another broker coordinates the group; the caller resets it after finding that broker.
    """

    def __init__(
        self,
        group_id: str,
        member_id: str,
        topics: Sequence[str] = (),
        *,
        topic_regex: str | None = None,
        rebalance_timeout_ms: int = 300_000,
        server_assignor: str | None = None,
        instance_id: str | None = None,
        rack_id: str | None = None,
        retry_backoff_ms: int = 100,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.topics = tuple(topics)
        self.topic_regex = topic_regex
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.server_assignor = server_assignor
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.retry_backoff = retry_backoff_ms * _MS
        self.state = CONSUMER_MEMBER.start
        self.epoch = JOIN_EPOCH
        self.has: Partitions = {}
        self.coordinator_lost = False
        self._target: Partitions = {}  # what the coordinator gave last
        self._reconciling: Partitions | None = None  # what the owner is at work on
        self._said: tuple[Any, ...] | None = None  # topics, regex and partitions as they were said last; None to say all
        self._under_way = False
        self._past = False  # what is under way was sent before the member joined again
        self._interval = 0
        self._due: int | None = None
        self._stale = False

    def _move(self, event: ConsumerMemberEvent) -> None:
        self.state = CONSUMER_MEMBER.after(self.state, event)

    @property
    def deadline(self) -> int | None:
        return None if self._under_way or self.coordinator_lost else self._due

    # heartbeats

    def _beat(self) -> list[ConsumerMemberOutcome]:
        joining = self.state is _S.JOINING
        known = None if joining else self._said
        body = messages.ConsumerGroupHeartbeatRequest(
            group_id=self.group_id, member_id=self.member_id, member_epoch=self.epoch, instance_id=self.instance_id
        )
        if known is None:
            body.rebalance_timeout_ms = self.rebalance_timeout_ms
            body.server_assignor = self.server_assignor
            body.rack_id = self.rack_id if joining else None
        now = (self.topics, self.topic_regex, self.has)
        if known is None or known[0] != now[0]:
            body.subscribed_topic_names = self.topics
        if self.topic_regex is not None and (known is None or known[1] != now[1]):
            body.subscribed_topic_regex = self.topic_regex
        elif known is not None and known[1] is not None and self.topic_regex is None:
            body.subscribed_topic_regex = ""  # none any more
        if known is None or known[2] != now[2]:
            body.topic_partitions = [] if joining else _as_message(self.has)
        self._said = now
        self._under_way = True
        self._due = None
        if self.state is _S.ACKNOWLEDGING:
            self._move(_E.SAID)
        return [Ask(body)]

    def join(self, t: int) -> list[ConsumerMemberOutcome]:
        """Join the group; call it also after `Fenced`, once the partitions are dropped.

        Raises:
            InvalidTransition: the member has joined, is joining, or has ended.
        """
        self._move(_E.JOIN)
        self.epoch, self.has, self._target, self._reconciling, self._stale = JOIN_EPOCH, {}, {}, None, False
        if self._under_way:  # the answer to the heartbeat before is waited for
            self._past = True
            return []
        return self._beat()

    def subscribe(self, topics: Sequence[str], t: int, topic_regex: str | None = None) -> list[ConsumerMemberOutcome]:
        """Change the wanted topics; the next heartbeat is sent at once."""
        self.topics, self.topic_regex = tuple(topics), topic_regex
        return self._soon(t)

    def _soon(self, t: int) -> list[ConsumerMemberOutcome]:
        if self.state not in _TAKES_TARGETS:
            return []
        self._due = t
        return self.tick(t)

    def tick(self, t: int) -> list[ConsumerMemberOutcome]:
        """Send the due heartbeat."""
        if self._under_way or self._due is None or t < self._due or self.coordinator_lost:
            return []
        if self.state is _S.LEAVING:
            return self._good_bye()
        return self._beat() if self.state in _TAKES_TARGETS or self.state is _S.PREPARE_LEAVING else []

    def answered(self, response: Any, t: int) -> list[ConsumerMemberOutcome]:
        """Take a `ConsumerGroupHeartbeatResponse`.

        Raises:
            InvalidTransition: no heartbeat is in flight.
        """
        if not self._under_way:
            raise InvalidTransition(CONSUMER_MEMBER.name, self.state, _E.NO_CHANGE)
        self._under_way = False
        if self.state is _S.LEAVING:
            return self._good_bye()
        if self.state not in _TAKES_TARGETS and self.state is not _S.PREPARE_LEAVING:
            return []  # the answer to a good-bye
        if self._past:
            self._past = False
            return self._beat()
        if response.error_code:
            return self._refused(response, t)
        self.member_id = response.member_id or self.member_id
        self.epoch = response.member_epoch
        self._interval = response.heartbeat_interval_ms * _MS
        self._due = t + self._interval if self._due is None else self._due
        if response.assignment is None or self.state is _S.PREPARE_LEAVING:
            return [] if self._due > t else self.tick(t)
        self._target = _as_partitions(response.assignment.topic_partitions)
        if self._reconciling is not None:
            return []  # the owner gets it when it is through
        return self._reconcile(t)

    def _reconcile(self, t: int) -> list[ConsumerMemberOutcome]:
        if self._target == self.has:
            self._move(_E.NO_CHANGE)
            return []
        self._move(_E.TARGET)
        self._reconciling = self._target
        return [Reconcile(self.epoch, _less(self.has, self._target), _less(self._target, self.has), self._target)]

    def reconciled(self, t: int) -> list[ConsumerMemberOutcome]:
        """Report that `Reconcile` is done; the next heartbeat is sent at once.

        Raises:
            InvalidTransition: nothing is to be reconciled, or the member was fenced.
        """
        if self._reconciling is None:
            raise InvalidTransition(CONSUMER_MEMBER.name, self.state, _E.RECONCILED)
        self._move(_E.RECONCILED)
        self.has, self._reconciling = self._reconciling, None
        out = self._soon(t)  # nothing where a heartbeat is under way: then it is said when that is answered
        return out if self._target == self.has else [*out, *self._reconcile(t)]

    def _refused(self, response: Any, t: int) -> list[ConsumerMemberOutcome]:
        code = response.error_code
        self._said = None
        if code in _LATER:
            self.coordinator_lost = self.coordinator_lost or code != GroupError.COORDINATOR_LOAD_IN_PROGRESS
            self._due = t + self.retry_backoff
            return []
        if code in _FENCES:
            self._move(_E.FENCE)
            had, self.has = self.has, {}
            self._reconciling, self.epoch, self._due = None, JOIN_EPOCH, None
            return [Fenced(GroupError(code), had)]
        self._move(_E.FAIL)
        self._due = None
        words = f": {response.error_message}" if response.error_message else ""
        return [Failed(code, f"the coordinator answered the heartbeat with {error_name(code)} ({code}){words}")]

    # leaving

    def leave(self, t: int, *, stale: bool = False) -> list[ConsumerMemberOutcome]:
        """Leave the group; `stale`: the application exceeded its poll interval.

        Raises:
            InvalidTransition: the member is leaving or has ended.
        """
        self._move(_E.LEAVE)
        self._stale = stale
        if self.state is _S.UNSUBSCRIBED:  # it was not in the group
            return []
        return [Drop(self.has)]

    def dropped(self, t: int) -> list[ConsumerMemberOutcome]:
        """Report that `Drop` is done; the last heartbeat is sent as soon as no other is in flight.

        Raises:
            InvalidTransition: the member is not leaving.
        """
        self._move(_E.DROPPED)
        self.has = {}
        self._due = t
        return [] if self._under_way or self.coordinator_lost else self._good_bye()

    def _good_bye(self) -> list[ConsumerMemberOutcome]:
        static = self.instance_id is not None
        # A static member that is stale goes for good, which frees its partitions (ConsumerMembershipManager.leaveGroupEpoch).
        self.epoch = LEAVE_FOR_A_WHILE_EPOCH if static and not self._stale else LEAVE_EPOCH
        self._move(_E.SAID_STALE if self._stale else _E.SAID)
        self._under_way, self._due, self._reconciling = True, None, None
        body = messages.ConsumerGroupHeartbeatRequest(
            group_id=self.group_id, member_id=self.member_id, member_epoch=self.epoch, instance_id=self.instance_id
        )
        return [Ask(body)]


def _as_message(partitions: Partitions) -> list[Any]:
    make = messages.ConsumerGroupHeartbeatRequest.TopicPartitions
    return [make(topic_id=topic, partitions=tuple(sorted(numbers))) for topic, numbers in sorted(partitions.items())]


def _as_partitions(topics: Sequence[Any] | None) -> Partitions:
    return {Uuid(each.topic_id): frozenset(each.partitions) for each in topics or () if each.partitions}


def _less(some: Partitions, others: Partitions) -> Partitions:
    left = {topic: numbers - others.get(topic, frozenset()) for topic, numbers in some.items()}
    return {topic: numbers for topic, numbers in left.items() if numbers}
