"""JoinGroup and SyncGroup in the versions in which they changed, as bytes worked out by hand: read and written back (KIP-559)."""

from __future__ import annotations

from typing import Any

import pytest

from kwire import messages
from kwire.codec.catalog_codec import Codec
from kwire.errors import EncodeError
from kwire.protocol.events import RequestCompleted
from kwire.protocol.groups import SeenGroups, effective_rebalance_timeout, guess_protocol_type
from kwire.protocol.groups.exchange_checks import exchange_faults
from kwire.protocol.groups.guessing import Guessed
from kwire.protocol.groups.seen_groups import SeenGroup
from kwire.protocol.nested_bytes import Known, decode_nested
from kwire.protocol.tracking.group_steps import group_step
from kwire.schema import catalog

CONSUMER = "636f6e73756d6572"  # "consumer", 8 bytes
RANGE = "72616e6765"  # "range", 5 bytes


@pytest.fixture
def codec(twin) -> Codec:
    return Codec(catalog(), twin)


def both_ways(codec: Codec, name: str, version: int, wire: str, **says: Any) -> Any:
    """Read, compare, write back, and write what was made of values alone."""
    data = bytes.fromhex(wire)
    read = codec.decode(name, data, version)
    assert {field: getattr(read, field) for field in says} == says
    assert codec.encode(read, version) == data
    assert codec.encode(codec.from_json(name, codec.to_json(read, version), version), version) == data
    return read


JOIN_REQUEST = {
    # group "g", session 1000, rebalance 2000 (v1), member "m", instance "i" (v5), "consumer", "range" with ab cd
    0: f"000167 000003e8 00016d 0008{CONSUMER} 00000001 0005{RANGE} 00000002abcd",
    1: f"000167 000003e8 000007d0 00016d 0008{CONSUMER} 00000001 0005{RANGE} 00000002abcd",
    5: f"000167 000003e8 000007d0 00016d 000169 0008{CONSUMER} 00000001 0005{RANGE} 00000002abcd",
    6: f"0267 000003e8 000007d0 026d 0269 09{CONSUMER} 02 06{RANGE} 03abcd 00 00",
    7: f"0267 000003e8 000007d0 026d 0269 09{CONSUMER} 02 06{RANGE} 03abcd 00 00",
    8: f"0267 000003e8 000007d0 026d 0269 09{CONSUMER} 02 06{RANGE} 03abcd 00 037768 00",  # reason "wh"
    9: f"0267 000003e8 000007d0 026d 0269 09{CONSUMER} 02 06{RANGE} 03abcd 00 037768 00",
}


@pytest.mark.requirement("K559-2")
@pytest.mark.parametrize("version", JOIN_REQUEST)
def test_join_group_request(codec: Codec, version: int) -> None:
    says: dict[str, Any] = {"group_id": "g", "session_timeout_ms": 1000, "member_id": "m", "protocol_type": "consumer"}
    says["rebalance_timeout_ms"] = 2000 if version else -1
    says["group_instance_id"] = "i" if version >= 5 else None
    says["reason"] = "wh" if version >= 8 else None
    read = both_ways(codec, "JoinGroupRequest", version, JOIN_REQUEST[version], **says)
    assert [(each.name, each.metadata) for each in read.protocols] == [("range", b"\xab\xcd")]


def test_K559_1_join_group_requests_v6_and_v7_are_equal(codec: Codec) -> None:
    assert JOIN_REQUEST[6] == JOIN_REQUEST[7]
    read = codec.decode("JoinGroupRequest", bytes.fromhex(JOIN_REQUEST[6]), 6)
    assert codec.encode(read, 7) == bytes.fromhex(JOIN_REQUEST[6])
    message = catalog()["JoinGroupRequest"]
    assert (message.flexible_versions.lowest, 7 in message.valid_versions) == (6, True)


def test_K559_2_a_rebalance_timeout_is_left_out_of_v0(codec: Codec) -> None:
    read = codec.decode("JoinGroupRequest", bytes.fromhex(JOIN_REQUEST[1]), 1)
    assert codec.encode(read, 0) == bytes.fromhex(JOIN_REQUEST[0])


