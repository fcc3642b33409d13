"""Topics renamed everywhere: which fields of the catalog are found, and what becomes of the bytes of groups."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kwire.codec.catalog_codec import Codec
from kwire.codec.splicing import FrameSplicer
from kwire.codec.topic_fields import UNTYPED, fields_at, topic_fields
from kwire.errors import EncodeError, Truncated, UnknownApi
from kwire.protocol.groups import decode_subscription
from kwire.protocol.nested_rules import RULES
from kwire.schema import Catalog, catalog, dialect


@pytest.fixture(scope="session")
def splicer(codec):
    return FrameSplicer(codec.compiled)


# Text near topics that is no name of one.
NO_NAMES = re.compile(
    r"(error_message|configs\.(name|value|key)|racks|acls\.(host|principal)|configuration_keys|committed_metadata|partitions\.metadata"
    r"|transactional_id_pattern)$"
)
# Versions in which all resources are of another type.
NO_TOPICS = {
    ("ListClientMetricsResourcesResponse", "client_metrics_resources.name"),
    ("ListConfigResourcesResponse", "config_resources.resource_name"),
}


def covered(name: str, version: int) -> set[str]:
    fields = topic_fields(catalog()[name], version)
    rules = [*fields.resources, *(group.rule for group in fields.groups)]
    return {*fields.names, *(path for path, _ in fields.uncovered), *(path for rule in rules for path in rule.writes)}


def test_every_field_of_the_catalog_that_looks_like_a_topic_is_told_of():
    missing = set()
    for name, message in catalog().messages.items():
        for version in message.valid_versions:
            found = covered(name, version)
            for path, field, _ in fields_at(message, version):
                looks = re.search("topic|resource|regex|pattern", path) and field.element_type == "string"
                if looks and path not in found and not NO_NAMES.search(path) and (name, path) not in NO_TOPICS:
                    missing.add((name, path))
    assert missing == set()


def test_fields_that_kafka_types_are_all_found():
    for name, message in catalog().messages.items():
        for version in message.valid_versions:
            typed = {path for path, field, _ in fields_at(message, version) if field.entity_type == "topicName"}
            assert typed <= set(topic_fields(message, version).names), (name, version)


def test_the_table_names_fields_that_there_are_and_that_kafka_does_not_type():
    for name, path in UNTYPED:
        message = catalog()[name]
        found = [field for version in message.valid_versions for each, field, _ in fields_at(message, version) if each == path]
        assert found
        assert {field.entity_type for field in found} == {None}


def test_bytes_that_groups_hold_are_those_that_the_rules_of_nested_bytes_name():
    held = {
        (name, path)
        for name, message in catalog().messages.items()
        for version in message.valid_versions
        for path in [group.rule.writes[0] for group in topic_fields(message, version).groups]
    }
    assert held == {key for key, rule in RULES.items() if rule.holds in ("group metadata", "group assignment", "consumer metadata")}


def test_produce_and_metadata(splicer, codec):
    message = codec.message_class("ProduceRequest")
    body = message(acks=1, topic_data=[message.TopicProduceData(name="a"), message.TopicProduceData(name="b")])
    data = codec.compiled.encoder("ProduceRequest", 9).encode(body)
    renamed = splicer.rename_topics(data, {"a": "tenant.a"}, name="ProduceRequest", version=9)
    body.topic_data[0].name = "tenant.a"
    assert renamed == codec.compiled.encoder("ProduceRequest", 9).encode(body)
    message = codec.message_class("MetadataResponse")
    body = message(topics=[message.MetadataResponseTopic(name=name) for name in ("tenant.a", None, "")])
    data = codec.compiled.encoder("MetadataResponse", 12).encode(body)
    asked = []

    def strip(name: str) -> str:
        asked.append(name)
        return name.removeprefix("tenant.")

    body.topics[0].name = "a"
    assert splicer.rename_topics(data, strip, name="MetadataResponse", version=12) == codec.compiled.encoder("MetadataResponse", 12).encode(
        body
    )
    assert asked == ["tenant.a"]


def test_messages_without_topics_are_given_back(splicer):
    heartbeat = bytes.fromhex("000c00000000000700016300016700000001") + b"\x00\x01m"
    assert splicer.rename_topics(heartbeat, str.upper) is heartbeat
    with pytest.raises(UnknownApi):  # who knows what is in it
        splicer.rename_topics(bytes.fromhex("7531000000000001000163beef"), str.upper)


def test_resources_are_topics_where_their_type_says_so(splicer, codec):
    message = codec.message_class("DescribeConfigsRequest")
    resources = [message.DescribeConfigsResource(resource_type=kind, resource_name="*") for kind in (2, 4, 8, 32)]
    encode = codec.compiled.encoder("DescribeConfigsRequest", 4).encode
    data = encode(message(resources=resources))
    resources[0].resource_name = "t.*"
    assert splicer.rename_topics(data, "t.{}".format, name="DescribeConfigsRequest", version=4) == encode(message(resources=resources))


@pytest.mark.parametrize(
    ("kind", "pattern", "name", "renamed"),
    [(2, 3, "orders", "ORDERS"), (2, 3, "*", "*"), (3, 3, "group", "group"), (2, 1, None, None), (2, 4, "ord", ""), (1, 3, "orders", "")],
)
def test_acls(splicer, codec, kind, pattern, name, renamed):
    """Type topic 2, group 3, any 1; pattern literal 3, prefixed 4, any 1."""
    message = codec.message_class("DescribeAclsRequest")
    encode = codec.compiled.encoder("DescribeAclsRequest", 3).encode

    def acl(of: str | None) -> bytes:
        return encode(
            message(resource_type_filter=kind, resource_name_filter=of, pattern_type_filter=pattern, operation=1, permission_type=1)
        )

    if renamed == "":
        with pytest.raises(EncodeError, match=r"a pattern of resources may hold names .* in resource_name_filter"):
            splicer.rename_topics(acl(name), str.upper, name="DescribeAclsRequest", version=3)
        renamed = name
        assert splicer.rename_topics(acl(name), str.upper, name="DescribeAclsRequest", version=3, uncovered="keep") == acl(name)
    else:
        assert splicer.rename_topics(acl(name), str.upper, name="DescribeAclsRequest", version=3) == acl(renamed)


def join_request(codec: Any, kind: str, assignor: str, held: bytes) -> tuple[Any, bytes]:
    message = codec.message_class("JoinGroupRequest")
    body = message(group_id="g", protocol_type=kind, protocols=[message.JoinGroupRequestProtocol(name=assignor, metadata=held)])
    return body, codec.compiled.encoder("JoinGroupRequest", 9).encode(body)


def without_user_data(case: dict[str, Any]) -> bool:
    return not case["json"].get("userData")


@pytest.mark.requirement("K559-14")
def test_subscriptions_and_assignments_of_kafkas_own_classes(splicer, codec, vectors):
    """What Kafka's ConsumerProtocol wrote is what it would write with the other names; versions of the future too."""
    seen = {"consumer-subscription": 0, "consumer-assignment": 0}
    for case in vectors("groups"):
        base = case["case"].removesuffix("-future-version")
        if base not in seen or not without_user_data(case):
            continue
        name = "ConsumerProtocolSubscription" if base == "consumer-subscription" else "ConsumerProtocolAssignment"
        held = bytes.fromhex(case["hex"])
        version = case.get("read_as", case["version"])
        body, end = codec.compiled.decoder(name, version).decode(held, 2)
        if name.endswith("Subscription"):
            body.topics = tuple(f"t.{topic}" for topic in body.topics)
            for owned in body.owned_partitions:
                owned.topic = f"t.{owned.topic}"
        else:
            for assigned in body.assigned_partitions:
                assigned.topic = f"t.{assigned.topic}"
        wanted = held[:2] + codec.compiled.encoder(name, version).encode(body) + held[end:]
        if name.endswith("Subscription"):
            request, data = join_request(codec, "consumer", "range", held)
            request.protocols[0].metadata = wanted
            expected = codec.compiled.encoder("JoinGroupRequest", 9).encode(request)
            made = splicer.rename_topics(data, lambda topic: f"t.{topic}", name="JoinGroupRequest", version=9)
        else:
            message = codec.message_class("SyncGroupResponse")
            encode = codec.compiled.encoder("SyncGroupResponse", 5).encode
            expected = encode(message(protocol_type="consumer", assignment=wanted))
            data = encode(message(protocol_type="consumer", assignment=held))
            made = splicer.rename_topics(data, lambda topic: f"t.{topic}", name="SyncGroupResponse", version=5)
        assert made == expected, case["id"]
        seen[base] += 1
    assert min(seen.values()) > 10


