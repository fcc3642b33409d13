"""Bytes inside messages: a rule for every field, what is found inside, and that secrets stay inside."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire import messages
from kwire.codec.decoding import decode
from kwire.codec.frames import Opaque, Request, Response
from kwire.codec.group_definitions import compiled_groups
from kwire.errors import InputError, LimitExceeded
from kwire.protocol import nested_bytes
from kwire.protocol.nested_bytes import Hidden, Known, decode_nested, rule_of
from kwire.protocol.nested_rules import RULES
from kwire.schema import catalog

SUBSCRIPTION = bytes.fromhex("0001 00000001 000161 00000008 00000000 00000009 00000000")  # topic "a", sticky user data v1 of generation 9
SECRET = b"f1a9c0ffee-s3cret"


def byte_fields():
    """(message, path) of every field of type bytes or records, over all versions."""

    def walk(message, struct, path):
        for field in message.structs[struct].fields:
            here = (*path, field.attribute)
            if field.element_type in ("bytes", "records"):
                yield message.name, ".".join(here)
            elif field.is_struct:
                yield from walk(message, field.element_type, here)

    for source in (catalog(), compiled_groups().catalog):
        for name in source:
            yield from walk(source[name], name, ())


@pytest.mark.requirement("K559-29")
def test_every_field_of_bytes_has_a_rule():
    fields = set(byte_fields())
    assert fields - set(RULES) == set()
    assert set(RULES) - fields == set()


def test_every_rule_can_be_followed():
    assert {rule.holds for rule in RULES.values() if rule.kind == "nested"} == set(nested_bytes.DECODERS)
    attributes = {attribute for rule in RULES.values() for attribute, _ in rule.described_by}
    assert attributes <= set(Known.__slots__)


def test_what_tells_of_the_bytes_is_in_the_message():
    for (name, path), rule in RULES.items():
        message = catalog()[name] if name in catalog() else compiled_groups().catalog[name]
        around = [message.structs[message.name]]
        for step in path.split(".")[:-1]:
            field = next(each for each in around[-1].fields if each.attribute == step)
            around.append(message.structs[field.element_type])
        fields = {field.attribute for struct in around for field in struct.fields}
        assert {field for _, field in rule.described_by} <= fields, (name, path)


def test_fields_without_bytes_have_no_rule():
    assert rule_of("JoinGroupRequest", "protocols.metadata").kind == "nested"
    with pytest.raises(InputError, match="no field 'group_id' of type bytes"):
        rule_of("JoinGroupRequest", "group_id")


def join_request(protocol_type="consumer", assignor="sticky", metadata=SUBSCRIPTION):
    protocol = messages.JoinGroupRequest.JoinGroupRequestProtocol(name=assignor, metadata=metadata)
    return messages.JoinGroupRequest(group_id="g", protocol_type=protocol_type, protocols=[protocol])


def test_another_assignor_writes_other_user_data():
    found = dict(decode_nested(join_request(assignor="cooperative-sticky"), 9))
    assert found["protocols[0].metadata.user_data"].generation == 0  # the first four bytes
    found = dict(decode_nested(join_request(assignor="mine"), 9))
    assert isinstance(found["protocols[0].metadata.user_data"], Opaque)


def test_members_of_groups_of_two_types():
    response = messages.DescribeGroupsResponse
    member = response.DescribedGroupMember(member_metadata=SUBSCRIPTION, member_assignment=b"")
    groups = [response.DescribedGroup(protocol_type=each, members=[member]) for each in ("consumer", "sr")]
    found = dict(decode_nested(response(groups=groups), 5))
    assert found["groups[0].members[0].member_metadata"].topics == ("a",)
    assert isinstance(found["groups[1].members[0].member_metadata"], Opaque)
    assert found["groups[0].members[0].member_assignment"] is None


def test_members_in_the_group_coordinators_log():
    value = messages.GroupMetadataValue
    member = value.MemberMetadata(subscription=SUBSCRIPTION, assignment=bytes.fromhex("0000 00000000 ffffffff"))
    found = dict(decode_nested(value(protocol_type="consumer", protocol="sticky", members=[member]), 3))
    assert found["members[0].subscription"].topics == ("a",)
    assert found["members[0].subscription.user_data"].generation == 9
    assert found["members[0].assignment"].assigned_partitions == []


def test_what_a_connect_worker_runs():
    # version 1: url "u", config offset 7, and an assignment inside: no error, leader "l" at "v", offset 7, connector "c" with task 2
    assignment = bytes.fromhex("0001 0000 00016c 000176 0000000000000007 00000001 000163 00000001 00000002 ffffffff 00000000")
    metadata = bytes.fromhex("0001 000175 0000000000000007") + len(assignment).to_bytes(4, "big") + assignment
    found = dict(decode_nested(join_request("connect", "compatible", metadata), 9))
    assert found["protocols[0].metadata"].url == "u"
    (tasks,) = found["protocols[0].metadata.allocation"].assignment
    assert (tasks.connector, tasks.tasks) == ("c", (2,))


def test_an_envelope():
    # JoinGroup v0 of client "c", correlation id 5: group "g", session timeout 1, member "", type "consumer", one protocol
    inner = bytes.fromhex("000b 0000 00000005 000163 000167 00000001 0000 0008") + b"consumer" + bytes.fromhex("00000001 0006") + b"sticky"
    inner += len(SUBSCRIPTION).to_bytes(4, "big") + SUBSCRIPTION
    principal = bytes.fromhex("0000 05") + b"User" + bytes.fromhex("06") + b"alice" + bytes.fromhex("00 00")
    envelope = messages.EnvelopeRequest(request_data=inner, request_principal=principal, client_host_address=bytes([10, 0, 0, 7]))
    found = dict(decode_nested(envelope, 0))
    assert (found["request_data"].header.client_id, found["request_data"].body.group_id) == ("c", "g")
    assert found["request_data.body.protocols[0].metadata"].topics == ("a",)
    assert found["request_data.body.protocols[0].metadata.user_data"].generation == 9
    assert (found["request_principal"].type, found["request_principal"].name) == ("User", "alice")
    assert found["client_host_address"] == "10.0.0.7"


def test_what_an_envelope_holds_may_be_anything():
    envelope = messages.EnvelopeRequest(request_data=b"\0", request_principal=b"\0\x09", client_host_address=b"\1\2\3")
    assert [type(value) for _, value in decode_nested(envelope, 0)] == [Opaque, Opaque, Opaque]
    envelope.request_principal = None
    assert [path for path, _ in decode_nested(envelope, 0)] == ["request_data", "client_host_address"]


def test_an_answer_in_an_envelope():
    # Heartbeat v1: correlation id 7, throttle time 0, error 27
    response = messages.EnvelopeResponse(response_data=bytes.fromhex("00000007 00000000 001b"))
    assert isinstance(dict(decode_nested(response, 0))["response_data"], Opaque)
    found = dict(decode_nested(response, 0, Known(carried=(12, 1))))["response_data"]
    assert (found.header.correlation_id, found.body.error_code) == (7, 27)


def test_envelopes_in_envelopes_end():
    data = b"\xff"
    for _ in range(20):
        # Envelope v0 with a header of version 2: no client id, no tags; request data, no principal, no address, no tags
        size = len(data) + 1
        count = bytes([size]) if size < 128 else bytes([size & 0x7F | 0x80, size >> 7])
        data = bytes.fromhex("003a 0000 00000000 ffff 00") + count + data + bytes.fromhex("00 01 00")
    outer = decode("EnvelopeRequest", data[11:], 0)
    found = [value for path, value in decode_nested(outer, 0) if path.endswith("request_data")]
    assert len(found) == nested_bytes.MAX_DEPTH + 1
    assert isinstance(found[-1].reason, LimitExceeded)


def test_pushed_metrics():
    found = dict(decode_nested(messages.PushTelemetryRequest(metrics=b"\x0a\x00", compression_type=0), 0))
    assert found["metrics"] == []
    assert isinstance(dict(decode_nested(messages.PushTelemetryRequest(metrics=b"\x0a\x00", compression_type=4), 0))["metrics"], Opaque)


def test_record_batches_are_left_as_they_are_unless_asked_for():
    partition = messages.ProduceRequest.PartitionProduceData(records=b"anything")
    request = messages.ProduceRequest(topic_data=[messages.ProduceRequest.TopicProduceData(partition_data=[partition])])
    assert dict(decode_nested(request, 9)) == {"topic_data[0].partition_data[0].records": b"anything"}


def test_record_batches(vectors):
    samples = [each for each in vectors("messages-sample") if (each["message"], each["version"]) == ("FetchResponse", 12)]
    (case,) = [each for each in samples if each["case"] == "full"]
    message = decode("FetchResponse", bytes.fromhex(case["hex"]), 12)
    found = dict(decode_nested(message, 12, records=True))
    assert list(found)[-1] == "responses[2].partitions[1].records"
    for batches in found.values():
        assert [record.value for batch in batches for record in batch.records] == [b"value-0", b"value-1"]
    message.responses[0].partitions[0].records = b"these are no batches, but they are long enough for one"
    _, broken = next(decode_nested(message, 12, records=True))
    assert broken.fault is not None


@given(st.sampled_from(sorted(RULES)), st.binary(max_size=120) | st.builds(bytes.__add__, st.just(b"\0\1"), st.binary(max_size=60)))
@settings(deadline=None)
def test_any_bytes_can_be_looked_into(field, data):
    for known in (
        Known(),
        Known("consumer", "sticky", "PLAIN", (3, 12), 1),
        Known("connect", "cooperative-sticky", "OAUTHBEARER", (999, 0), 4),
    ):
        found = nested_bytes.decode(*field, data, known)
        if isinstance(found, Opaque):
            assert found.data == data
            assert 0 <= found.reason.offset <= len(data)
        elif isinstance(found, Hidden):
            assert found.length == len(data)


def secrets():
    """A message for each secret of the catalog, with the secret in it."""
    for (name, path), rule in RULES.items():
        if rule.kind == "secret":
            kind = getattr(messages, name)
            *outer, last = path.split(".")
            if outer:
                struct = next(slot.type for slot in kind.layout.slots if slot.attribute == outer[0]).removeprefix("[]")
                yield path, rule, kind(**{outer[0]: [getattr(kind, struct)(**{last: SECRET})]})
            else:
                yield path, rule, kind(**{last: SECRET})


@pytest.mark.requirement("K559-15", "K559-16", "K559-17", "K559-18", "K559-20")
def test_secrets_are_never_shown():
    seen = 0
    for path, rule, message in secrets():
        ((_, hidden),) = [each for each in decode_nested(message, 0) if each[0].replace("[0]", "") == path and each[1].length]
        assert isinstance(hidden, Hidden), path
        assert hidden.length == len(SECRET)
        # only what a machine made may be told by its hash
        assert (hidden.digest is not None) == ("HMAC" in rule.holds)
        assert SECRET.decode() not in repr(hidden) + str(hidden)
        seen += 1
    assert seen == 11


@pytest.mark.requirement("K559-19")
def test_the_name_in_a_sasl_token():
    token = messages.SaslAuthenticateRequest(auth_bytes=b"\0alice\0hunter2")
    assert dict(decode_nested(token, 2, Known(sasl_mechanism="PLAIN"))) == {"auth_bytes": Hidden(14, None, "User:alice")}
    assert dict(decode_nested(token, 2)) == {"auth_bytes": Hidden(14)}
    assert "hunter2" not in repr(
        nested_bytes.decode("SaslAuthenticateRequest", "auth_bytes", token.auth_bytes, Known(sasl_mechanism="PLAIN"))
    )


def test_every_message_of_the_sample_can_be_looked_into(vectors):
    """Bytes that mean nothing, in every field of every version: nothing raises."""
    looked = set()
    for case in vectors("messages-sample"):
        if case["case"] == "full":
            message = decode(case["message"], bytes.fromhex(case["hex"]), case["version"])
            for path, value in decode_nested(message, case["version"], Known("consumer", "sticky", "PLAIN", (12, 1))):
                looked.add((case["message"], ".".join(step.partition("[")[0] for step in path.split("."))))
                assert value is None or isinstance(value, (bytes, str, list, Opaque, Hidden, Request, Response)) or hasattr(value, "layout")
    assert set(RULES) - looked <= {("ConnectProtocolMetadata", "allocation")}
