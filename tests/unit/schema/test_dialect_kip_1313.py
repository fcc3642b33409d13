"""The dialect `kip-1313`: K1313-1 to K1313-5, K1313-18 and K1313-39 to K1313-44, on bytes worked out by hand from the proposal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kwire.codec.catalog_codec import Codec
from kwire.codec.field_spans import FieldWalker
from kwire.codec.plan import compile_plan
from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.errors import EncodeError, InputError
from kwire.schema import Catalog, Message, Versions, catalog, dialect, load, parse_definition, release_catalog
from kwire.schema.dialects import read_overlay
from kwire.schema.layout import fields_at
from kwire.schema.overlays import OverlaidCatalog

INSTANCE = Uuid.parse("00112233-4455-6677-8899-aabbccddeeff")
ID = "00112233445566778899aabbccddeeff"
OFFSET_DELETE_0 = "000167 00000001 000174 00000001 00000000"  # group "g", topic "t", partition 0

# What the clients jar of a 4.x release says of a few messages: no header 0, no version that 4.0 dropped, no headerVersions
RELEASE_4: list[dict[str, Any]] = [
    {
        "type": "header", "name": "RequestHeader", "validVersions": "1-2", "flexibleVersions": "2+",
        "fields": [
            {"name": "RequestApiKey", "type": "int16", "versions": "0+"},
            {"name": "RequestApiVersion", "type": "int16", "versions": "0+"},
            {"name": "CorrelationId", "type": "int32", "versions": "0+"},
            {"name": "ClientId", "type": "string", "versions": "1+", "nullableVersions": "1+", "flexibleVersions": "none"},
        ],
    },
    {
        "type": "header", "name": "ResponseHeader", "validVersions": "0-1", "flexibleVersions": "1+",
        "fields": [{"name": "CorrelationId", "type": "int32", "versions": "0+"}],
    },
    {
        "type": "request", "apiKey": 42, "name": "DeleteGroupsRequest", "validVersions": "0-2", "flexibleVersions": "2+",
        "fields": [{"name": "GroupsNames", "type": "[]string", "versions": "0+"}],
    },
    {
        "type": "response", "apiKey": 42, "name": "DeleteGroupsResponse", "validVersions": "0-2", "flexibleVersions": "2+",
        "fields": [{"name": "ThrottleTimeMs", "type": "int32", "versions": "0+"}],
    },
    {
        "type": "request", "apiKey": 17, "name": "SaslHandshakeRequest", "validVersions": "0-1", "flexibleVersions": "none",
        "fields": [{"name": "Mechanism", "type": "string", "versions": "0+"}],
    },
    {
        "type": "response", "apiKey": 17, "name": "SaslHandshakeResponse", "validVersions": "0-1", "flexibleVersions": "none",
        "fields": [{"name": "ErrorCode", "type": "int16", "versions": "0+"}],
    },
    {"type": "request", "apiKey": 7, "name": "ControlledShutdownRequest", "validVersions": "none", "fields": []},
    {"type": "response", "apiKey": 7, "name": "ControlledShutdownResponse", "validVersions": "none", "fields": []},
]  # fmt: skip


@pytest.fixture(scope="module")
def release_4(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    folder = tmp_path_factory.mktemp("definitions")
    for definition in RELEASE_4:
        (folder / f"{definition['name']}.json").write_text(json.dumps(definition))
    return load(folder, "kafka-clients-4.x")


@pytest.fixture(scope="module")
def known() -> Catalog:
    return dialect("kip-1313")


@pytest.fixture
def new(known, twin) -> Codec:
    return Codec(known, twin)


@pytest.fixture
def released(twin) -> Codec:
    return Codec(catalog(), twin)


def headers_of(message: Message) -> dict[str, int]:
    return {str(versions): header for versions, header in message.header_versions}


def request_of(known: Catalog, api_key: int) -> Message:
    found = known.request(api_key)
    assert found is not None
    return found


def response_of(known: Catalog, api_key: int) -> Message:
    found = known.response(api_key)
    assert found is not None
    return found


def test_K1313_1_request_header_3(known: Catalog, new: Codec) -> None:
    assert [
        (each.name, each.type, each.nullable, each.compact and each.type == "string") for each in fields_at(known["RequestHeader"], 3)
    ] == [
        ("RequestApiKey", "int16", False, False),
        ("RequestApiVersion", "int16", False, False),
        ("CorrelationId", "int32", False, False),
        ("ClientId", "string", True, False),
        ("ClientInstanceId", "uuid", False, False),
    ]
    header = new.messages.RequestHeader(api_key=47, api_version=1, correlation_id=7, client_id=None, client_instance_id=INSTANCE)
    data = bytes.fromhex("002f 0001 00000007 ffff" + ID + "00")
    assert new.encode(header, 3) == data
    assert new.decode("RequestHeader", data, 3) == header
    # its tagged section
    tagged = new.decode("RequestHeader", data[:-1] + bytes.fromhex("01 05 01 aa"), 3)
    assert tagged.unknown_tagged_fields == ((5, b"\xaa"),)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize(("client_id", "written"), [(None, "ffff"), ("", "0000"), ("x" * 300, "012c" + "78" * 300)])
def test_K1313_2_the_client_id_has_a_two_byte_length(new: Codec, version: int, client_id: str | None, written: str) -> None:
    header = new.messages.RequestHeader(api_key=3, api_version=0, correlation_id=7, client_id=client_id)
    rest = {1: "", 2: "00", 3: "00" * 17}[version]
    data = bytes.fromhex("0003 0000 00000007" + written + rest)
    assert new.encode(header, version) == data
    assert new.decode("RequestHeader", data, version) == header


def test_K1313_2_the_first_header_has_no_client_id(new: Codec) -> None:
    assert new.decode("RequestHeader", bytes.fromhex("0007 0000 00000007"), 0).client_id == ""


def test_K1313_3_header_0_is_read_and_a_4x_catalog_does_not_write_it(new: Codec, release_4: Catalog, twin: Any) -> None:
    golden = bytes.fromhex("0007 0000 00000009 00000003")  # ControlledShutdown v0 of broker 3
    request = new.decode_request(golden)
    assert (request.header.correlation_id, request.body.broker_id) == (9, 3)
    for known in (release_4, dialect("kip-1313", base=release_4)):
        newer = Codec(known, twin)
        header = newer.messages.RequestHeader(api_key=7, correlation_id=9)
        with pytest.raises(EncodeError, match="version 0 of RequestHeader is not known, only 1-"):
            newer.encode(header, 0)
    assert str(release_4["RequestHeader"].valid_versions) == "1-2"
    assert str(dialect("kip-1313", base=release_4)["RequestHeader"].valid_versions) == "1-3"


def test_K1313_4_every_request_has_a_new_version_with_header_3(known: Catalog) -> None:
    built_in = catalog()
    own = set(read_overlay("kip-1313").messages)
    assert known.api_keys == built_in.api_keys
    for key in known.api_keys:
        before, after = request_of(built_in, key), request_of(known, key)
        answer_before, answer = response_of(built_in, key), response_of(known, key)
        new = before.valid_versions.highest + 1
        if key == 17:
            assert (after, answer) == (before, answer_before)
            continue
        assert after.valid_versions == answer.valid_versions == Versions(before.valid_versions.lowest, new), after.name
        old_headers = {version: _header_of(before, version) for version in before.valid_versions}
        assert {version: _header_of(after, version) for version in before.valid_versions} == old_headers, after.name
        assert [_header_of(after, version) for version in (new, new + 1, Versions.OPEN)] == [3, 3, 3], after.name
        if after.name in own:
            continue
        assert answer.header_versions == answer_before.header_versions, after.name
        for one, other in ((before, after), (answer_before, answer)):
            last, next_ = compile_plan(one, new - 1), compile_plan(other, new)
            assert next_ == last._replace(version=new), after.name
            for version in one.valid_versions:
                assert compile_plan(other, version) == compile_plan(one, version), after.name


def _header_of(message: Message, version: int) -> int:
    (found,) = (header for versions, header in message.header_versions if version in versions)
    return found


def test_K1313_4_older_names_of_an_api_stay_as_they_are(known: Catalog) -> None:
    assert request_of(known, 56).name == "AlterPartitionRequest"
    for name in ("AlterIsrRequest", "AlterIsrResponse", "ListOffsetRequest", "ConsumerProtocolSubscription", "OffsetCommitKey"):
        assert known[name] == catalog()[name]


def test_K1313_4_on_a_loaded_catalog(release_4: Catalog) -> None:
    known = dialect("kip-1313", base=release_4)
    assert known.name == "kip-1313 on kafka-clients-4.x"
    assert headers_of(known["DeleteGroupsRequest"]) == {"0-1": 1, "2": 2, "3+": 3}  # as the proposal has it
    assert headers_of(known["DeleteGroupsResponse"]) == {"0-1": 0, "2+": 1}
    assert str(known["DeleteGroupsResponse"].valid_versions) == "0-3"
    # what a release has dropped gets no version, what it never had is not added
    assert not known["ControlledShutdownRequest"].valid_versions
    assert "PushTelemetryRequest" not in known


def test_K1313_4_on_a_release_nothing_of_later_releases_comes_in() -> None:
    """Version 3 of DeleteGroups is 4.4's, with an ErrorMessage; version 9 of Metadata is the first flexible one, of 2.4."""
    known = dialect("kip-1313", base=release_catalog("4.3.1"))
    assert [field.name for field in known["DeleteGroupsResponse"].fields[1].fields if 3 in field.versions] == ["GroupId", "ErrorCode"]
    known = dialect("kip-1313", base=release_catalog("2.3.1"))
    request, response = known["MetadataRequest"], known["MetadataResponse"]
    assert (str(request.valid_versions), headers_of(request), headers_of(response)) == ("0-9", {"0-8": 1, "9+": 3}, {"0+": 0})
    for message in (request, response):
        assert not message.is_flexible(9)
        assert fields_at(message, 9) == fields_at(message, 8)