def test_K559_4_an_instance_id_is_not_left_out(codec: Codec) -> None:
    request = codec.decode("JoinGroupRequest", bytes.fromhex(JOIN_REQUEST[5]), 5)
    with pytest.raises(EncodeError, match="group_instance_id"):
        codec.encode(request, 4)
    request.group_instance_id = None
    assert codec.encode(request, 4) == bytes.fromhex(JOIN_REQUEST[1])


JOIN_RESPONSE = {
    # throttle 5 (v2), no error, generation 7, "consumer" (v7), "range", leader "l", skip (v9), member "m", its instance "i" (v5), ab cd
    0: f"0000 00000007 0005{RANGE} 00016c 00016d 00000001 00016d 00000002abcd",
    2: f"00000005 0000 00000007 0005{RANGE} 00016c 00016d 00000001 00016d 00000002abcd",
    5: f"00000005 0000 00000007 0005{RANGE} 00016c 00016d 00000001 00016d 000169 00000002abcd",
    6: f"00000005 0000 00000007 06{RANGE} 026c 026d 02 026d 0269 03abcd 00 00",
    7: f"00000005 0000 00000007 09{CONSUMER} 06{RANGE} 026c 026d 02 026d 0269 03abcd 00 00",
    9: f"00000005 0000 00000007 09{CONSUMER} 06{RANGE} 026c 01 026d 02 026d 0269 03abcd 00 00",
}


@pytest.mark.requirement("K559-5", "K559-7")
@pytest.mark.parametrize("version", JOIN_RESPONSE)
def test_join_group_response(codec: Codec, version: int) -> None:
    says: dict[str, Any] = {"generation_id": 7, "protocol_name": "range", "leader": "l", "member_id": "m", "error_code": 0}
    says["throttle_time_ms"] = 5 if version >= 2 else 0
    says["protocol_type"] = "consumer" if version >= 7 else None
    says["skip_assignment"] = version >= 9
    read = both_ways(codec, "JoinGroupResponse", version, JOIN_RESPONSE[version], **says)
    assert [(each.member_id, each.group_instance_id, each.metadata) for each in read.members] == [
        ("m", "i" if version >= 5 else None, b"\xab\xcd")
    ]


@pytest.mark.requirement("K559-5", "K559-7")
def test_what_older_versions_lack_is_left_out(codec: Codec) -> None:
    """The type, the throttle time and the instance ids of members are ignorable in what Kafka released."""
    read = codec.decode("JoinGroupResponse", bytes.fromhex(JOIN_RESPONSE[7]), 7)
    for version in (0, 2, 5, 6):
        assert codec.encode(read, version) == bytes.fromhex(JOIN_RESPONSE[version])
    assert (messages.JoinGroupResponse().generation_id, messages.JoinGroupResponse().protocol_type) == (-1, None)


def test_K559_6_the_name_may_be_null_from_v7_on(codec: Codec) -> None:
    refused = codec.messages.JoinGroupResponse(error_code=23, protocol_name=None)
    # no throttle time, error 23, generation -1, null, null, "", "", no members, no tags
    assert codec.encode(refused, 7).hex() == "00000000" + "0017" + "ffffffff" + "00" + "00" + "01" + "01" + "01" + "00"
    with pytest.raises(EncodeError, match="protocol_name"):
        codec.encode(refused, 6)


def test_K559_12_reason_and_skip_assignment(codec: Codec) -> None:
    request = codec.decode("JoinGroupRequest", bytes.fromhex(JOIN_REQUEST[8]), 8)
    assert request.reason == "wh"
    assert codec.encode(request, 7) == bytes.fromhex(JOIN_REQUEST[7])  # a reason is left out
    response = codec.decode("JoinGroupResponse", bytes.fromhex(JOIN_RESPONSE[9]), 9)
    assert response.skip_assignment is True


