"""Frames: header versions, strict and lenient reading, the ApiVersions fallback."""

from __future__ import annotations

import pytest

from kwire import codec as public
from kwire.codec.frames import Opaque
from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.errors import BadUtf8, Fault, TrailingBytes, Truncated, UnknownApi, UnsupportedVersion

CLIENT = "0001" + "63"  # client id "c"


def frame(api_key: int, api_version: int, rest: str) -> bytes:
    """A request frame: correlation id 7, then `rest` (client id, tags, body)."""
    return api_key.to_bytes(2, "big", signed=True) + api_version.to_bytes(2, "big", signed=True) + bytes.fromhex("00000007" + rest)


@pytest.mark.parametrize(
    ("api_key", "api_version", "rest", "client_id", "body_at"),
    [
        (7, 0, "00000003", "", 8),  # ControlledShutdown v0 alone has header 0, which ends with the correlation id
        (7, 1, CLIENT + "00000003", "c", 11),
        (3, 0, CLIENT + "00000000", "c", 11),
        (3, 0, "ffff" + "00000000", None, 10),
        (3, 9, CLIENT + "00" + "01" + "010000" + "00", "c", 12),
        (18, 3, CLIENT + "00" + "0261" + "0262" + "00", "c", 12),
        (18, 0, CLIENT, "c", 11),
    ],
)
def test_header_versions(codec, api_key, api_version, rest, client_id, body_at):
    data = frame(api_key, api_version, rest)
    header = codec.frames.peek_header(data)
    assert (header.api_key, header.api_version, header.correlation_id, header.client_id) == (api_key, api_version, 7, client_id)
    assert header.client_instance_id == ZERO_UUID
    request = codec.frames.decode_request(data)
    assert request.header == header
    assert request.violation is None
    assert codec.decode(type(request.body).__name__, data[body_at:], api_version) == request.body


@pytest.mark.requirement("K1313-1")
def test_header_3_carries_the_client_instance_id(codec):
    # OffsetDelete v1 as KIP-1313 shows it: header 3 with a null client id.
    data = bytes.fromhex("002f" + "0001" + "00000007" + "ffff" + "00112233445566778899aabbccddeeff" + "00")
    header = codec.decode("RequestHeader", data, 3)
    assert (header.api_key, header.api_version, header.correlation_id, header.client_id) == (47, 1, 7, None)
    assert header.client_instance_id == Uuid.parse("00112233-4455-6677-8899-aabbccddeeff")


@pytest.mark.requirement("K1313-54")
def test_unknown_tags_of_a_header_are_kept(codec):
    header = codec.frames.peek_header(frame(18, 3, CLIENT + "01" + "09" + "02" + "aabb" + "0261" + "0262" + "00"))
    assert header.unknown_tagged_fields == ((9, b"\xaa\xbb"),)


@pytest.mark.requirement("K511-12")
def test_a_version_that_nobody_knows_still_has_a_header(codec):
    # Produce v32767: header 2, as all flexible versions of Produce.
    data = frame(0, 0x7FFF, CLIENT + "00" + "aabbcc")
    assert codec.frames.peek_header(data).client_id == "c"
    with pytest.raises(UnsupportedVersion) as caught:
        codec.frames.decode_request(data)
    error = caught.value
    assert (error.offset, error.path, error.message, error.api_key, error.api_version) == (2, "api_version", "ProduceRequest", 0, 0x7FFF)
    request = codec.frames.decode_request(data, strict=False)
    assert request.header.client_id == "c"
    assert request.body == Opaque(bytes.fromhex("aabbcc"), request.violation)
    assert request.violation.code == Fault.UNSUPPORTED_VERSION


def test_negative_versions(codec):
    request = codec.frames.decode_request(frame(0, -1, CLIENT + "00"), strict=False)
    assert (request.header.api_version, request.header.client_id) == (-1, "c")
    assert type(request.violation) is UnsupportedVersion