def test_K1313_4_what_a_release_has_taken_in_stays(known: Catalog) -> None:
    again = OverlaidCatalog(known, read_overlay("kip-1313"))
    assert all(again[name] == known[name] for name in known)


def test_K1313_4_a_message_that_is_another_is_not_extended(tmp_path: Path) -> None:
    other = {
        "type": "request", "apiKey": 47, "name": "OffsetDeleteRequest", "validVersions": "0",
        "fields": [{"name": "GroupId", "type": "int32", "versions": "0+"}],
    }  # fmt: skip
    (tmp_path / "OffsetDeleteRequest.json").write_text(json.dumps(other))
    known = dialect("kip-1313", base=load(tmp_path, "fork"))
    with pytest.raises(
        InputError, match=r"^OffsetDeleteRequest v0 of fork has other fields than kip-1313 knows, so it cannot be extended\.$"
    ):
        known["OffsetDeleteRequest"]


def test_K1313_4_fields_that_end_with_the_last_version_go_on(twin: Any) -> None:
    definition = {
        "type": "request", "apiKey": 3, "name": "MetadataRequest", "validVersions": "0-2", "flexibleVersions": "2",
        "fields": [
            {"name": "Early", "type": "int8", "versions": "0-1"},
            {"name": "Late", "type": "string", "versions": "1-2", "nullableVersions": "2"},
            {"name": "Tagged", "type": "int8", "versions": "2", "taggedVersions": "2", "tag": 1},
            {"name": "Inside", "type": "Common", "versions": "2+"},
        ],
        "commonStructs": [{"name": "Common", "versions": "2", "fields": [{"name": "Deep", "type": "int8", "versions": "2"}]}],
    }  # fmt: skip
    answer = {**definition, "type": "response", "name": "MetadataResponse", "fields": [], "commonStructs": []}
    base = Catalog("closed", {each["name"]: parse_definition(each, "x") for each in (definition, answer)})
    codec = Codec(dialect("kip-1313", base=base), twin)
    plan = codec.compiled.plan("MetadataRequest", 3)
    assert plan == codec.compiled.plan("MetadataRequest", 2)._replace(version=3)
    assert codec.decode("MetadataRequest", bytes.fromhex("00 09 00 01 01 01 04"), 3).tagged == 4