def test_user_data_of_the_sticky_assignor(splicer, codec, vectors):
    """Both of its versions, in a subscription of version 1; that of the cooperative one holds no names."""
    seen = set()
    for case in vectors("groups"):
        if "sticky" not in case["case"]:
            continue
        assignor = "cooperative-sticky" if "cooperative" in case["case"] else "sticky"
        user_data = bytes.fromhex(case["hex"])
        held = bytes.fromhex("0001 00000001 0001 61") + len(user_data).to_bytes(4, "big") + user_data + bytes(4)
        _, data = join_request(codec, "consumer", assignor, held)
        made = splicer.rename_topics(data, lambda topic: f"t.{topic}", name="JoinGroupRequest", version=9)
        metadata = codec.decode("JoinGroupRequest", made, 9).protocols[0].metadata
        subscription = decode_subscription(metadata)
        assert subscription.topics == ("t.a",)
        if assignor == "sticky":
            names = [
                topic.encode()
                for topic in dict.fromkeys(each["topic"] if isinstance(each, dict) else each[0] for each in case["partitions"])
            ]
            wanted = user_data
            for topic in names:
                wanted = wanted.replace(len(topic).to_bytes(2, "big") + topic, (len(topic) + 2).to_bytes(2, "big") + b"t." + topic, 1)
            assert subscription.user_data == wanted, case["id"]
        else:
            assert subscription.user_data == user_data
        seen.add(case["case"])
    assert len(seen) == 3


