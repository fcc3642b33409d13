"""Every rule on bytes that break it, and none on bytes that are only odd.

The requests are those that a real Kafka 3.9 broker was asked to read; what it answered decided what is a breach.
"""

from __future__ import annotations

import struct

import pytest

from kafka_bytes import framed_hex, rules
from kwire.protocol import Connection, ViolationFound
from kwire.protocol._pure.tracker import Connection as PureConnection
from kwire.protocol.rules import RULES, explain, shown

HOSTILE = "000000010007" + "686f7374696c65"  # correlation id 1, client id `hostile`
BATCH_HEAD = "0000018bcfe568000000018bcfe56800ffffffffffffffffffffffffffff"
PRODUCE = "00000009" + HOSTILE + "0000000100000bb80207706f69736f6e0200000000"


def produced(length: int, attributes: int, count: int, records: bytes) -> str:
    """Produce v9 with one batch of magic 2: its length field, attributes, record count and records."""
    batch = struct.pack(">qiibIhi", 0, length, 0, 2, 0, attributes, 0) + bytes.fromhex(BATCH_HEAD) + struct.pack(">i", count) + records
    size = len(batch) + 1
    varint = bytes([size & 0x7F | 0x80, size >> 7]) if size > 127 else bytes([size])
    return PRODUCE + varint.hex() + batch.hex() + "000000"


RECORD = bytes.fromhex("10000000026b027600")
GZIP_BOMB = b"\x1f\x8b" + bytes(98) + struct.pack("<I", 4_194_318)
LZ4_BOMB = bytes.fromhex("04224d18 68 40 0e00400000000000") + bytes(80)
ZSTD_BOMB = bytes.fromhex("28b52ffd a0 0e004000") + bytes(80)

REQUESTS = {
    "00030001" + HOSTILE + "7fffffff": ["body_too_short"],
    "00030009" + HOSTILE + "8080808080000001000000": ["header_malformed"],
    "00030009" + HOSTILE + "00ffffffffffffffffff0101000000": ["varint_too_long"],
    "00120003" + HOSTILE + "000261023101" + "00ffffff7f": ["body_too_short"],
    "00120003" + HOSTILE + "000261023102" + "050141030142": ["tags_out_of_order"],
    "00120003" + HOSTILE + "000261023102" + "090141090142": ["tag_repeated"],
    "00120000000000010004fffec0af": ["client_id_not_utf8"],
    "00120003" + HOSTILE + "000a6d7920636c69656e7404312e3000": ["client_software_invalid"],
    "00120003" + HOSTILE + "0007736172616d610828646576656c2900": ["client_software_invalid"],
    "00120003" + HOSTILE + "00010100": ["client_software_invalid"],
    "00120003" + HOSTILE + "00062d6c69622d03763100": ["client_software_invalid"],
    "27110000" + HOSTILE: ["unreleased_api_key"],  # this client did not ask which APIs the broker has
    "1f400000" + HOSTILE: ["unknown_api_key"],
    "ffff0000" + HOSTILE: ["unknown_api_key"],
    "0003ffff" + HOSTILE: ["negative_version"],
    "00030063" + HOSTILE + "00": ["unsupported_version"],
    "00120063" + HOSTILE + "00010100": ["api_versions_unreleased"],
    "00120000" + HOSTILE + "00000000": ["trailing_bytes"],
    "000c0000" + HOSTILE + "000167" + "00000000" + "00016d" + "ff": ["trailing_bytes"],
    "000c0000" + HOSTILE + "ffff0000000100016d": ["null_not_allowed"],
    "00030001" + HOSTILE + "fffffffe": ["length_impossible"],
    "00030001" + HOSTILE + "000000020001740003c328ff": ["string_not_utf8"],
    "000c0000" + HOSTILE + "000167" + "00000000" + "0002c080": ["string_not_utf8"],
    "000c0000" + HOSTILE + "7fff616263": ["body_too_short"],
    "001200000000000100": ["header_malformed"],
    "0012000000000001": ["header_malformed"],
    "00120000": ["frame_too_short"],
    "": ["frame_too_short"],
    "00120000fffffff0" + "0000": ["correlation_id_negative"],
    produced(10, 0, 1, RECORD): ["batch_length_impossible"],
    produced(59, 0, 1, RECORD): ["batch_length_impossible"],
    produced(58, 0, -5, RECORD): ["batch_count_impossible"],
    produced(58, 0, 2, RECORD): ["batch_count_impossible"],
    produced(58, 0, 1, bytes.fromhex("feffffff0f00000000")): ["batch_record_impossible"],
    produced(58, 7, 1, RECORD): ["batch_codec_unknown"],
    produced(65, 1, 1, b"this is not gzip"): ["batch_payload_unreadable"],
    produced(49 + len(GZIP_BOMB), 1, 1, GZIP_BOMB): ["batch_unpacks_too_large"],
    produced(49 + len(LZ4_BOMB), 3, 1, LZ4_BOMB): ["batch_unpacks_too_large"],
    produced(49 + len(ZSTD_BOMB), 4, 1, ZSTD_BOMB): ["batch_unpacks_too_large"],
}  # fmt: skip
HARMLESS = [
    "0012000000000001ffff",
    "00120000000000010000",
    "00120000" + "00000001" + "0019" + b"<script>alert(1)</script>".hex(),
    "00120000" + "00000001" + "0012" + "3d312b310a2278222c091b5b33316d726564",
    "00120003" + HOSTILE + "0006612e622d630b302e302e312d72632e3200",
    "00120005" + HOSTILE + "0002610231" + "00ffffffff00",
    "00030001" + HOSTILE + "ffffffff",
    "00030001" + HOSTILE + "000000010002c3a9",
    produced(58, 0, 1, RECORD),
    produced(49 + 4, 4, 1, bytes.fromhex("28b52ffd")),
]

