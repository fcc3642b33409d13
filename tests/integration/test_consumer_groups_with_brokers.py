"""Both sides of a group with KIP-848 against a real broker: members join one, and the coordinator answers what a broker answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import pytest

import kwire
from kwire import messages
from kwire.codec.uuids import Uuid
from kwire.protocol.groups import ConsumerGroupMemberRole, ConsumerGroupRole
from kwire.protocol.groups.consumer_coordinator_role import Topic
from kwire.protocol.groups.consumer_group_states import ConsumerGroupState, ConsumerMemberState
from kwire.protocol.groups.consumer_outcomes import Drop, Fenced, Partitions, Reconcile
from kwire.protocol.groups.outcomes import Answer, Ask, Failed
from kwire.schema import releases

# Brokers of 3.9 have these groups in preview, off by default.
pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]
NEWEST = releases().newest.name
HEARTBEAT = 68
Asking = Callable[..., Any]
Coordinated = Callable[[int, str], AbstractContextManager[Asking]]


def made_topic(ask: Asking, name: str, partitions: int) -> Topic:
    creatable = messages.CreateTopicsRequest.CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
    (made,) = ask(messages.CreateTopicsRequest(topics=[creatable], timeout_ms=30_000), 7).topics
    assert made.error_code == 0, made
    until = time.monotonic() + 30
    wanted = messages.MetadataRequest.MetadataRequestTopic(name=name)
    while ask(messages.MetadataRequest(topics=[wanted]), 12).topics[0].error_code:
        assert time.monotonic() < until
        time.sleep(0.1)
    # groups learn of topics a little later
    group, join = f"{name}-probe", messages.ConsumerGroupHeartbeatRequest(rebalance_timeout_ms=1000, topic_partitions=[])
    join.group_id, join.member_id, join.subscribed_topic_names = group, "probe", [name]
    bye = messages.ConsumerGroupHeartbeatRequest(group_id=group, member_id="probe", member_epoch=-1)
    while not ask(join, 1).assignment.topic_partitions:
        assert time.monotonic() < until
        assert ask(bye, 1).error_code == 0
        time.sleep(0.1)
    ask(bye, 1)
    return Topic(Uuid(made.topic_id), partitions)


class Member:
    """A role and what its owner does at once: gives up, takes over, drops, joins again."""

    def __init__(self, ask: Asking, role: ConsumerGroupMemberRole) -> None:
        self.ask = ask
        self.role = role
        self.seen: list[Any] = []

    def play(self, outcomes: Sequence[Any]) -> None:
        queue = list(outcomes)
        while queue:
            each = queue.pop(0)
            now = time.monotonic_ns()
            self.seen.append(each)
            if isinstance(each, Ask):
                queue += self.role.answered(self.ask(each.body, 1), now)
            elif isinstance(each, Reconcile):
                queue += self.role.reconciled(now)
            elif isinstance(each, Drop):
                queue += self.role.dropped(now)
            elif isinstance(each, Fenced):
                queue += self.role.join(now)

    def beat(self) -> None:
        self.play(self.role.tick(time.monotonic_ns() + 10**12))

    def count(self) -> int:
        return sum(map(len, self.role.has.values()))


def until(*members: Member, holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, [(each.role.state, each.role.epoch, each.role.has) for each in members]
        for each in members:
            each.beat()
        time.sleep(0.1)


def test_members_share_a_topic_and_are_fenced(kafka_broker: Callable[[str], Any], coordinated: Coordinated) -> None:
    broker = kafka_broker(NEWEST)
    with coordinated(broker.plain, "kwire-848") as ask:
        topic = made_topic(ask, "kwire-848", 6)
        first = Member(ask, ConsumerGroupMemberRole("kwire-848", "first", ["kwire-848"]))
        second = Member(ask, ConsumerGroupMemberRole("kwire-848", "second", ["kwire-848"], instance_id="static"))
        first.play(first.role.join(0))
        until(first, holds=lambda: first.count() == 6)
        assert first.role.has == {topic.topic_id: frozenset(range(6))}
        assert first.role.state is ConsumerMemberState.STABLE

        second.play(second.role.join(0))
        until(first, second, holds=lambda: first.count() == second.count() == 3)
        assert first.role.has[topic.topic_id] | second.role.has[topic.topic_id] == frozenset(range(6))
        assert first.role.epoch == second.role.epoch

        # a static member that goes for a while keeps its partitions, under another member id
        second.play(second.role.leave(0))
        assert second.seen[-1].body.member_epoch == -2
        assert second.role.state is ConsumerMemberState.UNSUBSCRIBED
        first.beat()
        assert first.count() == 3
        again = Member(ask, ConsumerGroupMemberRole("kwire-848", "second-again", ["kwire-848"], instance_id="static"))
        again.play(again.role.join(0))
        until(first, again, holds=lambda: again.count() == 3)

        # the one that it was is fenced, and so is a member with an epoch that is not its own
        second.role.state, second.role.epoch, second.role._due = ConsumerMemberState.STABLE, again.role.epoch, 0
        second.beat()
        assert isinstance(second.seen[-1], Failed)
        assert second.seen[-1].error == 82
        assert second.role.state is ConsumerMemberState.FATAL
        first.role.epoch = 99
        first.beat()
        fenced = next(each for each in first.seen if isinstance(each, Fenced))
        assert (fenced.error, sum(map(len, fenced.partitions.values()))) == (110, 3)
        assert first.role.epoch < 99
        until(first, again, holds=lambda: first.count() == again.count() == 3)

        for each in (first, again):
            each.play(each.role.leave(0, stale=True))
            assert each.role.state is ConsumerMemberState.STALE
        assert ask(messages.ConsumerGroupDescribeRequest(group_ids=["kwire-848"]), 1).groups[0].group_state == "Empty"


def spread(members: Mapping[str, Sequence[Topic]]) -> Mapping[str, Partitions]:
    """As many partitions for each as the broker's assignors give."""
    given: dict[str, dict[Uuid, frozenset[int]]] = {member_id: {} for member_id in members}
    for topic in {each for wanted in members.values() for each in wanted}:
        takers = sorted(member_id for member_id, wanted in members.items() if topic in wanted)
        for index, member_id in enumerate(takers):
            given[member_id][topic.topic_id] = frozenset(range(index, topic.partitions, len(takers)))
    return given


