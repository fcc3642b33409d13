"""The client's side of a classic group: what it accepts of a coordinator's answers, and what it does next (KIP-559, KIP-394)."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

import kwire
from kwire import messages
from kwire.protocol.groups import GroupCoordinatorRole, GroupMemberRole
from kwire.protocol.groups.group_states import MemberState
from kwire.protocol.groups.outcomes import Answer, Ask, Assigned, Failed, JoinedGroup
from kwire.protocol.transitions import InvalidTransition
from kwire.schema import catalog

MS = 1_000_000
INCONSISTENT, UNKNOWN, ILLEGAL, REBALANCING, ID_REQUIRED, NOT_COORDINATOR, FENCED = 23, 25, 22, 27, 79, 16, 82


def member(**settings: Any) -> GroupMemberRole:
    return GroupMemberRole("g", [("range", b"r"), ("sticky", b"s")], lambda _, told: dict.fromkeys(told, b"mine"), **settings)


def join_answer(**told: Any) -> Any:
    values = {"generation_id": 3, "protocol_type": "consumer", "protocol_name": "range", "leader": "x", "member_id": "m", **told}
    return messages.JoinGroupResponse(**values)


def sync_answer(**told: Any) -> Any:
    return messages.SyncGroupResponse(**{"protocol_type": "consumer", "protocol_name": "range", "assignment": b"work", **told})


def joining(**settings: Any) -> GroupMemberRole:
    role = member(**settings)
    role.join(0)
    return role


def syncing() -> GroupMemberRole:
    role = joining()
    role.joined(join_answer(), 0)
    return role


def test_K559_39_a_join_of_another_type_fails() -> None:
    role = joining()
    (failed,) = role.joined(join_answer(protocol_type="connect"), 0)
    assert failed == Failed(INCONSISTENT, "the JoinGroup response has protocol type 'connect', the member's is 'consumer'")


@pytest.mark.parametrize("told", ["consumer", None])
def test_K559_39_null_and_our_own_type_pass(told: str | None) -> None:
    role = joining()
    joined, ask = role.joined(join_answer(protocol_type=told), 0)
    assert joined == JoinedGroup(3, "m", "range", False)
    assert (ask.body.protocol_type, ask.body.protocol_name, ask.body.assignments) == ("consumer", "range", [])
    assert role.state is MemberState.COMPLETING_REBALANCE


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        (
            {"protocol_type": "connect"},
            Failed(INCONSISTENT, "the SyncGroup response has protocol type 'connect', the member's is 'consumer'"),
        ),
        ({"protocol_name": "sticky"}, Failed(INCONSISTENT, "the SyncGroup response has protocol name 'sticky', the member's is 'range'")),
        ({"protocol_type": None, "protocol_name": None}, Assigned(3, b"work")),
    ],
)
def test_K559_40_type_and_name_of_the_assignment_s_answer(told: dict[str, Any], outcome: Any) -> None:
    role = syncing()
    assert role.synced(sync_answer(**told), 0) == [outcome]
    assert role.state is (MemberState.STABLE if isinstance(outcome, Assigned) else MemberState.FAILED)


def test_K559_40_a_name_of_a_generation_that_was_reset_meanwhile_does_not_count() -> None:
    role = syncing()
    role.beaten(messages.HeartbeatResponse(error_code=ILLEGAL), 5)
    assert (role.state, role.generation) == (MemberState.UNJOINED, -1)
    assert role.tick(10**12) == []  # the answer to SyncGroup is still to come
    assert role.synced(sync_answer(protocol_name="sticky"), 7) == []  # no failure, and no assignment either
    assert role.state is MemberState.UNJOINED
    (again,) = role.tick(7)
    assert again.body.member_id == "m"
    # the type counts all the same
    role = syncing()
    role.beaten(messages.HeartbeatResponse(error_code=ILLEGAL), 5)
    (failed,) = role.synced(sync_answer(protocol_type="connect"), 7)
    assert failed.error == INCONSISTENT


@pytest.mark.parametrize("at", ["join", "sync type", "sync name"])
def test_K559_41_a_member_that_failed_does_not_go_on(at: str) -> None:
    role = joining() if at == "join" else syncing()
    if at == "join":
        role.joined(join_answer(protocol_type="connect"), 0)
    else:
        role.synced(sync_answer(**{f"protocol_{at[5:]}": "other"}), 0)
    assert (role.state, role.generation, role.protocol_name, role.deadline) == (MemberState.FAILED, -1, None, None)
    assert role.tick(10**15) == []
    for go_on in (role.join, role.leave):
        with pytest.raises(InvalidTransition):
            go_on(0)


def test_K559_11_the_id_that_is_given_out_is_used_at_once() -> None:
    role = joining()
    (ask,) = role.joined(join_answer(error_code=ID_REQUIRED, member_id="given", generation_id=-1), 0)
    assert ask.body.member_id == "given"
    assert role.state is MemberState.PREPARING_REBALANCE


@pytest.mark.parametrize(
    ("code", "kept", "lost"), [(UNKNOWN, "", False), (ILLEGAL, "m", False), (REBALANCING, "m", False), (16, "m", True)]
)
def test_what_joining_again_cures(code: int, kept: str, lost: bool) -> None:
    role = syncing()
    assert role.synced(sync_answer(error_code=code), 0) == []
    assert (role.state, role.member_id, role.coordinator_lost) == (MemberState.UNJOINED, kept, lost)
    assert role.tick(99 * MS) == []
    asked = role.tick(100 * MS)
    assert [each.body.member_id for each in asked] == ([] if lost else [kept])
    role.coordinator_lost = False
    assert (asked or role.tick(100 * MS))[0].body.group_id == "g"


@pytest.mark.parametrize("code", [INCONSISTENT, FENCED, 24, 26, 30, 81, -1])
def test_what_it_does_not_cure(code: int) -> None:
    role = joining()
    (failed,) = role.joined(join_answer(error_code=code), 0)
    assert failed.error == code
    assert f"({code})" in failed.reason
    assert role.state is MemberState.FAILED


def test_heartbeats_and_leaving() -> None:
    role = syncing()
    role.synced(sync_answer(), 0)
    assert role.tick(2_999 * MS) == []
    (beat,) = role.tick(3_000 * MS)
    assert (beat.body.generation_id, beat.body.member_id) == (3, "m")
    assert role.beaten(messages.HeartbeatResponse(), 3_001 * MS) == []
    (bye,) = role.leave(3_002 * MS)
    assert [each.member_id for each in bye.body.members] == ["m"]
    assert role.beaten(messages.HeartbeatResponse(error_code=UNKNOWN), 3_003 * MS) == []
    static = joining(instance_id="i")
    assert static.leave(0) == []


@pytest.mark.parametrize("version", [(0, 0), (3, 2), (6, 4), (9, 5)])
def test_both_roles_make_a_group_over_the_wire(version: tuple[int, int]) -> None:
    """Three members and their coordinator, every message through its bytes; then one leaves."""
    numbers = count(1)
    broker = GroupCoordinatorRole("g", lambda: str(next(numbers)), initial_delay_ms=1)
    members = [member() for _ in range(3)]
    versions = {11: version[0], 14: version[1], 12: 4, 13: 3}
    handle = {11: broker.join, 14: broker.sync, 12: broker.heartbeat, 13: broker.leave}
    assigned: dict[int, bytes] = {}

    def over_the_wire(outcomes: list[Any], who: int) -> list[Any]:
        out = []
        for each in outcomes:
            if isinstance(each, Ask):
                key = catalog()[type(each.body).layout.message].api_key
                header = messages.RequestHeader(api_key=key, api_version=versions[key], correlation_id=who, client_id="c")
                request = kwire.decode_request(kwire.encode_request(header, each.body))
                more = {"client_id": "c"} if key == 11 else {}
                out += handle[key](request.body, versions[key], (who, key), 0, **more)
            elif isinstance(each, Assigned):
                assigned[who] = each.assignment
        return out

    def settle(waiting: list[Any]) -> None:
        while waiting:
            each = waiting.pop(0)
            if isinstance(each, Answer):
                who, key = each.to
                body = kwire.decode_response(kwire.encode_response(1, each.body, key, each.api_version), key, each.api_version).body
                if key == 13:
                    continue
                role = members[who]
                take = {11: role.joined, 14: role.synced, 12: role.beaten}[key]
                waiting += over_the_wire(take(body, 0), who)

    for who, role in enumerate(members):
        settle(over_the_wire(role.join(0), who))
    settle(broker.tick(1 * MS) + broker.tick(2 * MS))  # more members came, so it waits once more
    assert assigned == {0: b"mine", 1: b"mine", 2: b"mine"}
    assert {role.state for role in members} == {MemberState.STABLE}
    assert {role.generation for role in members} == {1}
    settle(over_the_wire(members[0].leave(2 * MS), 0))
    for who in (1, 2):
        settle(over_the_wire(members[who].tick(10**10), who))
    for who in (1, 2):
        settle(over_the_wire(members[who].tick(2 * 10**10), who))
    assert [role.state for role in members] == [MemberState.LEFT, MemberState.STABLE, MemberState.STABLE]
    assert [role.generation for role in members[1:]] == [2, 2]
    assert len(broker.members) == 2


@pytest.mark.parametrize("state", MemberState)
def test_answers_that_nobody_asked_for_are_refused(state: MemberState) -> None:
    role = member()
    role.state = state
    if state is not MemberState.PREPARING_REBALANCE:
        with pytest.raises(InvalidTransition):
            role.joined(join_answer(), 0)
        assert role.state is state
    if state in (MemberState.FAILED, MemberState.LEFT):
        with pytest.raises(InvalidTransition):
            role.synced(sync_answer(), 0)
        assert role.beaten(messages.HeartbeatResponse(error_code=UNKNOWN), 0) == []