SYNC_REQUEST = {
    # group "g", generation 7, member "m", instance "i" (v3), type and name (v5), assignment ab cd for "m"
    0: "000167 00000007 00016d 00000001 00016d 00000002abcd",
    3: "000167 00000007 00016d 000169 00000001 00016d 00000002abcd",
    4: "0267 00000007 026d 0269 02 026d 03abcd 00 00",
    5: f"0267 00000007 026d 0269 09{CONSUMER} 06{RANGE} 02 026d 03abcd 00 00",
}
SYNC_RESPONSE = {
    # throttle 5 (v1), no error, type and name (v5), assignment ab cd
    0: "0000 00000002abcd",
    1: "00000005 0000 00000002abcd",
    4: "00000005 0000 03abcd 00",
    5: f"00000005 0000 09{CONSUMER} 06{RANGE} 03abcd 00",
}


@pytest.mark.requirement("K559-8", "K559-9")
@pytest.mark.parametrize("version", SYNC_REQUEST)
def test_sync_group_request(codec: Codec, version: int) -> None:
    told = ("consumer", "range") if version >= 5 else (None, None)
    says = {"group_id": "g", "generation_id": 7, "member_id": "m", "group_instance_id": "i" if version >= 3 else None}
    read = both_ways(codec, "SyncGroupRequest", version, SYNC_REQUEST[version], protocol_type=told[0], protocol_name=told[1], **says)
    assert [(each.member_id, each.assignment) for each in read.assignments] == [("m", b"\xab\xcd")]
    if version == 5:  # both are left out of what has no room for them
        assert codec.encode(read, 4) == bytes.fromhex(SYNC_REQUEST[4])


def test_K559_8_nulls(codec: Codec) -> None:
    wire = SYNC_REQUEST[5].replace(f"09{CONSUMER} 06{RANGE}", "00 00")
    both_ways(codec, "SyncGroupRequest", 5, wire, protocol_type=None, protocol_name=None)


@pytest.mark.requirement("K559-10")
@pytest.mark.parametrize("version", SYNC_RESPONSE)
def test_sync_group_response(codec: Codec, version: int) -> None:
    told = ("consumer", "range") if version >= 5 else (None, None)
    says = {"throttle_time_ms": 5 if version else 0, "error_code": 0, "assignment": b"\xab\xcd"}
    read = both_ways(codec, "SyncGroupResponse", version, SYNC_RESPONSE[version], protocol_type=told[0], protocol_name=told[1], **says)
    for older in SYNC_RESPONSE:
        if version == 5 and older:
            assert codec.encode(read, older) == bytes.fromhex(SYNC_RESPONSE[older])


# with as little state as older versions need

WORK = bytes.fromhex("0000 00000001 000161 00000001 00000005 ffffffff")


@pytest.mark.requirement("K559-24", "K559-25", "K559-26")
def test_older_versions_are_known_by_the_join_before() -> None:
    seen = SeenGroups()
    assert seen.response(14, 4, "g", messages.SyncGroupResponse()) == SeenGroup(None, None)  # nobody told yet: nothing is guessed
    assert seen.request(11, 5, messages.JoinGroupRequest(group_id="g", protocol_type="connect")) == SeenGroup("connect")
    assert seen.response(11, 5, "g", messages.JoinGroupResponse(protocol_name="sessioned")) == SeenGroup("connect", "sessioned")
    assert seen.request(14, 4, messages.SyncGroupRequest(group_id="g")) == SeenGroup("connect", "sessioned")
    assert seen.response(14, 4, "g", messages.SyncGroupResponse()) == SeenGroup("connect", "sessioned")
    assert seen.response(14, 4, "other", messages.SyncGroupResponse()) == SeenGroup(None, None)
    # what a message says itself counts
    told = messages.SyncGroupResponse(protocol_type="consumer", protocol_name="range")
    assert seen.response(14, 5, "g", told) == SeenGroup("consumer", "range")