def test_the_coordinator_answers_what_a_broker_answers(kafka_broker: Callable[[str], Any], coordinated: Coordinated) -> None:
    """The same heartbeats to both, good and bad: the same errors in the same order of checks, the same epochs, as many partitions."""
    broker = kafka_broker(NEWEST)
    with coordinated(broker.plain, "kwire-848-checks") as ask:
        topic = made_topic(ask, "kwire-848-checks", 4)
        group = ConsumerGroupRole("kwire-848-checks", {"kwire-848-checks": topic}, spread, lambda: "made")

        def joining(member: str, **more: Any) -> dict[str, Any]:
            told = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": ["kwire-848-checks"], "topic_partitions": []}
            return {"member_id": member, "member_epoch": 0, **told, **more}

        def beat(member: str, epoch: int, **more: Any) -> dict[str, Any]:
            return {"member_id": member, "member_epoch": epoch, **more}

        def owning(*numbers: int) -> list[Any]:
            if not numbers:
                return []
            return [messages.ConsumerGroupHeartbeatRequest.TopicPartitions(topic_id=topic.topic_id, partitions=numbers)]

        asked: list[tuple[dict[str, Any], int]] = [
            (beat("a", 1), 1),  # before there is a group
            (beat("a", -1), 1),
            (beat("a", -3), 1),
            (beat("a", -2), 1),
            (beat("", 0), 1),
            (beat("a", 0), 1),
            (joining("a", rebalance_timeout_ms=-1), 1),
            (joining("a", topic_partitions=None), 1),
            (joining("a", topic_partitions=owning(1)), 1),
            (joining("a", subscribed_topic_names=None), 1),
            (joining("a", server_assignor="none"), 1),
            (joining("a", server_assignor="none", rebalance_timeout_ms=-1), 1),
            (joining("a", rack_id=""), 1),
            (joining("a", instance_id=""), 1),
            (joining("a"), 1),
            (joining("a"), 1),  # the answer was lost
            (beat("a", 1), 1),
            (beat("a", 2), 1),
            (beat("a", 2, topic_partitions=owning(0, 1, 2, 3)), 1),
            (beat("a", 3), 1),
            (beat("b", 1), 1),
            (beat("b", -1), 1),
            (beat("a", 2, instance_id="i"), 1),
            (beat("a", 2, group_id=""), 1),
            (joining("b"), 1),
            (beat("a", 2), 1),  # it has to give up two
            (beat("a", 2), 1),
            (beat("b", 3), 1),
            (beat("a", 2, topic_partitions=owning(0, 1, 2, 3)), 1),
            (beat("a", 2, topic_partitions=owning()), 1),
            (beat("a", 2, topic_partitions=owning()), 1),  # the epoch before, and a part of what it has: the answer was lost
            (beat("a", 2), 1),
            (beat("b", 3), 1),
            (joining("c", instance_id="i"), 1),
            (joining("c", instance_id="i"), 1),
            (joining("d", instance_id="i"), 1),
            (beat("d", 4, instance_id="i"), 1),
            (beat("d", -1, instance_id="i"), 1),
            (beat("c", 9, instance_id="i"), 1),
            (beat("c", -2, instance_id="i"), 1),
            (beat("c", -2), 1),
            (joining("d", instance_id="i"), 1),
            (beat("c", 4, instance_id="i"), 1),
            (beat("d", 4, instance_id="i"), 1),
            (beat("a", 3, subscribed_topic_names=[]), 1),
            (beat("d", -1, instance_id="i"), 1),
            (beat("b", -1), 1),
            (beat("b", 2), 1),
            (beat("a", -1), 1),
            (beat("a", 1), 1),
            (beat("a", -1), 1),
            (joining(""), 0),
        ]
        differing = []
        for number, (values, version) in enumerate(asked):
            body = messages.ConsumerGroupHeartbeatRequest(**{"group_id": "kwire-848-checks", **values})
            theirs = ask(body, version)
            sent = kwire.decode("ConsumerGroupHeartbeatRequest", kwire.encode(body, version), version)
            (made,) = (each for each in group.heartbeat(sent, version, 0, 0) if isinstance(each, Answer))
            own = kwire.decode_response(kwire.encode_response(1, made.body, HEARTBEAT, version), HEARTBEAT, version).body
            ours_and_theirs = [
                (own.error_code, own.member_id, own.member_epoch),
                (theirs.error_code, theirs.member_id, theirs.member_epoch),
            ]
            if not values["member_id"]:
                ours_and_theirs = [(each[0], bool(each[1]), each[2]) for each in ours_and_theirs]  # each gives an id of its own
            if not theirs.error_code:
                counts = [
                    None if each.assignment is None else sum(len(some.partitions) for some in each.assignment.topic_partitions)
                    for each in (own, theirs)
                ]
                ours_and_theirs = [(*told, count) for told, count in zip(ours_and_theirs, counts, strict=True)]
            if ours_and_theirs[0] != ours_and_theirs[1]:
                differing.append((number, values, *ours_and_theirs, theirs.error_message, made.reason))
        assert not differing, "\n".join(map(str, differing))
        assert group.state is ConsumerGroupState.STABLE
