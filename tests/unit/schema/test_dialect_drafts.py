"""The dialects `kip-35-draft` (K35-1 to K35-3) and `kip-714-draft` (K714-6, K714-7) on bytes worked out by hand; how dialects combine."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import kwire
from kwire.codec.catalog_codec import Codec
from kwire.errors import EncodeError, InputError, NullNotAllowed, UnknownApi
from kwire.schema import DIALECTS, catalog, definition_of, dialect, parse_definition
from kwire.schema.dialects import read_overlay
from kwire.schema.listing import find_messages

KEY = "4e43"  # 20035
# Node 7 at "b":9092 speaks versions 1 to 3 and has two tags of the proposal's table; node 8 has none
TAGS = "00000002 0009 62726f6b65722e6964 0001 37 0008 6177732e7a6f6e65 0000"
BROKERS = "00000002 00000007 0001 62 00002384 00000001 00000003" + TAGS + "00000008 0000 00000000 ffffffff 00000000 00000000"


@pytest.fixture
def old(twin) -> Codec:
    return Codec(dialect("kip-35-draft"), twin)


@pytest.fixture
def draft(twin) -> Codec:
    return Codec(dialect("kip-714-draft"), twin)


@pytest.mark.parametrize(("node_ids", "written"), [((), "00000000"), ((-1,), "00000001 ffffffff"), ((1, 2), "00000002 00000001 00000002")])
def test_K35_1_brokermetadata_asks_for_nodes(old: Codec, node_ids: tuple[int, ...], written: str) -> None:
    request = old.messages.BrokerMetadataRequest(node_ids=node_ids)
    assert old.encode(request, 0) == bytes.fromhex(written)
    frame = bytes.fromhex(KEY + "0000 00000007 0001 63" + written)
    header = old.messages.RequestHeader(api_key=20035, api_version=0, correlation_id=7, client_id="c")
    assert old.encode_request(header, request) == frame
    assert old.decode_request(frame).body == request
    found = old.scan_headers(len(frame).to_bytes(4, "big") + frame)
    assert (list(found.api_key), list(found.header_version), list(found.error), list(found.body_offset)) == ([20035], [1], [0], [15])


def test_K35_2_an_empty_array_is_all_brokers_and_not_null(old: Codec) -> None:
    assert old.messages.BrokerMetadataRequest().node_ids == ()
    with pytest.raises(NullNotAllowed):
        old.decode("BrokerMetadataRequest", bytes.fromhex("ffffffff"), 0)


def test_K35_3_brokermetadata_tells_nodes_and_tags(old: Codec) -> None:
    response = old.decode_response(bytes.fromhex("00000007" + BROKERS), 20035, 0)
    one, other = response.body.brokers
    assert (one.node_id, one.host, one.port, one.protocol_version_min, one.protocol_version_max) == (7, "b", 9092, 1, 3)
    assert [(tag.key, tag.value) for tag in one.tags] == [("broker.id", "7"), ("aws.zone", "")]
    assert (other.node_id, other.host, other.protocol_version_min, other.tags) == (8, "", -1, [])
    assert old.encode_response(7, response.body, 20035, 0) == bytes.fromhex("00000007" + BROKERS)
    assert old.to_json(response.body, 0)["brokers"][1] == {
        "nodeId": 8, "host": "", "port": 0, "protocolVersionMin": -1, "protocolVersionMax": 0, "tags": [],
    }  # fmt: skip


def test_K35_3_brokerid_and_nodeid_are_one_field(old: Codec, twin) -> None:
    broker = old.messages.BrokerMetadataResponse.BrokerMetadata(node_id=7)
    assert broker.broker_id == 7
    broker.broker_id = 9
    assert broker.node_id == 9
    assert "broker_id" not in repr(broker)
    if twin == kwire.backend:
        assert pickle.loads(pickle.dumps(broker)).broker_id == 9
    (field,) = (each for each in old.catalog["BrokerMetadataResponse"].fields[0].fields if each.name == "NodeId")
    assert field.aliases == ("BrokerId",)
    message = old.catalog["BrokerMetadataResponse"]
    assert parse_definition(definition_of(message), "again") == message


def test_K35_5_off_the_key_is_unknown() -> None:
    with pytest.raises(UnknownApi, match="unknown API key 20035"):
        kwire.decode_request(bytes.fromhex(KEY + "0000 00000007 0001 63 00000000"))


def test_K35_the_api_key_comes_from_configuration(twin) -> None:
    codec = Codec(dialect("kip-35-draft", api_keys={"BrokerMetadata": 501}), twin)
    assert codec.catalog.api_name(501) == "BrokerMetadata"
    assert codec.catalog.api_name(20035) is None
    assert codec.decode_request(bytes.fromhex("01f5 0000 00000007 0001 63 00000000")).body.node_ids == ()
    assert codec.decode_response(bytes.fromhex("00000007" + BROKERS), 501, 0).body.brokers[0].port == 9092


# "c-1" goes on, terminating, with two bytes of metrics; the first request, an empty one, asks for an id and for content types
TYPE = "application/x-protobuf;type=otlp+metrics09"
PUSH = "0003 632d31 01 002a" + TYPE.encode().hex() + "00000002 aabb"
FIRST = "ffff 00 ffff 00000000"
ANSWER = "00000001 0002 0003 632d31 00000001 002a" + TYPE.encode().hex() + "00000005 00000001 0000"


def test_K714_6_the_draft_request(draft: Codec) -> None:
    push = draft.messages.PushTelemetryRequest
    whole = push(client_instance_id="c-1", terminating=True, content_type=TYPE, metrics=b"\xaa\xbb")
    assert draft.decode("PushTelemetryRequest", bytes.fromhex(PUSH), 0) == whole
    assert draft.encode(whole, 0) == bytes.fromhex(PUSH)
    first = push(content_type=None)
    assert (first.client_instance_id, first.terminating, first.metrics) == (None, False, b"")
    assert draft.encode(first, 0) == bytes.fromhex(FIRST)
    assert draft.decode("PushTelemetryRequest", bytes.fromhex(FIRST), 0) == first
    assert draft.from_json("PushTelemetryRequest", draft.to_json(whole, 0), 0) == whole
    with pytest.raises(EncodeError, match="metrics"):
        draft.encode(push(metrics=None), 0)


def test_K714_6_the_api_key_comes_from_configuration(twin) -> None:
    frame = "0000 00000007 0001 63" + FIRST
    for api_keys, key in ((None, 72), ({"PushTelemetry": 20714}, 20714)):
        codec = Codec(dialect("kip-714-draft", api_keys=api_keys), twin)
        request = codec.decode_request(key.to_bytes(2, "big") + bytes.fromhex(frame))
        assert (request.header.client_id, request.body.client_instance_id) == ("c", None)
        assert codec.encode_request(request.header, request.body) == key.to_bytes(2, "big") + bytes.fromhex(frame)
    # the draft's form is in the place of the released one
    assert codec.catalog.request(72) is None
    assert 72 not in codec.catalog.api_keys
    assert codec.catalog.api_name(71) == "GetTelemetrySubscriptions"


def test_K714_7_the_draft_response(draft: Codec) -> None:
    made = draft.messages.PushTelemetryResponse(
        throttle_time=1, error_code=2, client_instance_id="c-1", accepted_content_types=[TYPE], next_push_ms=5, requested_metrics=[""]
    )
    assert draft.encode(made, 0) == bytes.fromhex(ANSWER)
    assert draft.decode_response(bytes.fromhex("00000007" + ANSWER), 72, 0).body == made
    assert draft.encode_response(7, made, 72, 0) == bytes.fromhex("00000007" + ANSWER)
    bare = draft.messages.PushTelemetryResponse()
    assert bare.client_instance_id is None
    assert draft.encode(bare, 0) == bytes.fromhex("00000000 0000 ffff 00000000 00000000 00000000")


def test_dialects_combine_in_order() -> None:
    assert DIALECTS == ("kip-1313", "kip-35-draft", "kip-714-draft")
    both = dialect("kip-35-draft", "kip-1313")
    assert both.name == "kip-1313 on kip-35-draft"
    assert str(both["BrokerMetadataRequest"].valid_versions) == "0-1"
    assert Codec(both).header_version("request", 20035, 1) == 3
    other = dialect("kip-1313", "kip-35-draft")
    assert str(other["BrokerMetadataRequest"].valid_versions) == "0"
    assert str(other["OffsetDeleteRequest"].valid_versions) == "0-1"
    drafts = dialect("kip-35-draft", "kip-714-draft")
    assert [message.name for message in find_messages("BrokerMetadata", drafts)] == ["BrokerMetadataRequest", "BrokerMetadataResponse"]
    assert [field.name for field in drafts["PushTelemetryResponse"].fields][:1] == ["ThrottleTime"]
    # and the built-in catalog is as it was
    assert "BrokerMetadataRequest" not in catalog()
    assert str(catalog()["OffsetDeleteRequest"].valid_versions) == "0"


@pytest.mark.parametrize(
    ("names", "api_keys", "reason"),
    [
        (("kip-1313", "kip-714-draft"), None, "kip-1313 and kip-714-draft both define PushTelemetryRequest, so they cannot be combined."),
        (("kip-35-draft", "kip-35-draft"), None, "kip-35-draft and kip-35-draft both define BrokerMetadataRequest"),
        (
            ("kip-1",),
            None,
            "kwire has no dialect 'kip-1'; there are kip-1313, kip-35-draft, kip-714-draft, and folders with a dialect.json.",
        ),
        ((), None, "Name a dialect; there are kip-1313"),
        (("kip-35-draft",), {"BrokerMetadata": 3}, "kwire has MetadataRequest under api key 3, so kip-35-draft cannot have"),
        (("kip-35-draft",), {"BrokerMetadata": -1}, "The api key -1 of BrokerMetadata is outside 0 to 32767."),
        (("kip-35-draft",), {"Metadata": 500}, "No api 'Metadata' comes with kip-35-draft, so it can have no key of its own."),
    ],
)
def test_what_cannot_be_had_is_said(names, api_keys, reason) -> None:
    with pytest.raises(InputError) as caught:
        dialect(*names, api_keys=api_keys)
    assert reason in str(caught.value)


def test_a_dialect_of_ones_own_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "dialect.json").write_text('{"name": "mine", "adds": ["PingRequest"]} // and no response')
    ping = {"type": "request", "apiKey": 900, "name": "PingRequest", "validVersions": "0", "fields": []}
    (tmp_path / "PingRequest.json").write_text(json.dumps(ping))
    mine = dialect(tmp_path)
    assert (mine.name, mine.api_name(900), mine.api_name(3)) == ("mine", "Ping", "Metadata")
    assert Codec(dialect("kip-1313", tmp_path)).header_version("request", 900, 0) == 1
    assert pickle.loads(pickle.dumps(mine)).api_name(900) == "Ping"
    for manifest, reason in (
        ('{"adds": []}', "dialect.json is not a dialect: 'name' is missing."),
        ('{"name": "mine", "adds": ["PongRequest"]}', "PongRequest.json: No such file or directory."),
        ('{"name": "mine", "adds": 3}', "dialect.json is not a dialect: "),
        ('{"name": ', "at line 1"),
    ):
        (tmp_path / "dialect.json").write_text(manifest)
        with pytest.raises(InputError, match=reason.replace(".", r"\.")):
            read_overlay(tmp_path)
    (tmp_path / "dialect.json").write_text('{"name": "mine", "adds": ["PingRequest"]}')
    (tmp_path / "PingRequest.json").write_text(json.dumps({**ping, "name": "PongRequest"}))
    with pytest.raises(InputError, match=r"PingRequest\.json defines PongRequest, not PingRequest\.$"):
        dialect(tmp_path)
    (tmp_path / "PingRequest.json").write_text(json.dumps({**ping, "name": "FetchRequest"}))
    (tmp_path / "dialect.json").write_text('{"name": "mine", "adds": ["FetchRequest"]}')
    (tmp_path / "FetchRequest.json").write_text(json.dumps({**ping, "name": "FetchRequest"}))
    with pytest.raises(InputError, match=r"^kwire has a FetchRequest already, so mine cannot add it\.$"):
        dialect(tmp_path)