# One broker with port 9092, no topic: Metadata v1 around its host and rack.
METADATA_HEAD, METADATA_REST = "00000002" + "00000001" + "00000001", "00000001" + "00000000"
ASKED = {
    "ApiVersions v0": "00120000000000010000",
    "ApiVersions v4": "00120004000000010000" + "00" + "0261023100",
    "Metadata v1": "00030001000000020000" + "ffffffff",
    "Fetch v4": "00010004000000030000" + "ffffffff" + "00000000" * 2 + "7fffffff" + "00" + "00000000",
}
RESPONSES = [
    ([], "000000010000000000010003" + "0000000c", ["response_without_request"]),
    (["ApiVersions v0"], "000003e7000000000001000300" + "00000c", ["response_unknown_correlation_id"]),
    (["Metadata v1"], "000000027fffffff0000000000000000", ["body_too_short"]),
    (["Metadata v1"], "00000002000000010000000500016800002384ffff0000000500000000" + "78797a", ["trailing_bytes"]),
    (["Metadata v1"], METADATA_HEAD + "0003c328ff" + "00002384" + "ffff" + METADATA_REST, ["string_not_utf8"]),
    (["Metadata v1"], METADATA_HEAD + "000168" + "00002384" + "0001ff" + METADATA_REST, ["string_not_utf8"]),
    (["ApiVersions v4"], "00000001" + "0000" + "01" + "00000000" + "010009" + "0203ff660000000200", ["string_not_utf8"]),
    (["ApiVersions v0"], "0000", ["frame_too_short"]),
    (["ApiVersions v0"], "00000001" + "0000" + "00000002" + "00120000000c" + "00120000000c", ["api_versions_key_repeated"]),
    (["ApiVersions v4"], "00000001002300000001001200000003", ["api_versions_refused"]),
    (
        ["Fetch v4"],
        "00000003000000000000000100017400000001000000000000000000000000000100000000000000010000000000" + "0186a0616263",
        ["body_too_short"],
    ),
    (
        ["Fetch v4"],
        "0000000300000000000000010001740000000100000000000000000000000000010000000000000001000000000000002800000000000000000000003a00"
        "00000002e99b8dd80000000000000000018bcfe568000000018bcf",
        ["batch_partial"],
    ),
]  # fmt: skip


@pytest.mark.parametrize("payload", REQUESTS)
def test_a_hostile_request_leaves_its_rule(payload: str) -> None:
    events = Connection().receive_request_bytes(framed_hex(payload), 5, 6)
    assert rules(events) == REQUESTS[payload]
    for event in events:
        if isinstance(event, ViolationFound):
            assert (event.packet_number, event.stream_offset, event.time, event.direction) == (6, 0, 5, "request")
            assert event.severity == RULES[event.rule].severity
            assert event.explanation.endswith(".")


@pytest.mark.parametrize(("frame", "expected"), REQUESTS.items())
def test_a_request_that_breaks_a_rule_behind_one_that_breaks_none(frame: str, expected: list[str]) -> None:
    """A Heartbeat comes first: who the client is does not hang on the request that is at fault."""
    connection = Connection()
    assert rules(connection.receive_request_bytes(framed_hex("000c0000000000090000" + "000167" + "00000000" + "00016d"), 0)) == []
    assert rules(connection.receive_request_bytes(framed_hex(frame), 0)) == expected


@pytest.mark.parametrize("payload", HARMLESS)
def test_an_odd_request_leaves_none(payload: str) -> None:
    assert rules(Connection().receive_request_bytes(framed_hex(payload), 0)) == []


