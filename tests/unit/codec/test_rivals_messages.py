"""Messages and frames that other Kafka libraries misread, abort on or never finish: what kwire makes of the same bytes."""

from __future__ import annotations

import re
import struct
from typing import Any

import pytest

from kwire.codec.columns import Columns
from kwire.codec.frames import Opaque
from kwire.codec.header_scan import HeaderScan
from kwire.codec.prefix import PrefixReader
from kwire.codec.uuids import ZERO_UUID
from kwire.codec.views import timestamp
from kwire.errors import BadLength, BadTag, BadVarint, Fault, NullNotAllowed, TrailingBytes, Truncated, WireError
from kwire.protocol import coordinator

FETCH_HEAD = "ffffffff" + "00" * 21  # FetchRequest v7-v14 up to its topics: replica, wait, least, most, isolation, session and its epoch
HEARTBEAT_V4 = "0261" + "00000001" + "0261" + "00"  # up to its tagged section, byte 9
TELEMETRY_HEAD = "00" * 26  # GetTelemetrySubscriptionsResponse up to its compression types
PRODUCED = "00000001" + "000174" + "00000001" + "00000000" + "0000" + "0000000000000009"  # ProduceResponse up to the time of an append

# (message, version, bytes, exception, offset, path)
FAULTS: dict[str, tuple[str, int, str, type[WireError], int, str]] = {
    # Counts and lengths from the wire that are handed to an allocator: kio aborts the process, kafka-protocol-rs and Envoy take gigabytes.
    "kio: count in 30 bytes, of 36 bits": ("FetchRequest", 12, FETCH_HEAD + "ffffffff1f", BadVarint, 25, "topics"),
    "kio: count in 30 bytes, 2^31-2": ("FetchRequest", 12, FETCH_HEAD + "ffffffff07", Truncated, 25, "topics"),
    "kio: legacy count 2^31-1": ("FetchRequest", 11, FETCH_HEAD + "7fffffff" + "00" * 10, Truncated, 25, "topics"),
    "kio: count in 20 bytes, 2^32-2": ("ProduceRequest", 9, "00ffff00000001ffffffff0f" + "00" * 8, BadLength, 7, "topic_data"),
    "kio: count in 19 bytes, 2^32-2": ("MetadataResponse", 12, "00000000ffffffff0f" + "00" * 10, BadLength, 4, "brokers"),
    "kio: Metadata in 14 bytes": ("MetadataRequest", 0, "7fffffff" + "00" * 10, Truncated, 0, "topics"),
    "envoy: 9,999,999 elements in 20 bytes": ("MetadataRequest", 0, "0098967f" + "00" * 16, Truncated, 0, "topics"),
    "kafka-protocol-rs: 54 million topics": ("MetadataRequest", 0, "0300033c0c00b6", Truncated, 0, "topics"),
    "kmsg: as many elements as bytes": ("MetadataRequest", 0, "0000000a" + "00" * 10, Truncated, 0, "topics"),
    "grepplabs: number of tags 2^31-1": ("HeartbeatRequest", 4, HEARTBEAT_V4 + "ffffffff07" + "00" * 9, Truncated, 9, ""),
    "ydb: position and length overflow": ("HeartbeatRequest", 4, "8080808008" + "6161", BadLength, 0, "group_id"),
    "ydb: bytes of 2^31-1": ("SaslAuthenticateRequest", 0, "7fffffff" + "00", Truncated, 4, "auth_bytes"),
    # Varints: kio takes 35 bits, kafka-python any number of them in quadratic time.
    "kio: varint of 35 bits": ("ApiVersionsRequest", 3, "ffffffff7f" + "00" * 9, BadVarint, 0, "client_software_name"),
    "kafka-python: a megabyte of varint": ("ApiVersionsRequest", 3, "ff" * 1_000_000, BadVarint, 0, "client_software_name"),
    "kafka-python: a megabyte of tag": ("ApiVersionsRequest", 3, "0261026201" + "ff" * 1_000_000, BadVarint, 5, ""),
    "kafka-python: a megabyte of tag size": ("ApiVersionsRequest", 3, "026102620105" + "ff" * 1_000_000, BadVarint, 6, ""),
    # Contents that are shorter than their length: kafka-python gives what there is ("mm", b"abcd") as if it were all.
    "kafka-python: cut member id": ("HeartbeatRequest", 1, "000167" + "00000001" + "0005" + "6d6d", Truncated, 9, "member_id"),
    "kafka-python: cut records": (
        "ProduceRequest", 8, "ffff000100000001" + "00000001" + "000174" + "00000001" + "00000000" + "000003e8" + "61626364", Truncated, 27,
        "topic_data[0].partition_data[0].records",
    ),
    "kafka-python: cut group id": ("JoinGroupRequest", 5, "0008" + "67", Truncated, 2, "group_id"),
    "kafka-python, aiokafka: bytes behind a body": ("HeartbeatRequest", 1, "000167" + "00000001" + "00016d" + "00", TrailingBytes, 10, ""),
    # Nulls where a count is used: librdkafka's malloc and qsort of -1, kio's and kafka-python's missing check, lengths below -1.
    "librdkafka: ApiVersions, compact": ("ApiVersionsResponse", 3, "0000" + "00" + "00000000" + "00", NullNotAllowed, 2, "api_keys"),
    "librdkafka: ApiVersions": ("ApiVersionsResponse", 0, "0000" + "ffffffff", NullNotAllowed, 2, "api_keys"),
    "librdkafka: compression types": (
        "GetTelemetrySubscriptionsResponse", 0, TELEMETRY_HEAD + "00" + "00" * 12, NullNotAllowed, 26, "accepted_compression_types",
    ),
    "librdkafka: requested metrics": (
        "GetTelemetrySubscriptionsResponse", 0, TELEMETRY_HEAD + "01" + "00" * 9 + "00" + "00", NullNotAllowed, 36, "requested_metrics",
    ),
    "librdkafka: record errors": (
        "ProduceResponse", 8, PRODUCED + "00" * 16 + "ffffffff" + "ffff" + "00000000", NullNotAllowed, 41,
        "responses[0].partition_responses[0].record_errors",
    ),
    "librdkafka: node endpoints": ("ProduceResponse", 10, "01" + "00000000" + "01" + "000100", NullNotAllowed, 8, "node_endpoints"),
    "librdkafka: pushed metrics": ("PushTelemetryRequest", 0, "00" * 22 + "00" + "00", NullNotAllowed, 22, "metrics"),
    "kafka-python, aiokafka: count -2": ("MetadataRequest", 0, "fffffffe", NullNotAllowed, 0, "topics"),
    "kafka-python, aiokafka: length -2": ("JoinGroupRequest", 0, "fffe", NullNotAllowed, 0, "group_id"),
    "kio: null array": ("FetchRequest", 12, FETCH_HEAD + "00" + "01" + "01" + "00", NullNotAllowed, 25, "topics"),
    # A tag that says 3 bytes and holds 8: kio reads on, and what follows is mis-framed.
    "kio: tag size": ("ApiVersionsResponse", 3, "0000" + "01" + "00000000" + "01" + "0103" + "00" * 8, BadTag, 8, ""),
    # What is no Kafka at all, read as the response of a broker (segmentio took memory for it).
    "segmentio: HTTP": ("MetadataResponse", 0, b"/1.1 400 Bad Request\r\n".hex(), Truncated, 0, "brokers"),
    "segmentio: TLS alert": ("MetadataResponse", 0, "020228", Truncated, 0, "brokers"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_fault(codec, name):
    message, version, text, kind, offset, path = FAULTS[name]
    data = bytes.fromhex(text)
    with pytest.raises(WireError) as caught:
        codec.decode(message, data, version)
    assert (type(caught.value), caught.value.offset, caught.value.path) == (kind, offset, path)
    # The same place from every way of reading.
    row = Columns(codec.compiled).to_arrow(message, [data], version, errors="column").to_pylist()[0]
    assert (row["error"], row["error_offset"], row["error_path"]) == (kind.fault.name, offset, path)
    if kind is TrailingBytes:
        assert codec.compiled.decoder(message, version).skip(data) == offset
    else:
        with pytest.raises(kind) as skipped:
            codec.compiled.decoder(message, version).skip(data)
        assert (skipped.value.offset, skipped.value.path) == (offset, path)


PARTITION_V12 = "00000001" + "0000" + "0000000000000001" * 3 + "00" + "ffffffff" + "00"  # a partition of FetchResponse up to its tags
FETCHED_V12 = "00000000" + "0000" + "00000000" + "02" + "0274" + "02" + PARTITION_V12
SNAPSHOT = "00000001" + "0000" + "0000000000000005" + "00000002" + "00" + "0000000000000007" + "0000000000000008" + "01" + "00"
ASKED_V13 = "00112233445566778899aabbccddeeff" + "02" + "00000003" + "00000004" + "0000000000000005" + "00000006" + "00" * 12 + "00" + "00"
PLACE = "responses[0].partitions[0]"

# (message, version, bytes, values by path)
VALUES: dict[str, tuple[str, int, str, dict[str, Any]]] = {
    # Values that kio cannot hold, so that it refuses the message.
    "kio: error code": ("HeartbeatResponse", 4, "00000000" + "270f" + "00", {"error_code": 9999}),
    "kio: negative error code": ("HeartbeatResponse", 0, "8000", {"error_code": -0x8000}),
    "kio: session of 2^62 ms": (
        "SaslAuthenticateResponse", 1, "0000" + "ffff" + "00000000" + "4000000000000000", {"session_lifetime_ms": 2**62},
    ),
    "kio: year 10,000": (
        "ProduceResponse", 2, PRODUCED + "0000e677d21fdc00" + "00000000",
        {"responses[0].partition_responses[0].log_append_time_ms": 253402300800000},
    ),
    "kio: time -2": (
        "ProduceResponse", 2, PRODUCED + "fffffffffffffffe" + "00000000", {"responses[0].partition_responses[0].log_append_time_ms": -2},
    ),
    "kio: boolean 2": ("MetadataRequest", 4, "00000000" + "02", {"allow_auto_topic_creation": True}),
    "kio: no optional tagged struct": ("UpdateRaftVoterResponse", 0, "00000000" + "0000" + "00", {"current_leader.leader_id": -1}),
    "kio: no optional tagged struct, nested": (
        "FetchSnapshotResponse", 0, "00000000" + "0000" + "02" + "0274" + "02" + SNAPSHOT + "00" + "00",
        {"topics[0].partitions[0].current_leader.leader_id": 0, "topics[0].partitions[0].position": 8},
    ),
    # Unknown tagged fields: KeyError in kio, AssertionError in kafka-python where they are in a known tagged struct.
    "kio: unknown tag": ("HeartbeatRequest", 4, HEARTBEAT_V4 + "01" + "6302aabb", {"unknown_tagged_fields": ((99, b"\xaa\xbb"),)}),
    "aiokafka: tag 0": ("HeartbeatRequest", 4, HEARTBEAT_V4 + "01" + "0001aa", {"unknown_tagged_fields": ((0, b"\xaa"),)}),
    "aiokafka: tags that come twice and downwards": (
        "HeartbeatRequest", 4, HEARTBEAT_V4 + "03" + "0501aa" + "0300" + "0501bb",
        {"unknown_tagged_fields": ((5, b"\xaa"), (3, b""), (5, b"\xbb"))},
    ),
    "kio: unknown tag of a topic": (
        "MetadataRequest", 9, "02" + "0261" + "01" + "6301aa" + "000000" + "00",
        {"topics[0].unknown_tagged_fields": ((99, b"\xaa"),), "unknown_tagged_fields": ()},
    ),
    "kafka-python: unknown tag in a known one": (
        "FetchResponse", 12, FETCHED_V12 + "01" + "0011" + "00000004" + "0000000000000006" + "01" + "0902aabb" + "00" + "00",
        {f"{PLACE}.diverging_epoch.epoch": 4, f"{PLACE}.diverging_epoch.end_offset": 6,
         f"{PLACE}.diverging_epoch.unknown_tagged_fields": ((9, b"\xaa\xbb"),), f"{PLACE}.unknown_tagged_fields": ()},
    ),
    # Fields that hand-written schemas have in another place, size or form.
    "aiokafka: leader epoch of 4 bytes": (
        "ListOffsetsRequest", 4, "ffffffff" + "01" + "00000001" + "000174" + "00000001" + "00000003" + "00000007" + "ffffffffffffffff",
        {"isolation_level": 1, "topics[0].partitions[0].current_leader_epoch": 7, "topics[0].partitions[0].timestamp": -1},
    ),
    "aiokafka: flexible ACLs": (
        "DescribeAclsRequest", 2, "02" + "0261" + "03" + "00" + "00" + "03" + "01" + "00",
        {"resource_name_filter": "a", "pattern_type_filter": 3, "principal_filter": None, "operation": 3, "permission_type": 1},
    ),
    "aiokafka: log start offset behind last stable offset": (
        "FetchResponse", 5, "00000000" + "00000001" + "000174" + "00000001" + "00000000" + "0000" + "0000000000000001" + "0000000000000002"
        + "0000000000000003" + "ffffffff" + "ffffffff",
        {f"{PLACE}.high_watermark": 1, f"{PLACE}.last_stable_offset": 2, f"{PLACE}.log_start_offset": 3, f"{PLACE}.records": None},
    ),
    "qtap: topic ids of Fetch v13": (
        "FetchRequest", 13, FETCH_HEAD + "02" + ASKED_V13 + "01" + "01" + "00",
        {"topics[0].topic": "", "topics[0].partitions[0].fetch_offset": 5, "topics[0].partitions[0].last_fetched_epoch": 6},
    ),
    "qtap: no replica id in Fetch v15": (
        "FetchRequest", 15, "00000064" + "00" * 17 + "01" + "01" + "01" + "01" + "010d" + "00000002" + "0000000000000003" + "00",
        {"replica_id": -1, "max_wait_ms": 100, "replica_state.replica_id": 2, "replica_state.replica_epoch": 3},
    ),
    "kio, kafka-protocol-rs: Produce v0": ("ProduceRequest", 0, "0001" + "00000064" + "00000000", {"acks": 1, "timeout_ms": 100}),
    # Tags sent with their default: kmsg once always wrote them.
    "kmsg: tag with its default": (
        "ApiVersionsResponse", 3, "0000" + "01" + "00000000" + "01" + "0108" + "ffffffffffffffff", {"finalized_features_epoch": -1},
    ),
}  # fmt: skip


def value_at(message: Any, path: str) -> Any:
    for step in re.findall(r"\w+", path):
        message = message[int(step)] if step.isdigit() else getattr(message, step)
    return message


@pytest.mark.parametrize("name", VALUES)
def test_value(codec, name):
    message, version, text, expected = VALUES[name]
    decoded = codec.decode(message, bytes.fromhex(text), version)
    assert {path: value_at(decoded, path) for path in expected} == expected


def test_times_that_no_calendar_holds():
    # kio turns times into datetimes while it decodes, and fails.
    assert [timestamp(value) for value in (253402300800000, -2, 2**62)] == [None, None, None]


def test_a_zero_uuid_that_was_sent_is_a_zero_uuid_that_was_not(codec):
    # ReplicaDirectoryId, tag 0 of a partition of FetchRequest v17.
    head, tail = "00" * 21 + "02" + ASKED_V13[:-4], "00" + "01" + "01" + "00"
    sent = codec.decode("FetchRequest", bytes.fromhex(head + "01" + "0010" + "00" * 16 + tail), 17)
    assert sent == codec.decode("FetchRequest", bytes.fromhex(head + "00" + tail), 17)
    assert sent.topics[0].partitions[0].replica_directory_id == ZERO_UUID
    assert str(ZERO_UUID) == "A" * 22  # as Kafka writes it; users of confluent-kafka-dotnet took it for garbage


def test_a_known_tag_in_each_of_many_partitions(codec):
    # kafka-python copies the rest of the message for each: 0.6 ms become 6.
    count = 600
    partition = PARTITION_V12 + "01" + "000d" + "00000004" + "0000000000000006" + "00"
    data = bytes.fromhex("00000000" + "0000" + "00000000" + "02" + "0274" + "d904" + partition * count + "00" + "00")
    partitions = codec.decode("FetchResponse", data, 12).responses[0].partitions
    assert [(each.diverging_epoch.epoch, each.diverging_epoch.end_offset) for each in partitions] == [(4, 6)] * count


def test_no_cut_is_read_as_a_whole_message(codec):
    # kafka-python takes 65 of 100 cuts of a Heartbeat for whole, and lets IndexError out of others.
    for message, version, text in (
        ("HeartbeatRequest", 1, "000567726f7570" + "00000001" + "00066d656d626572"),
        ("SyncGroupRequest", 3, "000167" + "00000001" + "00016d" + "ffff" + "00000001" + "00016d" + "00000003" + "616263"),
        ("FetchResponse", 12, FETCHED_V12 + "00" + "00" + "00"),
    ):
        data = bytes.fromhex(text)
        codec.decode(message, data, version)
        for end in range(len(data)):
            with pytest.raises(Truncated) as caught:
                codec.decode(message, data[:end], version)
            assert caught.value.offset <= end
            message_read, error = PrefixReader(codec.compiled).decode_prefix(message, data[:end], version)
            assert type(message_read).__name__ == message
            assert isinstance(error, Truncated)


@pytest.mark.parametrize("acks", [-1, 0, 1])
@pytest.mark.parametrize("version", [9, 12])
def test_acks_behind_a_transactional_id(codec, version, acks):
    # Two proxies peek by hand, forget that compact lengths are one more, and read -256, 0 and 256.
    data = bytes.fromhex("037478") + acks.to_bytes(2, "big", signed=True) + bytes.fromhex("00000064" + "01" + "00")
    part = codec.decode("ProduceRequest", data, version, fields=("acks",))
    assert part.acks == acks
    columns = Columns(codec.compiled).to_arrow("ProduceRequest", [data], version, ("acks", "transactional_id"))
    assert columns.to_pylist() == [{"acks": acks, "transactional_id": "tx"}]


@pytest.mark.parametrize(("version", "text"), [(1, "002a" + "00000001" + "001200000004" + "00000005"),
                                               (3, "002a" + "02" + "001200000004" + "00" + "00000005" + "00"),
                                               (4, "002a" + "02" + "001200000004" + "00" + "00000005" + "00")])  # fmt: skip
def test_versions_of_a_broker_that_has_an_error(codec, version, text):
    # kafka-python reads any error in version 0: v3 and v4 break, v1 and v2 lose the throttle time.
    response = codec.frames.decode_response(bytes.fromhex("00000007" + text), 18, version)
    assert (response.api_version, response.body.error_code, response.body.throttle_time_ms) == (version, 42, 5)
    assert response.body.api_keys[0].max_version == 4


def test_sasl_handshake_v1_is_not_flexible(codec):
    # qtap reads a tagged section in its header and a compact string in its body.
    request = codec.frames.decode_request(bytes.fromhex("0011" + "0001" + "00000007" + "000163" + "0005504c41494e"))
    assert (request.header.client_id, request.body.mechanism) == ("c", "PLAIN")


def test_an_answer_that_is_http(codec):
    # segmentio: a broker that advertised the address of a web server.
    answer = b"HTTP/1.1 400 Bad Request\r\n"
    with pytest.raises(Truncated) as caught:
        codec.frames.decode_response(answer, 3, 0)
    assert (caught.value.offset, caught.value.path) == (4, "brokers")
    body = codec.frames.decode_response(answer, 3, 0, strict=False).body
    assert isinstance(body, Opaque)
    assert body.data == answer[4:]


@pytest.mark.parametrize(
    ("stream", "fault"),
    [(b"HTTP/1.1 400", Fault.LIMIT_EXCEEDED), (b"GET / HTTP/1.1", Fault.LIMIT_EXCEEDED), (b"\x7f\xff\xff\xff", Fault.LIMIT_EXCEEDED),
     (b"\xff\xff\xff\xff", Fault.BAD_LENGTH), (b"\x80\x00\x00\x00", Fault.BAD_LENGTH)],
)  # fmt: skip
def test_lengths_of_frames_that_nobody_sends(codec, stream, fault):
    # aiokafka waits for 2 GiB.
    found = HeaderScan(codec.compiled).scan_headers(stream)
    assert (len(found), found.end, found.fault) == (0, 0, fault)


def test_a_reversed_buffer_is_refused(codec):
    # kio does not look at strides and reads past the buffer.
    view = memoryview(bytes(64))[::-1]
    for read in (
        lambda: codec.decode("MetadataRequest", view, 0),
        lambda: codec.frames.peek_header(view),
        lambda: codec.frames.decode_request(view),
        lambda: codec.frames.decode_response(view, 3, 0),
        lambda: HeaderScan(codec.compiled).scan_headers(view),
        lambda: Columns(codec.compiled).to_arrow("MetadataRequest", [view], 0),
        lambda: PrefixReader(codec.compiled).decode_prefix("MetadataRequest", view, 0),
    ):
        with pytest.raises(BufferError):
            read()


@pytest.mark.parametrize("offset", [1 << 40, 1 << 70, 3, -1, -(1 << 40)])
def test_offsets_outside_the_buffer(codec, offset):
    # aiokafka's varint reader takes any position: a segmentation fault.
    decoder = codec.compiled.decoder("HeartbeatResponse", 0)
    reads = (decoder.decode, decoder.decode_whole, decoder.skip)
    for read in (*reads, lambda data, at: PrefixReader(codec.compiled).decode_prefix("HeartbeatResponse", data, 0, offset=at)):
        with pytest.raises((ValueError, OverflowError)) as caught:
            read(bytes(2), offset)
        assert not isinstance(caught.value, WireError)


def test_a_null_client_id(codec):
    # OBI takes the header for none of Kafka's.
    frame = bytes.fromhex("000c" + "0000" + "00000007" + "ffff" + "000167" + "00000001" + "00016d")
    request = codec.frames.decode_request(frame)
    assert (request.header.client_id, request.body.member_id) == (None, "m")
    assert HeaderScan(codec.compiled).scan_headers(len(frame).to_bytes(4, "big") + frame).client_ids == [None]


def test_a_control_record_of_the_offsets_topic_is_no_commit():
    # A transaction's end in `__consumer_offsets` has a key that begins as that of a commit does; an exporter stopped at it.
    record = coordinator.read_record("__consumer_offsets", struct.pack(">hh", 0, 1), struct.pack(">hi", 0, 3))
    assert isinstance(record.key, Opaque)
    assert isinstance(record.violations[0], Truncated)
    assert record.violations[0].offset == 4


@pytest.mark.parametrize(
    ("tags", "kind", "at"),
    [
        ("ffffffff07", Truncated, 0),  # grepplabs makes room for as many tags as the number says
        ("ffffffff0f", BadLength, 0),
        ("ff" * 1_000_000, BadVarint, 0),  # kafka-python reads them all, in quadratic time
        ("01" + "05" + "ffffffff07" + "aabb", Truncated, 7),
        ("01" + "05" + "ffffffff0f" + "aabb", BadLength, 2),
        ("01" + "ffffffff7f" + "00", BadVarint, 1),
    ],
)
def test_tags_of_headers(codec, tags, kind, at):
    request = bytes.fromhex("0012" + "0003" + "00000007" + "000163" + tags)
    response = bytes.fromhex("00000007" + tags)
    for read, offset in (
        (lambda: codec.frames.peek_header(request), 11),
        (lambda: codec.frames.decode_request(request), 11),
        (lambda: codec.frames.decode_response(response, 3, 9), 4),
    ):
        with pytest.raises(kind) as caught:
            read()
        assert (caught.value.offset, caught.value.path) == (offset + at, "")
    found = HeaderScan(codec.compiled).scan_headers(len(request).to_bytes(4, "big") + request)
    assert (list(found.error), list(found.api_key), list(found.body_offset), found.end) == ([kind.fault], [18], [-1], 4 + len(request))


def test_unknown_tags_of_headers(codec):
    # kio raises KeyError, kafka-python parses them through a slow path of its own.
    tags = "02" + "6301aa" + "ffffffff0f00"
    request = codec.frames.decode_request(bytes.fromhex("0012" + "0003" + "00000007" + "000163" + tags + "0261" + "0262" + "00"))
    assert request.header.unknown_tagged_fields == ((99, b"\xaa"), (0xFFFFFFFF, b""))
    assert request.body.client_software_name == "a"
