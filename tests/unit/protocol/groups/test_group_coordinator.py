"""The broker's side of a classic group: what it refuses and in which order, generations, timeouts (KIP-559, KIP-394, KIP-345)."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

import kwire
from kwire import messages
from kwire.protocol.groups import GroupCoordinatorRole
from kwire.protocol.groups.group_states import GroupState
from kwire.protocol.groups.outcomes import Answer, MemberGone, Rebalanced

SECOND = 1_000_000_000
NONE, ILLEGAL, INCONSISTENT, BAD_GROUP, UNKNOWN, BAD_SESSION, REBALANCING = 0, 22, 23, 24, 25, 26, 27
GONE, ID_REQUIRED, FULL, FENCED = 15, 79, 81, 82


def coordinator(**settings: Any) -> GroupCoordinatorRole:
    numbers = count(1)
    return GroupCoordinatorRole("g", lambda: str(next(numbers)), **{"initial_delay_ms": 0, **settings})


def joining(member: str = "", *names: str, kind: str = "consumer", **more: Any) -> Any:
    protocol = messages.JoinGroupRequest.JoinGroupRequestProtocol
    offered = [protocol(name=name, metadata=name.encode()) for name in names or ("range",)]
    values = {"group_id": "g", "session_timeout_ms": 10_000, "rebalance_timeout_ms": 60_000, **more}
    return messages.JoinGroupRequest(member_id=member, protocol_type=kind, protocols=offered, **values)


def syncing(member: str, generation: int, *given: tuple[str, bytes], kind: str | None = "consumer", name: str | None = "range") -> Any:
    assignment = messages.SyncGroupRequest.SyncGroupRequestAssignment
    return messages.SyncGroupRequest(
        group_id="g", generation_id=generation, member_id=member, protocol_type=kind, protocol_name=name,
        assignments=[assignment(member_id=each, assignment=data) for each, data in given],
    )  # fmt: skip


def answers(outcomes: list[Any]) -> dict[Any, Any]:
    return {each.to: each.body for each in outcomes if isinstance(each, Answer)}


def code(outcomes: list[Any]) -> int:
    (body,) = answers(outcomes).values()
    return body.error_code


def stable(members: int = 1, **settings: Any) -> tuple[GroupCoordinatorRole, list[str]]:
    """A group with members c-1, c-2, ... in a generation that has its assignments; the first one leads."""
    group = coordinator(**settings)
    ids = []
    for number in range(members):
        out = group.join(joining(), 3, number, 0, "c")
        for member_id in ids:
            out += group.join(joining(member_id), 3, member_id, 0, "c")
        ids.append(next(body.member_id for to, body in answers(out).items() if to == number))
        for each in reversed(ids):
            group.sync(syncing(each, group.generation, *((other, other.encode()) for other in ids)), 5, each, 0)
    assert group.state is GroupState.STABLE
    return group, ids


@pytest.mark.parametrize(("kind", "name"), [(None, "range"), ("consumer", None), (None, None)])
def test_K559_35_null_type_or_name_comes_before_anything_about_the_group(kind: str | None, name: str | None) -> None:
    group, (member,) = stable()
    assert code(group.sync(syncing(member, 1, kind=kind, name=name), 5, 0, 0)) == INCONSISTENT
    # even for a group without an id, a member that nobody knows and a generation that is over
    stranger = syncing("nobody", 77, kind=kind, name=name)
    stranger.group_id = ""
    assert code(group.sync(stranger, 5, 0, 0)) == INCONSISTENT
    group.remove()
    assert code(group.sync(stranger, 5, 0, 0)) == INCONSISTENT


def test_K559_36_type_and_name_are_checked_behind_member_and_generation() -> None:
    group, (member,) = stable()
    assert code(group.sync(syncing("nobody", 77, kind="connect", name="x"), 5, 0, 0)) == UNKNOWN
    assert code(group.sync(syncing(member, 77, kind="connect", name="x"), 5, 0, 0)) == ILLEGAL
    (refused,) = group.sync(syncing(member, 1, kind="connect"), 5, 0, 0)
    assert (refused.body.error_code, refused.reason) == (INCONSISTENT, "the member's protocol type is 'connect', the group's is 'consumer'")
    (refused,) = group.sync(syncing(member, 1, name="sticky"), 5, 0, 0)
    assert (refused.body.error_code, refused.reason) == (INCONSISTENT, "the member's protocol name is 'sticky', the group's is 'range'")
    assert code(group.sync(syncing(member, 1), 5, 0, 0)) == NONE


def test_K559_36_a_wrong_type_counts_before_a_rebalance() -> None:
    group, (member, _) = stable(2)
    group.join(joining(), 3, 0, 0, "c")
    assert group.state is GroupState.PREPARING_REBALANCE
    assert code(group.sync(syncing(member, group.generation, kind="connect"), 5, 0, 0)) == INCONSISTENT
    assert code(group.sync(syncing(member, group.generation), 5, 0, 0)) == REBALANCING


@pytest.mark.parametrize("version", range(5))
def test_K559_37_older_versions_do_not_tell_and_are_not_checked(version: int) -> None:
    group, (member,) = stable()
    (answer,) = group.sync(syncing(member, 1, kind=None, name=None), version, 0, 0)
    assert (answer.body.error_code, answer.body.assignment) == (NONE, b"c-1")


def test_K559_38_another_type_or_no_common_protocol() -> None:
    group, (member,) = stable()
    (other_type,) = group.join(joining(kind="connect"), 3, 0, 0, "c")
    assert (other_type.body.error_code, other_type.reason) == (
        INCONSISTENT,
        "the member's protocol type is 'connect', the group's is 'consumer'",
    )
    (no_common,) = group.join(joining("", "sticky", "roundrobin"), 3, 0, 0, "c")
    assert no_common.body.error_code == INCONSISTENT
    assert no_common.reason == "the member offers 'sticky', 'roundrobin', which not all members support: 'c-1' offers 'range'"
    assert group.state is GroupState.STABLE
    assert list(group.members) == [member]


@pytest.mark.parametrize(("kind", "protocols"), [("", None), ("consumer", []), ("", [])])
def test_K559_38_the_first_member_has_to_tell_a_type_and_a_protocol(kind: str, protocols: list[Any] | None) -> None:
    request = joining(kind=kind)
    if protocols is not None:
        request.protocols = protocols
    group = coordinator()
    assert code(group.join(request, 9, 0, 0)) == INCONSISTENT
    assert (group.members, group.pending) == ({}, {})


def test_checks_of_a_join_come_in_kafka_s_order() -> None:
    group, _ = stable(max_size=1)
    wrong = {"group_id": "", "session_timeout_ms": 1, "kind": "connect"}
    assert code(group.join(joining("nobody", **wrong), 9, 0, 0)) == BAD_GROUP
    wrong["group_id"] = "g"
    assert code(group.join(joining("nobody", **wrong), 9, 0, 0)) == BAD_SESSION
    wrong["session_timeout_ms"] = 10_000
    assert code(group.join(joining("nobody", **wrong), 9, 0, 0)) == FULL
    group.max_size = 2
    assert code(group.join(joining("nobody", **wrong), 9, 0, 0)) == INCONSISTENT
    assert code(group.join(joining("nobody"), 9, 0, 0)) == UNKNOWN
    group.remove()
    assert code(group.join(joining("nobody", **wrong), 9, 0, 0)) == GONE
    assert code(coordinator().join(joining("nobody", **wrong), 9, 0, 0)) == UNKNOWN  # a group that nobody was ever in


def test_K559_11_a_new_member_asks_twice_from_version_4_on() -> None:
    group = coordinator()
    (first,) = group.join(joining(), 4, "first", 0, "c")
    assert (first.body.error_code, first.body.member_id, first.body.generation_id) == (ID_REQUIRED, "c-1", -1)
    assert list(group.pending) == ["c-1"]
    assert group.state is GroupState.EMPTY
    out = group.join(joining("c-1"), 4, "second", 0, "c") + group.tick(0)
    assert answers(out)["second"].member_id == answers(out)["second"].leader == "c-1"
    assert (group.pending, group.generation) == ({}, 1)
    # below version 4 the first request joins
    group = coordinator()
    assert code(group.join(joining(), 3, 0, 0, "c")[1:] or group.tick(0)[1:]) == NONE
    # an id that was given out and not used counts no longer than a session
    group = coordinator()
    group.join(joining(), 4, 0, 0, "c")
    assert group.deadline == 10 * SECOND
    group.tick(10 * SECOND)
    assert code(group.join(joining("c-1"), 4, 0, 10 * SECOND, "c")) == UNKNOWN


@pytest.mark.parametrize(
    ("version", "session", "rebalance", "waits"), [(0, 10_000, -1, 10), (1, 10_000, 60_000, 60), (5, 20_000, -1, 20), (1, 10_000, 7_000, 7)]
)
def test_K559_3_without_a_rebalance_timeout_the_session_timeout_counts(version: int, session: int, rebalance: int, waits: int) -> None:
    group = coordinator(initial_delay_ms=0)
    request = joining(session_timeout_ms=session, rebalance_timeout_ms=rebalance)
    group.join(request, 3, 0, 0, "c")
    group.tick(0)
    group.sync(syncing("c-1", 1, ("c-1", b"")), 5, 0, 0)
    group.join(joining("", session_timeout_ms=6_000, rebalance_timeout_ms=-1), 3, 0, SECOND, "c")
    assert group.state is GroupState.PREPARING_REBALANCE
    assert group._phase_ends == (1 + waits) * SECOND


def test_two_members_vote_and_the_leader_assigns() -> None:
    group = coordinator(initial_delay_ms=3_000)
    assert group.join(joining("", "range", "sticky"), 3, "a", 0, "c") == []
    assert group.join(joining("", "sticky", "range", "mine"), 2, "b", SECOND, "d") == []
    assert group.tick(2 * SECOND) == []
    assert group.tick(3 * SECOND) == []  # a second member came: once more the delay
    out = group.tick(6 * SECOND)
    assert out[0] == Rebalanced(1, "c-1", "range", ("c-1", "d-2"))
    told = answers(out)
    assert [(each.member_id, each.metadata) for each in told["a"].members] == [("c-1", b"range"), ("d-2", b"range")]
    assert (told["b"].members, told["b"].leader, told["b"].protocol_type, told["b"].protocol_name) == ([], "c-1", "consumer", "range")
    assert group.sync(syncing("d-2", 1), 5, "b", 6 * SECOND) == []
    told = answers(group.sync(syncing("c-1", 1, ("c-1", b"one"), ("d-2", b"two")), 5, "a", 6 * SECOND))
    assert {to: (body.assignment, body.protocol_type, body.protocol_name) for to, body in told.items()} == {
        "a": (b"one", "consumer", "range"),
        "b": (b"two", "consumer", "range"),
    }
    assert group.state is GroupState.STABLE


def test_a_member_that_leaves_makes_the_others_join_again() -> None:
    group, (first, second) = stable(2)
    assert code(group.heartbeat(messages.HeartbeatRequest(group_id="g", generation_id=2, member_id=first), 4, 0, 0)) == NONE
    identity = messages.LeaveGroupRequest.MemberIdentity
    out = group.leave(messages.LeaveGroupRequest(group_id="g", members=[identity(member_id=first), identity(member_id="x")]), 3, 0, SECOND)
    assert out[0] == MemberGone(first, "left")
    assert [each.error_code for each in answers(out)[0].members] == [NONE, UNKNOWN]
    beat = messages.HeartbeatRequest(group_id="g", generation_id=2, member_id=second)
    assert code(group.heartbeat(beat, 4, 0, SECOND)) == REBALANCING
    out = group.join(joining(second), 9, 0, SECOND)
    assert out[0] == Rebalanced(3, second, "range", (second,))
    # the last one expires: the group is empty, in a generation of its own, and takes another type
    out = group.tick(12 * SECOND)
    assert out == [MemberGone(second, "session_expired")]
    assert (group.state, group.generation, group.protocol_type, group.protocol_name) == (GroupState.EMPTY, 4, None, None)
    assert code(group.join(joining(kind="connect"), 9, 0, 12 * SECOND, "w")) == ID_REQUIRED


def test_who_does_not_join_again_or_does_not_ask_for_its_assignment_is_out() -> None:
    group, (first, second) = stable(2)
    group.join(joining(first, "range"), 9, "first", SECOND)  # the leader's topics changed
    assert group.deadline == 10 * SECOND  # the session of the second
    for now in range(5, 60, 5):
        group.heartbeat(messages.HeartbeatRequest(group_id="g", generation_id=2, member_id=second), 4, 0, now * SECOND)
    out = group.tick(61 * SECOND)
    assert out[:2] == [MemberGone(second, "did_not_rejoin"), Rebalanced(3, first, "range", (first,))]
    for now in range(65, 121, 5):
        assert code(group.heartbeat(messages.HeartbeatRequest(group_id="g", generation_id=3, member_id=first), 4, 0, now * SECOND)) == NONE
    assert group.tick(121 * SECOND) == [MemberGone(first, "did_not_sync")]
    assert group.state is GroupState.EMPTY


def test_a_static_member_takes_its_place_again_and_fences_who_it_was() -> None:
    group = coordinator()
    group.join(joining(group_instance_id="i"), 5, 0, 0, "c")
    group.tick(0)
    out = group.sync(syncing("i-1", 1, ("i-1", b"")), 5, 0, 0)
    assert code(out) == NONE
    out = group.join(joining(group_instance_id="i"), 5, "back", SECOND, "c")
    assert out[0] == MemberGone("i-1", "replaced")
    assert answers(out)["back"].member_id == "i-2"
    late = messages.HeartbeatRequest(group_id="g", generation_id=2, member_id="i-1", group_instance_id="i")
    assert code(group.heartbeat(late, 4, 0, SECOND)) == FENCED


def beating(member: str, generation: int) -> Any:
    return messages.HeartbeatRequest(group_id="g", generation_id=generation, member_id=member)


def static_leader() -> GroupCoordinatorRole:
    """A group that is stable at 2 s in generation 1: i-1 leads, a static member with the instance id i, and c-2 follows."""
    group = coordinator(initial_delay_ms=1_000)
    group.join(joining(group_instance_id="i"), 5, "i", 0, "c")
    group.join(joining(), 3, "c", 0, "c")
    assert group.tick(SECOND) == []  # a second member came: once more the delay
    assert group.tick(2 * SECOND)[0] == Rebalanced(1, "i-1", "range", ("i-1", "c-2"))
    group.sync(syncing("c-2", 1), 5, "c", 2 * SECOND)
    group.sync(syncing("i-1", 1, ("i-1", b"one"), ("c-2", b"two")), 5, "i", 2 * SECOND)
    assert group.state is GroupState.STABLE
    return group


def test_a_static_leader_that_comes_back_leads_again() -> None:
    group = static_leader()
    assert group.join(joining(group_instance_id="i"), 5, "back", 2 * SECOND, "c")[0] == MemberGone("i-1", "replaced")
    assert group.join(joining("c-2"), 3, "c", 2 * SECOND)[0] == Rebalanced(2, "i-3", "range", ("c-2", "i-3"))


def test_a_static_leader_that_does_not_join_again_stays_and_another_leads() -> None:
    group = static_leader()
    assert group.join(joining("c-2", "range", "sticky"), 3, "c", 2 * SECOND) == []
    for now in range(5, 61, 5):
        static = messages.HeartbeatRequest(group_id="g", generation_id=1, member_id="i-1", group_instance_id="i")
        assert code(group.heartbeat(static, 4, 0, now * SECOND)) == REBALANCING
    assert group.tick(62 * SECOND)[0] == Rebalanced(2, "c-2", "range", ("i-1", "c-2"))  # 60 s of rebalance timeout


def test_a_join_whose_answer_was_lost_is_answered_again() -> None:
    """Before the leader assigned: the same protocols begin no rebalance (GroupMetadataManager, COMPLETING_REBALANCE)."""
    group = in_state(GroupState.COMPLETING_REBALANCE)
    (again,) = group.join(joining("c-2"), 3, "again", 0)
    assert (again.to, again.body.error_code, again.body.generation_id) == ("again", NONE, group.generation)
    assert group.state is GroupState.COMPLETING_REBALANCE
    assert code(group.heartbeat(beating("c-2", group.generation), 4, 0, 0)) == NONE


@pytest.mark.parametrize(("session", "error"), [(5_999, BAD_SESSION), (6_000, ID_REQUIRED), (30_000, ID_REQUIRED), (30_001, BAD_SESSION)])
def test_both_limits_of_the_session_timeout_are_allowed(session: int, error: int) -> None:
    group = coordinator(session_ms=(6_000, 30_000))
    assert code(group.join(joining(session_timeout_ms=session), 9, 0, 0)) == error


@pytest.mark.parametrize("version", range(10))
def test_K559_6_no_protocol_is_empty_below_version_7_and_null_from_it_on(version: int) -> None:
    (answer,) = coordinator().join(joining("", session_timeout_ms=1), version, 0, 0)
    frame = kwire.encode_response(5, answer.body, 11, version)
    read = kwire.decode_response(frame, 11, version).body
    assert (read.error_code, read.protocol_name, read.protocol_type) == (BAD_SESSION, "" if version < 7 else None, None)


def test_answers_are_kafka_s_bytes() -> None:
    group, _ = stable()
    (answer,) = group.sync(syncing("c-1", 1), 5, 0, 0)
    # correlation id 7, no tags; throttle time 0, error 0, "consumer", "range", assignment "c-1", no tags
    wire = "00000007 00 00000000 0000 09 636f6e73756d6572 06 72616e6765 04 632d31 00"
    assert kwire.encode_response(7, answer.body, 14, 5).hex() == wire.replace(" ", "")


def in_state(state: GroupState) -> GroupCoordinatorRole:
    if state is GroupState.EMPTY:
        return coordinator()
    group, _ = stable(2)
    if state is GroupState.STABLE:
        return group
    if state is GroupState.DEAD:
        group.remove()
        return group
    group.join(joining("c-1"), 3, 0, 0)
    if state is GroupState.COMPLETING_REBALANCE:
        group.join(joining("c-2"), 3, 0, 0)
    return group


@pytest.mark.parametrize("state", GroupState)
def test_every_state_takes_every_request(state: GroupState) -> None:
    """What a member of generation 2 is told in each state, and what a request leads to."""
    group = in_state(state)
    assert group.state is state
    generation = group.generation
    beat = messages.HeartbeatRequest(group_id="g", generation_id=generation, member_id="c-2")
    there = {
        GroupState.EMPTY: (UNKNOWN, [UNKNOWN]),
        GroupState.PREPARING_REBALANCE: (REBALANCING, [REBALANCING]),
        GroupState.COMPLETING_REBALANCE: (NONE, []),  # waits for the leader
        GroupState.STABLE: (NONE, [NONE]),
        GroupState.DEAD: (GONE, [GONE]),
    }
    wanted, synced = there[state]
    assert code(group.heartbeat(beat, 4, 0, 0)) == wanted
    assert [each.error_code for each in answers(group.sync(syncing("c-2", generation), 5, 0, 0)).values()] == synced
    assert group.state is state
    leaving = messages.LeaveGroupRequest(group_id="g", member_id="c-2")
    in_state(state).leave(leaving, 0, 0, 0)
    in_state(state).tick(10**15)
    again = in_state(state)
    again.join(joining(), 3, 0, 0, "n")
    assert (again.state is GroupState.DEAD) == (state is GroupState.DEAD)
