"""KIP-511 in the catalog and the codec: ApiVersions as released and as proposed, on golden frames and bytes worked out by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kafka_bytes import framed_hex
from kwire.codec.catalog_codec import Codec
from kwire.errors import EncodeError, KwireError, NullNotAllowed, TrailingBytes
from kwire.protocol import Connection
from kwire.protocol.events import IdentityChanged, ViolationFound
from kwire.schema import Catalog, catalog, header_version, parse_definition
from kwire.schema.layout import fields_at

G1 = "0012 0003 00000001 0001 63 00 12 6170616368652d6b61666b612d6a617661 06 322e342e30 00"
G3 = "00000001 0000 02 0012 0000 0003 00 00000000 00"

PROPOSED_REQUEST = {
    "apiKey": 18, "type": "request", "name": "ApiVersionsRequest", "validVersions": "0-3", "flexibleVersions": "3+",
    "fields": [{"name": f"ClientSoftware{each}", "type": "string", "versions": "3+"} for each in ("Name", "Version")],
}  # fmt: skip
PROPOSED_RESPONSE = {
    "apiKey": 18, "type": "response", "name": "ApiVersionsResponse", "validVersions": "0-3", "flexibleVersions": "3+",
    "fields": [
        {"name": "ErrorCode", "type": "int16", "versions": "0+"},
        {
            "name": "ApiKeys", "type": "[]ApiVersionsResponseKey", "versions": "0+",
            "fields": [
                {"name": "Index", "type": "int16", "versions": "0+", "mapKey": True},
                {"name": "MinVersion", "type": "int16", "versions": "0+"},
                {"name": "MaxVersion", "type": "int16", "versions": "0+"},
            ],
        },
        {"name": "ThrottleTimeMs", "type": "int32", "versions": "1+", "ignorable": True},
    ],
}  # fmt: skip


@pytest.fixture
def codec(twin: Any) -> Codec:
    return Codec(catalog(), twin)


@pytest.fixture
def proposed(twin: Any) -> Codec:
    return Codec(Catalog("KIP-511", {each["name"]: parse_definition(each, "x") for each in (PROPOSED_REQUEST, PROPOSED_RESPONSE)}), twin)


@pytest.mark.parametrize("version", range(3))
def test_K511_1_below_version_3_a_request_is_its_header(codec: Codec, version: int) -> None:
    header = codec.messages.RequestHeader(api_key=18, api_version=version, correlation_id=1, client_id="c")
    frame = bytes.fromhex(f"0012 {version:04x} 00000001 0001 63")
    assert codec.encode_request(header, codec.messages.ApiVersionsRequest()) == frame
    assert codec.decode_request(frame).body == codec.messages.ApiVersionsRequest()
    with pytest.raises(TrailingBytes):
        codec.decode_request(frame + b"\0")


def test_K511_2_version_3_has_name_then_version(codec: Codec) -> None:
    request = codec.messages.ApiVersionsRequest
    body = bytes.fromhex("12 6170616368652d6b61666b612d6a617661 06 322e342e30 00")
    assert codec.encode(request(client_software_name="apache-kafka-java", client_software_version="2.4.0"), 3) == body
    assert codec.encode(request(client_software_name="2.4.0", client_software_version="apache-kafka-java"), 3) != body
    with pytest.raises(EncodeError, match="client_software_name"):
        codec.encode(request(client_software_name=None), 3)
    with pytest.raises(NullNotAllowed):
        codec.decode("ApiVersionsRequest", bytes.fromhex("00 02 31 00"), 3)
    assert str(catalog()["ApiVersionsRequest"].flexible_versions) == "3+"


@pytest.mark.parametrize("version", range(3))
def test_K511_3_older_versions_drop_the_fields_and_the_proposal_refuses(codec: Codec, proposed: Codec, version: int) -> None:
    assert codec.encode(codec.messages.ApiVersionsRequest(client_software_name="a", client_software_version="1"), version) == b""
    with pytest.raises(EncodeError, match="client_software_name"):
        proposed.encode(proposed.messages.ApiVersionsRequest(client_software_name="a", client_software_version="1"), version)


def test_K511_4_version_4_is_version_3(codec: Codec) -> None:
    source = random.Random(4)
    for _ in range(100):
        name, version = ("".join(chr(source.randrange(1, 0x2FF)) for _ in range(source.randrange(200))) for _ in "ab")
        request = codec.messages.ApiVersionsRequest(client_software_name=name, client_software_version=version)
        assert codec.encode(request, 3) == codec.encode(request, 4)
    for kind in ("Request", "Response"):
        assert fields_at(catalog()[f"ApiVersions{kind}"], 3) == fields_at(catalog()[f"ApiVersions{kind}"], 4)


@pytest.mark.parametrize(
    ("version", "body"),
    [
        (0, "0000 00000001 0012 0000 0003"),
        (1, "0000 00000001 0012 0000 0003 00000009"),
        (2, "0000 00000001 0012 0000 0003 00000009"),
        (3, "0000 02 0012 0000 0003 00 00000009 00"),
        (4, "0000 02 0012 0000 0003 00 00000009 00"),
    ],
)
def test_K511_6_the_response_in_all_versions(codec: Codec, version: int, body: str) -> None:
    made = codec.messages.ApiVersionsResponse
    response = made(api_keys=[made.ApiVersion(api_key=18, min_version=0, max_version=3)], throttle_time_ms=9)
    assert codec.encode(response, version) == bytes.fromhex(body)  # version 0 drops the throttle time
    read = codec.decode("ApiVersionsResponse", bytes.fromhex(body), version)
    assert (read.throttle_time_ms, read.api_keys) == (9 if version else 0, response.api_keys)


@pytest.mark.parametrize("version", range(4))
def test_K511_7_the_proposals_names_are_the_same_fields(proposed: Codec, codec: Codec, version: int) -> None:
    def shape(fields: Any) -> Any:
        return [(each.type if not each.fields else "[]struct", each.compact, shape(each.fields)) for each in fields if each.tag is None]

    for kind in ("Request", "Response"):
        assert shape(fields_at(proposed.catalog[f"ApiVersions{kind}"], version)) == shape(
            fields_at(catalog()[f"ApiVersions{kind}"], version)
        )
    if version == 3:
        (entry,) = proposed.decode_response(bytes.fromhex(G3), 18, 3).body.api_keys
        assert (entry.index, entry.min_version, entry.max_version) == (18, 0, 3)


# Features: tag 0 with "f" 1-2, tag 1 epoch 5, tag 2 with "f" at 2-1, tag 3 true
FEATURES = "0000 01 00000000 04 00 08 02 02 66 0001 0002 00 01 08 0000000000000005 02 08 02 02 66 0002 0001 00 03 01 01"


def test_K511_8_features_are_tagged_and_absent_at_their_defaults(codec: Codec) -> None:
    read = codec.decode("ApiVersionsResponse", bytes.fromhex(FEATURES), 3)
    assert [(each.name, each.min_version, each.max_version) for each in read.supported_features] == [("f", 1, 2)]
    assert (read.finalized_features_epoch, read.finalized_features[0].max_version_level, read.zk_migration_ready) == (5, 2, True)
    assert codec.encode(read, 3) == bytes.fromhex(FEATURES)
    assert codec.encode(codec.messages.ApiVersionsResponse(), 3) == bytes.fromhex("0000 01 00000000 00")


def test_K511_8_unknown_tags_survive(codec: Codec) -> None:
    data = bytes.fromhex("0000 02 0012 0000 0003 01 07 02 abcd 00000000 02 01 08 0000000000000005 09 03 010203")
    assert codec.encode(codec.decode("ApiVersionsResponse", data, 3), 3) == data


def test_K511_10_the_response_header_never_has_tags() -> None:
    assert {header_version("response", 18, version) for version in range(32768)} == {0}


@pytest.mark.parametrize("version", range(6))
def test_K511_11_the_error_code_stands_at_a_fixed_place(codec: Codec, version: int) -> None:
    for code in (0, 35, 42, -1):
        frame = codec.encode_response(7, codec.messages.ApiVersionsResponse(error_code=code), 18, version)
        assert int.from_bytes(frame[4:6], "big", signed=True) == code  # bytes 8 and 9 behind the length
        assert codec.decode_response(frame, 18, version).body.error_code == code


def test_K511_45_the_request_header_has_no_software() -> None:
    assert [field.name for field in catalog()["RequestHeader"].fields] == [
        "RequestApiKey", "RequestApiVersion", "CorrelationId", "ClientId", "ClientInstanceId",
    ]  # fmt: skip


@pytest.mark.requirement("K511-26")
def test_K511_27_behind_sasl_the_tracker_has_the_second_identity() -> None:
    """As Java does it: ApiVersions v0, handshake, authenticate, ApiVersions v3."""
    connection = Connection()
    events = []
    for request, response in (
        ("0012 0000 00000001 0001 63", "00000001 0000 00000001 0012 0000 0003"),
        ("0011 0001 00000002 0001 63 0005 504c41494e", "00000002 0000 00000001 0005 504c41494e"),
        ("0024 0000 00000003 0001 63 0000000d 00 616c696365 00 736563726574", "00000003 0000 ffff 00000000"),
        (G1.replace("00000001", "00000004", 1), G3.replace("00000001", "00000004", 1)),
    ):
        events += connection.receive_request_bytes(framed_hex(request), 1)
        events += connection.receive_response_bytes(framed_hex(response), 2)
    events += connection.finish(3)
    assert not [each for each in events if isinstance(each, ViolationFound)]
    summary = connection.summary()
    assert (summary.software_name, summary.software_version, summary.principal) == ("apache-kafka-java", "2.4.0", "User:alice")
    assert any(isinstance(each, IdentityChanged) for each in events)


def test_what_is_no_api_of_a_catalog() -> None:
    with pytest.raises(KwireError):
        Codec(catalog()).message_class("ApiVersionsResponseKey")
