"""Splices by path, on bytes worked out by hand."""

from __future__ import annotations

import types

import pytest

from kwire.codec.splicing import FrameSplicer
from kwire.errors import BadUtf8, EncodeError, KwireError, NullNotAllowed, TrailingBytes, Truncated, UnknownApi, UnsupportedVersion


@pytest.fixture(scope="session")
def splicer(codec):
    return FrameSplicer(codec.compiled)


def unhex(text: str) -> bytes:
    return bytes.fromhex(text.replace("|", " "))


# MetadataRequest v1: an array of names behind an int32 count
V1 = unhex("00000002 | 0003 616263 | 0001 78")
# MetadataRequest v9 (flexible): names, then three bools; an unknown tag in each topic and at the end, lengths longer than they need
V9 = unhex("8300 | 8400 616263 01 05 02 dead | 02 78 00 | 01 00 01 | 01 8700 01 ff")


@pytest.mark.parametrize(
    ("changes", "result"),
    [
        ({"topics[0].name": "longer"}, "00000002 | 0006 6c6f6e676572 | 0001 78"),
        ({"topics[1].name": ""}, "00000002 | 0003 616263 | 0000"),
        ({"topics.name": "y"}, "00000002 | 0001 79 | 0001 79"),
        ({"topics.name": {"x": "new", "z": "no"}}, "00000002 | 0003 616263 | 0003 6e6577"),
        ({"topics.name": types.MappingProxyType({"abc": "é"})}, "00000002 | 0002 c3a9 | 0001 78"),
        ({"topics.name": str.upper}, "00000002 | 0003 414243 | 0001 58"),
        ({"topics[0].name": str.upper, "topics[1].name": "abc"}, "00000002 | 0003 414243 | 0003 616263"),
        ({"topics[7].name": str.upper}, "00000002 | 0003 616263 | 0001 78"),
        ({}, "00000002 | 0003 616263 | 0001 78"),
    ],
)
def test_strings(splicer, changes, result):
    assert splicer.splice(V1, changes, name="MetadataRequest", version=1) == unhex(result)


def test_all_else_is_copied_to_the_byte(splicer):
    """Tags that nobody knows, a count in two bytes and lengths in two bytes; the length before what changes is written anew."""

    def spliced(changes: dict[str, object]) -> str:
        made = splicer.splice(V9, changes, name="MetadataRequest", version=9)
        assert made[-5:] == unhex("01 8700 01 ff")
        return made[:-5].hex()

    first, second, flags = "8400616263010502dead", "027800", "010001"
    assert spliced({"topics[1].name": "yz"}) == f"8300{first}03797a00{flags}"
    assert spliced({"topics[0].name": "ABC"}) == f"83008400414243010502dead{second}{flags}"
    assert spliced({"topics[0].name": "AB"}) == f"8300034142010502dead{second}{flags}"
    assert spliced({"allow_auto_topic_creation": False}) == f"8300{first}{second}000001"
    same = {"topics.name": lambda old: old, "include_topic_authorized_operations": lambda old: old}
    assert splicer.splice(V9, same, name="MetadataRequest", version=9) is V9


@pytest.mark.parametrize(("size", "head"), [(126, "7f"), (127, "8001"), (16383, "808001")])
def test_compact_lengths_grow(splicer, size, head):
    made = splicer.splice(V9, {"topics[1].name": "n" * size}, name="MetadataRequest", version=9)
    assert made == V9[:12] + bytes.fromhex(head) + b"n" * size + V9[14:]


def test_numbers(splicer):
    # ListOffsetsRequest v1: replica, topics: name, partitions: index, timestamp
    data = unhex("ffffffff | 00000001 | 0001 61 | 00000002 | 00000000 ffffffffffffffff | 00000007 fffffffffffffffe")
    at = {"name": "ListOffsetsRequest", "version": 1}
    changes = {"replica_id": 3, "topics.partitions[1].timestamp": 1, "topics.partitions.partition_index": lambda old: old + 1}
    assert splicer.splice(data, changes, **at) == unhex(
        "00000003 | 00000001 | 0001 61 | 00000002 | 00000001 ffffffffffffffff | 00000008 0000000000000001"
    )


