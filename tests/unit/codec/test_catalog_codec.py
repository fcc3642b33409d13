"""`kwire.Codec`: catalogs other than the built-in one, side by side, in both twins."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kwire.codec.catalog_codec import Codec
from kwire.codec.frames import Opaque
from kwire.codec.impl import backend
from kwire.codec.uuids import Uuid
from kwire.errors import KwireError, UnknownApi, UnsupportedVersion
from kwire.messages import MetadataRequest
from kwire.schema import Catalog, dialect, load

# An api that Kafka does not have, with a struct, at two versions
PING: dict[str, Any] = {
    "apiKey": 900, "type": "request", "name": "PingRequest", "validVersions": "0-1", "flexibleVersions": "1+",
    "fields": [
        {"name": "Text", "type": "string", "versions": "0+"},
        {"name": "Stops", "type": "[]Stop", "versions": "0+", "fields": [
            {"name": "Number", "type": "int8", "versions": "0+"},
            {"name": "Mark", "type": "int16", "versions": "1+", "taggedVersions": "1+", "tag": 0, "default": "-1"},
        ]},
    ],
}  # fmt: skip
PONG: dict[str, Any] = {
    "apiKey": 900, "type": "response", "name": "PingResponse", "validVersions": "0-1", "flexibleVersions": "1+",
    "fields": [{"name": "Text", "type": "string", "versions": "0+"}],
}  # fmt: skip
# corr 7, client "c"; version 0: "a", stops 1 and 2; version 1: the second stop with mark 5
PING_0 = bytes.fromhex("0384 0000 00000007 000163 000161 00000002 01 02")
PING_1 = bytes.fromhex("0384 0001 00000007 000163 00 0261 03 01 00 02 01 00 02 0005 00")


def folder(path: Path, *definitions: dict[str, Any]) -> Catalog:
    path.mkdir(exist_ok=True)
    for definition in definitions:
        (path / f"{definition['name']}.json").write_text(json.dumps(definition))
    return load(path)


@pytest.fixture
def pings(tmp_path: Path) -> Catalog:
    return folder(tmp_path / "pings", PING, PONG)


@pytest.fixture
def ping(pings, twin):
    return Codec(pings, twin)


def test_frames_of_a_catalog_of_ones_own(ping):
    request = ping.decode_request(PING_1)
    assert (request.header.client_id, request.body.text) == ("c", "a")
    assert [(stop.number, stop.mark) for stop in request.body.stops] == [(1, -1), (2, 5)]
    assert ping.decode_request(PING_0).body.stops[1].mark == -1
    assert ping.peek_header(PING_1).correlation_id == 7
    response = ping.decode_response(bytes.fromhex("00000007 00 0262 00"), 900, 1)
    assert response.body == ping.messages.PingResponse(text="b")
    assert ping.decode("PingRequest", PING_1[12:], 1, fields=["text"]).text == "a"
    assert ping.to_json(request.body, 1) == {"text": "a", "stops": [{"number": 1}, {"number": 2, "mark": 5}]}
    assert ping.header_version("request", 900, 0) == 1
    assert ping.header_version("response", 900, 1) == 1
    assert "PingRequest" in dir(ping.messages)
    assert ping.message_class("PingRequest") is ping.messages.PingRequest


def test_what_is_cut_and_what_is_unknown(ping):
    part, error = ping.decode_prefix("PingRequest", PING_0[11:-1], 0)
    assert [stop.number for stop in part.stops[:1]] == [1]
    assert error.path == "stops[1].number"
    opaque = ping.decode_request(bytes.fromhex("0384 0002 00000007 000163 00 aabb"), strict=False)
    assert opaque.body == Opaque(b"\xaa\xbb", opaque.violation)
    assert type(opaque.violation) is UnsupportedVersion
    with pytest.raises(UnknownApi):
        ping.decode_request(bytes.fromhex("0003 0000 00000007 000163 00000000"))  # Metadata is not in this catalog
    with pytest.raises(UnknownApi):
        ping.decode_response(bytes.fromhex("00000007 0023 00000000"), 18, 3)
    with pytest.raises(KwireError, match="no message 'PongRequest'"):
        ping.message_class("PongRequest")
    with pytest.raises(AttributeError, match="pings has no message 'MetadataRequest'"):
        ping.messages.MetadataRequest  # noqa: B018


def test_headers_of_a_stream(ping):
    stream = b"".join(len(frame).to_bytes(4, "big") + frame for frame in (PING_0, PING_1, PING_0))
    found = ping.scan_headers(stream)
    assert list(found.api_key) == [900] * 3
    assert list(found.header_version) == [1, 2, 1]
    assert list(found.error) == [0] * 3
    assert found.client_ids == ["c"] * 3
    assert [stream[at:][:4] for at in found.body_offset] == [PING_0[11:15], PING_1[12:16], PING_0[11:15]]


def test_columns_of_a_catalog_of_ones_own(ping):
    assert ping.to_arrow("PingRequest", [PING_1[12:], PING_1[12:]], 1, ["text", "stops.number"]).to_pydict() == {
        "message_index": [0, 0, 1, 1],
        "text": ["a"] * 4,
        "stops.number": [1, 2, 1, 2],
    }
    assert ping.arrow_schema("PingRequest", 1, ["text"]).names == ["text"]


def test_two_releases_side_by_side(tmp_path, twin):
    """The same version number with other fields, as previews and forks have it."""
    wider = {**PONG, "fields": [*PONG["fields"], {"name": "Late", "type": "int64", "versions": "1+"}]}
    one = Codec(folder(tmp_path / "one", PING, PONG), twin)
    other = Codec(folder(tmp_path / "other", PING, wider), twin)
    assert other.decode("PingResponse", bytes.fromhex("0262 0000000000000009 00"), 1).late == 9
    assert one.decode("PingResponse", bytes.fromhex("0262 00"), 1).text == "b"
    assert not hasattr(one.messages.PingResponse(), "late")
    assert one.messages.PingRequest is other.messages.PingRequest  # alike in both
    assert one.messages.PingResponse is not other.messages.PingResponse
    with pytest.raises(KwireError, match="not of the class that other has"):
        other.to_json(one.messages.PingResponse(), 1)


def test_messages_that_are_as_in_the_built_in_catalog_have_its_classes():
    codec = Codec(dialect("kip-1313"))
    assert codec.messages.MetadataRequest is MetadataRequest
    assert codec.messages.RequestHeader.__name__ == "RequestHeader"
    request = codec.decode("MetadataRequest", bytes.fromhex("01 01 00 00"), 14)
    assert type(request) is MetadataRequest
    assert pickle.loads(pickle.dumps(request)) == request


def test_objects_and_codecs_travel(pings, ping, twin):
    message = ping.decode_request(PING_1).body
    for each in (copy.copy(message), copy.deepcopy(message)):
        assert each == message
        assert type(each) is type(message)
    if twin != backend:
        return
    data = pickle.dumps([message, message.stops[1]])
    again, stop = pickle.loads(data)
    assert again == message
    assert stop is again.stops[1]
    assert type(again.stops[1]) is ping.messages.PingRequest.Stop
    # many objects take their layouts along once
    sizes = [len(pickle.dumps([ping.messages.PingRequest() for _ in range(count)])) for count in (1, 2)]
    assert sizes[1] - sizes[0] < 64
    codec = pickle.loads(pickle.dumps(ping))
    assert codec.decode_request(PING_1).body == message
    assert (repr(codec), codec.catalog.name) == ("Codec('pings')", "pings")


@pytest.mark.parametrize("pure", ["0", "1"])
def test_objects_travel_to_a_process_that_has_no_such_catalog(ping, twin, pure, tmp_path):
    if twin != backend:
        return
    message = ping.decode_request(PING_1).body
    (tmp_path / "message.pickle").write_bytes(pickle.dumps(message))
    program = (
        "import os, pickle, sys; os.environ['KWIRE_PURE'] = sys.argv[2];"
        "from pathlib import Path; message = pickle.loads(Path(sys.argv[1]).read_bytes()); print(message)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "message.pickle"), pure], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == repr(message)


def test_a_codec_with_a_dialect_travels_by_its_definitions():
    codec = pickle.loads(pickle.dumps(Codec(dialect("kip-35-draft", api_keys={"BrokerMetadata": 20007}))))
    assert codec.catalog.api_name(20007) == "BrokerMetadata"
    instance = Uuid(range(16))
    again = pickle.loads(pickle.dumps(codec.messages.RequestHeader(api_key=20007, client_instance_id=instance)))
    assert (again.api_key, again.client_instance_id) == (20007, instance)


def test_the_request_header_of_the_jars_of_2_2_and_2_3(tmp_path, twin):
    """They call the header with a client id version 0, which everywhere else is the one without."""
    fields = [
        {"name": "RequestApiKey", "type": "int16", "versions": "0+"},
        {"name": "RequestApiVersion", "type": "int16", "versions": "0+"},
        {"name": "CorrelationId", "type": "int32", "versions": "0+"},
        {"name": "ClientId", "type": "string", "versions": "0+"},
    ]
    header = {"type": "header", "name": "RequestHeader", "validVersions": "0", "fields": fields}
    shutdown = {
        "type": "request", "apiKey": 7, "name": "ControlledShutdownRequest", "validVersions": "0",
        "fields": [{"name": "BrokerId", "type": "int32", "versions": "0+"}],
    }  # fmt: skip
    early = {**PING, "flexibleVersions": "none", "fields": PING["fields"][:1]}
    codec = Codec(folder(tmp_path / "2.3", header, shutdown, early), twin)
    assert codec.decode_request(bytes.fromhex("0384 0001 00000007 000163 000161")).header.client_id == "c"
    assert codec.decode_request(bytes.fromhex("0007 0000 00000007 00000003")).body.broker_id == 3


@pytest.mark.parametrize(
    "names", [("RequestApiVersion", "RequestApiKey", "CorrelationId"), ("RequestApiKey", "RequestApiVersion", "ClientId")]
)
def test_request_headers_that_cannot_be_scanned(tmp_path, twin, names):
    fields = [{"name": name, "type": "int32" if name == "CorrelationId" else "int16", "versions": "0+"} for name in names]
    header = {"type": "header", "name": "RequestHeader", "validVersions": "0-2", "flexibleVersions": "none", "fields": fields}
    with pytest.raises(ValueError, match="does not begin with api key, api version and correlation id"):
        Codec(folder(tmp_path, PING, PONG, header), twin).scan_headers(b"")