def test_K1313_5_saslhandshake_stays(known: Catalog) -> None:
    """KAFKA-9577: clients take the broker's highest version without looking whether they know it."""
    assert str(known["SaslHandshakeRequest"].valid_versions) == str(known["SaslHandshakeResponse"].valid_versions) == "0-1"
    bump = read_overlay("kip-1313").bump
    assert bump is not None
    assert bump.request_header == 3
    assert list(bump.exempt) == ["SaslHandshake"]
    assert "KAFKA-9577" in bump.exempt["SaslHandshake"]
    codec = Codec(known)
    header = codec.messages.RequestHeader(api_key=17, api_version=1, correlation_id=1, client_id="c", client_instance_id=INSTANCE)
    # a client has one id for all its requests; this one has no room for it
    assert codec.encode_request(header, codec.messages.SaslHandshakeRequest(mechanism="PLAIN")) == bytes.fromhex(
        "0011 0001 00000001 0001 63 0005 504c41494e"
    )


def test_K1313_18_offsetdelete_goes_from_header_1_to_3(known: Catalog) -> None:
    assert headers_of(known["OffsetDeleteRequest"]) == {"0": 1, "1+": 3}


def test_K1313_39_gettelemetrysubscriptions_1_has_no_client_instance_id(known: Catalog, new: Codec) -> None:
    request, response = known["GetTelemetrySubscriptionsRequest"], known["GetTelemetrySubscriptionsResponse"]
    assert (headers_of(request), headers_of(response)) == ({"0": 2, "1+": 3}, {"0+": 1})
    assert [str(message.fields[index].versions) for message, index in ((request, 0), (response, 2))] == ["0", "0"]
    ask = new.messages.GetTelemetrySubscriptionsRequest
    assert new.encode(ask(client_instance_id=INSTANCE), 0) == bytes.fromhex(ID + "00")
    assert new.encode(ask(), 1) == b"\0"
    assert new.decode("GetTelemetrySubscriptionsRequest", b"\0", 1).client_instance_id == ZERO_UUID
    with pytest.raises(EncodeError, match="client_instance_id"):
        new.encode(ask(client_instance_id=INSTANCE), 1)
    told = {
        "throttle_time_ms": 1, "error_code": 2, "subscription_id": 3, "accepted_compression_types": [4, 1], "push_interval_ms": 5,
        "telemetry_max_bytes": 6, "delta_temporality": True, "requested_metrics": ["a", ""],
    }  # fmt: skip
    tell = new.messages.GetTelemetrySubscriptionsResponse
    rest = "00000003 03 04 01 00000005 00000006 01 03 0261 01 00"
    assert new.encode(tell(**told, client_instance_id=INSTANCE), 0) == bytes.fromhex("00000001 0002" + ID + rest)
    assert new.encode(tell(**told), 1) == bytes.fromhex("00000001 0002" + rest)
    assert new.decode("GetTelemetrySubscriptionsResponse", bytes.fromhex("00000001 0002" + rest), 1) == tell(**told)