def test_unknown_apis(codec):
    data = frame(10001, 0, CLIENT + "00" * 3)
    for read in (codec.frames.peek_header, codec.frames.decode_request):
        with pytest.raises(UnknownApi, match="10001") as caught:
            read(data)
        assert (caught.value.offset, caught.value.path, caught.value.api_key, caught.value.api_version) == (0, "api_key", 10001, 0)
    assert codec.frames.peek_header(data, strict=False).client_id == "c"
    request = codec.frames.decode_request(data, strict=False)
    assert (request.body.data, request.body.reason.code) == (bytes(3), Fault.UNKNOWN_API)
    assert repr(request.body) == f"Opaque(3 bytes, {request.violation})"


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("data", "offset", "path"),
    [
        (b"", 0, "api_key"),
        (b"\x00", 0, "api_key"),
        (b"\x00\x12\x00", 2, "api_version"),
        (bytes.fromhex("00120003" + "0000"), 4, "correlation_id"),
        (bytes.fromhex("00120003" + "00000001" + "7fff"), 10, "client_id"),
        (bytes.fromhex("00540000" + "00000001" + "0001" + "63"), 11, ""),  # header 2 without its tagged section
    ],
)
def test_headers_that_cannot_be_read(codec, data, offset, path, strict):
    for read in (codec.frames.peek_header, codec.frames.decode_request):
        with pytest.raises(Truncated) as caught:
            read(data, strict=strict)
        assert (caught.value.offset, caught.value.path, caught.value.message) == (offset, path, "RequestHeader")


def test_bytes_behind_a_body(codec):
    data = frame(3, 0, CLIENT + "00000000" + "aabb")
    with pytest.raises(TrailingBytes) as caught:
        codec.frames.decode_request(data)
    assert caught.value.offset == 15
    request = codec.frames.decode_request(data, strict=False)
    assert request.body.topics == []
    assert (type(request.violation), request.violation.offset, request.violation.message) == (TrailingBytes, 15, "MetadataRequest")


def test_malformed_bodies(codec):
    data = frame(3, 0, CLIENT + "00000001" + "0009" + "61")
    with pytest.raises(Truncated) as caught:
        codec.frames.decode_request(data)
    assert (caught.value.offset, caught.value.path) == (17, "topics[0].name")
    request = codec.frames.decode_request(data, strict=False)
    assert request.body.data == data[11:]
    assert str(request.body.reason) == str(caught.value)


def test_text_that_is_not_utf8(codec):
    data = frame(3, 0, "0002" + "63ff" + "00000001" + "0001" + "fe")
    for read in (codec.frames.peek_header, codec.frames.decode_request):
        with pytest.raises(BadUtf8):
            read(data)
    request = codec.frames.decode_request(data, strict=False)  # as Java reads it
    assert (request.header.client_id, request.body.topics[0].name, request.violation) == ("c�", "�", None)


def test_projection_of_a_request(codec):
    # Produce v3: transactional id, acks, timeout, topics.
    data = frame(0, 3, CLIENT + "ffff" + "0001" + "000003e8" + "00000001" + "0001" + "74" + "00000000")
    body = codec.frames.decode_request(data, fields=("acks", "topic_data.name")).body
    assert (body.acks, body.topic_data[0].name, hasattr(body, "timeout_ms")) == (1, "t", False)


def test_any_buffer(codec):
    data = frame(3, 0, CLIENT + "00000001" + "0001" + "61")
    for wrapped in (bytearray(data), memoryview(data), memoryview(bytearray(data))):
        assert codec.frames.decode_request(wrapped) == codec.frames.decode_request(data)
        assert codec.frames.peek_header(wrapped).client_id == "c"
    with pytest.raises(BufferError):
        codec.frames.peek_header(memoryview(data + data)[::2])


# ApiVersions: what a broker answers to a version that it does not know.
REFUSAL = "00000007" + "0023" + "00000001" + "0012" + "0000" + "0004"