def test_K559_43_state_is_bounded_and_newer_versions_need_none() -> None:
    newer, older = SeenGroups(), SeenGroups(most=1_000)
    answer = messages.JoinGroupResponse(protocol_type="consumer", protocol_name="range")
    for number in range(100_000):
        request = messages.JoinGroupRequest(group_id=f"g-{number}", protocol_type="consumer")
        newer.request(11, 7, request)
        newer.response(11, 7, request.group_id, answer)
        older.request(11, 6, request)
        older.response(11, 6, request.group_id, answer)
        assert len(older) <= 1_000
    assert (len(newer), len(older)) == (0, 1_000)
    assert older.request(14, 4, messages.SyncGroupRequest(group_id="g-99000")) == SeenGroup("consumer", "range")
    assert older.request(14, 4, messages.SyncGroupRequest(group_id="g-98999")) == SeenGroup(None, None)
    older.request(11, 6, messages.JoinGroupRequest(group_id="x" * 30_000, protocol_type="consumer"))
    assert older.request(14, 4, messages.SyncGroupRequest(group_id="x" * 30_000)) == SeenGroup(None, None)


def test_K559_44_nothing_is_guessed_unless_asked_for() -> None:
    response = messages.SyncGroupResponse(assignment=WORK)
    (kept,) = dict(decode_nested(response, 4)).values()
    assert kept.data == WORK
    (found,) = dict(decode_nested(response, 4, Known(guess=True))).values()
    assert isinstance(found, Guessed)
    assert (found.protocol_type, found.message.assigned_partitions[0].topic) == ("consumer", "a")
    # what is known is not guessed, and a type without a layout is known
    assert not isinstance(dict(decode_nested(response, 4, Known(protocol_type="consumer", guess=True)))["assignment"], Guessed)
    assert dict(decode_nested(response, 4, Known(protocol_type="sr", guess=True)))["assignment"].data == WORK
    # bytes that fit nothing, and bytes that fit with some left over, are no guess
    assert guess_protocol_type("metadata", b'{"host":"registry"}') is None
    assert guess_protocol_type("assignment", WORK + b"\0") is None
    assert guess_protocol_type("assignment", b"") is None
    assert guess_protocol_type("metadata", bytes.fromhex("0000 000175 0000000000000007")).protocol_type == "connect"


def test_K559_42_a_join_that_failed_for_another_reason_names_no_protocol() -> None:
    offered = [messages.JoinGroupRequest.JoinGroupRequestProtocol(name="range")]
    request = messages.JoinGroupRequest(group_id="g", protocol_type="consumer", protocols=offered)
    answer = messages.JoinGroupResponse(error_code=25, protocol_type="connect", protocol_name="sticky")
    assert exchange_faults(11, 7, request, answer) == []
    answer.error_code = 0
    assert [(rule, facts["what"]) for rule, facts in exchange_faults(11, 7, request, answer)] == [
        ("group_protocol_inconsistent", "type"), ("group_protocol_inconsistent", "name"),
    ]  # fmt: skip


@pytest.mark.parametrize(("session", "rebalance", "effective"), [(10, None, 10), (10, -1, 10), (10, 60, 60), (10, 0, 0), (None, -1, None)])
def test_K559_3_effective_timeout(session: int | None, rebalance: int | None, effective: int | None) -> None:
    assert effective_rebalance_timeout(session, rebalance) == effective


@pytest.mark.parametrize(("version", "rebalance", "shown"), [(0, -1, 1_000), (1, 2_000, 2_000), (5, -1, 1_000)])
def test_K559_3_the_step_of_a_join_shows_the_effective_timeout(version: int, rebalance: int, shown: int) -> None:
    row = RequestCompleted(request_index=0, api_key=11, api_version=version, request_time=1)
    request = messages.JoinGroupRequest(group_id="g", session_timeout_ms=1_000, rebalance_timeout_ms=rebalance, protocol_type="consumer")
    step = group_step(row, request, messages.JoinGroupResponse(member_id="m", generation_id=1))
    assert step is not None
    assert (step.session_timeout_ms, step.rebalance_timeout_ms) == (1_000, shown)
