"""Bytes inside messages as they come on the wire: groups of three kinds in each message that carries them, and record batches (KIP-559)."""

from __future__ import annotations

import re
import struct
from typing import Any

import pytest

from kwire.codec._pure.checksums import crc32c_by_table
from kwire.codec.decoding import decode
from kwire.codec.frames import Opaque
from kwire.errors import UnknownApi
from kwire.protocol.nested_bytes import Known, decode_nested
from kwire.protocol.nested_rules import RULES

SUBSCRIPTION = "0000" + "00000001" + "000161" + "ffffffff"  # consumer, version 0: topic "a", no user data
ASSIGNMENT = "0000" + "00000001" + "000161" + "00000001" + "00000005" + "ffffffff"  # topic "a", partition 5
WORKER = "0000" + "000175" + "0000000000000007"  # connect, version 0: url "u", config offset 7
TASKS = (
    "0000" + "0000" + "00016c" + "000176" + "0000000000000007" + "00000001" + "000163" + "00000001" + "00000002"
)  # connector "c", task 2
REGISTRY = b'{"host":"registry"}'.hex()
KINDS = {"consumer": (SUBSCRIPTION, ASSIGNMENT), "connect": (WORKER, TASKS), "sr": (REGISTRY, REGISTRY)}


def text(value: str) -> str:
    return struct.pack(">h", len(value)).hex() + value.encode().hex()


