"""The golden frames G1 to G8, worked out by hand from the proposals: read and written back, in both twins, byte for byte."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from kwire.codec.catalog_codec import Codec
from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.codec.views import same_uuid
from kwire.errors import Truncated
from kwire.schema import catalog, dialect

# With their 4-byte lengths
G1 = "00000025 0012 0003 00000001 0001 63 00 12 6170616368652d6b61666b612d6a617661 06 322e342e30 00"
G2 = "00000010 00000001 0023 00000001 0012 0000 0003"
G3 = "00000013 00000001 0000 02 0012 0000 0003 00 00000000 00"
G4 = "0000000c 00000001 002a 01 00000000 00"
G5 = "00000004 00000007"
G6 = "00000028 002f 0001 00000007 ffff 00112233445566778899aabbccddeeff 00 02 67 02 02 74 02 00000000 00 00 00"
G7 = "0000001d 0047 0000 00000002 0001 63 00 00000000000000000000000000000000 00"
INSTANCE = Uuid.parse("00112233-4455-6677-8899-aabbccddeeff")


def frame(golden: str) -> bytes:
    data = bytes.fromhex(golden)
    assert int.from_bytes(data[:4], "big") == len(data) - 4
    return data[4:]


@pytest.fixture(params=["built-in", "kip-1313"])
def plain(request, twin) -> Codec:
    return Codec(catalog() if request.param == "built-in" else dialect("kip-1313"), twin)


@pytest.fixture
def kip_1313(twin) -> Codec:
    return Codec(dialect("kip-1313"), twin)


@pytest.mark.requirement("K511-2", "K511-12")
def test_G1_apiversions_v3_request(plain: Codec) -> None:
    request = plain.decode_request(frame(G1))
    header = request.header
    assert (header.api_key, header.api_version, header.correlation_id, header.client_id) == (18, 3, 1, "c")
    assert (request.body.client_software_name, request.body.client_software_version) == ("apache-kafka-java", "2.4.0")
    assert plain.encode_request(header, request.body) == frame(G1)


@pytest.mark.requirement("K511-6", "K511-16")
def test_G2_apiversions_refused(plain: Codec) -> None:
    response = plain.decode_response(frame(G2), 18, 999)
    assert (response.api_version, response.body.error_code) == (0, 35)
    assert [(each.api_key, each.min_version, each.max_version) for each in response.body.api_keys] == [(18, 0, 3)]
    assert plain.encode_response(1, response.body, 18, 0) == frame(G2)


@pytest.mark.requirement("K511-6", "K511-10")
def test_G3_apiversions_v3_response(plain: Codec) -> None:
    response = plain.decode_response(frame(G3), 18, 3)
    assert (response.api_version, response.body.error_code, response.body.throttle_time_ms) == (3, 0, 0)
    assert [(each.api_key, each.min_version, each.max_version) for each in response.body.api_keys] == [(18, 0, 3)]
    assert plain.encode_response(1, response.body, 18, 3) == frame(G3)


@pytest.mark.requirement("K511-20")
def test_G4_apiversions_invalid_request(plain: Codec) -> None:
    response = plain.decode_response(frame(G4), 18, 3)
    assert (response.body.error_code, response.body.api_keys) == (42, [])
    assert plain.encode_response(1, response.body, 18, 3) == frame(G4)


@pytest.mark.requirement("K35-22", "K35-24")
def test_G5_the_empty_answer_of_the_kip_35_draft(plain: Codec) -> None:
    # K35-24: a client that does not know the draft fails to parse it, and the error says of what
    with pytest.raises(Truncated, match=r"at byte 4 in throttle_time_ms \(MetadataResponse v8\)$") as caught:
        plain.decode_response(frame(G5), 3, 8)
    assert (caught.value.message, caught.value.api_version, caught.value.offset) == ("MetadataResponse", 8, 4)
    assert plain.encode(plain.messages.ResponseHeader(correlation_id=7), 0) == frame(G5)


@pytest.mark.requirement("K1313-1", "K1313-42")
def test_G6_offsetdelete_v1_with_header_3(kip_1313: Codec) -> None:
    request = kip_1313.decode_request(frame(G6))
    header = request.header
    assert (header.api_key, header.api_version, header.correlation_id, header.client_id) == (47, 1, 7, None)
    assert header.client_instance_id == INSTANCE
    assert kip_1313.to_json(request.body, 1) == {"groupId": "g", "topics": [{"name": "t", "partitions": [{"partitionIndex": 0}]}]}
    assert kip_1313.encode_request(header, request.body) == frame(G6)
    made: Any = kip_1313.messages.OffsetDeleteRequest
    body = made(
        group_id="g",
        topics=[made.OffsetDeleteRequestTopic(name="t", partitions=[made.OffsetDeleteRequestPartition(partition_index=0)])],
    )
    header = kip_1313.messages.RequestHeader(api_key=47, api_version=1, correlation_id=7, client_id=None, client_instance_id=INSTANCE)
    assert kip_1313.encode_request(header, body) == frame(G6)
    assert kip_1313.encode_request(header, kip_1313.from_json("OffsetDeleteRequest", kip_1313.to_json(body, 1), 1)) == frame(G6)


def test_G6_peeked_and_scanned(kip_1313: Codec) -> None:
    header = kip_1313.peek_header(frame(G6))
    assert (header.client_id, header.client_instance_id) == (None, INSTANCE)
    # a version that nobody knows yet has the header of the newest one
    future = bytes.fromhex("002f 0009") + frame(G6)[4:]
    assert kip_1313.peek_header(future).client_instance_id == INSTANCE
    stream = bytes.fromhex(G6 + G7 + G6)
    found = kip_1313.scan_headers(stream)
    assert (found.end, list(found.error)) == (len(stream), [0, 0, 0])
    assert list(found.header_version) == [3, 2, 3]
    assert list(found.client_id_length) == [-1, 1, -1]
    assert found.client_ids == [None, "c", None]
    assert found.client_instance_ids == [INSTANCE, None, INSTANCE]
    assert [stream[at] for at in found.body_offset] == [2, 0, 2]
    assert found.to_arrow().column("client_instance_id").to_pylist() == ["ABEiM0RVZneImaq7zN3u_w", None, "ABEiM0RVZneImaq7zN3u_w"]


def test_G6_spliced(kip_1313: Codec) -> None:
    other = bytes.fromhex(G6.replace("00000028 ", "").replace("02 02 74 02", "02 03 7575 02"))
    assert kip_1313.splice(frame(G6), {"topics[0].name": "uu"}) == other
    assert kip_1313.rename_topics(frame(G6), {"t": "uu"}) == other
    named = kip_1313.splice(frame(G6), {"header.client_id": "c"})
    assert named == frame(G6)[:8] + bytes.fromhex("0001 63") + frame(G6)[10:]
    instance = Uuid(range(16))
    assert kip_1313.peek_header(kip_1313.splice(frame(G6), {"header.client_instance_id": instance})).client_instance_id == instance


def test_G6_with_the_dialect_off(twin) -> None:
    plain = Codec(catalog(), twin)
    # OffsetDelete v1 is no released version; its header is read as that of v0, which has no id
    assert plain.decode_request(frame(G6), strict=False).violation.path == "api_version"
    assert plain.scan_headers(bytes.fromhex(G6)).client_instance_ids == [None]
    assert "client_instance_id" not in plain.scan_headers(bytes.fromhex(G6)).to_arrow().schema.names


@pytest.mark.requirement("K714-1")
def test_G7_first_gettelemetrysubscriptions(plain: Codec) -> None:
    request = plain.decode_request(frame(G7))
    assert (request.header.client_id, request.body.client_instance_id) == ("c", ZERO_UUID)
    assert plain.encode_request(request.header, request.body) == frame(G7)


@pytest.mark.requirement("K1313-46", "K1313-48")
def test_G8_text_of_uuids() -> None:
    assert str(INSTANCE) == "ABEiM0RVZneImaq7zN3u_w"
    assert str(ZERO_UUID) == "AAAAAAAAAAAAAAAAAAAAAA"
    assert str(Uuid(bytes(15) + b"\x01")) == "AAAAAAAAAAAAAAAAAAAAAQ"
    for text in ("ABEiM0RVZneImaq7zN3u_w", "00112233-4455-6677-8899-aabbccddeeff", "00112233445566778899AABBCCDDEEFF"):
        assert same_uuid(text, uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"))
