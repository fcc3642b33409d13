"""Both sides of a group with KIP-848 without a broker: timeouts, fencing, answers that come late, many members by chance.

What a real broker answers is in tests/integration/test_consumer_groups_with_brokers.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kwire
from kwire import messages
from kwire.codec.uuids import Uuid
from kwire.protocol.groups import ConsumerGroupMemberRole, ConsumerGroupRole
from kwire.protocol.groups.consumer_coordinator_role import Topic
from kwire.protocol.groups.consumer_group_states import (
    CONSUMER_MEMBER,
    AtCoordinator,
    ConsumerGroupState,
    ConsumerMemberEvent,
    ConsumerMemberState,
)
from kwire.protocol.groups.consumer_outcomes import Drop, Fenced, Partitions, Reconcile
from kwire.protocol.groups.outcomes import Answer, Ask, Failed, MemberGone
from kwire.protocol.transitions import InvalidTransition

MS = 1_000_000
ORDERS, BILLS = Topic(Uuid(bytes(15) + b"\1"), 4), Topic(Uuid(bytes(15) + b"\2"), 3)
TOPICS = {"orders": ORDERS, "bills": BILLS}
S = ConsumerMemberState


def spread(members: Mapping[str, Sequence[Topic]]) -> Mapping[str, Partitions]:
    given_: dict[str, dict[Uuid, frozenset[int]]] = {member_id: {} for member_id in members}
    for topic in {each for wanted in members.values() for each in wanted}:
        takers = sorted(member_id for member_id, wanted in members.items() if topic in wanted)
        for index, member_id in enumerate(takers):
            given_[member_id][topic.topic_id] = frozenset(range(index, topic.partitions, len(takers)))
    return given_


def coordinator(**settings: Any) -> ConsumerGroupRole:
    return ConsumerGroupRole("g", TOPICS, spread, map(str, count()).__next__, **settings)


def ask(group: ConsumerGroupRole, body: Any, t: int = 0) -> Any:
    sent = kwire.decode("ConsumerGroupHeartbeatRequest", kwire.encode(body, 1), 1)
    (answer,) = (each for each in group.heartbeat(sent, 1, "to", t) if isinstance(each, Answer))
    assert answer.to == "to"
    return kwire.decode("ConsumerGroupHeartbeatResponse", kwire.encode(answer.body, 1), 1)


def asked(outcomes: Sequence[Any]) -> Any:
    (found,) = (each for each in outcomes if isinstance(each, Ask))
    return found.body


def answer(epoch: int, *numbers: int, error: int = 0, silent: bool = False) -> Any:
    response = messages.ConsumerGroupHeartbeatResponse
    topics = [response.TopicPartitions(topic_id=ORDERS.topic_id, partitions=numbers)] if numbers else []
    given_ = None if silent else response.Assignment(topic_partitions=topics)
    return response(error_code=error, member_id="m", member_epoch=epoch, heartbeat_interval_ms=5000, assignment=given_)


def role(**settings: Any) -> ConsumerGroupMemberRole:
    return ConsumerGroupMemberRole("g", "m", ["orders"], **settings)


def joined(*numbers: int, **settings: Any) -> ConsumerGroupMemberRole:
    member = role(**settings)
    member.join(0)
    member.answered(answer(2, *numbers), 0)
    if numbers:
        member.answered(answer(2, silent=True), 1) if member.reconciled(0) else None
    assert member.state is S.STABLE
    return member


# the member


def test_what_is_said_in_each_heartbeat() -> None:
    member = role(rack_id="a", server_assignor="range")
    body = asked(member.join(0))
    assert (body.member_epoch, body.subscribed_topic_names, body.topic_partitions) == (0, ("orders",), [])
    assert (body.rebalance_timeout_ms, body.rack_id, body.server_assignor) == (300_000, "a", "range")
    (todo,) = member.answered(answer(2, 1, 2), 0)
    assert todo == Reconcile(2, {}, {ORDERS.topic_id: frozenset((1, 2))}, {ORDERS.topic_id: frozenset((1, 2))})
    assert member.state is S.RECONCILING
    body = asked(member.reconciled(1))
    assert [(each.topic_id, each.partitions) for each in body.topic_partitions] == [(ORDERS.topic_id, (1, 2))]
    assert (body.member_epoch, body.subscribed_topic_names, body.rebalance_timeout_ms, body.rack_id) == (2, None, -1, None)
    assert member.answered(answer(2, silent=True), 10) == []
    assert member.deadline == 10 + 5000 * MS
    assert member.tick(4999 * MS) == []
    body = asked(member.tick(10 + 5000 * MS))
    assert (body.topic_partitions, body.subscribed_topic_names) == (None, None)
    member.answered(answer(2, silent=True), 0)
    body = asked(member.subscribe(["bills"], 1, "pay.*"))
    assert (body.subscribed_topic_names, body.subscribed_topic_regex, body.topic_partitions) == (("bills",), "pay.*", None)
    member.answered(answer(2, silent=True), 0)
    assert asked(member.subscribe(["bills"], 2)).subscribed_topic_regex == ""  # not any more


def test_a_target_that_comes_while_the_owner_is_at_work_waits() -> None:
    member = role()
    member.join(0)
    member.answered(answer(2, 1), 0)
    assert asked(member.tick(5001 * MS)).topic_partitions is None
    assert member.answered(answer(3, 1, 2), 0) == []
    said, todo = member.reconciled(1)
    assert [each.partitions for each in said.body.topic_partitions] == [(1,)]
    assert todo == Reconcile(3, {}, {ORDERS.topic_id: frozenset((2,))}, {ORDERS.topic_id: frozenset((1, 2))})
    assert member.state is S.RECONCILING


@pytest.mark.parametrize("error", [110, 25])
def test_a_fenced_member_drops_all_and_joins_again(error: int) -> None:
    member = joined(1, 2)
    member.tick(10**12)
    (fenced,) = member.answered(answer(0, error=error), 0)
    assert fenced == Fenced(error, {ORDERS.topic_id: frozenset((1, 2))})  # type: ignore[arg-type]
    assert (member.state, member.has, member.epoch, member.deadline) == (S.FENCED, {}, 0, None)
    with pytest.raises(InvalidTransition):
        member.reconciled(0)
    body = asked(member.join(1))
    assert (body.member_epoch, body.topic_partitions, body.member_id) == (0, [], "m")


@pytest.mark.parametrize("error", [30, 35, 42, 81, 82, 111, 112, 128])
def test_other_errors_are_the_end(error: int) -> None:
    member = joined(1)
    member.tick(10**12)
    (failed,) = member.answered(answer(0, error=error), 0)
    assert isinstance(failed, Failed)
    assert (failed.error, member.state, member.deadline) == (error, S.FATAL, None)
    with pytest.raises(InvalidTransition):
        member.join(0)


@pytest.mark.parametrize(("error", "lost"), [(14, False), (15, True), (16, True)])
def test_a_coordinator_that_is_not_there_is_asked_again_with_all_that_counts(error: int, lost: bool) -> None:
    member = joined(1)
    member.tick(10**12)
    assert member.answered(answer(0, error=error), 0) == []
    assert member.coordinator_lost is lost
    if lost:
        assert (member.deadline, member.tick(10**15)) == (None, [])
        member.coordinator_lost = False
    body = asked(member.tick(100 * MS))
    assert (body.member_epoch, body.subscribed_topic_names, body.rebalance_timeout_ms) == (2, ("orders",), 300_000)
    assert [each.partitions for each in body.topic_partitions] == [(1,)]


def test_leaving_waits_for_the_answer_under_way_and_for_the_owner() -> None:
    member = joined(1)
    member.tick(10**12)
    (drop,) = member.leave(0)
    assert drop == Drop({ORDERS.topic_id: frozenset((1,))})
    assert member.dropped(0) == []
    assert member.state is S.LEAVING
    body = asked(member.answered(answer(2, 1, 3), 1))
    assert (body.member_epoch, body.subscribed_topic_names) == (-1, None)
    assert member.state is S.UNSUBSCRIBED
    assert member.answered(answer(-1), 2) == []
    assert member.deadline is None
    with pytest.raises(InvalidTransition):
        member.answered(answer(-1), 2)


@pytest.mark.parametrize(("instance", "stale", "epoch", "state"), [
    (None, False, -1, S.UNSUBSCRIBED), ("i", False, -2, S.UNSUBSCRIBED), (None, True, -1, S.STALE), ("i", True, -1, S.STALE),
])  # fmt: skip
def test_the_epoch_of_the_good_bye(instance: str | None, stale: bool, epoch: int, state: ConsumerMemberState) -> None:
    member = joined(instance_id=instance)
    member.leave(0, stale=stale)
    assert asked(member.dropped(0)).member_epoch == epoch
    assert member.state is state
    assert member.join(0) == []  # the answer to the good-bye is waited for
    assert asked(member.answered(answer(epoch), 0)).member_epoch == 0
    assert member.state is S.JOINING


def test_a_member_that_is_fenced_leaves_without_a_word() -> None:
    member = joined()
    member.tick(10**12)
    member.answered(answer(0, error=25), 0)
    assert member.leave(0) == []
    assert member.state is S.UNSUBSCRIBED


@pytest.mark.parametrize("state", list(S))
def test_every_state_takes_every_call_or_refuses_it(state: ConsumerMemberState) -> None:
    """A call that the table does not have in a state changes nothing."""
    calls = {
        ConsumerMemberEvent.JOIN: lambda member: member.join(0),
        ConsumerMemberEvent.LEAVE: lambda member: member.leave(0),
        ConsumerMemberEvent.DROPPED: lambda member: member.dropped(0),
    }
    for event, call in calls.items():
        member = role()
        member.state = state
        if CONSUMER_MEMBER.allows(state, event):
            call(member)
            continue
        with pytest.raises(InvalidTransition):
            call(member)
        assert member.state is state


# the coordinator


def test_nothing_is_given_before_it_is_given_up() -> None:
    group = coordinator()
    first = ask(group, asked(ConsumerGroupMemberRole("g", "a", ["orders"]).join(0)))
    assert [each.partitions for each in first.assignment.topic_partitions] == [(0, 1, 2, 3)]
    assert group.state is ConsumerGroupState.STABLE
    second = ask(group, asked(ConsumerGroupMemberRole("g", "b", ["orders"]).join(0)))
    assert (second.member_epoch, second.assignment.topic_partitions) == (3, [])
    assert group.members["b"].state is AtCoordinator.UNRELEASED_PARTITIONS
    beat = messages.ConsumerGroupHeartbeatRequest(group_id="g", member_id="a", member_epoch=2)
    told = ask(group, beat, 5)
    assert (told.member_epoch, [each.partitions for each in told.assignment.topic_partitions]) == (2, [(0, 2)])
    assert group.members["a"].state is AtCoordinator.UNREVOKED_PARTITIONS
    assert group.state is ConsumerGroupState.RECONCILING
    # who does not give up in time is out, and the other one gets all
    late = 5 + 300_000 * MS
    for t in range(0, late, 30_000 * MS):
        assert ask(group, beat, t).error_code == 0
        ask(group, messages.ConsumerGroupHeartbeatRequest(group_id="g", member_id="b", member_epoch=3), t)
    assert group.tick(late - 1) == []
    assert group.deadline == late
    assert group.tick(late) == [MemberGone("a", "did_not_revoke")]
    assert ask(group, beat, late).error_code == 25
    told = ask(group, messages.ConsumerGroupHeartbeatRequest(group_id="g", member_id="b", member_epoch=3), late)
    assert [each.partitions for each in told.assignment.topic_partitions] == [(0, 1, 2, 3)]


def test_a_silent_member_is_out() -> None:
    group = coordinator(session_ms=10)
    ask(group, asked(ConsumerGroupMemberRole("g", "a", ["orders"]).join(0)))
    assert group.tick(10 * MS - 1) == []
    assert group.tick(10 * MS) == [MemberGone("a", "session_expired")]
    assert group.state is ConsumerGroupState.EMPTY
    group.remove()
    assert ask(group, asked(ConsumerGroupMemberRole("g", "a", ["orders"]).join(0))).error_code == 69


def test_a_pattern_and_new_topics() -> None:
    group = coordinator()
    told = ask(group, asked(ConsumerGroupMemberRole("g", "a", topic_regex="b.*").join(0)))
    assert [each.topic_id for each in told.assignment.topic_partitions] == [BILLS.topic_id]
    assert ask(group, asked(ConsumerGroupMemberRole("g", "x", topic_regex="(").join(0))).error_code == 128
    boats = Topic(Uuid(bytes(15) + b"\3"), 1)
    group.topics_changed({**TOPICS, "boats": boats})
    told = ask(group, messages.ConsumerGroupHeartbeatRequest(group_id="g", member_id="a", member_epoch=2))
    assert [each.topic_id for each in told.assignment.topic_partitions] == [BILLS.topic_id, boats.topic_id]
    assert told.member_epoch == 3


def test_an_instance_id_is_free_when_its_member_left_for_a_while() -> None:
    group = coordinator()
    first, second = (asked(ConsumerGroupMemberRole("g", name, ["orders"], instance_id="i").join(0)) for name in "ab")
    assert ask(group, first).error_code == 0
    assert ask(group, second).error_code == 111  # UNRELEASED_INSTANCE_ID
    leaving = messages.ConsumerGroupHeartbeatRequest(group_id="g", member_id="a", instance_id="i", member_epoch=-2)
    assert ask(group, leaving).error_code == 0
    assert ask(group, second).error_code == 0
    assert list(group.members) == ["b"]


def test_an_assignor_that_the_coordinator_has_not_is_refused() -> None:
    group = coordinator(assignors=("range",))
    for assignor, error in (("uniform", 112), ("range", 0)):  # UNSUPPORTED_ASSIGNOR
        body = asked(ConsumerGroupMemberRole("g", "a", ["orders"], server_assignor=assignor).join(0))
        assert ask(group, body).error_code == error


@pytest.mark.parametrize(("version", "error"), [(0, 0), (1, 42)])
def test_from_version_1_on_a_member_makes_its_own_id(version: int, error: int) -> None:
    """KIP-1082: before, the coordinator gave one."""
    body = asked(ConsumerGroupMemberRole("g", "", ["orders"]).join(0))
    (found,) = coordinator().heartbeat(body, version, "to", 0)
    assert isinstance(found, Answer)
    assert (found.body.error_code, found.body.member_id or "") == (error, "" if error else "0")


def test_a_full_group_takes_no_more() -> None:
    group = coordinator(max_size=1)
    ask(group, asked(ConsumerGroupMemberRole("g", "a", ["orders"]).join(0)))
    assert ask(group, asked(ConsumerGroupMemberRole("g", "b", ["orders"]).join(0))).error_code == 81


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(("join", "beat", "leave", "other", "late", "vanish"))), max_size=60))
def test_no_partition_is_ever_with_two_members(script: list[tuple[int, str]]) -> None:
    """Members come, go, vanish and are fenced as chance has it; in the end who is left has everything, each partition once."""
    group = coordinator(session_ms=1000, heartbeat_ms=10)
    roles = {name: ConsumerGroupMemberRole("g", name, ["orders"]) for name in "abcde"}
    now = 0

    def play(member: ConsumerGroupMemberRole, outcomes: Sequence[Any]) -> None:
        queue = list(outcomes)
        for _ in range(100):
            if not queue:
                break
            each = queue.pop(0)
            if isinstance(each, Ask):
                queue += member.answered(ask(group, each.body, now), now)
            elif isinstance(each, Reconcile):
                queue += member.reconciled(now)
            elif isinstance(each, Drop):
                queue += member.dropped(now)
            elif isinstance(each, Fenced):
                queue += member.join(now)
            else:
                raise AssertionError(each)
        assert not queue
        held = [(topic, number) for other in roles.values() for topic, some in other.has.items() for number in some]
        assert len(held) == len(set(held))

    for index, what in script:
        name = "abcde"[index]
        member = roles[name]
        now += 11 * MS
        if what == "join" and CONSUMER_MEMBER.allows(member.state, ConsumerMemberEvent.JOIN):
            play(member, member.join(now))
        elif what == "leave" and CONSUMER_MEMBER.allows(member.state, ConsumerMemberEvent.LEAVE):
            play(member, member.leave(now))
        elif what == "other":
            play(member, member.subscribe(["orders", "bills"] if len(member.topics) == 1 else ["orders"], now))
        elif what == "vanish":
            roles[name] = ConsumerGroupMemberRole("g", name, ["orders"])  # its process was started anew
        else:
            play(member, member.tick(now + (20 * MS if what == "late" else 0)))
        group.tick(now)
    for _ in range(120):
        now += 11 * MS
        for member in roles.values():
            play(member, member.tick(now))
        group.tick(now)
    inside = [member for member in roles.values() if member.state is S.STABLE]
    wanted = {topic for member in inside for topic in member.topics}
    held = {(topic, number) for member in inside for topic, some in member.has.items() for number in some}
    assert held == {(TOPICS[name].topic_id, number) for name in wanted for number in range(TOPICS[name].partitions)}
    assert group.state is (ConsumerGroupState.STABLE if inside else ConsumerGroupState.EMPTY)