SUBSCRIBED = bytes.fromhex("0000 00000001 0001 61 ffffffff")
RENAMED = bytes.fromhex("0000 00000001 0001 41 ffffffff")


@pytest.mark.parametrize(
    ("held", "renamed"),
    [
        (SUBSCRIBED, RENAMED),
        (b"", b""),
        (
            bytes.fromhex("0009 00000001 0001 61 ffffffff 00000000 ffffffff ffff 0bad"),
            bytes.fromhex("0009 00000001 0001 41 ffffffff 00000000 ffffffff ffff 0bad"),
        ),
        # kafkajs 1 writes version 1 without OwnedPartitions, pykafka ends before the user data
        (bytes.fromhex("0001 00000001 0001 61 ffffffff"), bytes.fromhex("0001 00000001 0001 41 ffffffff")),
        (bytes.fromhex("0000 00000001 0001 61"), bytes.fromhex("0000 00000001 0001 41")),
    ],
)
def test_subscriptions_as_clients_write_them(splicer, codec, held, renamed):
    body, data = join_request(codec, "consumer", "range", held)
    body.protocols[0].metadata = renamed
    made = splicer.rename_topics(data, str.upper, name="JoinGroupRequest", version=9)
    assert made == codec.compiled.encoder("JoinGroupRequest", 9).encode(body)


def test_what_cannot_be_renamed_is_refused_or_kept(splicer, codec):
    streams = bytes.fromhex("0000 00000001 0001 61 00000002 beef")
    for kind, assignor, held, text in (
        ("sr", "v0", b"{}", r"bytes of a group of type 'sr' may hold .* in protocols\[0\]\.metadata"),
        ("consumer", "stream", streams, r"user data of the assignor 'stream' may hold .* in protocols\[0\]\.metadata\.user_data"),
    ):
        _, data = join_request(codec, kind, assignor, held)
        with pytest.raises(EncodeError, match=text):
            splicer.rename_topics(data, str.upper, name="JoinGroupRequest", version=9)
        kept = splicer.rename_topics(data, str.upper, name="JoinGroupRequest", version=9, uncovered="keep")
        assert codec.decode("JoinGroupRequest", kept, 9).protocols[0].metadata == held.replace(b"\x01a", b"\x01A")
    _, data = join_request(codec, "connect", "sessioned", b"\x00\x01whatever")
    assert splicer.rename_topics(data, str.upper, name="JoinGroupRequest", version=9) is data


@pytest.mark.requirement("K559-14")
def test_messages_that_do_not_say_the_type_of_the_group(splicer, codec):
    """SyncGroup up to version 4: the proxy has to know it from JoinGroup."""
    message = codec.message_class("SyncGroupResponse")
    encode = codec.compiled.encoder("SyncGroupResponse", 3).encode
    data = encode(message(assignment=bytes.fromhex("0000 00000001 0001 61 00000000 ffffffff")))
    with pytest.raises(EncodeError, match=r"give protocol_type.* in assignment \(SyncGroupResponse v3\)"):
        splicer.rename_topics(data, str.upper, name="SyncGroupResponse", version=3)
    made = splicer.rename_topics(data, str.upper, name="SyncGroupResponse", version=3, protocol_type="consumer")
    assert made == data.replace(b"\x01a", b"\x01A")
    assert splicer.rename_topics(data, str.upper, name="SyncGroupResponse", version=3, protocol_type="connect") is data
    empty = encode(message(assignment=b""))
    assert splicer.rename_topics(empty, str.upper, name="SyncGroupResponse", version=3) is empty


