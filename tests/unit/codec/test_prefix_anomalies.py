"""Reading as far as the bytes go: what the reader passes over, and what no bytes that follow could make true."""

from __future__ import annotations

import time

import pytest

from kwire.codec.classes import compiled
from kwire.codec.prefix import Anomaly, Prefix, read_prefix
from kwire.errors import Fault

VERSIONS_V3 = bytes.fromhex("0000 03 0003 0000 000c 00 0012 0000 0004 00 00000000 00")


def read(name: str, version: int, data: bytes, limit: int | None = None) -> Prefix:
    return read_prefix(compiled().plan(name, version), data, limit=limit, strict=False)


def test_a_whole_message_reads_as_the_codec_reads_it() -> None:
    message, error, end, anomalies, _ = read("ApiVersionsResponse", 3, VERSIONS_V3 + b"more")
    assert (error, end, anomalies) == (None, len(VERSIONS_V3), [])
    assert [(each.api_key, each.min_version, each.max_version) for each in message.api_keys] == [(3, 0, 12), (18, 0, 4)]
    assert message.throttle_time_ms == 0


def test_every_prefix_gives_what_is_there() -> None:
    for size in range(len(VERSIONS_V3)):
        message, error, end, *_ = read("ApiVersionsResponse", 3, VERSIONS_V3[:size])
        assert error is not None
        assert end <= size
        whole_entries = max(0, (size - 3) // 7)
        entries = [each for each in getattr(message, "api_keys", []) if hasattr(each, "max_version")]
        assert len(entries) in (whole_entries, min(whole_entries + 1, 2))
        assert hasattr(message, "error_code") == (size >= 2)


def test_the_structs_on_the_way_to_the_cut_are_there() -> None:
    body = b"\xff\xff" + b"\xff\xff" + bytes(4) + b"\0\0\0\1\0\6orders\0\0\0\1" + bytes(4) + b"\0\0\0\3abc"
    topic = read("ProduceRequest", 3, body).message.topic_data[0]
    assert (topic.name, topic.partition_data[0].records) == ("orders", b"abc")
    cut, error, *_ = read("ProduceRequest", 3, body[:20])
    assert (cut.transactional_id, cut.acks, len(cut.topic_data), hasattr(cut.topic_data[0], "name")) == (None, -1, 1, True)
    assert (error.path, error.offset) == ("topic_data[0].partition_data", 20)
    cut, error, *_ = read("ProduceRequest", 3, body[:12])
    assert (error.path, len(cut.topic_data), hasattr(cut.topic_data[0], "name")) == ("topic_data[0].name", 1, False)


def test_negative_lengths_that_are_no_null() -> None:
    assert read("MetadataRequest", 1, b"\xff\xff\xff\xfe").anomalies == [Anomaly("negative_length", 0, -2)]
    assert read("MetadataRequest", 1, b"\xff\xff\xff\xff").anomalies == []


@pytest.mark.parametrize(
    ("tags", "anomalies"),
    [
        ("02 050141 030142", [Anomaly("tags_out_of_order", 8, (5, 3))]),
        ("02 030141 030142", [Anomaly("tag_repeated", 8, 3)]),
        ("02 030141 050142", []),
        # the first of each kind in a section
        ("05 0500 0400 0300 0500 0500", [Anomaly("tags_out_of_order", 7, (5, 4)), Anomaly("tag_repeated", 11, 5)]),
    ],
)
def test_order_of_tags(tags: str, anomalies: list[Anomaly]) -> None:
    assert read("ApiVersionsRequest", 3, bytes.fromhex("02610231" + tags)).anomalies == anomalies


def test_tags_that_come_downwards_cost_what_they_weigh() -> None:
    """200,000 tags, each below the one before: nothing is remembered or copied once for each of them."""

    def varint(value: int) -> bytes:
        return bytes((value & 0x7F | 0x80, value >> 7 & 0x7F | 0x80, value >> 14))

    count = 200_000
    section = varint(count) + b"".join(varint(tag) + b"\0" for tag in range(count + 20_000, 20_000, -1))
    start = time.process_time()
    message, error, _, anomalies, _ = read("ApiVersionsRequest", 3, bytes.fromhex("02610231") + section[:-1])
    assert time.process_time() - start < 30  # a square of them takes an hour
    assert error.code is Fault.TRUNCATED
    assert [anomaly.kind for anomaly in anomalies] == ["tags_out_of_order"]
    assert len(message.unknown_tagged_fields) == count - 1


def test_bytes_that_break_a_rule_end_the_reading() -> None:
    message, error, *_ = read("ApiVersionsRequest", 3, b"\xff\xff\xff\xff\xff\xff")
    assert error.code is Fault.BAD_VARINT
    assert not hasattr(message, "client_software_name")


@pytest.mark.parametrize(
    ("name", "version", "data", "whole", "code"),
    [
        ("MetadataRequest", 0, "00000003 0001 61", 20, Fault.TRUNCATED),  # 13 bytes may hold two more names
        ("MetadataRequest", 0, "0000000a 0001 61", 20, Fault.BAD_LENGTH),  # not nine
        ("HeartbeatRequest", 0, "0003 61", 11, Fault.TRUNCATED),
        ("HeartbeatRequest", 0, "0010 61", 11, Fault.BAD_LENGTH),
        ("ApiVersionsRequest", 3, "02 61 02 31 01 00 05 ff", 12, Fault.TRUNCATED),
        ("ApiVersionsRequest", 3, "02 61 02 31 01 00 05 ff", 11, Fault.BAD_LENGTH),
    ],
)
def test_lengths_beyond_the_whole_message(name: str, version: int, data: str, whole: int, code: Fault) -> None:
    error = read(name, version, bytes.fromhex(data), whole).error
    assert error is not None
    assert error.code is code