def test_K1313_40_pushtelemetry_1_has_no_client_instance_id(known: Catalog, new: Codec) -> None:
    assert headers_of(known["PushTelemetryRequest"]) == {"0": 2, "1+": 3}
    push = new.messages.PushTelemetryRequest
    values = {"subscription_id": 3, "terminating": True, "compression_type": 4, "metrics": b"\xaa\xbb"}
    rest = "00000003 01 04 03 aabb 00"
    assert new.encode(push(**values, client_instance_id=INSTANCE), 0) == bytes.fromhex(ID + rest)
    assert new.encode(push(**values), 1) == bytes.fromhex(rest)
    assert new.decode("PushTelemetryRequest", bytes.fromhex(rest), 1) == push(**values)


def test_K1313_40_metrics_are_found_without_a_copy(new: Codec) -> None:
    frame = memoryview(bytes.fromhex("0048 0001 00000001 0001 63" + ID + "00 00000003 01 04 03 aabb 00"))
    columns = new.to_arrow("PushTelemetryRequest", [frame[28:]], 1, ["metrics"])
    assert columns.column("metrics").to_pylist() == [b"\xaa\xbb"]
    walker = FieldWalker(new.compiled, "PushTelemetryRequest", 1, lambda path: path == ("metrics",))
    reading = walker.walk(frame, 28)
    views = [frame[begin:stop] for _, begin, stop in reading.spans]
    assert (reading.end, reading.fault) == (len(frame), None)
    assert views == [b"\xaa\xbb"]
    assert views[0].obj is frame.obj


