"""Reading as far as it goes, and what decoders forgive."""

from __future__ import annotations

from kwire.codec.classes import compiled
from kwire.protocol.close_reading import Oddity, read_closely

VERSIONS_V3 = bytes.fromhex("0000 03 0003 0000 000c 00 0012 0000 0004 00 00000000 00")


def test_a_whole_message_reads_as_the_codec_reads_it() -> None:
    reading = read_closely(compiled().plan("ApiVersionsResponse", 3), VERSIONS_V3)
    assert (reading.complete, reading.end, reading.oddities) == (True, len(VERSIONS_V3), [])
    assert [(each.api_key, each.min_version, each.max_version) for each in reading.message.api_keys] == [(3, 0, 12), (18, 0, 4)]
    assert reading.message.throttle_time_ms == 0


def test_every_prefix_gives_what_is_there() -> None:
    plan = compiled().plan("ApiVersionsResponse", 3)
    for size in range(len(VERSIONS_V3)):
        reading = read_closely(plan, VERSIONS_V3[:size])
        assert not reading.complete
        assert reading.end <= size
        whole_entries = max(0, (size - 3) // 7)
        entries = [each for each in getattr(reading.message, "api_keys", []) if hasattr(each, "max_version")]
        assert len(entries) in (whole_entries, min(whole_entries + 1, 2))
        assert hasattr(reading.message, "error_code") == (size >= 2)


def test_nested_arrays_strings_and_structs() -> None:
    body = b"\xff\xff" + b"\xff\xff" + bytes(4) + b"\0\0\0\1\0\6orders\0\0\0\1" + bytes(4) + b"\0\0\0\3abc"
    reading = read_closely(compiled().plan("ProduceRequest", 3), body)
    topic = reading.message.topic_data[0]
    assert (reading.message.transactional_id, reading.message.acks, topic.name, topic.partition_data[0].records) == (
        None,
        -1,
        "orders",
        b"abc",
    )
    cut = read_closely(compiled().plan("ProduceRequest", 3), body[:20]).message
    assert (cut.acks, len(cut.topic_data), hasattr(cut.topic_data[0], "name")) == (-1, 1, True)


def test_negative_lengths_that_are_no_null() -> None:
    plan = compiled().plan("MetadataRequest", 1)
    assert read_closely(plan, b"\xff\xff\xff\xfe").oddities == [Oddity("negative_length", 0, -2)]
    assert read_closely(plan, b"\xff\xff\xff\xff").oddities == []


def test_order_of_tags() -> None:
    plan = compiled().plan("ApiVersionsRequest", 3)
    assert read_closely(plan, bytes.fromhex("02610231 02 050141 030142")).oddities == [Oddity("tags_out_of_order", 8, [5, 3])]
    assert read_closely(plan, bytes.fromhex("02610231 02 030141 030142")).oddities == [Oddity("tag_repeated", 8, 3)]
    assert read_closely(plan, bytes.fromhex("02610231 02 030141 050142")).oddities == []


def test_bytes_that_break_a_rule_end_the_reading() -> None:
    reading = read_closely(compiled().plan("ApiVersionsRequest", 3), b"\xff\xff\xff\xff\xff\xff")
    assert not reading.complete
    assert not hasattr(reading.message, "client_software_name")
