"""Groups seen by a tap: the steps of both twins whatever members are called and send, and the violations of protocol types (KIP-559)."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kwire
from kafka_bytes import head
from kwire import messages
from made_packets import CLIENT, SERVER
from read_by_twins import read_connection

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


Exchange = tuple[int, int, Any, Any]  # api, version, request, response


def frames_of(exchanges: list[Exchange]) -> list[tuple[int, bytes]]:
    """Frames of both sides, one exchange after the other, without their lengths."""
    sent = []
    for number, (key, version, request, response) in enumerate(exchanges):
        tags = b"\0" * (version >= {JOIN: 6, LEAVE: 4, SYNC: 4}[key])
        sent.append((CLIENT, head(key, version, number) + tags + kwire.encode(request, version)))
        sent.append((SERVER, struct.pack(">i", number) + tags + kwire.encode(response, version)))
    return sent


APIS = [(JOIN, joining), (LEAVE, leaving), (SYNC, syncing)]


@st.composite
def talks(draw: Any) -> list[tuple[int, bytes]]:
    """The frames of exchanges; the last may stay without an answer."""
    made = [(key, *make(draw)) for key, make in draw(st.lists(st.sampled_from(APIS), min_size=1, max_size=4))]
    return frames_of(made)[: 2 * len(made) - draw(st.integers(0, 1))]


def steps_of(sent: list[tuple[int, bytes]], snaplen: int, twin: str) -> list[dict[str, Any]]:
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
    (step,) = steps_of(frames_of([(LEAVE, 5, request, response)]), 9000, "native")
    assert step["members"] == r'[["a\"\n\u0001",null,null,"é",0],["b","i",null,null,82]]'
    assert (step["event"], step["member_id"], step["response_time"].microsecond) == (
        "leave",
        None,
        5,
    )  # behind a handshake of 3 packets and the request


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
    (step,) = steps_of(frames_of([(LEAVE, 5, request, response)]), 9000, twin)
    assert step["error_code"] == expected


def join(*names: str, **more: Any) -> Any:
    protocol = messages.JoinGroupRequest.JoinGroupRequestProtocol
    return messages.JoinGroupRequest(group_id="g", protocol_type="consumer", protocols=[protocol(name=name) for name in names], **more)


def joined(kind: str | None, name: str | None, code: int = 0) -> Any:
    return messages.JoinGroupResponse(error_code=code, protocol_type=kind, protocol_name=name, member_id="m")


def sync(kind: str | None, name: str | None) -> Any:
    return messages.SyncGroupRequest(group_id="g", protocol_type=kind, protocol_name=name)


def synced(kind: str | None, name: str | None, code: int = 0) -> Any:
    return messages.SyncGroupResponse(error_code=code, protocol_type=kind, protocol_name=name)


# version, request, response, and what a tap says of them
TALK: list[tuple[Exchange, list[tuple[str, str]]]] = [
    ((JOIN, 7, join("range", "sticky"), joined("consumer", "sticky")), []),
    ((JOIN, 7, join("range"), joined(None, "range")), []),
    ((JOIN, 5, join("range"), joined(None, "range")), []),
    ((JOIN, 7, join("range"), joined("connect", "range")), [
        ("group_protocol_inconsistent",
         "The response to JoinGroup v7 of group 'g' has protocol type 'connect', the request has 'consumer'."),
    ]),
    ((JOIN, 9, join("range", "sticky"), joined("consumer", "mine")), [
        ("group_protocol_inconsistent",
         "The response to JoinGroup v9 of group 'g' has protocol name 'mine', the request has 'range', 'sticky'."),
    ]),
    ((JOIN, 4, join("range"), joined(None, "", 79)), []),
    ((JOIN, 2, join("range", "sticky"), joined(None, "", 23)), [
        ("group_protocol_refused",
         "JoinGroup v2 of group 'g' was rejected with INCONSISTENT_GROUP_PROTOCOL; the member has 'consumer' with 'range', 'sticky'."),
    ]),
    ((SYNC, 5, sync("consumer", "range"), synced("consumer", "range")), []),
    ((SYNC, 5, sync("consumer", "range"), synced(None, None)), []),
    ((SYNC, 4, sync(None, None), synced(None, None)), []),
    ((SYNC, 5, sync(None, "range"), synced(None, None, 23)), [
        ("group_protocol_missing",
         "SyncGroup v5 of group 'g' must have a protocol type and name; the type is null, the name is 'range'."),
        ("group_protocol_refused",
         "SyncGroup v5 of group 'g' was rejected with INCONSISTENT_GROUP_PROTOCOL; the member has null with 'range'."),
    ]),
    ((SYNC, 5, sync("consumer", "range"), synced("connect", "sticky")), [
        ("group_protocol_inconsistent",
         "The response to SyncGroup v5 of group 'g' has protocol type 'connect', the request has 'consumer'."),
        ("group_protocol_inconsistent", "The response to SyncGroup v5 of group 'g' has protocol name 'sticky', the request has 'range'."),
    ]),
    ((SYNC, 5, sync("consumer", "range"), synced(None, None, 27)), []),
]  # fmt: skip


def violations(twin: str, talk: list[Exchange]) -> list[tuple[str, str]]:
    batches = read_connection(frames_of(talk), twin).violations.take(whole=True)
    return [(row["rule"], row["explanation"]) for batch in batches for row in batch.to_pylist()]


def test_K559_42_what_does_not_fit_is_told_with_both_values(twin: str) -> None:
    assert violations(twin, [exchange for exchange, _ in TALK]) == [each for _, told in TALK for each in told]
    # each on a connection of its own: a finding leaves the state of its connection changed
    for exchange, told in TALK:
        assert violations(twin, [exchange]) == told