def sized(data: str) -> str:
    return struct.pack(">i", len(data) // 2).hex() + data


def compact(data: str) -> str:
    """Text or bytes with a length of one byte."""
    assert len(data) // 2 < 127
    return bytes([len(data) // 2 + 1]).hex() + data


def name(value: str) -> str:
    return compact(value.encode().hex())


def nested(message: str, version: int, data: str, known: Known | None = None) -> dict[str, Any]:
    read = decode(message, bytes.fromhex(data), version)
    return dict(decode_nested(read, version, known or Known()))


def says(found: Any) -> Any:
    if isinstance(found, Opaque):
        return found.reason.code.name, found.data.hex()
    kind = type(found).__name__
    if kind == "ConsumerProtocolSubscription":
        return kind, found.topics
    if kind == "ConsumerProtocolAssignment":
        return kind, [(each.topic, each.partitions) for each in found.assigned_partitions]
    return kind, getattr(found, "url", None) or [(each.connector, each.tasks) for each in found.assignment]


METADATA_SAYS = {
    "consumer": ("ConsumerProtocolSubscription", ("a",)),
    "connect": ("ConnectProtocolMetadata", "u"),
    "sr": ("UNKNOWN_API", REGISTRY),
}
ASSIGNMENT_SAYS = {
    "consumer": ("ConsumerProtocolAssignment", [("a", (5,))]),
    "connect": ("ConnectProtocolAssignment", [("c", (2,))]),
    "sr": ("UNKNOWN_API", REGISTRY),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.requirement("K559-13", "K559-23")
def test_join_group_request(kind):
    metadata, _ = KINDS[kind]
    body = text("g") + "00000001" + text("") + text(kind) + "00000001" + text("range") + sized(metadata)  # version 0
    assert says(nested("JoinGroupRequest", 0, body)["protocols[0].metadata"]) == METADATA_SAYS[kind]
    flexible = name("g") + "00000001" * 2 + name("") + "00" + name(kind) + "02" + name("range") + compact(metadata) + "00" + "00"
    assert says(nested("JoinGroupRequest", 6, flexible)["protocols[0].metadata"]) == METADATA_SAYS[kind]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.requirement("K559-13", "K559-24")
def test_join_group_response(kind):
    metadata, _ = KINDS[kind]
    own = "00000000" + "0000" + "00000001" + name(kind) + name("range") + name("m") + name("m")
    own += "02" + name("m") + "00" + compact(metadata) + "00" + "00"
    assert says(nested("JoinGroupResponse", 7, own)["members[0].metadata"]) == METADATA_SAYS[kind]
    old = "0000" + "00000001" + text("range") + text("m") + text("m") + "00000001" + text("m") + sized(metadata)
    assert says(nested("JoinGroupResponse", 0, old, Known(protocol_type=kind))["members[0].metadata"]) == METADATA_SAYS[kind]
    stateless = nested("JoinGroupResponse", 0, old)["members[0].metadata"]
    assert (says(stateless), type(stateless.reason)) == (("UNKNOWN_API", metadata), UnknownApi)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.requirement("K559-13", "K559-25")
def test_sync_group_request(kind):
    _, assignment = KINDS[kind]
    own = name("g") + "00000001" + name("m") + "00" + name(kind) + name("range") + "02" + name("m") + compact(assignment) + "00" + "00"
    assert says(nested("SyncGroupRequest", 5, own)["assignments[0].assignment"]) == ASSIGNMENT_SAYS[kind]
    assert says(nested("SyncGroupRequest", 5, own, Known(protocol_type="other"))["assignments[0].assignment"]) == ASSIGNMENT_SAYS[kind]
    older = name("g") + "00000001" + name("m") + "00" + "02" + name("m") + compact(assignment) + "00" + "00"
    assert says(nested("SyncGroupRequest", 4, older, Known(protocol_type=kind))["assignments[0].assignment"]) == ASSIGNMENT_SAYS[kind]
    assert says(nested("SyncGroupRequest", 4, older)["assignments[0].assignment"]) == ("UNKNOWN_API", assignment)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.requirement("K559-13", "K559-26")
def test_sync_group_response(kind):
    _, assignment = KINDS[kind]
    own = "00000000" + "0000" + name(kind) + name("range") + compact(assignment) + "00"
    assert says(nested("SyncGroupResponse", 5, own)["assignment"]) == ASSIGNMENT_SAYS[kind]
    older = "00000000" + "0000" + compact(assignment) + "00"
    assert says(nested("SyncGroupResponse", 4, older, Known(protocol_type=kind))["assignment"]) == ASSIGNMENT_SAYS[kind]
    assert says(nested("SyncGroupResponse", 4, older)["assignment"]) == ("UNKNOWN_API", assignment)


def test_sync_group_response_with_an_error_has_no_assignment():
    # What Kafka answers to a member of a rebalancing group: error 27, nulls and no bytes.
    assert nested("SyncGroupResponse", 5, "00000000" + "001b" + "00" + "00" + "01" + "00") == {"assignment": None}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.requirement("K559-27", "K559-28")
def test_describe_groups_response(kind):
    metadata, assignment = KINDS[kind]
    member = text("m") + text("c") + text("/10.0.0.7") + sized(metadata) + sized(assignment)
    found = nested(
        "DescribeGroupsResponse", 0, "00000001" + "0000" + text("g") + text("Stable") + text(kind) + text("range") + "00000001" + member
    )
    assert says(found["groups[0].members[0].member_metadata"]) == METADATA_SAYS[kind]
    assert says(found["groups[0].members[0].member_assignment"]) == ASSIGNMENT_SAYS[kind]


@pytest.mark.requirement("K559-27", "K559-28")
def test_describe_groups_response_of_groups_that_hold_nothing():
    # A group that is rebalancing has members without bytes, an empty one none at all, a dead one no protocol type either.
    member = text("m") + text("c") + text("/h") + "00000000" + "00000000"
    rebalancing = "0000" + text("g") + text("PreparingRebalance") + text("consumer") + text("") + "00000001" + member
    empty = "0000" + text("h") + text("Empty") + text("consumer") + text("") + "00000000"
    dead = "0000" + text("i") + text("Dead") + text("") + text("") + "00000000"
    found = nested("DescribeGroupsResponse", 0, "00000003" + rebalancing + empty + dead)
    assert found == {"groups[0].members[0].member_metadata": None, "groups[0].members[0].member_assignment": None}


def batch() -> bytes:
    """A batch of magic 2 with one record, key "k" and value "v", at offset 50."""
    checked = struct.pack(">hiqqqhii", 0, 0, 1700000000123, 1700000000123, -1, -1, -1, 1) + bytes.fromhex("10 00 00 00 026b 0276 00")
    return struct.pack(">qiibI", 50, 9 + len(checked), 7, 2, crc32c_by_table(checked)) + checked


def batches(message: str, version: int, data: str) -> Any:
    ((_, found),) = decode_nested(decode(message, bytes.fromhex(data), version), version, records=True)
    return found


@pytest.mark.requirement("K559-21")
def test_records_of_produce():
    body = "ffff" + "ffff" + "00000064" + "00000001" + text("t") + "00000001" + "00000003" + sized(batch().hex() * 2)
    found = batches("ProduceRequest", 3, body)
    assert [(each.base_offset, each.count, each.compression, each.fault) for each in found] == [(50, 1, "none", None)] * 2
    assert ([each.records[0].value for each in found], found.tail_bytes) == ([b"v", b"v"], 0)


@pytest.mark.requirement("K559-22")
def test_records_of_fetch_end_where_the_broker_cut_them():
    cut = batch() + batch()[:30]
    head = "00000000" + "00000001" + text("t") + "00000001" + "00000003" + "0000" + "0000000000000034"
    found = batches("FetchResponse", 1, head + sized(cut.hex()))
    assert (len(found), found.tail_bytes, found.fault) == (1, 30, None)


@pytest.mark.requirement("K559-21")
def test_records_that_are_corrupt_are_told():
    bad = batch()[:-2] + b"\x77\x00"
    body = "ffff" + "ffff" + "00000064" + "00000001" + text("t") + "00000001" + "00000003" + sized(bad.hex())
    assert [each.fault.code.name for each in batches("ProduceRequest", 3, body)] == ["BAD_CHECKSUM"]


def test_fields_whose_names_tell_of_secrets_are_secrets():
    """A new field of this kind in a new release is not passed on as opaque bytes by whoever writes its rule in a hurry."""
    secret = re.compile(r"hmac|salt|password|secret|token|credential|auth_bytes|(^|_)key$")
    named = {(message, path) for message, path in RULES if secret.search(path.rpartition(".")[2])}
    assert {RULES[each].kind for each in named} == {"secret"}
    assert named == {each for each, rule in RULES.items() if rule.kind == "secret"}