def test_nulls(splicer):
    # FindCoordinatorResponse v1: throttle time, error, message (null), node, host, port; a null that is not -1 stays one
    data = unhex("00000000 0000 | fffe | 00000001 0001 68 00002384")
    at = {"name": "FindCoordinatorResponse", "version": 1}
    assert splicer.splice(data, {"error_message": None, "host": "g"}, **at) == unhex("00000000 0000 | fffe | 00000001 0001 67 00002384")
    assert splicer.splice(data, {"error_message": {None: "no"}}, **at) == unhex("00000000 0000 | 0002 6e6f | 00000001 0001 68 00002384")
    named = splicer.splice(data, {"error_message": "no"}, **at)
    assert splicer.splice(named, {"error_message": None}, **at) == unhex("00000000 0000 | ffff | 00000001 0001 68 00002384")
    with pytest.raises(EncodeError, match=r"null is not allowed in host \(FindCoordinatorResponse v1\)"):
        splicer.splice(data, {"host": None}, **at)


def produce_response(hosts: list[bytes], extra: bytes = b"") -> bytes:
    """ProduceResponse v10 with a tagged field 0, node_endpoints (and an unknown tag 9)."""
    endpoints = b"".join(unhex("00000001") + bytes([len(host) + 1]) + host + unhex("00002384 00 00") for host in hosts)
    content = bytes([len(hosts) + 1]) + endpoints
    tags = unhex("02 | 00") + varint(len(content)) + content + unhex("| 09 01 ff")
    return unhex("01 | 00000000") + tags + extra


def varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128, value >> 7])


def test_the_size_of_a_tagged_field_follows(splicer):
    at = {"name": "ProduceResponse", "version": 10}
    data = produce_response([b"b-1", b"b-2"])
    assert splicer.splice(data, {"node_endpoints[1].host": "longer.host"}, **at) == produce_response([b"b-1", b"longer.host"])
    wide = b"h" * 100
    assert splicer.splice(data, {"node_endpoints.host": "h" * 100}, **at) == produce_response([wide, wide])  # the size takes two bytes now
    assert splicer.splice(produce_response([wide, wide]), {"node_endpoints.host": "b-1"}, **at) == produce_response([b"b-1", b"b-1"])


def test_sizes_of_tagged_fields_in_tagged_fields(splicer, codec):
    """ConsumerGroupMemberMetadataValue: a tagged struct that holds bytes."""
    message = codec.message_class("ConsumerGroupMemberMetadataValue")
    member = message(classic_member_metadata=message.ClassicMemberMetadata(session_timeout_ms=1, supported_protocols=[]))
    protocol = message.ClassicProtocol(name="range", metadata=b"\0")
    member.classic_member_metadata.supported_protocols.append(protocol)
    encode = codec.compiled.encoder("ConsumerGroupMemberMetadataValue", 0).encode
    path = "classic_member_metadata.supported_protocols[0].metadata"
    spliced = splicer.splice(encode(member), {path: bytes(200)}, name="ConsumerGroupMemberMetadataValue", version=0)
    protocol.metadata = bytes(200)
    assert spliced == encode(member)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"topics[2].name": "x"}, r"no such element.* in topics\[2\]\.name \(MetadataRequest v1\)"),
        ({"topics.name": 5}, r"expected text \(str\), got int in topics\.name"),
        ({"topics.name": lambda old: 5}, r"expected text \(str\), got int in topics\[0\]\.name"),
        ({"topics.name": {"x": b"y"}}, r"expected text \(str\), got bytes in topics\[1\]\.name"),
        ({"topics[1].name": "n" * 32768}, r"32768 bytes of UTF-8.* in topics\[1\]\.name"),
        ({"topics[1].name": "\ud800"}, r"surrogate.* in topics\[1\]\.name"),
        ({"topics": []}, r"structs are here.* in topics "),
        ({"topic.name": "x"}, r"there is no such field in topic\.name \(MetadataRequest v1\)"),
        ({"topics.name.x": "x"}, r"there is no such field in topics\.name\.x"),
        ({"topics.topic_id": bytes(16)}, r"this version has no such field in topics\.topic_id \(MetadataRequest v1\)"),
        ({"topics.name[0]": "x"}, r"name is not an array.* in topics\.name\[0\]"),
        ({"topics[-1].name": "x"}, r"'topics\[-1\]\.name' is an invalid path"),
        ({"": "x"}, r"'' is an invalid path"),
        ({"topics.name": "x", "topics[1].name": "y"}, r"'topics\.name' and 'topics\[1\]\.name' name the same field"),
    ],
)
def test_bad_changes(splicer, changes, text):
    with pytest.raises(EncodeError, match=text):
        splicer.splice(V1, changes, name="MetadataRequest", version=1)


