"""Client's side of a classic group (`AbstractCoordinator`, KIP-559, KIP-394).

The join fails if an answer names another protocol type or name than the member's. Null is accepted, because answers below JoinGroup v7 and
SyncGroup v5 have neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from kwire import messages
from kwire.protocol.groups.group_errors import GroupError
from kwire.protocol.groups.group_states import GROUP_MEMBER, MemberEvent, MemberState
from kwire.protocol.groups.outcomes import Ask, Assigned, Failed, JoinedGroup, MemberOutcome
from kwire.protocol.groups.protocol_checks import differs, protocol_name_read, shown_names
from kwire.protocol.transitions import InvalidTransition
from kwire.schema import error_name

__all__ = ["GroupMemberRole"]

_MS: Final = 1_000_000
_NO_GENERATION: Final = -1

# What a new JoinGroup cures; the first kind keeps the member id, the second begins again, the third goes to another broker first.
_KEEP: Final = frozenset((GroupError.REBALANCE_IN_PROGRESS,))
_ANEW: Final = frozenset((GroupError.UNKNOWN_MEMBER_ID, GroupError.ILLEGAL_GENERATION))
_LATER: Final = frozenset((GroupError.COORDINATOR_LOAD_IN_PROGRESS, GroupError.COORDINATOR_NOT_AVAILABLE, GroupError.NOT_COORDINATOR))


class GroupMemberRole:
    """State of one member of one group.

    Times are nanoseconds of a monotonic clock. Requests are sent one at a time. Pass the answer to each `Ask` to the method named after its
    API.

    Arguments:
        protocols: name and metadata of the member's protocols, best first.
        assign: function that computes a leader's assignments from the protocol and the members' metadata; by default all are empty.
        session_timeout_ms, rebalance_timeout_ms, heartbeat_interval_ms, retry_backoff_ms: as in Kafka's consumer.
        instance_id: id of a static member (KIP-345).
        reason: reason of joining, sent from JoinGroup v8 on.

    Attributes:
        member_id, generation, protocol_name: values from the coordinator; empty, -1 and None outside a generation.
        coordinator_lost: True if another broker coordinates the group; the caller resets it after finding that broker.
    """

    def __init__(
        self,
        group_id: str,
        protocols: Sequence[tuple[str, bytes]],
        assign: Callable[[str, dict[str, bytes]], dict[str, bytes]] | None = None,
        *,
        protocol_type: str = "consumer",
        session_timeout_ms: int = 45_000,
        rebalance_timeout_ms: int = 300_000,
        heartbeat_interval_ms: int = 3_000,
        retry_backoff_ms: int = 100,
        instance_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.protocols = tuple(protocols)
        self.assign = assign or (lambda _name, _metadata: {})
        self.protocol_type = protocol_type
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.heartbeat_interval = heartbeat_interval_ms * _MS
        self.retry_backoff = retry_backoff_ms * _MS
        self.instance_id = instance_id
        self.reason = reason
        self.state = GROUP_MEMBER.start
        self.member_id = ""
        self.generation = _NO_GENERATION
        self.protocol_name: str | None = None
        self.coordinator_lost = False
        self._synced_for: tuple[int, str] | None = None  # generation and member id that the SyncGroup under way was sent with
        self._due: int | None = None  # the next heartbeat, or the next try to join

    def _move(self, event: MemberEvent) -> None:
        self.state = GROUP_MEMBER.after(self.state, event)

    @property
    def deadline(self) -> int | None:
        return self._due

    # joining

    def join(self, t: int) -> list[MemberOutcome]:
        """Join the group.

        Raises:
            InvalidTransition: the member has joined, is joining, or has ended.
        """
        self._move(MemberEvent.ASKED)
        self._due = None
        protocol = messages.JoinGroupRequest.JoinGroupRequestProtocol
        body = messages.JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=self.session_timeout_ms,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type=self.protocol_type,
            protocols=[protocol(name=name, metadata=metadata) for name, metadata in self.protocols],
            reason=self.reason,
        )
        return [Ask(body)]

    def joined(self, response: Any, t: int) -> list[MemberOutcome]:
        """Take a `JoinGroupResponse`.

        Raises:
            InvalidTransition: no JoinGroup is in flight.
        """
        if self.state is not MemberState.PREPARING_REBALANCE:
            raise InvalidTransition(GROUP_MEMBER.name, self.state, MemberEvent.JOINED)
        code = response.error_code
        if code == GroupError.MEMBER_ID_REQUIRED:
            self._move(MemberEvent.REJOIN)
            self.member_id = response.member_id
            return self.join(t)
        if code:
            return self._refused(code, "JoinGroup", t)
        if differs(response.protocol_type, self.protocol_type):
            return self._inconsistent("JoinGroup", "type", response.protocol_type, self.protocol_type)
        self._move(MemberEvent.JOINED)
        self.generation = response.generation_id
        self.member_id = response.member_id
        self.protocol_name = protocol_name_read(response.protocol_name)
        leads = response.leader == response.member_id
        given: dict[str, bytes] = {}
        if leads and not response.skip_assignment:
            given = self.assign(self.protocol_name or "", {each.member_id: bytes(each.metadata) for each in response.members})
        assignment = messages.SyncGroupRequest.SyncGroupRequestAssignment
        body = messages.SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol_name,
            assignments=[assignment(member_id=member_id, assignment=data) for member_id, data in given.items()],
        )
        self._synced_for = (self.generation, self.member_id)
        self._due = t + self.heartbeat_interval
        return [JoinedGroup(self.generation, self.member_id, self.protocol_name, leads), Ask(body)]

    def synced(self, response: Any, t: int) -> list[MemberOutcome]:
        """Handle a `SyncGroupResponse`, possibly to a request of an earlier generation.

        Raises:
            InvalidTransition: the member has ended.
        """
        sent, self._synced_for = self._synced_for, None
        if response.error_code:
            return self._refused(response.error_code, "SyncGroup", t)
        if differs(response.protocol_type, self.protocol_type):
            return self._inconsistent("SyncGroup", "type", response.protocol_type, self.protocol_type)
        if sent != (self.generation, self.member_id) or self.state is not MemberState.COMPLETING_REBALANCE:
            # A heartbeat's answer ended the generation meanwhile: the name is of the past, and so is the assignment.
            return self._again(t, at_once=True)
        if differs(response.protocol_name, self.protocol_name):
            return self._inconsistent("SyncGroup", "name", response.protocol_name, self.protocol_name)
        self._move(MemberEvent.SYNCED)
        return [Assigned(self.generation, bytes(response.assignment))]

    def _inconsistent(self, api: str, what: str, answered: str | None, ours: str | None) -> list[MemberOutcome]:
        known = shown_names([] if ours is None else [ours])
        reason = f"the {api} response has protocol {what} {shown_names([answered or ''])}, the member's is {known}"
        return self._failed(GroupError.INCONSISTENT_GROUP_PROTOCOL, reason)

    def _failed(self, error: GroupError | int, reason: str) -> list[MemberOutcome]:
        self._move(MemberEvent.REFUSED)
        self._forget()
        self._due = None
        return [Failed(error, reason)]

    def _forget(self) -> None:
        self.generation, self.protocol_name = _NO_GENERATION, None

    def _refused(self, code: int, api: str, t: int) -> list[MemberOutcome]:
        if code in _LATER:
            self.coordinator_lost = self.coordinator_lost or code != GroupError.COORDINATOR_LOAD_IN_PROGRESS
            return self._again(t)
        if code in _KEEP:
            return self._again(t)
        if code in _ANEW:
            if code == GroupError.UNKNOWN_MEMBER_ID:
                self.member_id = ""
            return self._again(t)
        return self._failed(code, f"the coordinator answered {api} with {error_name(code)} ({code})")

    def _again(self, t: int, at_once: bool = False) -> list[MemberOutcome]:
        self._move(MemberEvent.REJOIN)
        self._forget()
        self._due = t if at_once else t + self.retry_backoff
        return []

    # being in the group

    def beaten(self, response: Any, t: int) -> list[MemberOutcome]:
        """Handle a `HeartbeatResponse`; ignore one of an earlier generation."""
        if self.state not in (MemberState.STABLE, MemberState.COMPLETING_REBALANCE) or not response.error_code:
            return []
        if self.state is MemberState.COMPLETING_REBALANCE and response.error_code == GroupError.REBALANCE_IN_PROGRESS:
            return []  # SyncGroup's answer will say so too
        return self._refused(response.error_code, "Heartbeat", t)

    def tick(self, t: int) -> list[MemberOutcome]:
        """Join again, or send a heartbeat."""
        if self._due is None or t < self._due:
            return []
        if self.state is MemberState.UNJOINED:
            if self.coordinator_lost:
                return []
            # A SyncGroup under way is answered before anything else is sent.
            return [] if self._synced_for is not None else self.join(t)
        self._due = t + self.heartbeat_interval
        body = messages.HeartbeatRequest(
            group_id=self.group_id, generation_id=self.generation, member_id=self.member_id, group_instance_id=self.instance_id
        )
        return [Ask(body)]

    def leave(self, t: int, version: int = 3) -> list[MemberOutcome]:
        """Leave the group; static members expire instead, as Kafka's consumers do (KIP-345).

        Arguments:
            version: version of LeaveGroup; below 3 the request has one member and no list.

        Raises:
            InvalidTransition: the member has ended.
        """
        self._move(MemberEvent.LEAVE)
        self._due = None
        if not self.member_id or self.instance_id is not None:
            return []
        if version < 3:
            return [Ask(messages.LeaveGroupRequest(group_id=self.group_id, member_id=self.member_id))]
        identity = messages.LeaveGroupRequest.MemberIdentity(member_id=self.member_id)
        return [Ask(messages.LeaveGroupRequest(group_id=self.group_id, members=[identity]))]