@pytest.mark.requirement("K511-16")
@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 99])
def test_refusal_in_version_0(codec, version):
    response = codec.frames.decode_response(bytes.fromhex(REFUSAL), 18, version)
    assert (response.header.correlation_id, response.api_version, response.body.error_code) == (7, 0, 35)
    assert [(each.api_key, each.min_version, each.max_version) for each in response.body.api_keys] == [(18, 0, 4)]


@pytest.mark.requirement("K511-14")
@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_refusal_of_broker_0_11_is_an_empty_list(codec, version):
    response = codec.frames.decode_response(bytes.fromhex("00000007" + "0023" + "00000000"), 18, version)
    assert (response.api_version, response.body.error_code, response.body.api_keys) == (0, 35, [])


@pytest.mark.requirement("K511-16")
@pytest.mark.parametrize(("version", "body"), [(1, "0023" + "00000000" + "00000000"), (3, "0023" + "01" + "00000000" + "00")])
def test_error_35_in_the_version_that_was_asked_for(codec, version, body):
    response = codec.frames.decode_response(bytes.fromhex("00000007" + body), 18, version)
    assert (response.api_version, response.body.error_code, response.body.throttle_time_ms) == (version, 35, 0)


@pytest.mark.requirement("K511-16")
def test_other_errors_in_version_0_are_no_refusal(codec):
    data = bytes.fromhex("00000007" + "0001" + "00000000")
    with pytest.raises(Truncated):
        codec.frames.decode_response(data, 18, 1)
    response = codec.frames.decode_response(data, 18, 1, strict=False)
    assert (response.body.data, response.api_version, type(response.violation)) == (data[4:], 1, Truncated)


def test_response_headers(codec):
    # Metadata v9 is flexible, so its response has header 1; ApiVersions v3 is flexible too, but its response has header 0 always (KIP-511).
    tagged = bytes.fromhex("00000007" + "01" + "05" + "01" + "aa" + "00000000" + "01" + "00" + "00000001" + "01" + "80000000" + "00")
    response = codec.frames.decode_response(tagged, 3, 9)
    assert response.header.unknown_tagged_fields == ((5, b"\xaa"),)
    assert response.body.controller_id == 1
    plain = bytes.fromhex("00000007" + "0000" + "01" + "00000000" + "00")
    assert codec.frames.decode_response(plain, 18, 3).body.error_code == 0


def test_responses_of_apis_and_versions_that_nobody_knows(codec):
    data = bytes.fromhex("00000007" + "aabb")
    with pytest.raises(UnknownApi):
        codec.frames.decode_response(data, 10001, 0)
    with pytest.raises(UnsupportedVersion):
        codec.frames.decode_response(bytes.fromhex("00000007" + "00" + "aabb"), 0, 99)  # header 1, as all flexible versions of Produce
    opaque = codec.frames.decode_response(data, 10001, 0, strict=False)
    assert (opaque.header.correlation_id, opaque.body.data, type(opaque.violation)) == (7, b"\xaa\xbb", UnknownApi)
    with pytest.raises(Truncated):
        codec.frames.decode_response(data[:3], 10001, 0, strict=False)


def test_public_names():
    # The names that `kwire.codec` promises, with the twin of this process.
    data = frame(3, 0, CLIENT + "00000001" + "0001" + "61")
    request = public.decode_request(data)
    assert request == public.Request(public.peek_header(data), public.decode("MetadataRequest", data[11:], 0))
    assert isinstance(request.header, public.RequestHeader)
    response = public.decode_response(bytes.fromhex(REFUSAL), 18, 3)
    assert isinstance(response.header, public.ResponseHeader)
    assert isinstance(public.decode("MetadataRequest", b"", 99, strict=False), public.Opaque)
    assert type(public.decode("MetadataRequest", b"\x00", 0, strict=False).reason) is Truncated
    assert not hasattr(public.decode("MetadataRequest", bytes(5), 4, fields=["topics"]), "allow_auto_topic_creation")
    for name in public.__all__:
        assert getattr(public, name) is not None
