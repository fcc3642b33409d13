"""Steps of groups that the native tracker makes are those of Python's rules, whatever members are called and whatever they send."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kwire
from kwire import messages
from one_connection import CLIENT, SERVER, read_connection

JOIN, LEAVE, SYNC = 11, 13, 14

TOPICS = bytes.fromhex("0000 00000002 0001 62 0001 61 ffffffff")  # a subscription to b and a
ASSIGNED = bytes.fromhex("0000 00000001 0001 62 00000002 00000003 00000001 ffffffff")
WORK = bytes.fromhex("0000 0000 00016c 000175 0000000000000007 00000001 0001 62 00000002 ffffffff 00000000")  # of a Connect worker
TEXT = st.sampled_from(["m-1", "m-2", "", 'say "hi"\\', "tab\tnew\nline\r\b\f\x01\x1f\x7f", "naïve-☃-𝄞"]) | st.text(
    st.characters(codec="utf-8"), max_size=5
)
NULLABLE = TEXT | st.none()
METADATA = st.sampled_from([TOPICS, TOPICS, b"", b"\0", b"not a subscription"])
TYPE = st.sampled_from(["consumer", "consumer", "connect", ""])
NAME = st.sampled_from(["range", "sticky", ""])


def joining(draw: Any) -> tuple[int, Any, Any]:
    version = draw(st.integers(0, 9))
    request, response = messages.JoinGroupRequest(), messages.JoinGroupResponse()
    request.group_id, request.member_id, request.protocol_type = draw(TEXT), draw(TEXT), draw(TYPE)
    request.session_timeout_ms = draw(st.sampled_from([30_000, 0, -1]))
    request.rebalance_timeout_ms = draw(st.sampled_from([60_000, 5])) if version else -1
    request.protocols = [
        messages.JoinGroupRequest.JoinGroupRequestProtocol(name=draw(NAME), metadata=draw(METADATA)) for _ in range(draw(st.integers(0, 3)))
    ]
    response.error_code, response.generation_id = draw(st.sampled_from([0, 0, 27])), draw(st.integers(-1, 9))
    response.protocol_name = draw(NAME | st.none()) if version >= 7 else draw(NAME)
    response.leader, response.member_id = draw(TEXT), draw(TEXT)
    response.members = [
        messages.JoinGroupResponse.JoinGroupResponseMember(member_id=draw(TEXT), metadata=draw(METADATA))
        for _ in range(draw(st.integers(0, 3)))
    ]
    if version >= 5:
        request.group_instance_id = draw(NULLABLE)
        for member in response.members:
            member.group_instance_id = draw(NULLABLE)
    if version >= 8:
        request.reason = draw(NULLABLE)
    return version, request, response


def leaving(draw: Any) -> tuple[int, Any, Any]:
    version = draw(st.integers(0, 5))
    request, response = messages.LeaveGroupRequest(), messages.LeaveGroupResponse()
    request.group_id = draw(TEXT)
    response.error_code = draw(st.sampled_from([0, 25]))
    if version < 3:
        request.member_id = draw(TEXT)
        return version, request, response
    one = st.tuples(st.sampled_from(["m-1", "m-2", ""]) | TEXT, st.sampled_from([None, "i-1", ""]))
    members = draw(st.lists(one, max_size=4))
    request.members = [messages.LeaveGroupRequest.MemberIdentity(member_id=name, group_instance_id=instance) for name, instance in members]
    if version >= 5:
        for member in request.members:
            member.reason = draw(NULLABLE)
    answered = draw(st.permutations(members)) + draw(st.lists(one, max_size=2))
    response.members = [
        messages.LeaveGroupResponse.MemberResponse(
            member_id=name, group_instance_id=instance, error_code=draw(st.sampled_from([0, 25, 82]))
        )
        for name, instance in answered
    ]
    return version, request, response


def syncing(draw: Any) -> tuple[int, Any, Any]:
    version = draw(st.integers(0, 5))
    request, response = messages.SyncGroupRequest(), messages.SyncGroupResponse()
    request.group_id, request.member_id, request.generation_id = draw(TEXT), draw(TEXT), draw(st.integers(-1, 9))
    response.error_code = draw(st.sampled_from([0, 27]))
    response.assignment = draw(st.sampled_from([ASSIGNED, ASSIGNED, WORK, b"", b"\0", b"not an assignment"]))
    if version >= 3:
        request.group_instance_id = draw(NULLABLE)
    if version >= 5:
        request.protocol_type, request.protocol_name = draw(TYPE | st.none()), draw(NAME | st.none())
        response.protocol_type, response.protocol_name = draw(TYPE | st.none()), draw(NAME | st.none())
    return version, request, response


@st.composite
def talks(draw: Any) -> list[tuple[int, bytes]]:
    """Frames of both sides, one exchange after the other; the last may stay without an answer."""
    sent = []
    for number in range(draw(st.integers(1, 4))):
        key, make = draw(st.sampled_from([(JOIN, joining), (LEAVE, leaving), (SYNC, syncing)]))
        version, request, response = make(draw)
        flexible = version >= {JOIN: 6, LEAVE: 4, SYNC: 4}[key]
        head = struct.pack(">hhih", key, version, number, 3) + b"app" + b"\0" * flexible
        sent.append((CLIENT, head + kwire.encode(request, version)))
        sent.append((SERVER, struct.pack(">i", number) + b"\0" * flexible + kwire.encode(response, version)))
    return sent[: len(sent) - draw(st.integers(0, 1))]


def steps_of(sent: list[tuple[int, bytes]], snaplen: int, twin: str) -> list[dict[str, Any]]:
    """The rows of `group_steps` of frames of which at most `snaplen` bytes were captured."""
    batches = read_connection(sent, twin, snaplen).observed.builders["group_steps"].take(whole=True)
    return [row for batch in batches for row in batch.to_pylist()]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(talk=talks(), snaplen=st.sampled_from([9000, 9000, 30, 45, 60, 90]))
def test_steps_are_those_of_python(talk: list[tuple[int, bytes]], snaplen: int) -> None:
    assert steps_of(talk, snaplen, "native") == steps_of(talk, snaplen, "pure")


def test_members_are_json() -> None:
    """As hand-worked: the answer that counts is the last one of the same member, and control characters are escaped."""
    request = messages.LeaveGroupRequest(group_id="g")
    identity, answered = messages.LeaveGroupRequest.MemberIdentity, messages.LeaveGroupResponse.MemberResponse
    request.members = [identity(member_id='a"\n\x01', reason="é"), identity(member_id="b", group_instance_id="i")]
    response = messages.LeaveGroupResponse(members=[answered(member_id="b", group_instance_id="i", error_code=code) for code in (25, 82)])
    frames = [
        (CLIENT, struct.pack(">hhih", LEAVE, 5, 7, -1) + b"\0" + kwire.encode(request, 5)),
        (SERVER, struct.pack(">i", 7) + b"\0" + kwire.encode(response, 5)),
    ]
    (step,) = steps_of(frames, 9000, "native")
    assert step["members"] == r'[["a\"\n\u0001",null,null,"é",0],["b","i",null,null,82]]'
    assert (step["event"], step["member_id"], step["response_time"].microsecond) == ("leave", None, 4_938)


@pytest.mark.parametrize("twin", ["pure", "native"])
@pytest.mark.parametrize(("codes", "expected"), [((25, 82), 25), ((25, 0), 0), ((0, 0), 0)])
def test_a_leave_has_failed_if_nobody_left(twin: str, codes: tuple[int, ...], expected: int) -> None:
    """The code of the whole response is 0; each member has its own (KIP-345)."""
    names = "ab"
    request = messages.LeaveGroupRequest(
        group_id="g", members=[messages.LeaveGroupRequest.MemberIdentity(member_id=name) for name in names]
    )
    answered = messages.LeaveGroupResponse.MemberResponse
    response = messages.LeaveGroupResponse(
        members=[answered(member_id=name, group_instance_id=None, error_code=code) for name, code in zip(names, codes, strict=True)]
    )
    frames = [
        (CLIENT, struct.pack(">hhih", LEAVE, 5, 7, -1) + b"\0" + kwire.encode(request, 5)),
        (SERVER, struct.pack(">i", 7) + b"\0" + kwire.encode(response, 5)),
    ]
    (step,) = steps_of(frames, 9000, twin)
    assert step["error_code"] == expected
