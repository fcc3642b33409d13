"""Messages out of JSON: places of errors, what is taken beside JSON's own types, several catalogs."""

from __future__ import annotations

import enum
import json

import pytest

from kwire.codec import to_json
from kwire.codec.json_reading import from_json
from kwire.errors import EncodeError, KwireError, UnsupportedVersion

PRODUCE = {
    "transactionalId": None,
    "acks": 1,
    "timeoutMs": 30000,
    "topicData": [{"name": "a", "partitionData": [{"index": 0, "records": "AP8="}, {"index": 1, "records": None}]}],
}


def refusal(name: str, obj: object, version: int, codec: object) -> EncodeError:
    with pytest.raises(EncodeError) as caught:
        from_json(name, obj, version, source=codec.compiled)  # type: ignore[attr-defined]
    return caught.value


def test_a_message(codec):
    message = from_json("ProduceRequest", PRODUCE, 9, source=codec.compiled)
    assert type(message) is codec.message_class("ProduceRequest")
    first, second = message.topic_data[0].partition_data
    assert (first.index, first.records, second.records) == (0, b"\x00\xff", None)
    assert to_json(message, 9) == PRODUCE


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [
        (lambda obj: obj.pop("acks"), "acks", "'acks' is missing, and version 9 must have it"),
        (lambda obj: obj.update(acks="1"), "acks", "expected an integer, got a string"),
        (lambda obj: obj.update(acks=True), "acks", "expected an integer, got a boolean"),
        (lambda obj: obj.update(acks=32768), "acks", "32768 is outside int16"),
        (lambda obj: obj.update(timeoutMs=1 << 70), "timeout_ms", "the number is outside int32"),
        (lambda obj: obj.update(topicData={}), "topic_data", "expected an array, got an object"),
        (lambda obj: obj["topicData"].append(5), "topic_data[1]", "expected an object, got a number"),
        (lambda obj: obj["topicData"][0].update(name=None), "topic_data[0].name", "expected a string, got null"),
        (
            lambda obj: obj["topicData"][0]["partitionData"][1].pop("records"),
            "topic_data[0].partition_data[1].records",
            "'records' is missing",
        ),
        (
            lambda obj: obj["topicData"][0]["partitionData"][0].update(records="AP8"),
            "topic_data[0].partition_data[0].records",
            "not base64",
        ),
        (lambda obj: obj["topicData"][0]["partitionData"][0].update(records=[]), "topic_data[0].partition_data[0].records", "got an array"),
    ],
)
def test_places(codec, change, path, reason):
    obj = json.loads(json.dumps(PRODUCE))
    change(obj)
    error = refusal("ProduceRequest", obj, 9, codec)
    assert (error.path, error.message, error.api_version) == (path, "ProduceRequest", 9)
    assert reason in error.reason
    assert str(error) == f"{error.reason} in {path} (ProduceRequest v9)"


def test_elements_of_scalar_arrays_have_places(codec):
    obj = {"controllerId": 1, "controllerEpoch": 1, "brokerEpoch": 1, "deletePartitions": False, "ungroupedPartitions": [], "topics": []}
    obj["topics"] = [{"name": "a", "partitionIndexes": [1, 2.5]}]
    assert refusal("StopReplicaRequest", obj, 1, codec).path == "topics[0].partition_indexes[1]"


def test_a_field_of_another_version_is_read(codec):
    """So that it is known when the message is written, which is an error then, or left out where it is ignorable."""
    message = from_json("MetadataRequest", {"topics": None, "allowAutoTopicCreation": False}, 1, source=codec.compiled)
    assert message.allow_auto_topic_creation is False
    assert from_json("MetadataRequest", {"topics": None}, 1, source=codec.compiled).allow_auto_topic_creation is True


def test_null_where_another_version_may_have_it(codec):
    assert from_json("MetadataRequest", {"topics": None}, 0, source=codec.compiled).topics is None


def test_bytes_stand_for_base64(codec):
    """The converters write and take binary nodes, which only become base64 in text."""
    for value in (b"\x00\xff", bytearray(b"\x00\xff"), memoryview(b"\x00\xff"), "AP8="):
        message = from_json("SaslAuthenticateRequest", {"authBytes": value}, 2, source=codec.compiled)
        assert message.auth_bytes == b"\x00\xff"
        assert type(message.auth_bytes) is bytes


def test_numbers_of_classes_of_their_own(codec):
    class Acks(enum.IntEnum):
        ALL = -1

    message = from_json("ProduceRequest", {**PRODUCE, "acks": Acks.ALL}, 9, source=codec.compiled)
    assert (message.acks, type(message.acks)) == (-1, int)


def test_scalar_arrays_are_tuples_as_decoded_ones_are(codec):
    obj = {"topics": [{"name": "a", "partitionIndexes": [1, 2]}]}
    obj |= {"controllerId": 1, "controllerEpoch": 1, "brokerEpoch": 1, "deletePartitions": False, "ungroupedPartitions": []}
    assert from_json("StopReplicaRequest", obj, 1, source=codec.compiled).topics[0].partition_indexes == (1, 2)


def test_no_such_version_and_no_such_message(codec):
    with pytest.raises(UnsupportedVersion, match="version 99 of MetadataRequest is not known"):
        from_json("MetadataRequest", {}, 99, source=codec.compiled)
    with pytest.raises(KwireError, match="did you mean MetadataRequest"):
        from_json("MetadataRequst", {}, 1, source=codec.compiled)


def test_the_text_never_holds_the_value(codec):
    for value in ("secret", b"secret", ["secret"], {"a": "secret"}):
        assert "secret" not in str(refusal("SaslAuthenticateRequest", {"authBytes": value if value != b"secret" else 5}, 2, codec))
