"""What is read of bodies, by schema: checked on hand-worked messages and against the list of all apis."""

from __future__ import annotations

import pytest

from kwire.codec import decode
from kwire.protocol.tracking.first_fields import column_values, error_code_of, first_value, request_fields, response_fields, topics_of
from kwire.schema import catalog


def test_every_version_of_every_api_has_first_fields_that_compile() -> None:
    for key in catalog().api_keys:
        for message, fields in ((catalog().request(key), request_fields), (catalog().response(key), response_fields)):
            assert message is not None
            for version in message.valid_versions:
                projection = fields(key, version).projection
                if projection is not None:
                    known = {slot for struct in message.structs.values() for slot in (field.attribute for field in struct.fields)}
                    assert all(step in known for path in projection for step in path.split("."))


@pytest.mark.parametrize(
    ("api", "version", "group", "transactional", "topics", "name", "acks"),
    [
        ("Produce", 2, None, None, ("topic_data",), "name", True),
        ("Produce", 12, None, ("transactional_id",), ("topic_data",), "name", True),
        ("Produce", 13, None, ("transactional_id",), ("topic_data",), None, True),
        ("Fetch", 12, None, None, ("topics",), "topic", False),
        ("Fetch", 13, None, None, ("topics",), None, False),
        ("OffsetCommit", 2, ("group_id",), None, ("topics",), "name", False),
        ("OffsetFetch", 1, ("group_id",), None, ("topics",), "name", False),
        ("OffsetFetch", 8, ("groups", "group_id"), None, ("groups", "topics"), "name", False),
        ("JoinGroup", 9, ("group_id",), None, None, None, False),
        ("DescribeGroups", 5, ("groups",), None, None, None, False),
        ("TxnOffsetCommit", 3, ("group_id",), ("transactional_id",), ("topics",), "name", False),
        ("AddPartitionsToTxn", 3, None, ("v3_and_below_transactional_id",), ("v3_and_below_topics",), "name", False),
        ("DeleteTopics", 3, None, None, ("topic_names",), "", False),
        ("InitializeShareGroupState", 0, ("group_id",), None, ("topics",), None, False),
        ("SaslHandshake", 1, None, None, None, None, False),
    ],
)
def test_where_a_request_has_its_first_fields(
    api: str, version: int, group: tuple[str, ...] | None, transactional: tuple[str, ...] | None, topics: tuple[str, ...] | None,
    name: str | None, acks: bool,
) -> None:  # fmt: skip
    key = catalog()[f"{api}Request"].api_key
    assert key is not None
    fields = request_fields(key, version)
    assert (fields.columns.get("group_id"), fields.columns.get("transactional_id")) == (group, transactional)
    assert (fields.topics, fields.topic_name) == (topics, name)
    assert ("acks" in fields.columns) is acks


def test_metadata_topics_null_empty_and_some() -> None:
    fields = request_fields(3, 1)
    for body, expected in (
        (b"\xff\xff\xff\xff", (None, None)),
        (b"\0\0\0\0", (None, 0)),
        (b"\0\0\0\2\0\1a\0\1b", ("a", 2)),
    ):
        assert topics_of(decode("MetadataRequest", body, 1), fields) == expected


def test_groups_of_an_offset_fetch() -> None:
    body = b"\3" + b"\3g1\2\3t1\2\0\0\0\0\0\0" + b"\3g2\3\3t2\1\0\3t3\1\0\0" + b"\0\0"
    message = decode("OffsetFetchRequest", body, 8)
    fields = request_fields(9, 8)
    assert first_value(message, fields.columns["group_id"]) == "g1"
    assert topics_of(message, fields) == ("t1", 3)


def test_the_error_code_of_a_response() -> None:
    top = response_fields(12, 0)
    assert error_code_of(decode("HeartbeatResponse", b"\0\x1b", 0), top) == 27
    inner = response_fields(2, 1)
    partition = bytes(4) + b"%b" + bytes(16)
    good, bad = partition.replace(b"%b", b"\0\0"), partition.replace(b"%b", b"\0\6")
    body = b"\0\0\0\2" + b"\0\1a\0\0\0\1" + good + b"\0\1b\0\0\0\2" + good + bad
    assert error_code_of(decode("ListOffsetsResponse", body, 1), inner) == 6
    assert error_code_of(decode("ListOffsetsResponse", b"\0\0\0\0", 1), inner) == 0
    assert error_code_of(decode("MetadataResponse", b"\0\0\0\0" + b"\0\0\0\1" + b"\0\0\0\0", 1), response_fields(3, 1)) == 0
    # the order is that of the wire: partition 0 of the first topic failed before the second topic did
    first = b"\0\0\0\1a\0\0\0\0\1" + b"\0\7" + bytes(16)
    topics = bytes(8) + b"\0\0\0\2" + first + b"\0\3\0\1b\0\0\0\0\0"
    assert error_code_of(decode("MetadataResponse", topics, 1), response_fields(3, 1)) == 7
    # FindCoordinator has its code at the top up to version 3, inside from 4 on
    assert response_fields(10, 3).error_codes == (("error_code",),)
    assert response_fields(10, 4).error_codes == (("coordinators", "error_code"),)


def test_the_least_int32_means_null() -> None:
    """Compiled rows keep it for null: a throttle time of -2^31 ms is nobody's."""
    fields = response_fields(12, 1)
    assert column_values(decode("HeartbeatResponse", b"\x80\0\0\0\0\0", 1), fields)["throttle_time_ms"] is None
    assert column_values(decode("HeartbeatResponse", b"\x80\0\0\1\0\0", 1), fields)["throttle_time_ms"] == -(2**31) + 1
