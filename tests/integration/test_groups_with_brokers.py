"""Both sides of a classic group against real brokers: a member joins one, and the coordinator answers what a broker answers (KIP-559)."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import count
from typing import Any

import pytest

import kwire
from kwire import messages
from kwire.protocol.groups import GroupCoordinatorRole, GroupMemberRole
from kwire.protocol.groups.group_states import MemberState
from kwire.protocol.groups.outcomes import Answer, Ask, Assigned, Failed
from kwire.schema import catalog, releases

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

BOTH = [releases().newest.name, releases().resolve("3.9").name]
JOIN, HEARTBEAT, LEAVE, SYNC = 11, 12, 13, 14
Asking = Callable[[Any, int | None], Any]
Coordinated = Callable[[int, str], AbstractContextManager[Asking]]


def drive(ask: Asking, role: GroupMemberRole, outcomes: list[Any]) -> Any:
    """Send what a member asks until it is in the group or has failed."""
    take = {JOIN: role.joined, SYNC: role.synced, HEARTBEAT: role.beaten}
    while True:
        for each in outcomes:
            if isinstance(each, Assigned | Failed):
                return each
        (question,) = (each for each in outcomes if isinstance(each, Ask))
        key = catalog()[type(question.body).layout.message].api_key
        outcomes = take[key](ask(question.body, None), time.monotonic_ns())
        assert outcomes, role.state


@pytest.fixture(params=BOTH)
def broker(request: pytest.FixtureRequest, kafka_broker: Callable[[str], Any]) -> Any:
    return kafka_broker(request.param)


@pytest.mark.requirement("K559-11", "K559-39", "K559-40")
def test_a_member_joins_beats_and_leaves(broker: Any, coordinated: Coordinated) -> None:
    with coordinated(broker.plain, "kwire-member") as ask:
        role = GroupMemberRole("kwire-member", [("range", b"r")], lambda _, told: dict.fromkeys(told, b"work"), protocol_type="kwire")
        assert drive(ask, role, role.join(time.monotonic_ns())) == Assigned(1, b"work")
        (beat,) = role.tick(time.monotonic_ns() + 10**10)
        assert ask(beat.body, None).error_code == 0
        (bye,) = role.leave(time.monotonic_ns())
        assert [each.error_code for each in ask(bye.body, None).members] == [0]
        # a member of another type is refused, and does not go on
        first = GroupMemberRole("kwire-types", [("range", b"")], protocol_type="kwire")
        drive(ask, first, first.join(0))
        other = GroupMemberRole("kwire-types", [("range", b"")], protocol_type="connect")
        assert drive(ask, other, other.join(0)).error == 23
        assert other.state is MemberState.FAILED


@pytest.mark.requirement("K559-35", "K559-36", "K559-37", "K559-38")
def test_the_coordinator_answers_what_a_broker_answers(broker: Any, coordinated: Coordinated) -> None:
    """The same requests to both, those that break several rules at once among them: the same errors, in the same order of checks."""
    group = GroupCoordinatorRole("kwire-checks", count(1).__next__, initial_delay_ms=0)  # type: ignore[arg-type]
    protocol = messages.JoinGroupRequest.JoinGroupRequestProtocol
    takes = {JOIN: group.join, SYNC: group.sync, HEARTBEAT: group.heartbeat, LEAVE: group.leave}

    def joining(member: str = "", *names: str, **more: Any) -> Any:
        values = {
            "group_id": "kwire-checks",
            "session_timeout_ms": 30_000,
            "rebalance_timeout_ms": 30_000,
            "protocol_type": "kwire",
            **more,
        }
        return messages.JoinGroupRequest(member_id=member, protocols=[protocol(name=name, metadata=b"") for name in names], **values)

    def syncing(member: str, generation: int, kind: str | None, name: str | None, group_id: str = "kwire-checks") -> Any:
        return messages.SyncGroupRequest(
            group_id=group_id, member_id=member, generation_id=generation, protocol_type=kind, protocol_name=name
        )

    def ours(body: Any, version: int) -> Any:
        key = catalog()[type(body).layout.message].api_key
        (answer,) = (each for each in takes[key](body, version, 0, 0) if isinstance(each, Answer))
        return kwire.decode_response(kwire.encode_response(1, answer.body, key, version), key, version).body

    # {} stands for the member's id, which each side gives itself
    asked: list[tuple[Callable[[str], Any], int]] = [
        (lambda _: joining("nobody", "range"), 9),  # before the group exists
        (lambda _: joining("", "range", session_timeout_ms=1), 9),
        (lambda _: joining("", "range", protocol_type=""), 9),
        (lambda _: joining(""), 9),
        (lambda _: joining("", "range"), 9),  # its answer has the member's id
        (lambda m: joining(m, "range"), 9),
        (lambda m: syncing(m, 1, "kwire", "range"), 5),
        (lambda _: syncing("nobody", 9, None, "range"), 5),
        (lambda _: syncing("nobody", 9, None, None, ""), 5),
        (lambda _: syncing("nobody", 9, "kwire", "range", ""), 5),
        (lambda _: syncing("nobody", 9, "connect", "x"), 5),
        (lambda m: syncing(m, 9, "connect", "x"), 5),
        (lambda m: syncing(m, 1, "connect", "range"), 5),
        (lambda m: syncing(m, 1, "kwire", "x"), 5),
        (lambda m: syncing(m, 1, None, None), 4),
        (lambda m: syncing(m, 1, "kwire", "range"), 5),
        (lambda _: joining("nobody", "x"), 9),
        (lambda _: joining("nobody", "range"), 9),
        (lambda _: joining("", "range", protocol_type="connect"), 9),
        (lambda m: messages.HeartbeatRequest(group_id="kwire-checks", member_id=m, generation_id=9), 4),
        (lambda m: messages.HeartbeatRequest(group_id="kwire-checks", member_id=m, generation_id=1), 4),
        (lambda _: messages.HeartbeatRequest(group_id="kwire-checks", member_id="nobody", generation_id=9), 4),
    ]
    with coordinated(broker.plain, "kwire-checks") as ask:
        ids = ["", ""]
        for number, (make, version) in enumerate(asked):
            answers = [ask(make(ids[0]), version), ours(make(ids[1]), version)]
            for side, answer in enumerate(answers):
                if answer.error_code == 79:
                    ids[side] = answer.member_id
            theirs, own = answers
            assert (number, own.error_code) == (number, theirs.error_code)
            for field in ("generation_id", "protocol_type", "protocol_name"):
                assert (number, field, getattr(own, field, None)) == (number, field, getattr(theirs, field, None))
        member = messages.LeaveGroupRequest.MemberIdentity(member_id=ids[0])
        ask(messages.LeaveGroupRequest(group_id="kwire-checks", members=[member]), 4)
