"""The consumer protocol: bytes of Kafka's ConsumerProtocol, and bytes that other clients send."""

from __future__ import annotations

import pytest

from kwire.codec import to_json
from kwire.codec.frames import Opaque
from kwire.errors import Truncated, UnknownApi, UnsupportedVersion, WireError
from kwire.protocol import groups

READERS = {
    "consumer-subscription": (groups.decode_subscription, groups.read_subscription),
    "consumer-assignment": (groups.decode_assignment, groups.read_assignment),
}
# Version 1 with topic "a" and empty user data, as kafkajs writes it: no OwnedPartitions (tulios/kafkajs#1449).
KAFKAJS = bytes.fromhex("0001 00000001 000161 00000000")


def cases(vectors, suffix=""):
    return [(case, *READERS[name]) for case in vectors("groups") for name in READERS if case["case"] == name + suffix]


@pytest.mark.requirement("K559-30", "K559-31")
def test_values_are_those_that_kafka_reads(vectors):
    seen = cases(vectors)
    for case, decode, read in seen:
        data = bytes.fromhex(case["hex"])
        reading = read(data)
        assert to_json(decode(data), case["version"]) == case["json"], case["id"]
        assert (reading.version, reading.read_as, reading.extra, reading.violation) == (case["version"], case["version"], 0, None)
    assert {(case["case"], case["version"]) for case, _, _ in seen} == {(name, version) for name in READERS for version in range(4)}


@pytest.mark.requirement("K559-32")
def test_a_version_to_come_is_read_as_the_newest(vectors):
    seen = cases(vectors, "-future-version")
    for case, decode, read in seen:
        data = bytes.fromhex(case["hex"])
        reading = read(data)
        assert to_json(decode(data), case["read_as"]) == case["json"] == to_json(reading.message, 3), case["id"]
        assert (reading.version, reading.read_as, reading.violation) == (case["version"], case["read_as"], None)
    assert len(seen) == 42


@pytest.mark.requirement("K559-32")
def test_bytes_behind_a_version_to_come_are_counted():
    reading = groups.read_subscription(bytes.fromhex("0009 00000000 ffffffff 00000000 ffffffff ffff 0000000701"))
    assert (reading.version, reading.read_as, reading.extra, reading.violation) == (9, 3, 5, None)


@pytest.mark.requirement("K559-33")
def test_a_subscription_without_owned_partitions_is_refused_as_kafka_does_and_read_by_a_tap():
    with pytest.raises(Truncated) as caught:
        groups.decode_subscription(KAFKAJS)
    assert (caught.value.path, caught.value.offset, caught.value.api_version) == ("owned_partitions", len(KAFKAJS), 1)
    reading = groups.read_subscription(KAFKAJS)
    assert (reading.version, reading.read_as, reading.extra) == (1, 0, 0)
    assert (reading.message.topics, reading.message.user_data, reading.message.owned_partitions) == (("a",), b"", [])
    assert reading.violation.path == "owned_partitions"
    assert groups.decode_subscription(KAFKAJS, strict=False).topics == ("a",)


def test_kafka_go_writes_such_subscriptions_too():
    data = b"\0\1\0\0\0\1\0\x0bshop.events\xff\xff\xff\xff"  # from its version 0.4.51
    reading = groups.read_subscription(data)
    assert (reading.message.topics, reading.message.user_data, reading.violation.path) == (("shop.events",), None, "owned_partitions")


def test_fields_that_are_missing_are_only_those_of_newer_versions():
    # The same bytes, cut inside the user data: no version ends here.
    reading = groups.read_subscription(KAFKAJS[:-1])
    assert isinstance(reading.message, Opaque)
    assert reading.violation.path == "user_data"
    # Cut inside OwnedPartitions, which have begun.
    assert isinstance(groups.decode_subscription(KAFKAJS + b"\0\0", strict=False), Opaque)


