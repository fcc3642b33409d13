"""Broker's side of a classic group: checks in Kafka's order, generations, timeouts (`GroupMetadataManager`, KIP-559, KIP-394, KIP-345).

Order of the checks, with error codes. SyncGroup: type and name are present (v5+), the group id, the member (25, 82), the generation (22),
type and name equal the group's (23). JoinGroup: the group id, the session timeout, the group's size limit, type and protocols (23), the
member.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

from kwire import messages
from kwire.protocol.groups.group_errors import GroupError
from kwire.protocol.groups.group_members import Asked, Member, chosen_protocol, clash_of
from kwire.protocol.groups.group_states import GROUP_COORDINATOR, GroupEvent, GroupState
from kwire.protocol.groups.outcomes import Answer, GoneReason, GroupOutcome, MemberGone, Rebalanced
from kwire.protocol.groups.protocol_checks import (
    differs,
    effective_rebalance_timeout,
    names_are_missing,
    protocol_name_to_write,
    shown_names,
)

__all__ = ["GroupCoordinatorRole"]

_MS: Final = 1_000_000
_NEEDS_ID: Final = 4  # from this version of JoinGroup on a new member asks twice (KIP-394)


class GroupCoordinatorRole:
    """State of one group at its coordinator.

    Times are nanoseconds of a monotonic clock. Methods return outcomes in order; `to` is returned in `Answer`.

    Arguments:
        new_id: function that creates the unique part of a member id, such as a random UUID.
        session_ms: lowest and highest session timeout (`group.min.session.timeout.ms`, `group.max.session.timeout.ms`).
        max_size: `group.max.size`.
        initial_delay_ms: `group.initial.rebalance.delay.ms`.

    Attributes:
        generation, protocol_type, protocol_name, leader: current values; type, name and leader are None in an empty group.
        members: members by id, in the order of joining.
        pending: assigned but unused member ids, with their deadlines.
    """

    def __init__(
        self,
        group_id: str,
        new_id: Callable[[], str],
        *,
        session_ms: tuple[int, int] = (6_000, 1_800_000),
        max_size: int = 2**31 - 1,
        initial_delay_ms: int = 3_000,
    ) -> None:
        self.group_id = group_id
        self.new_id = new_id
        self.session_ms = session_ms
        self.max_size = max_size
        self.initial_delay = initial_delay_ms * _MS
        self.state = GROUP_COORDINATOR.start
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self.pending: dict[str, int] = {}
        self._instances: dict[str, str] = {}
        self._phase_ends: int | None = None  # of joining, or of asking for assignments
        self._initial_left: int | None = None  # remaining delay of the first rebalance
        self._newcomers = False

    def _move(self, event: GroupEvent) -> None:
        self.state = GROUP_COORDINATOR.after(self.state, event)

    @property
    def deadline(self) -> int | None:
        times = [member.heard + member.session_ns for member in self.members.values() if not self._waits(member)]
        times += [*self.pending.values()] + ([] if self._phase_ends is None else [self._phase_ends])
        return min(times, default=None)

    @staticmethod
    def _waits(member: Member) -> bool:
        return member.joining is not None or member.syncing is not None

    # JoinGroup

    def join(self, request: Any, version: int, to: Hashable, t: int, client_id: str = "") -> list[GroupOutcome]:
        """Handle a JoinGroup request; member ids begin with `client_id`, the client id of its header."""
        asked = Asked(to, version)
        names = [each.name for each in request.protocols]
        lowest, highest = self.session_ms
        if not request.group_id:
            return [self._no(asked, request.member_id, GroupError.INVALID_GROUP_ID, "the group id is empty")]
        if not lowest <= request.session_timeout_ms <= highest:
            why = f"a session timeout of {request.session_timeout_ms} ms is not between {lowest} and {highest}"
            return [self._no(asked, request.member_id, GroupError.INVALID_SESSION_TIMEOUT, why)]
        if self.state is not GroupState.DEAD and not self.generation and not self.members and not self.pending and request.member_id:
            return [self._no(asked, request.member_id, GroupError.UNKNOWN_MEMBER_ID, "the group has no members")]
        known = request.member_id in self.members or request.member_id in self.pending or request.group_instance_id in self._instances
        if len(self.members) >= self.max_size and not known:
            return [self._no(asked, "", GroupError.GROUP_MAX_SIZE_REACHED, f"the group has {self.max_size} members")]
        if self.state is GroupState.DEAD:
            return [self._no(asked, request.member_id, GroupError.COORDINATOR_NOT_AVAILABLE, "the group is gone")]
        group_type = None if self.state is GroupState.EMPTY else self.protocol_type
        why_not = clash_of(request.protocol_type, names, group_type, self.members.values(), request.member_id)
        if why_not is not None:
            return [self._no(asked, request.member_id, GroupError.INCONSISTENT_GROUP_PROTOCOL, why_not)]
        if not request.member_id:
            return self._newcomer(request, asked, t, client_id)
        if request.member_id in self.pending and request.group_instance_id is None:
            del self.pending[request.member_id]
            return self._add(request, asked, t, request.member_id)
        return self._again(request, asked, t)

    def _newcomer(self, request: Any, asked: Asked, t: int, client_id: str) -> list[GroupOutcome]:
        instance = request.group_instance_id
        member_id = f"{client_id if instance is None else instance}-{self.new_id()}"
        if instance is None and asked.api_version >= _NEEDS_ID:
            self.pending[member_id] = t + request.session_timeout_ms * _MS
            return [self._no(asked, member_id, GroupError.MEMBER_ID_REQUIRED, "a new member must join again with its assigned id")]
        out: list[GroupOutcome] = []
        old = self._instances.get(instance) if instance is not None else None
        if old is not None:
            # A static member came back (KIP-345): it takes the place of the one that it was.
            out += self._gone(self.members[old], "replaced", GroupError.FENCED_INSTANCE_ID)
            if self.leader == old:
                self.leader = member_id
        return out + self._add(request, asked, t, member_id)

    def _add(self, request: Any, asked: Asked, t: int, member_id: str) -> list[GroupOutcome]:
        member = Member(member_id, request.group_instance_id, (), 0, 0, t)
        self._told(member, request, t)
        self.members[member_id] = member
        if member.instance_id is not None:
            self._instances[member.instance_id] = member_id
        if self.protocol_type is None:
            self.protocol_type = request.protocol_type
        member.joining = asked
        self._newcomers = True
        return self._rebalance(t)

    def _told(self, member: Member, request: Any, t: int) -> None:
        member.protocols = tuple((each.name, bytes(each.metadata)) for each in request.protocols)
        member.session_ns = request.session_timeout_ms * _MS
        rebalance = effective_rebalance_timeout(request.session_timeout_ms, request.rebalance_timeout_ms)
        member.rebalance_ns = (rebalance or 0) * _MS
        member.heard = t

    def _again(self, request: Any, asked: Asked, t: int) -> list[GroupOutcome]:
        error = self._foreign(request.member_id, request.group_instance_id)
        if error is not None:
            return [self._no(asked, request.member_id, *error)]
        member = self.members[request.member_id]
        offers = tuple((each.name, bytes(each.metadata)) for each in request.protocols)
        leads = self.leader == member.member_id
        unchanged = offers == member.protocols
        if self.state is GroupState.COMPLETING_REBALANCE and unchanged:
            return [self._joined(member, asked)]  # the answer before was lost
        if self.state is GroupState.STABLE and unchanged and not leads:
            member.heard = t
            return [self._joined(member, asked)]
        self._told(member, request, t)
        member.joining = asked
        return self._rebalance(t)

    def _rebalance(self, t: int) -> list[GroupOutcome]:
        out: list[GroupOutcome] = []
        if self.state is not GroupState.PREPARING_REBALANCE:
            for member in self.members.values():
                if member.syncing is not None:
                    why = "the group rebalances"
                    out.append(self._sync_no(member.syncing, member.member_id, GroupError.REBALANCE_IN_PROGRESS, why))
                member.syncing, member.synced, member.assignment = None, False, b""
            most = max((member.rebalance_ns for member in self.members.values()), default=0)
            first = self.state is GroupState.EMPTY
            wait = min(self.initial_delay, most) if first else most
            self._initial_left = max(most - wait, 0) if first else None
            self._newcomers = False
            self._phase_ends = t + wait
            self._move(GroupEvent.REBALANCE)
        return out + self._maybe_complete(t)

    def _maybe_complete(self, t: int) -> list[GroupOutcome]:
        if self._initial_left is not None:  # the first rebalance waits out its delay
            return self._complete(t) if self._phase_ends is not None and t >= self._phase_ends else []
        ready = all(member.joining is not None for member in self.members.values()) and not self.pending
        return self._complete(t) if ready else []

    def _complete(self, t: int) -> list[GroupOutcome]:
        out: list[GroupOutcome] = []
        for member in [each for each in self.members.values() if each.joining is None and each.instance_id is None]:
            out += self._gone(member, "did_not_rejoin")
        self._initial_left = None
        if self.members and not any(member.joining for member in self.members.values()):
            # Static members alone, who may be restarting: they have until their sessions end.
            self._phase_ends = t + max(member.rebalance_ns for member in self.members.values())
            return out
        self.generation += 1
        self._phase_ends = None
        if not self.members:
            self.protocol_name = self.leader = self.protocol_type = None
            self._move(GroupEvent.EMPTIED)
            return out
        self.protocol_name = chosen_protocol(self.members.values())
        if self.leader not in self.members or self.members[self.leader].joining is None:
            self.leader = next(each.member_id for each in self.members.values() if each.joining is not None)
        self._move(GroupEvent.JOINED)
        self._phase_ends = t + max(member.rebalance_ns for member in self.members.values())
        out.append(Rebalanced(self.generation, self.leader, self.protocol_name, tuple(self.members)))
        for member in self.members.values():
            asked, member.joining, member.heard = member.joining, None, t
            if asked is not None:
                out.append(self._joined(member, asked))
        return out

    def _joined(self, member: Member, asked: Asked) -> Answer:
        sent = messages.JoinGroupResponse.JoinGroupResponseMember
        leads = member.member_id == self.leader
        body = messages.JoinGroupResponse(
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=protocol_name_to_write(self.protocol_name, asked.api_version),
            leader=self.leader or "",
            member_id=member.member_id,
            members=[
                sent(member_id=each.member_id, group_instance_id=each.instance_id, metadata=each.metadata_of(self.protocol_name))
                for each in (self.members.values() if leads else ())
            ],
        )
        return Answer(asked.to, body, asked.api_version)

    def _no(self, asked: Asked, member_id: str, error: GroupError, why: str) -> Answer:
        name = protocol_name_to_write(None, asked.api_version)
        body = messages.JoinGroupResponse(error_code=int(error), protocol_name=name, member_id=member_id)
        return Answer(asked.to, body, asked.api_version, why)

    # SyncGroup

    def sync(self, request: Any, version: int, to: Hashable, t: int) -> list[GroupOutcome]:
        asked = Asked(to, version)
        sent = (request.protocol_type, request.protocol_name)
        if names_are_missing(version, *sent):
            why = f"SyncGroup v{version} must have a protocol type and name"
            return [self._sync_no(asked, request.member_id, GroupError.INCONSISTENT_GROUP_PROTOCOL, why)]
        if not request.group_id:
            return [self._sync_no(asked, request.member_id, GroupError.INVALID_GROUP_ID, "the group id is empty")]
        error = self._outsider(request)
        if error is None:
            for what, said, known in (("type", sent[0], self.protocol_type), ("name", sent[1], self.protocol_name)):
                if differs(said, known):
                    group = shown_names([known] if known else [])
                    why = f"the member's protocol {what} is {shown_names([said or ''])}, the group's is {group}"
                    error = (GroupError.INCONSISTENT_GROUP_PROTOCOL, why)
                    break
        if error is None and self.state is GroupState.PREPARING_REBALANCE:
            error = (GroupError.REBALANCE_IN_PROGRESS, "the group rebalances")
        if error is not None:
            return [self._sync_no(asked, request.member_id, *error)]
        member = self.members[request.member_id]
        member.heard, member.synced = t, True
        if self.state is GroupState.STABLE:
            self._note_synced()
            return [self._assigned(member, asked)]
        member.syncing = asked
        if member.member_id != self.leader:
            return []
        given = {each.member_id: bytes(each.assignment) for each in request.assignments}
        self._move(GroupEvent.ASSIGNED)
        out: list[GroupOutcome] = []
        for each in self.members.values():
            each.assignment = given.get(each.member_id, b"")
            waiting, each.syncing = each.syncing, None
            if waiting is not None:
                each.heard = t
                out.append(self._assigned(each, waiting))
        self._note_synced()
        return out

    def _note_synced(self) -> None:
        if all(member.synced for member in self.members.values()):
            self._phase_ends = None

    def _assigned(self, member: Member, asked: Asked) -> Answer:
        body = messages.SyncGroupResponse(protocol_type=self.protocol_type, protocol_name=self.protocol_name, assignment=member.assignment)
        return Answer(asked.to, body, asked.api_version)

    def _sync_no(self, asked: Asked, member_id: str, error: GroupError, why: str) -> Answer:
        return Answer(asked.to, messages.SyncGroupResponse(error_code=int(error)), asked.api_version, why)

    # Heartbeat, LeaveGroup, time

    def _foreign(self, member_id: str, instance_id: str | None) -> tuple[GroupError, str] | None:
        if instance_id is not None:
            if instance_id not in self._instances:
                return GroupError.UNKNOWN_MEMBER_ID, "no member has this instance id"
            if self._instances[instance_id] != member_id:
                return GroupError.FENCED_INSTANCE_ID, "another member has this instance id now"
        if member_id not in self.members:
            return GroupError.UNKNOWN_MEMBER_ID, "unknown member id"
        return None

    def _outsider(self, request: Any) -> tuple[GroupError, str] | None:
        if self.state is GroupState.DEAD:
            return GroupError.COORDINATOR_NOT_AVAILABLE, "the group is gone"
        error = self._foreign(request.member_id, request.group_instance_id)
        if error is None and request.generation_id != self.generation:
            return GroupError.ILLEGAL_GENERATION, f"the member is in generation {request.generation_id}, the group in {self.generation}"
        return error

    def heartbeat(self, request: Any, version: int, to: Hashable, t: int) -> list[GroupOutcome]:
        error = self._outsider(request)
        if error is None:
            self.members[request.member_id].heard = t
            if self.state is GroupState.PREPARING_REBALANCE:
                error = (GroupError.REBALANCE_IN_PROGRESS, "the group rebalances")
        code, why = error or (GroupError.NONE, None)
        return [Answer(to, messages.HeartbeatResponse(error_code=int(code)), version, why)]

    def leave(self, request: Any, version: int, to: Hashable, t: int) -> list[GroupOutcome]:
        """Handle a LeaveGroup request for one member (below v3) or several (from v3 on, KIP-345)."""
        identity = messages.LeaveGroupRequest.MemberIdentity
        leaving = request.members if version >= 3 else [identity(member_id=request.member_id)]
        out: list[GroupOutcome] = []
        sent = []
        for each in leaving:
            member_id = each.member_id or self._instances.get(each.group_instance_id or "", "")
            if self.pending.pop(member_id, None) is not None:
                code = GroupError.NONE
            else:
                refused = self._foreign(member_id, each.group_instance_id)
                code = GroupError.NONE if refused is None else refused[0]
                if refused is None:
                    out += self._gone(self.members[member_id], "left")
            sent.append((each, code))
        answered = messages.LeaveGroupResponse.MemberResponse
        body = messages.LeaveGroupResponse(
            error_code=0 if version >= 3 else int(sent[0][1]),
            members=[
                answered(member_id=each.member_id, group_instance_id=each.group_instance_id, error_code=int(code)) for each, code in sent
            ]
            if version >= 3
            else [],
        )
        return [*out, Answer(to, body, version), *self._settle(t, bool(out))]

    def _settle(self, t: int, fewer: bool) -> list[GroupOutcome]:
        if self.state is GroupState.PREPARING_REBALANCE:
            return self._maybe_complete(t)
        return self._rebalance(t) if fewer and self.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE) else []

    def _gone(self, member: Member, why: GoneReason, error: GroupError = GroupError.UNKNOWN_MEMBER_ID) -> list[GroupOutcome]:
        del self.members[member.member_id]
        if member.instance_id is not None:
            self._instances.pop(member.instance_id, None)
        out: list[GroupOutcome] = [MemberGone(member.member_id, why)]
        for asked, no in ((member.joining, self._no), (member.syncing, self._sync_no)):
            if asked is not None:
                out.append(no(asked, member.member_id, error, "the member is no longer in the group"))
        return out

    def tick(self, t: int) -> list[GroupOutcome]:
        late = [member_id for member_id, until in self.pending.items() if until <= t]
        for member_id in late:
            del self.pending[member_id]
        out: list[GroupOutcome] = []
        for member in [each for each in self.members.values() if not self._waits(each) and each.heard + each.session_ns <= t]:
            out += self._gone(member, "session_expired")
        if self._phase_ends is not None and self._phase_ends <= t:
            if self.state is GroupState.PREPARING_REBALANCE:
                if self._initial_left and self._newcomers:
                    more = min(self.initial_delay, self._initial_left)
                    self._initial_left, self._newcomers, self._phase_ends = self._initial_left - more, False, t + more
                    return out
                return out + self._complete(t)
            for member in [each for each in self.members.values() if not each.synced]:
                out += self._gone(member, "did_not_sync")
            self._phase_ends = None
        return out + (self._settle(t, bool(out)) if out or late else [])

    def remove(self) -> list[GroupOutcome]:
        """Delete the group, or move it to another coordinator."""
        out: list[GroupOutcome] = []
        for member in self.members.values():
            if member.joining is not None:
                out.append(self._no(member.joining, member.member_id, GroupError.NOT_COORDINATOR, "the group is gone"))
            if member.syncing is not None:
                out.append(self._sync_no(member.syncing, member.member_id, GroupError.NOT_COORDINATOR, "the group is gone"))
        self._move(GroupEvent.REMOVED)
        self.members.clear()
        self.pending.clear()
        self._instances.clear()
        self._phase_ends = None
        return out