def test_bytes_of_groups_that_break_a_rule(splicer, codec):
    _, data = join_request(codec, "consumer", "range", SUBSCRIBED[:-6] + b"\xff")
    with pytest.raises(Truncated) as caught:
        splicer.rename_topics(data, str.upper, name="JoinGroupRequest", version=9)
    assert caught.value.path == "protocols[0].metadata.topics[0]"
    assert data[caught.value.offset - 2 : caught.value.offset] == b"\0\xff"


@pytest.mark.parametrize(("value", "refused"), [(None, False), ("", False), ("ord.*", True)])
def test_regular_expressions(splicer, codec, value, refused):
    message = codec.message_class("ConsumerGroupHeartbeatRequest")
    data = codec.compiled.encoder("ConsumerGroupHeartbeatRequest", 1).encode(
        message(subscribed_topic_names=("a",), subscribed_topic_regex=value)
    )
    at = {"name": "ConsumerGroupHeartbeatRequest", "version": 1}
    if refused:
        with pytest.raises(EncodeError, match=r"a pattern of topic names may hold .* in subscribed_topic_regex"):
            splicer.rename_topics(data, str.upper, **at)
    made = splicer.rename_topics(data, str.upper, uncovered="keep" if refused else "refuse", **at)
    assert made == data.replace(b"\x02a", b"\x02A")


def test_a_request_in_an_envelope_is_refused(splicer, codec):
    message = codec.message_class("EnvelopeRequest")
    data = codec.compiled.encoder("EnvelopeRequest", 0).encode(message(request_data=b"frame", client_host_address=bytes(4)))
    with pytest.raises(EncodeError, match="a frame of its own may hold names of topics"):
        splicer.rename_topics(data, {}, name="EnvelopeRequest", version=0)


def test_arguments(splicer):
    with pytest.raises(ValueError, match="'refuse' or 'keep'"):
        splicer.rename_topics(b"", {}, uncovered="ignore")
    data = bytes.fromhex("00000002 0001 61 0001 62")
    for names in ({"b": 1}, {"a": "x"}.get):
        with pytest.raises(EncodeError, match=r"text \(str\).*, not (int|None) in topics\[1\]\.name"):
            splicer.rename_topics(data, names, name="MetadataRequest", version=1)


@pytest.mark.parametrize("names", [{"b": None}, {"a": "x"}.get])
def test_no_topic_becomes_null(splicer, names):
    """MetadataRequest v10 has null for a topic that is known by its id."""
    data = bytes.fromhex("03") + bytes(16) + bytes.fromhex("0261 00") + bytes(16) + bytes.fromhex("0262 00 01 00 00 00")
    with pytest.raises(EncodeError, match=r"null is not allowed|not None in topics\[1\]\.name"):
        splicer.rename_topics(data, names, name="MetadataRequest", version=10)


def test_a_catalog_of_some_messages_and_a_dialect(twin, splicer, codec):
    """Subscriptions are read with Kafka's own definitions where a catalog has none; header version 3 is a dialect's."""
    some = Codec(Catalog("some", {"JoinGroupRequest": catalog()["JoinGroupRequest"]}), twin)
    _, data = join_request(codec, "consumer", "range", SUBSCRIBED)
    at = {"name": "JoinGroupRequest", "version": 9}
    assert some.rename_topics(data, str.upper, **at) == splicer.rename_topics(data, str.upper, **at)
    draft = Codec(dialect("kip-1313"), twin)
    # OffsetDelete v1 with header v3, the golden bytes of the proposal: group g, topic t
    frame = bytes.fromhex("002f 0001 00000007 ffff 00112233445566778899aabbccddeeff 00 02 67 02 02 74 02 00000000 00 00 00")
    assert draft.rename_topics(frame, {"t": "tt"}) == frame.replace(b"\x02t", b"\x03tt")
    assert draft.splice(frame, {"header.client_instance_id": bytes(16)}) == frame[:10] + bytes(16) + frame[26:]
