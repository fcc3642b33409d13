"""`kwire.Codec` with the definitions in published jars, against what Kafka's own classes of several releases wrote.

Needs Maven and, on the first run, the network; jars are kept in `.cache/kafka-jars`.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import kwire
from kwire.errors import EncodeError
from kwire.schema import dialect, load, releases

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("jars")]  # they are fetched once

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "kafka-jars"
NEWEST = releases().newest.name
CLIENTS = (NEWEST, "3.9.2", "2.3.1")

# Under the same version numbers later releases, which wrote the bytes and JSON, renamed fields of Vote and TxnOffsetCommit, and share
# groups were a preview in 3.9.
OTHERS = {
    f"kafka-clients-{NEWEST}": set[str](),
    "kafka-clients-3.9.2": {"ReadShareGroupStateSummaryResponse", "TxnOffsetCommitRequest", "VoteRequest"},
}


@pytest.fixture(scope="module")
def jars() -> dict[str, Path]:
    sys.path.insert(0, str(ROOT / "tools"))
    fetched = __import__("kafka_jars").fetch([("kafka-clients", release) for release in CLIENTS], CACHE)
    return {release: fetched["kafka-clients", release] for release in CLIENTS}


@pytest.fixture(scope="module", params=[NEWEST, "3.9.2"])
def codec(request: pytest.FixtureRequest, jars: dict[str, Path]) -> kwire.Codec:
    return kwire.Codec(load(jars[request.param]))


def of_this(codec: kwire.Codec, cases: list[dict[str, Any]], name: str = "message") -> list[dict[str, Any]]:
    """The cases that the jar's definitions know and whose names are those of their release."""
    found = []
    for case in cases:
        message = codec.catalog.messages.get(case[name])
        if message is not None and case["version"] in message.valid_versions:
            found.append(case)
    return found


def test_messages_are_those_that_kafka_wrote(codec: kwire.Codec, vectors: Any) -> None:
    cases = of_this(codec, vectors("messages-sample"))
    assert len(cases) > 1500
    wrong = set()
    for case in cases:
        data, name, version = bytes.fromhex(case["hex"]), case["message"], case["version"]
        try:
            decoded = codec.decode(name, data, version)
            same = codec.to_json(decoded, version) == case["json"] and codec.encode(decoded, version) == data
            same = same and ("unknown_tags" in case or codec.from_json(name, case["json"], version) == decoded)
        except kwire.WireError:
            same = False
        if not same:
            wrong.add(name)
    assert wrong == OTHERS[codec.catalog.name]


def test_frames_are_those_that_kafka_wrote(codec: kwire.Codec, vectors: Any) -> None:
    read = 0
    for case in vectors("frames-sample"):
        frame, key, version = bytes.fromhex(case["hex"])[4:], case["api_key"], case["version"]
        message = codec.catalog.request(key)
        if message is None or version not in message.valid_versions or case["message"] in OTHERS[codec.catalog.name]:
            continue
        if case["kind"] == "request":
            request = codec.decode_request(frame)
            assert codec.encode_request(request.header, request.body) == frame, (key, version)
        else:
            response = codec.decode_response(frame, key, version)
            assert codec.encode_response(response.header, response.body, key, version) == frame, (key, version)
        read += 1
    assert read > 400


def test_releases_side_by_side(jars: dict[str, Path]) -> None:
    old, middle, new = (kwire.Codec(load(jars[release])) for release in ("2.3.1", "3.9.2", NEWEST))
    # Produce v0, topic "t": 4.0 dropped the version (KIP-896)
    frame = bytes.fromhex("0000 0000 00000007 000163 0001 00000064 00000001 000174 00000000")
    for each in (old, middle):
        assert each.decode_request(frame).body.timeout_ms == 100
    with pytest.raises(kwire.UnsupportedVersion, match="only 3-1"):
        new.decode_request(frame)
    # Metadata v9 is the first flexible one, of 2.4
    assert old.decode_request(bytes.fromhex("0003 0009 00000007 000163 00 01 01 00 00 00"), strict=False).violation is not None
    assert middle.header_version("request", 3, 9) == 2
    with pytest.raises(EncodeError, match="version 9 of MetadataRequest is not known, only 0-8"):
        old.encode(old.messages.MetadataRequest(), 9)


def test_a_dialect_on_a_jar(jars: dict[str, Path]) -> None:
    codec = kwire.Codec(dialect("kip-1313", base=load(jars[NEWEST])))
    golden = bytes.fromhex("002f 0001 00000007 ffff 00112233445566778899aabbccddeeff 00 02 67 02 02 74 02 00000000 00 00 00")
    request = codec.decode_request(golden)
    assert codec.encode_request(request.header, request.body) == golden
    for key in codec.catalog.api_keys:
        message = codec.catalog.request(key)
        assert message is not None
        if message.valid_versions:
            assert codec.header_version("request", key, message.valid_versions.highest) == (1 if key == 17 else 3), message.name


@pytest.mark.parametrize("release", ["0.10.0.1", "2.3.1", "3.9.2", "4.0.0", NEWEST])
def test_which_releases_take_gssapi_tokens_without_a_handshake(release: str) -> None:
    """Up to 3.9 SaslServerAuthenticator takes a first frame that is no request for such a token, and logs it so (KAFKA-18339)."""
    sys.path.insert(0, str(ROOT / "tools"))
    jar = __import__("kafka_jars").fetch([("kafka-clients", release)], CACHE)["kafka-clients", release]
    with zipfile.ZipFile(jar) as classes:
        text = classes.read("org/apache/kafka/common/security/authenticator/SaslServerAuthenticator.class")
    assert (b"process as GSSAPI packet" in text) is releases()[release].takes_raw_gssapi