def test_paths_that_do_not_meet(splicer):
    at = {"name": "ListOffsetsRequest", "version": 1}
    data = unhex("ffffffff | 00000002") + 2 * unhex("0001 61 | 00000002 | 00000000 ffffffffffffffff | 00000001 ffffffffffffffff")
    changes = {f"topics[{topic}].partitions[{part}].partition_index": 10 * topic + part for topic in (0, 1) for part in (0, 1)}
    made = splicer.splice(data, changes, **at)
    assert [made[at : at + 4].hex() for at in (15, 27, 46, 58)] == ["00000000", "00000001", "0000000a", "0000000b"]


@pytest.mark.parametrize(
    ("data", "kind", "offset", "path"),
    [
        (V1[:-1], Truncated, 11, "topics[1].name"),
        (V1 + b"\0", TrailingBytes, 12, ""),
        (unhex("00000001 ffff"), NullNotAllowed, 4, "topics[0].name"),
        (unhex("00000001 0001 ff"), BadUtf8, 6, "topics[0].name"),
        (unhex("7fffffff 0001 ff"), Truncated, 0, "topics"),
    ],
)
def test_bad_bytes(splicer, data, kind, offset, path):
    with pytest.raises(kind) as caught:
        splicer.splice(data, {"topics.name": "x"}, name="MetadataRequest", version=1)
    assert (caught.value.offset, caught.value.path) == (offset, path)


def test_text_that_nobody_asked_for_need_not_be_utf8(splicer):
    data = unhex("00000000 0000 | 0001 ff | 00000001 0001 68 00002384")
    made = splicer.splice(data, {"host": "g"}, name="FindCoordinatorResponse", version=1)
    assert made == unhex("00000000 0000 | 0001 ff | 00000001 0001 67 00002384")


# OffsetFetch v0 (header v1) with client id "c", group "g", no topics
REQUEST = unhex("0009 0000 00000007 | 0001 63 | 0001 67 | 00000000")


def test_request_frames(splicer):
    assert splicer.splice(REQUEST, {"group_id": "other"}) == unhex("0009 0000 00000007 | 0001 63 | 0005 6f74686572 | 00000000")
    both = {"header.client_id": "proxy", "header.correlation_id": 8, "group_id": "h"}
    assert splicer.splice(REQUEST, both) == unhex("0009 0000 00000008 | 0005 70726f7879 | 0001 68 | 00000000")
    assert splicer.splice(REQUEST, {"header.client_id": lambda old: old + "1"})[:13] == unhex("0009 0000 00000007 | 0002 6331 | 00")


def test_a_client_id_that_is_not_utf8_goes_on(splicer):
    odd = REQUEST.replace(b"\x01c", b"\x01\xff")
    assert splicer.splice(odd, {"group_id": "h"}) == odd.replace(b"\x01g", b"\x01h")
    with pytest.raises(BadUtf8):
        splicer.splice(odd, {"header.client_id": str.upper})


def test_headers_of_what_the_catalog_does_not_know(splicer):
    """A proxy numbers every request anew; the body is copied as it is."""
    unknown = unhex("7531 0000 00000001 | 0001 63 | beef")
    assert splicer.splice(unknown, {"header.correlation_id": 2}) == unhex("7531 0000 00000002 | 0001 63 | beef")
    newer = unhex("0003 0063 00000001 | 0001 63 00 | beef")
    assert splicer.splice(newer, {"header.correlation_id": 2}) == unhex("0003 0063 00000002 | 0001 63 00 | beef")
    answer = unhex("00000001 beef")
    assert splicer.splice(answer, {"header.correlation_id": 2}, 30001, 0) == unhex("00000002 beef")
    with pytest.raises(UnknownApi):
        splicer.splice(unknown, {"topics.name": "x"})
    with pytest.raises(UnsupportedVersion):
        splicer.splice(newer, {"topics.name": "x"})
    with pytest.raises(UnknownApi):
        splicer.splice(answer, {"topics.name": "x"}, 30001, 0)


def test_response_frames(splicer):
    frame = unhex("00000007 | 00000000 0000 | ffff | 00000001 0001 68 00002384")
    made = splicer.splice(frame, {"host": "proxy", "port": 1, "header.correlation_id": 9}, 10, 1)
    assert made == unhex("00000009 | 00000000 0000 | ffff | 00000001 0005 70726f7879 00000001")


def test_an_answer_in_version_0_to_a_version_that_the_broker_lacks(splicer):
    """KIP-511: to ApiVersions v3 the answer is of version 0 with error 35."""
    refusal = unhex("00000001 | 0023 | 00000001 | 0012 0000 0003")
    changes = {"api_keys.max_version": {3: 2}}
    assert splicer.splice(refusal, changes, 18, 3) == unhex("00000001 | 0023 | 00000001 | 0012 0000 0002")
    assert splicer.splice(refusal, changes, 18, 99) == unhex("00000001 | 0023 | 00000001 | 0012 0000 0002")
    with pytest.raises(NullNotAllowed):  # it is neither
        splicer.splice(refusal[:-1], changes, 18, 3)