def test_a_tap_reads_an_assignment_without_user_data():
    # As pykafka sent it: topic "works.clean", partitions 0 and 1, and nothing behind them.
    data = bytes.fromhex("0001 00000001 000b 776f726b732e636c65616e 00000002 00000000 00000001")
    with pytest.raises(Truncated, match="user_data"):
        groups.decode_assignment(data)
    reading = groups.read_assignment(data)
    (topic,) = reading.message.assigned_partitions
    assert (topic.topic, topic.partitions, reading.message.user_data) == ("works.clean", (0, 1), None)
    assert (reading.version, reading.extra, reading.violation.path, reading.violation.offset) == (1, 0, "user_data", len(data))
    assert isinstance(groups.decode_assignment(data[:-4], strict=False), Opaque)


def test_owned_partitions_left_over_in_version_0():
    # The version says 0, OwnedPartitions are there all the same (a reader of version 0 broke on them: segmentio/kafka-go#752).
    data = bytes.fromhex("0000 00000001 000161 ffffffff 00000001 000161 00000001 00000002")
    assert groups.decode_subscription(data).topics == ("a",)
    reading = groups.read_subscription(data)
    assert (reading.message.topics, reading.message.user_data, reading.extra) == (("a",), None, 15)
    assert (reading.violation.code.name, reading.violation.offset) == ("TRAILING_BYTES", 13)


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ("0001 7fffffff", "topics"),  # as many topics as an int32 can say (apache/kafka#22264)
        ("0001 00000000 7fffffff", "user_data"),
        ("0001 00000000 ffffffff 7fffffff", "owned_partitions"),
        ("0001 00000000 ffffffff 00000001 0000 7fffffff", "owned_partitions[0].partitions"),
        ("0003 00000000 ffffffff 00000000 00000000 7fff", "rack_id"),
    ],
)
@pytest.mark.requirement("K559-33")
def test_lengths_that_are_not_there(data, path):
    data = bytes.fromhex(data)
    with pytest.raises(Truncated) as caught:
        groups.decode_subscription(data)
    assert caught.value.path == path
    reading = groups.read_subscription(data)
    assert isinstance(reading.message, Opaque)
    assert (reading.message.data, reading.violation.path) == (data, path)


def test_negative_versions_are_refused():
    with pytest.raises(UnsupportedVersion) as caught:
        groups.decode_assignment(bytes.fromhex("ffff 00000000 ffffffff"))
    assert (caught.value.offset, caught.value.path, caught.value.api_version) == (0, "version", -1)


def test_text_that_is_not_utf8_is_replaced_in_a_tap():
    data = bytes.fromhex("0000 00000001 0001ff ffffffff")
    with pytest.raises(WireError, match="UTF-8"):
        groups.decode_subscription(data)
    assert groups.decode_subscription(data, strict=False).topics == ("�",)


def test_bytes_cut_anywhere_are_read_or_refused(vectors):
    for case, decode, read in cases(vectors):
        data = bytes.fromhex(case["hex"])
        for end in range(len(data)):
            reading = read(data[:end])
            assert reading.violation is not None
            assert 0 <= reading.violation.offset <= end
            with pytest.raises(WireError):
                decode(data[:end])


def test_protocol_types():
    subscription = bytes.fromhex("0000 00000001 000161 ffffffff")
    assignment = bytes.fromhex("0000 00000001 000161 00000001 00000005 ffffffff")
    assert groups.decode_group_metadata("consumer", subscription).topics == ("a",)
    assert groups.decode_group_assignment("consumer", assignment).assigned_partitions[0].partitions == (5,)
    assert groups.decode_group_metadata("sr", b"") is None


@pytest.mark.parametrize(("protocol_type", "named"), [("sr", "'sr'"), ("", "''"), (None, "no protocol type")])
@pytest.mark.requirement("K559-34")
def test_other_protocol_types_stay_opaque(protocol_type, named):
    data = b'{"host":"registry","eligibility":true}'  # what Schema Registry writes
    kept = groups.decode_group_metadata(protocol_type, data, strict=False)
    assert isinstance(kept, Opaque)
    assert kept.data == data
    assert named in kept.reason.reason
    assert "registry" not in repr(kept)
    with pytest.raises(UnknownApi):
        groups.decode_group_assignment(protocol_type, data)
