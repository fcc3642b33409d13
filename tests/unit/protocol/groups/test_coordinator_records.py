"""Records of the internal topics against bytes of Kafka's own classes."""

from __future__ import annotations

import pytest

from kwire.codec import to_json
from kwire.codec.frames import Opaque
from kwire.errors import BadVarint, InputError, TrailingBytes, Truncated, UnknownApi, UnsupportedVersion, WireError
from kwire.protocol import coordinator
from kwire.schema import catalog


def decode(case):
    data = bytes.fromhex(case["hex"])
    if case["case"] == "record-key":
        return coordinator.decode_key(case["topic"], data)
    return coordinator.decode_value(case["topic"], case["type_id"], data)


def test_values_are_those_that_kafka_reads(vectors):
    for case in vectors("coordinator-sample"):
        decoded = decode(case)
        assert type(decoded).__name__ == case["message"], case["id"]
        assert to_json(decoded, case["version"]) == case["json"], case["id"]


def test_the_sample_has_every_record_of_the_catalog(vectors):
    kinds = ("coordinator-key", "coordinator-value", "metadata")
    records = {name for name in catalog() if catalog()[name].kind in kinds}
    # QuotaRecord was in the preview of 2.8 alone, whose frames no later release reads.
    assert records - {case["message"] for case in vectors("coordinator-sample")} == {"QuotaRecord"}


def test_a_record_of_remote_log_metadata_under_its_own_topic(vectors):
    seen = 0
    for case in vectors("coordinator-sample"):
        if catalog()[case["message"]].topic == "__remote_log_metadata":
            decoded = coordinator.decode_value("__remote_log_metadata", None, bytes.fromhex(case["hex"]))
            assert to_json(decoded, case["version"]) == case["json"], case["id"]
            seen += 1
    assert seen >= 16


def test_cut_anywhere_they_are_refused(vectors):
    for case in vectors("coordinator-sample"):
        if case["body_case"] != "full":
            continue
        data, topic = bytes.fromhex(case["hex"]), catalog()[case["message"]].topic
        for end in (*range(min(len(data), 30)), *range(30, len(data), 7)):
            part = data[:end]
            with pytest.raises(WireError) as caught:
                decode({**case, "topic": topic, "hex": part.hex()})
            assert 0 <= caught.value.offset <= end
            if case["case"] == "record-key":
                kept = coordinator.decode_key(topic, part, strict=False)
            else:
                kept = coordinator.decode_value(topic, case["type_id"], part, strict=False)
            assert isinstance(kept, Opaque)
            assert kept.data == part


def test_tombstones():
    assert coordinator.decode_value("__consumer_offsets", 1, None) is None
    record = coordinator.read_record("__consumer_offsets", bytes.fromhex("0001 000167 000174 00000003"), None)
    assert (record.type_id, record.value, record.value_version, record.violations) == (1, None, None, ())
    assert (record.key.group, record.key.topic, record.key.partition) == ("g", "t", 3)


def test_a_key_of_another_kind_of_topic():
    data = (27493).to_bytes(2, "big") + b"ey"  # a record of somebody's own; linkedin/Burrow#587
    with pytest.raises(UnknownApi) as caught:
        coordinator.decode_key("__consumer_offsets", data)
    assert (caught.value.offset, caught.value.path) == (0, "type")
    record = coordinator.read_record("__consumer_offsets", data, b"\0\1value")
    assert record.type_id == 27493
    assert isinstance(record.key, Opaque)
    assert isinstance(record.value, Opaque)
    assert record.value.data == b"\0\1value"
    assert [type(each) for each in record.violations] == [UnknownApi, UnknownApi]


def test_a_value_whose_key_says_no_type():
    record = coordinator.read_record("__consumer_offsets", b"\0", bytes.fromhex("0000010100"))
    assert record.type_id is None
    assert isinstance(record.value, Opaque)


def test_versions_to_come_are_refused():
    data = bytes.fromhex("0063") + b"anything"
    with pytest.raises(UnsupportedVersion, match="only 0-4") as caught:
        coordinator.decode_value("__consumer_offsets", 1, data)
    assert (caught.value.offset, caught.value.path, caught.value.api_version) == (0, "version", 99)
    assert isinstance(coordinator.decode_value("__consumer_offsets", 1, data, strict=False), Opaque)


def test_old_types_of_key_with_newer_values():
    # OffsetCommitValue v1: offset 5, metadata "m", commit and expire timestamp
    data = bytes.fromhex("0001 0000000000000005 00016d 0000000000000001 0000000000000002")
    value = coordinator.decode_value("__consumer_offsets", 0, data)
    assert (type(value).__name__, value.offset, value.metadata, value.expire_timestamp) == ("OffsetCommitValue", 5, "m", 2)


def test_bytes_behind_a_record():
    data = bytes.fromhex("0002 000167 ff")
    with pytest.raises(TrailingBytes):
        coordinator.decode_key("__consumer_offsets", data)
    reading = coordinator.read_key("__consumer_offsets", data)
    assert (reading.message.group, reading.extra, reading.violation.offset) == ("g", 1, 5)


@pytest.mark.parametrize(
    ("data", "fault", "offset", "path"),
    [
        ("", Truncated, 0, "frame_version"),
        ("00 0000", UnsupportedVersion, 0, "frame_version"),  # the preview in 2.8
        ("02 0000", UnsupportedVersion, 0, "frame_version"),
        ("01", Truncated, 1, "type"),
        ("01 ff", Truncated, 1, "type"),
        ("01 ffffffff1f 00", BadVarint, 1, "type"),
        ("01 e807 00", UnknownApi, 1, "type"),
        ("01 0c", Truncated, 2, "version"),
        ("01 0c 09", UnsupportedVersion, 2, "version"),
        ("01 0c 00 05", Truncated, 4, "name"),
    ],
)
def test_metadata_frames_that_cannot_be_read(data, fault, offset, path):
    data = bytes.fromhex(data)
    with pytest.raises(fault) as caught:
        coordinator.decode_value("__cluster_metadata", None, data)
    assert (caught.value.path, caught.value.offset) == (path, offset)
    assert isinstance(coordinator.decode_value("__cluster_metadata", None, data, strict=False), Opaque)


def test_metadata_records_have_no_key():
    assert coordinator.decode_key("__cluster_metadata", None) is None
    with pytest.raises(UnknownApi, match="no key"):
        coordinator.decode_key("__cluster_metadata", b"\0\0")


def test_the_type_of_a_metadata_record_is_in_its_value():
    record = coordinator.read_record("__cluster_metadata", None, bytes.fromhex("01 09 00") + bytes(16) + b"\0")
    assert (record.type_id, type(record.value).__name__, record.value_version) == (9, "RemoveTopicRecord", 0)


def test_other_topics_are_the_callers_fault():
    with pytest.raises(InputError, match="'orders' is not a topic whose records kwire knows"):
        coordinator.decode_key("orders", b"")
