"""Kafka's JSON of messages, hand-worked; `tests/vectors` holds every message against what Kafka's converters write."""

from __future__ import annotations

import pytest

from kwire.codec import Opaque, to_json
from kwire.codec.uuids import Uuid
from kwire.errors import EncodeError, UnsupportedVersion, wire_error


def produce(kind, records):
    partition = kind.PartitionProduceData(index=1, records=records)
    return kind(acks=0, timeout_ms=30000, topic_data=[kind.TopicProduceData(name="events", partition_data=[partition])])


def test_sizes_in_place_of_records(codec):
    # The shape that a broker's request log has.
    message = produce(codec.message_class("ProduceRequest"), bytes(750))
    assert to_json(message, 10, records=False) == {
        "transactionalId": None,
        "acks": 0,
        "timeoutMs": 30000,
        "topicData": [{"name": "events", "partitionData": [{"index": 1, "recordsSizeInBytes": 750}]}],
    }


def test_records_are_base64_or_null(codec):
    kind = codec.message_class("ProduceRequest")
    assert to_json(produce(kind, b"\x00\xff"), 3)["topicData"][0]["partitionData"] == [{"index": 1, "records": "AP8="}]
    for records in (True, False):
        assert to_json(produce(kind, None), 3, records)["topicData"][0]["partitionData"] == [{"index": 1, "records": None}]


def test_other_bytes_stay_with_sizes(codec):
    message = codec.message_class("SaslAuthenticateRequest")(auth_bytes=b"\x01")
    assert to_json(message, 2, records=False) == {"authBytes": "AQ=="}


def test_fields_that_a_version_lacks_are_left_out(codec):
    message = codec.message_class("MetadataRequest")(topics=None)
    assert to_json(message, 1) == {"topics": None}
    assert to_json(message, 4) == {"topics": None, "allowAutoTopicCreation": True}
    # reason is ignorable, as Kafka's definition of it says
    message = codec.message_class("JoinGroupRequest")(group_id="g", reason="the member rejoins")
    assert "reason" not in to_json(message, 7)
    assert to_json(message, 8)["reason"] == "the member rejoins"


def test_a_value_that_a_version_cannot_carry_is_refused_as_encode_refuses_it(codec):
    """HeartbeatRequestDataJsonConverter.write: "Attempted to write a non-default groupInstanceId at version 1"."""
    heartbeat = codec.message_class("HeartbeatRequest")(group_id="g", member_id="m", group_instance_id="static-1")
    assert to_json(heartbeat, 3)["groupInstanceId"] == "static-1"
    metadata = codec.message_class("MetadataRequest")(topics=None, allow_auto_topic_creation=False)
    fetch = codec.message_class("FetchRequest")
    partitions = [fetch.FetchPartition(), fetch.FetchPartition(last_fetched_epoch=3)]
    fetched = fetch(topics=[fetch.FetchTopic(topic="t", partitions=partitions)])
    for message, version, path in (
        (heartbeat, 1, "group_instance_id"),
        (metadata, 1, "allow_auto_topic_creation"),
        (fetched, 11, "topics[0].partitions[1].last_fetched_epoch"),
    ):
        with pytest.raises(EncodeError) as written:
            to_json(message, version)
        with pytest.raises(EncodeError) as encoded:
            codec.encode(message, version)
        assert (written.value.path, str(written.value)) == (path, str(encoded.value))


def test_tagged_fields_at_their_default_are_left_out(codec):
    kind = codec.message_class("FetchRequest")
    assert "clusterId" not in to_json(kind(), 15)
    assert "replicaState" not in to_json(kind(), 15)
    given = to_json(kind(cluster_id="c", replica_state=kind.ReplicaState(replica_id=3)), 15)
    assert (given["clusterId"], given["replicaState"]) == ("c", {"replicaId": 3, "replicaEpoch": -1})


def test_null_struct_in_a_tagged_field(codec):
    # Its default is a struct, so null is written: ConsumerGroupMemberMetadataValue as Kafka encodes it.
    data = bytes.fromhex("00" + "00" + "01" + "01" + "01" + "00" + "00000000" + "00" + "01" + "00" + "01" + "00")
    message = codec.decode("ConsumerGroupMemberMetadataValue", data, 0)
    assert message.classic_member_metadata is None
    assert to_json(message, 0)["classicMemberMetadata"] is None


def test_uuids_and_scalar_arrays(codec):
    kind = codec.message_class("AlterPartitionRequest")
    topic = kind.TopicData(
        topic_id=Uuid(bytes.fromhex("00112233445566778899aabbccddeeff")), partitions=[kind.PartitionData(new_isr=[1, 2])]
    )
    written = to_json(kind(topics=[topic]), 2)["topics"][0]
    assert written["topicId"] == "ABEiM0RVZneImaq7zN3u_w"
    assert written["partitions"][0]["newIsr"] == [1, 2]


def test_slots_outside_a_projection_are_left_out(codec):
    message = codec.decode("MetadataRequest", bytes.fromhex("00000000" + "01"), 4, fields=("allow_auto_topic_creation",))
    assert to_json(message, 4) == {"allowAutoTopicCreation": True}


def test_unknown_tags_are_not_in_it(codec):
    assert to_json(codec.message_class("ApiVersionsRequest")(unknown_tagged_fields=((9, b"x"),)), 3) == {
        "clientSoftwareName": "",
        "clientSoftwareVersion": "",
    }


def test_what_is_no_message(codec):
    nested = codec.message_class("MetadataResponse").MetadataResponseTopic()
    for value in (nested, Opaque(b"", wire_error(1, 0)), {}, None):
        with pytest.raises(TypeError, match="to_json takes a message object"):
            to_json(value, 1)
    with pytest.raises(UnsupportedVersion):
        to_json(codec.message_class("MetadataRequest")(), 99)