def test_K1313_41_the_response_of_pushtelemetry_is_as_it_was(known: Catalog, new: Codec, released: Codec) -> None:
    assert headers_of(known["PushTelemetryResponse"]) == {"0+": 1}
    assert fields_at(known["PushTelemetryResponse"], 1) == fields_at(catalog()["PushTelemetryResponse"], 0)
    answer = new.messages.PushTelemetryResponse(throttle_time_ms=1, error_code=2)
    assert new.encode(answer, 1) == new.encode(answer, 0) == bytes.fromhex("00000001 0002 00")


def test_K1313_42_the_request_of_offsetdelete(known: Catalog, new: Codec, released: Codec) -> None:
    message = known["OffsetDeleteRequest"]
    assert str(message.flexible_versions) == "1+"
    assert fields_at(message, 0) == fields_at(catalog()["OffsetDeleteRequest"], 0)
    group, topics = fields_at(message, 1)
    assert (group.name, group.compact, topics.name) == ("GroupId", True, "Topics")
    assert [field.name for field in topics.fields] == ["Name", "Partitions"]
    assert [field.name for field in topics.fields[1].fields] == ["PartitionIndex"]
    body = released.decode("OffsetDeleteRequest", bytes.fromhex(OFFSET_DELETE_0), 0)
    again = new.decode("OffsetDeleteRequest", bytes.fromhex(OFFSET_DELETE_0), 0)
    assert new.to_json(again, 0) == released.to_json(body, 0)
    assert new.encode(again, 0) == bytes.fromhex(OFFSET_DELETE_0)
    assert new.encode(again, 1) == bytes.fromhex("0267 02 0274 02 00000000 00 00 00")


def test_K1313_43_the_response_of_offsetdelete(known: Catalog, new: Codec) -> None:
    message = known["OffsetDeleteResponse"]
    assert (headers_of(message), str(message.flexible_versions)) == ({"0": 0, "1+": 1}, "1+")
    assert [(field.name, field.ignorable) for field in message.fields] == [
        ("ErrorCode", False),
        ("ThrottleTimeMs", True),
        ("Topics", False),
    ]
    answer = new.messages.OffsetDeleteResponse
    partition = answer.OffsetDeleteResponsePartition(partition_index=1, error_code=2)
    topic = answer.OffsetDeleteResponseTopic(name="t", partitions=[partition])
    response = answer(error_code=3, throttle_time_ms=4, topics=[topic])
    old, flexible = (
        bytes.fromhex("0003 00000004 00000001 000174 00000001 00000001 0002"),
        bytes.fromhex("0003 00000004 02 0274 02 00000001 0002 00 00 00"),
    )
    assert (new.encode(response, 0), new.encode(response, 1)) == (old, flexible)
    assert new.decode("OffsetDeleteResponse", old, 0) == new.decode("OffsetDeleteResponse", flexible, 1) == response
    frame = new.encode_response(7, response, 47, 1)
    assert frame == bytes.fromhex("00000007 00") + flexible
    assert new.decode_response(frame, 47, 1).body == response


def test_K1313_44_the_new_version_of_deletegroups_is_the_one_before(known: Catalog, release_4: Catalog, twin: Any) -> None:
    for base, new in ((release_4, 3), (catalog(), 4)):  # 4.4 has used version 3 for something else since the proposal was written
        message = dialect("kip-1313", base=base)["DeleteGroupsRequest"]
        assert fields_at(message, new) == fields_at(message, new - 1)
        assert [field.name for field in message.fields] == ["GroupsNames"]
    codec = Codec(dialect("kip-1313", base=release_4), twin)
    request = codec.messages.DeleteGroupsRequest(groups_names=["g"])
    assert codec.encode(request, 3) == codec.encode(request, 2) == bytes.fromhex("02 0267 00")
    header = codec.messages.RequestHeader(api_key=42, api_version=3, correlation_id=7, client_id=None, client_instance_id=INSTANCE)
    assert codec.encode_request(header, request) == bytes.fromhex("002a 0003 00000007 ffff" + ID + "00 02 0267 00")