@pytest.mark.requirement("K511-9")
@pytest.mark.parametrize(("asked", "answer", "broken"), RESPONSES)
def test_a_hostile_response_leaves_its_rule(asked: list[str], answer: str, broken: list[str]) -> None:
    connection = Connection()
    for name in asked:
        assert rules(connection.receive_request_bytes(framed_hex(ASKED[name]), 0)) == []
    events = connection.receive_response_bytes(framed_hex(answer), 1)
    assert rules(events + connection.finish(2)) == broken


@pytest.mark.parametrize(("data", "rule"), [("fffffff70000", "frame_length_negative"), ("7fffffff0000", "frame_length_too_large")])
def test_impossible_lengths_of_both_directions(data: str, rule: str) -> None:
    connection = Connection()
    assert rules(connection.receive_request_bytes(bytes.fromhex(data), 0)) == [rule]
    assert connection.protocol == "unknown"
    connection = Connection()
    connection.receive_request_bytes(framed_hex(ASKED["ApiVersions v0"]), 0)
    assert rules(connection.receive_response_bytes(bytes.fromhex(data), 0)) == [rule]
    assert connection.protocol == "kafka"
    connection = Connection()
    assert rules(connection.receive_request_bytes(framed_hex(ASKED["ApiVersions v0"]) + bytes.fromhex(data), 0)) == [rule]


def test_a_broker_that_calls_a_batch_corrupt() -> None:
    connection = Connection()
    connection.receive_request_bytes(framed_hex(produced(58, 0, 1, RECORD)), 0)
    answer = "00000001000207706f69736f6e0200000000" + "0002" + "ff" * 24 + "0100" + "00" + "00" + "00000000" + "00"
    assert "batch_refused" in rules(connection.receive_response_bytes(framed_hex(answer), 0))


def test_what_is_only_worth_knowing_is_said_once_a_connection() -> None:
    connection = Connection()
    events = [event for _ in range(3) for event in connection.receive_request_bytes(framed_hex("00120000fffffff00000"), 0)]
    assert rules(events) == ["correlation_id_negative"]
    events = [event for _ in range(3) for event in connection.receive_request_bytes(framed_hex("1f400000" + HOSTILE), 0)]
    assert rules(events) == ["unknown_api_key"] * 3


VENDOR_KEYS = "00000001" + "0000" + "00000003" + "000000000009" + "271000000002" + "272200010001"  # 0, 10000 and 10018


@pytest.mark.parametrize("make", [Connection, PureConnection])
@pytest.mark.parametrize(
    ("key", "rule", "sentence"),
    [
        ("2710", "unreleased_api_key", "No Kafka release has an API with key 10000; the broker offers it in v0 to v2."),
        ("2722", "unreleased_api_key", "No Kafka release has an API with key 10018; the broker offers it in v1 to v1."),
        ("2711", "unknown_api_key", "No Kafka release has an API with key 10001."),
    ],
)
def test_an_api_that_the_broker_offers_is_no_error(make: type[Connection], key: str, rule: str, sentence: str) -> None:
    """Confluent's brokers have APIs from 10000 on."""
    connection = make()
    connection.receive_request_bytes(framed_hex(ASKED["ApiVersions v0"]), 0)
    connection.receive_response_bytes(framed_hex(VENDOR_KEYS), 0)
    found = connection.receive_request_bytes(framed_hex(key + "0000" + HOSTILE), 0)
    (event,) = (each for each in found if isinstance(each, ViolationFound))
    assert (event.rule, event.severity, event.explanation) == (rule, RULES[rule].severity, sentence)


@pytest.mark.parametrize("make", [Connection, PureConnection])
@pytest.mark.parametrize(("key", "rule"), [("2711", "unreleased_api_key"), ("1f40", "unknown_api_key")])
@pytest.mark.parametrize("lost", [64, 0])
def test_no_error_rests_on_an_api_versions_answer_that_was_not_seen(make: type[Connection], lost: int, key: str, rule: str) -> None:
    """It was lost, or the client asked on another connection."""
    connection = make()
    connection.lost("response", lost, 0)
    assert rules(connection.receive_request_bytes(framed_hex(key + "0000" + HOSTILE), 0)) == [rule]


def test_wire_text_in_a_sentence_is_escaped_and_short() -> None:
    name = b"\x1b[31m" + b"x" * 500
    payload = "00120003" + HOSTILE + "00" + bytes([(len(name) + 1) & 0x7F | 0x80, (len(name) + 1) >> 7]).hex() + name.hex() + "023100"
    (event,) = [each for each in Connection().receive_request_bytes(framed_hex(payload), 0) if isinstance(each, ViolationFound)]
    assert "\x1b" not in event.explanation
    assert len(event.explanation) < 300
    assert shown("a\n" * 100).count("\n") == 0


def test_every_sentence_can_be_filled_in() -> None:
    for rule in RULES.values():
        names = {part.split("}")[0] for part in rule.sentence.split("{")[1:]}
        assert explain(rule.id, **dict.fromkeys(names, "x")).endswith(".")