def test_buffers(splicer):
    at = {"name": "MetadataRequest", "version": 1}
    wanted = splicer.splice(V1, {"topics[1].name": "yy"}, **at)
    for data in (bytearray(V1), memoryview(V1), memoryview(b"?" + V1 + b"?")[1:-1]):
        assert splicer.splice(data, {"topics[1].name": "yy"}, **at) == wanted
        kept = splicer.splice(data, {"topics.name": {}}, **at)
        assert type(kept) is bytes
        assert kept == V1
    with pytest.raises(BufferError):
        splicer.splice(memoryview(V1 * 2)[::2], {"topics.name": "x"}, **at)
    with pytest.raises(TypeError):
        splicer.splice("text", {"topics.name": "x"}, **at)


def test_what_a_function_raises_comes_out(splicer):
    def fail(old: str) -> str:
        raise LookupError(old)

    with pytest.raises(LookupError, match="abc"):
        splicer.splice(V1, {"topics.name": fail}, name="MetadataRequest", version=1)


def test_a_function_may_splice_too(splicer):
    at = {"name": "MetadataRequest", "version": 1}

    def nested(old: str) -> str:
        return splicer.splice(V1, {"topics.name": "in"}, **at)[-2:].decode() + old

    assert splicer.splice(V1, {"topics.name": nested}, **at) == unhex("00000002 | 0005 696e616263 | 0003 696e78")


def test_arguments(splicer):
    message, answer = {"name": "MetadataRequest", "version": 1}, {"api_key": 3, "api_version": 1}
    for arguments in ({"api_key": 3}, {"version": 1}, {"name": "MetadataRequest"}, message | answer):
        with pytest.raises(TypeError, match="neither for a request"):
            splicer.splice(V1, {}, **arguments)
    with pytest.raises(KwireError, match="Kafka has no message"):
        splicer.splice(V1, {"x": 1}, name="MetadataRequests", version=1)
    with pytest.raises(UnsupportedVersion):
        splicer.splice(V1, {"topics.name": "x"}, name="MetadataRequest", version=99)


# librdkafka's list_topics(): correlation id 2, client id "rdkafka", all topics (null), no creation, no authorized operations, tags; then
# three zero bytes too many, which Kafka does not look at
LIST_TOPICS = unhex("0003 000c 00000002 0007 72646b61666b61 00 | 00 00 00 00 | 000000")
# Metadata v1: no brokers, controller -1, one topic without partitions: no error, name "abc", not internal
TOPICS_V1 = unhex("00000000 ffffffff 00000001 0000 0003 616263 00 00000000")


def test_bytes_behind_a_message_are_copied_with_strict_off(splicer):
    changes = {"header.client_id": "proxy"}
    with pytest.raises(TrailingBytes):
        splicer.splice(LIST_TOPICS, {**changes, "allow_auto_topic_creation": True})
    made = splicer.splice(LIST_TOPICS, {**changes, "allow_auto_topic_creation": True}, strict=False)
    assert made == unhex("0003 000c 00000002 0005 70726f7879 00 | 00 01 00 00 | 000000")
    for rewrite in (
        lambda **options: splicer.rename_topics(LIST_TOPICS, {"a": "b"}, **options),
        lambda **options: splicer.splice(LIST_TOPICS, {"topics.name": "x"}, **options),
    ):
        with pytest.raises(TrailingBytes):
            rewrite()
        assert rewrite(strict=False) is LIST_TOPICS
    behind = TOPICS_V1 + b"\1\2\3"
    assert splicer.rename_topics(behind, {"abc": "longer"}, name="MetadataResponse", version=1, strict=False) == (
        TOPICS_V1.replace(b"\0\3abc", b"\0\6longer") + b"\1\2\3"
    )


def test_errors_have_their_path_with_bytes_behind_the_message(splicer):
    with pytest.raises(EncodeError) as caught:
        splicer.splice(TOPICS_V1 + b"\1", {"topics.name": lambda old: 5}, name="MetadataResponse", version=1, strict=False)
    assert caught.value.path == "topics[0].name"


def test_what_the_message_lacks_is_a_fault_with_strict_off_too(splicer):
    with pytest.raises(Truncated):
        splicer.splice(TOPICS_V1[:-1], {"topics.name": "x"}, name="MetadataResponse", version=1, strict=False)
