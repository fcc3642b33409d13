"""Lines of a proxy's request log: what is written from bytes to text is what the decoded messages give, for every api and version."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from kafka_bytes import Frames
from kwire.capture.request_logs import exchange_entries
from kwire.capture.request_logs.exchange_entries import exchange_entry, exchange_line
from kwire.codec.impl import load_twin
from kwire.protocol.events import RequestCompleted
from kwire.protocol.impl import frame_blanker
from kwire.protocol.nested_rules import RULES
from kwire.protocol.secrets.frame_blanking import FrameBlanker
from kwire.schema import catalog

CONNECTION = "10.0.0.1:9092-10.0.0.9:50000-0"


def completed(api_key: int, version: int, **more: Any) -> RequestCompleted:
    given = {"request_time": 1_700_000_000_123_456_789, "latency_us": 1234, "state": "answered", "software_name": 'a "b"', **more}
    return RequestCompleted(0, api_key, catalog().api_name(api_key), version, 1, 7, "shop", **given)


def compare(event: RequestCompleted, request: bytes | None, response: bytes | None, highest: dict[int, int]) -> str:
    expected = json.dumps(exchange_entry(event, CONNECTION, request, response, highest, FrameBlanker()), separators=(",", ":"))
    line = exchange_line(event, CONNECTION, request, response, highest, frame_blanker()())
    assert line == expected.encode() + b"\n", (event, request and request.hex(), response and response.hex())
    return expected


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    written, found = exchange_entries._plain_line, list[tuple[int, int]]()

    def noted(event: RequestCompleted, *given: Any) -> bytes | None:
        line = written(event, *given)
        if line is not None and event.api_key is not None and event.api_version is not None:
            found.append((event.api_key, event.api_version))
        return line

    monkeypatch.setattr(exchange_entries, "_plain_line", noted)
    return found


def test_frames_of_kafka(frames: Frames, plain: list[tuple[int, int]]) -> None:
    chance, asked = random.Random(5), 0
    for api in frames.apis:
        cases = max(len(frames.bodies[(*api, kind)]) for kind in ("request", "response"))
        for case in range(min(cases, 12)):
            request, response = frames.frame(api, "request", case, 7), frames.frame(api, "response", case, 7)
            asked += 1
            compare(completed(*api), request, response, {})
            if case == 0:
                compare(completed(*api, principal="User:älice", latency_us=None, request_time=None), request, None, {api[0]: 1})
                compare(completed(*api, state="unanswered"), None, response, {})
            at = chance.randrange(len(response))
            compare(completed(*api), request, response[:at] + bytes([chance.randrange(256)]) + response[at + 1 :], {})
            at = chance.randrange(len(request))
            compare(completed(*api), request[:at] + bytes([chance.randrange(256)]) + request[at + 1 :], response, {})
            compare(completed(*api), request[:at], response, {})
            compare(completed(*api), request, response + b"\0", {})
    assert len(plain) > asked, "messages that are right need no objects, nor do some that are changed"
    assert {0, 1, 3, 8, 9, 10, 11, 12, 14, 19} <= {key for key, _ in plain}


def test_what_takes_more_than_the_json_of_the_messages(frames: Frames, plain: list[tuple[int, int]]) -> None:
    """Messages with secrets, configurations, Envelope, ShareFetch, refusals of ApiVersions, and fields that were renamed."""
    looked_into = {18, 28, 33, 44, 52, 58, 78}
    secret = {name for (name, _), rule in RULES.items() if rule.kind == "secret"}
    for api in frames.apis:
        messages = catalog().request(api[0]), catalog().response(api[0])
        if api[0] in looked_into or any(each is not None and each.name in secret for each in messages):
            compare(completed(*api), frames.frame(api, "request", 0, 7), frames.frame(api, "response", 0, 7), {api[0]: 0})
    assert plain == []


def test_by_hand() -> None:
    """Heartbeat v4 of client `shop`, group `g`, generation 7, member `m`, no instance; and its response."""
    request = bytes.fromhex("000c 0004 00000007 0004 73686f70 00 0267 00000007 026d 00 00")
    response = bytes.fromhex("00000007 00 00000005 001b 00")
    event = completed(12, 4, software_name=None, client_instance_id=None)
    assert compare(event, request, response, {}) == (
        '{"requestHeader":{"requestApiKey":12,"requestApiVersion":4,"correlationId":7,"clientId":"shop","requestApiKeyName":"HEARTBEAT"},'
        '"request":{"groupId":"g","generationId":7,"memberId":"m","groupInstanceId":null},'
        '"response":{"throttleTimeMs":5,"errorCode":27},"connection":"10.0.0.1:9092-10.0.0.9:50000-0",'
        '"time":"2023-11-14T22:13:20.123456Z","totalTimeMs":1.234,"principal":"User:ANONYMOUS",'
        '"clientInformation":{"softwareName":null,"softwareVersion":null},"state":"answered"}'
    )
    compare(event, request.replace(b"\2g", "\3ä".encode()), response, {})
    compare(event, request, bytes.fromhex("00000007 01 05 01 aa 00000005 001b 00"), {})  # a tag in the header


def test_one_message_as_text(twin: Any) -> None:
    """FetchResponse v4: a partition with 3 bytes of records, one with null, and bytes behind the message."""
    from kwire.codec.classes import CompiledCatalog

    partition = "0000000{} 0000 0000000000000001 0000000000000001 00000000 {}"
    body = bytes.fromhex(
        "00000000 00000001 0001 74 00000002" + partition.format(0, "00000003 616263") + partition.format(1, "ffffffff") + "ff"
    )
    decoder = CompiledCatalog(catalog(), twin).decoder("FetchResponse", 4)
    kind = load_twin("codec", "json_messages", twin).MessageJson
    for records, first in ((True, b'"records":"YWJj"'), (False, b'"recordsSizeInBytes":3')):
        text, end = kind(decoder, records=records).write(b"??" + body, 2)
        assert end == 2 + len(body) - 1
        assert first in text
        assert text.count(b'"records":null') == 1
    assert kind(decoder).write(body[:-2], 0) is None
    assert kind(decoder).write(b"", 0) is None
    with pytest.raises(ValueError):
        kind(decoder).write(b"a", 2)
