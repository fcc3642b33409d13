"""Where a fault is placed: code, offset and path of hand-made bytes, as the docstring of `kwire.errors` says it."""

from __future__ import annotations

import array
import contextlib
import pickle
import tracemalloc

import pytest

from kwire.codec.decoding import MEMORY_MULTIPLE
from kwire.errors import (
    BadLength,
    BadTag,
    BadUtf8,
    BadVarint,
    Fault,
    KwireError,
    NullNotAllowed,
    TrailingBytes,
    Truncated,
    UnsupportedVersion,
    WireError,
)  # fmt: skip

# MetadataResponse v1: brokers (int32 count), controller id, topics (int32 count) of error code, name, is_internal, partitions of
# error code, index, leader, replica_nodes, isr_nodes.
METADATA_HEAD = "00000000" + "00000001" + "00000001" + "0000" + "0001" + "74" + "00" + "00000001"
METADATA_PARTITION = "0000" + "00000005" + "00000001" + "00000001" + "00000001" + "00000001"  # the last is the count of isr_nodes

# (message, version, bytes, exception, offset, path)
CASES = {
    # Lengths and contents that are cut.
    "empty": ("MetadataRequest", 0, "", Truncated, 0, "topics"),
    "cut count": ("MetadataRequest", 0, "000000", Truncated, 0, "topics"),
    "cut string length": ("HeartbeatRequest", 0, "00", Truncated, 0, "group_id"),
    "cut string length of the second": ("MetadataRequest", 0, "00000002" + "0001" + "61" + "00", Truncated, 7, "topics[1].name"),
    "cut string content": ("MetadataRequest", 0, "00000001" + "0003" + "6161", Truncated, 6, "topics[0].name"),
    "cut fixed field in a run": ("JoinGroupRequest", 1, "0001" + "61" + "00000001" + "0000", Truncated, 7, "rebalance_timeout_ms"),
    "cut scalar array": ("MetadataResponse", 1, METADATA_HEAD + METADATA_PARTITION, Truncated, 40, "topics[0].partitions[0].isr_nodes"),
    "cut compact length": ("HeartbeatRequest", 4, "80", Truncated, 0, "group_id"),
    "cut varint at the fourth byte": ("HeartbeatRequest", 4, "80808080", Truncated, 0, "group_id"),
    "cut after a string": ("HeartbeatRequest", 4, "0261" + "0000", Truncated, 2, "generation_id"),
    "cut nullable struct": ("DescribeTopicPartitionsRequest", 0, "01" + "00000001", Truncated, 5, "cursor"),
    "cut tagged section": ("ApiVersionsRequest", 3, "0261" + "0262", Truncated, 4, ""),
    "cut bytes": ("SaslAuthenticateRequest", 0, "00000004" + "0102", Truncated, 4, "auth_bytes"),
    # Counts that cannot be.
    "impossible count": ("MetadataRequest", 0, "7fffffff" + "00" * 10, Truncated, 0, "topics"),
    "impossible compact count": ("FetchRequest", 12, "ffffffff" + "00" * 21 + "ffffffff07" + "00" * 10, Truncated, 25, "topics"),
    "count above int32": ("MetadataResponse", 12, "00000000" + "ffffffff0f" + "00" * 10, BadLength, 4, "brokers"),
    "length above int32": ("HeartbeatRequest", 4, "ffffffff0f" + "00" * 10, BadLength, 0, "group_id"),
    "two elements in the space of one": ("MetadataRequest", 0, "00000002" + "0001" + "61", Truncated, 0, "topics"),
    # Varints.
    "varint of six bytes": ("HeartbeatRequest", 4, "ffffffffff7f" + "00" * 20, BadVarint, 0, "group_id"),
    "varint of 36 bits": ("ApiVersionsRequest", 3, "0261" + "ffffffff1f" + "00", BadVarint, 2, "client_software_version"),
    # Nulls.
    "null string": ("JoinGroupRequest", 0, "ffff", NullNotAllowed, 0, "group_id"),
    "null compact string": ("ApiVersionsRequest", 3, "00", NullNotAllowed, 0, "client_software_name"),
    "null array": ("MetadataRequest", 0, "ffffffff", NullNotAllowed, 0, "topics"),
    "null compact array": ("MetadataResponse", 12, "00000000" + "00", NullNotAllowed, 4, "brokers"),
    "null bytes": ("SaslAuthenticateRequest", 0, "ffffffff", NullNotAllowed, 0, "auth_bytes"),
    # Text.
    "bad UTF-8": ("ApiVersionsRequest", 3, "02ff" + "0261" + "00", BadUtf8, 1, "client_software_name"),
    "half a character": ("MetadataRequest", 0, "00000001" + "0002" + "61c3", BadUtf8, 6, "topics[0].name"),
    "surrogate": ("MetadataRequest", 0, "00000001" + "0003" + "eda080", BadUtf8, 6, "topics[0].name"),
    # Tagged sections; HeartbeatRequest v4 has no tag of its own, ApiVersionsResponse v3 has 0 to 2.
    "too many tags": ("HeartbeatRequest", 4, "0261" + "00000001" + "0261" + "00" + "05" + "0000", Truncated, 9, ""),
    "number of tags above int32": ("HeartbeatRequest", 4, "0261" + "00000001" + "0261" + "00" + "ffffffff0f", BadLength, 9, ""),
    "cut tag payload": ("ApiVersionsRequest", 3, "0261" + "0261" + "01" + "0504" + "01", Truncated, 7, ""),
    "tag size above int32": ("ApiVersionsRequest", 3, "0261" + "0261" + "01" + "05" + "ffffffff0f", BadLength, 6, ""),
    "tag number of six bytes": ("ApiVersionsRequest", 3, "0261" + "0261" + "01" + "ffffffffff00", BadVarint, 5, ""),
    "tag longer than its value": ("ApiVersionsResponse", 3, "0000" + "01" + "00000000" + "01" + "01" + "09" + "00" * 9, BadTag, 8, ""),
    "tag shorter than its value": ("ApiVersionsResponse", 3, "0000" + "01" + "00000000" + "01" + "01" + "04" + "00" * 9, BadTag, 8, ""),
    "fault in a known tag": (
        "ApiVersionsResponse", 3, "0000" + "01" + "00000000" + "01" + "00" + "05" + "02" + "02ff" + "0000", Truncated, 10,
        "supported_features",
    ),
    "bad text in a known tag": (
        "ApiVersionsResponse", 3, "0000" + "01" + "00000000" + "01" + "00" + "08" + "02" + "02ff" + "00000000" + "00", BadUtf8, 12,
        "supported_features[0].name",
    ),
    "tags of a nested struct": (
        "DescribeGroupsRequest", 5, "01" + "00" + "01" + "07", Truncated, 2, "",
    ),
    "tag payload of two gigabytes": (
        "HeartbeatRequest", 4, "0261" + "00000001" + "0261" + "00" + "01" + "ff01" + "ffffffff07", Truncated, 17, "",
    ),
    # Bytes of other protocols and of broken clients that were seen to hang or abort other decoders.
    "noise as a count": ("MetadataRequest", 0, "0300033c0c00b600", Truncated, 0, "topics"),
    "four-byte count": ("FetchRequest", 12, "ffffffff" + "00" * 17 + "ffffffff" + "ffffff1f" + "00" * 10, Truncated, 25, "topics"),
    "endless varint": ("ApiVersionsRequest", 3, "ffffffffffffffffffff01", BadVarint, 0, "client_software_name"),
    # The end.
    "left over behind tags": ("HeartbeatRequest", 4, "0261" + "00000001" + "0261" + "0000" + "ffffffff0f", TrailingBytes, 10, ""),
    "left over": ("MetadataRequest", 0, "00000000" + "aa", TrailingBytes, 4, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_place(codec, name):
    message, version, text, kind, offset, path = CASES[name]
    with pytest.raises(WireError) as caught:
        codec.decode(message, bytes.fromhex(text), version)
    error = caught.value
    assert (type(error), error.offset, error.path, error.message, error.api_version) == (kind, offset, path, message, version)


def test_path_of_a_nested_section(codec):
    # MetadataResponse v9, one broker whose tagged section announces more than there is.
    data = bytes.fromhex("00000000" + "02" + "00000001" + "0268" + "00002384" + "00" + "7f" + "00" * 12)
    with pytest.raises(Truncated) as caught:
        codec.decode("MetadataResponse", data, 9)
    assert (caught.value.offset, caught.value.path) == (16, "brokers[0]")


def test_offsets_count_from_the_first_byte_of_the_buffer(codec):
    decoder = codec.compiled.decoder("MetadataRequest", 0)
    with pytest.raises(Truncated) as caught:
        decoder.decode(b"\x00" * 7 + bytes.fromhex("00000001" + "0003" + "61"), 7)
    assert caught.value.offset == 13
    assert decoder.decode(b"\x00" * 7 + bytes(4) + b"rest", 7)[1] == 11


def test_any_negative_length_is_null(codec):
    # A real client sends the count -2; Java reads it as null.
    assert codec.decode("MetadataRequest", bytes.fromhex("fffffffe"), 1).topics is None
    coordinator = codec.decode("FindCoordinatorResponse", bytes.fromhex("00000000" + "0000" + "8000" + "00000001" + "0000" + "00000002"), 1)
    assert (coordinator.error_message, coordinator.node_id, coordinator.host, coordinator.port) == (None, 1, "", 2)


def test_any_non_zero_byte_is_true(codec):
    for byte, value in ((0, False), (1, True), (2, True), (0xFF, True)):
        decoded = codec.decode("MetadataRequest", bytes.fromhex("00000000") + bytes([byte]), 4)
        assert decoded.allow_auto_topic_creation is value


def test_longer_varints_of_small_numbers_are_read(codec):
    # Kafka's readers do not ask for the shortest form.
    decoded = codec.decode("ApiVersionsRequest", bytes.fromhex("82808000" + "61" + "8200" + "62" + "8000"), 3)
    assert (decoded.client_software_name, decoded.client_software_version) == ("a", "b")


def test_unknown_tags_of_any_number_and_order_are_kept(codec):
    data = bytes.fromhex("0261" + "0262" + "03" + "ffffffff0f" + "00" + "07" + "02" + "aabb" + "07" + "01" + "cc")
    assert codec.decode("ApiVersionsRequest", data, 3).unknown_tagged_fields == ((0xFFFFFFFF, b""), (7, b"\xaa\xbb"), (7, b"\xcc"))


def test_a_known_tag_that_comes_twice_counts_the_second_time(codec):
    data = bytes.fromhex("0000" + "01" + "00000000" + "02" + "0108" + "0000000000000001" + "0108" + "0000000000000002")
    assert codec.decode("ApiVersionsResponse", data, 3).finalized_features_epoch == 2


def test_lenient_reading_replaces_what_is_not_utf8(codec):
    decoder = codec.compiled.decoder("ApiVersionsRequest", 3)
    decoded, end = decoder.decode(bytes.fromhex("03ff61" + "0262" + "00"), 0, True)
    assert (decoded.client_software_name, end) == ("�a", 6)


def test_skipping_does_not_look_at_text(codec):
    data = bytes.fromhex("02ff" + "0261" + "00")
    assert codec.compiled.decoder("ApiVersionsRequest", 3).skip(data) == 5
    with pytest.raises(BadUtf8):
        codec.decode("ApiVersionsRequest", data, 3)
    part = codec.decode("ApiVersionsRequest", data, 3, fields=("client_software_version",))
    assert part.client_software_version == "a"


@pytest.mark.parametrize(
    "wrap",
    [
        bytes,
        bytearray,
        memoryview,
        lambda data: memoryview(bytearray(data)),
        lambda data: array.array("B", data),
        lambda data: memoryview(data).cast("B", (3, 3)),
    ],
)
def test_any_contiguous_buffer(codec, wrap):
    data = bytes.fromhex("00000001" + "0003" + "616263")
    assert codec.decode("MetadataRequest", wrap(data), 0).topics[0].name == "abc"


def test_what_is_no_buffer(codec):
    with pytest.raises(BufferError):
        codec.decode("MetadataRequest", memoryview(bytes(16))[::2], 0)
    for data in ("00000000", None, 7):
        with pytest.raises(TypeError):
            codec.decode("MetadataRequest", data, 0)
    for offset in (-1, 5):
        with pytest.raises(ValueError, match="outside"):
            codec.compiled.decoder("MetadataRequest", 0).decode(bytes(4), offset)


def test_versions_that_do_not_exist(codec):
    with pytest.raises(UnsupportedVersion, match="MetadataRequest") as caught:
        codec.decode("MetadataRequest", b"", 99)
    assert (caught.value.code, caught.value.api_key, caught.value.api_version) == (Fault.UNSUPPORTED_VERSION, 3, 99)


def test_projections(codec):
    data = bytes.fromhex(METADATA_HEAD + METADATA_PARTITION + "00000003")
    whole = codec.decode("MetadataResponse", data, 1)
    assert whole.topics[0].partitions[0].isr_nodes == (3,)
    part = codec.decode("MetadataResponse", data, 1, fields=("topics.partitions.leader_id", "controller_id", "throttle_time_ms"))
    assert (part.controller_id, part.topics[0].partitions[0].leader_id) == (1, 1)
    assert part.throttle_time_ms == 0  # wanted, and not on the wire at this version: the default
    for each, name in ((part, "brokers"), (part.topics[0], "name"), (part.topics[0].partitions[0], "isr_nodes")):
        with pytest.raises(AttributeError):
            getattr(each, name)
    # What is stepped over is checked like what is built.
    with pytest.raises(Truncated) as caught:
        codec.decode("MetadataResponse", data[:-4], 1, fields=("controller_id",))
    assert (caught.value.offset, caught.value.path) == (len(data) - 8, "topics[0].partitions[0].isr_nodes")
    assert codec.decode("MetadataResponse", data, 1, fields=("topics",)).topics == whole.topics


def test_projections_of_fields_that_do_not_exist(codec):
    with pytest.raises(KwireError, match=r"MetadataResponse has no field 'topics\.nope'"):
        codec.decode("MetadataResponse", b"", 1, fields=("topics.nope",))
    with pytest.raises(TypeError, match="sequence"):
        codec.decode("MetadataResponse", b"", 1, fields="topics")


COUNT = 20000
VARINT_COUNT = bytes((COUNT & 0x7F | 0x80, COUNT >> 7 & 0x7F | 0x80, COUNT >> 14))


@pytest.mark.parametrize(
    ("message", "version", "data"),
    [
        # Arrays and tagged sections at their densest, and counts that promise more than there is.
        ("ApiVersionsRequest", 3, bytes.fromhex("02610262") + VARINT_COUNT + b"\x09\x00" * COUNT),
        ("ApiVersionsRequest", 3, bytes.fromhex("02610262") + VARINT_COUNT + b"\xff\xff\x03\x00" * COUNT),
        ("MetadataRequest", 0, COUNT.to_bytes(4, "big") + bytes(2 * COUNT)),
        ("MetadataRequest", 0, (2 * COUNT).to_bytes(4, "big") + bytes(2 * COUNT)),
        ("DescribeUserScramCredentialsRequest", 0, VARINT_COUNT + b"\x01\x00" * (COUNT - 1) + b"\x00"),
        ("AlterPartitionRequest", 2, bytes(12) + b"\x02" + bytes(16) + VARINT_COUNT + bytes(8 * COUNT)),
    ],
)
def test_memory_is_a_multiple_of_the_input(codec, message, version, data):
    decoder = codec.compiled.decoder(message, version)
    tracemalloc.start()
    try:
        kept = []
        with contextlib.suppress(WireError):
            kept.append(decoder.decode(data))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MEMORY_MULTIPLE * len(data)


def test_errors_travel(codec):
    with pytest.raises(Truncated) as caught:
        codec.decode("MetadataRequest", bytes.fromhex("00000001" + "0003" + "61"), 0)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) == "the bytes end before the value does at byte 6 in topics[0].name (MetadataRequest v0)"
    assert isinstance(again, ValueError)
