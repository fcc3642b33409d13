"""Every message at every version against bytes and JSON of Kafka's own Java classes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kwire.codec import to_json
from kwire.errors import BadTag, WireError
from kwire.schema import catalog, snake_name


def _unknown_tags(value: Any, path: str) -> list[tuple[str, int, str]]:
    """The unknown tagged fields of an object and all in it, as (path in Kafka's spelling, tag, hex)."""
    found = [(path, tag, data.hex()) for tag, data in value.unknown_tagged_fields]
    for slot in value.layout.slots:
        held = getattr(value, slot.attribute)
        inside = f"{path}.{slot.json_name}" if path else slot.json_name
        if isinstance(held, list):
            for index, each in enumerate(held):
                found += _unknown_tags(each, f"{inside}[{index}]")
        elif hasattr(held, "unknown_tagged_fields"):
            found += _unknown_tags(held, inside)
    return found


def test_the_sample_has_every_version_of_every_message(vectors):
    held = {(case["message"], case["version"]) for case in vectors("messages-sample")}
    missing = []
    for name in catalog():
        message = catalog()[name]
        newest = {"request": catalog().request, "response": catalog().response}.get(message.kind)
        if newest is not None and newest(message.api_key).name != name:
            continue  # an old name of an api (ListOffsetRequest): the bytes are those of the newest
        # A coordinator key has two versions, its record type and 0 (from 4.0 on), and nothing between. Request header 3 is announced and
        # not released. QuotaRecord was in 2.8 alone.
        if message.kind not in ("coordinator-key", "header") and name != "QuotaRecord":
            missing += [(name, version) for version in message.valid_versions if (name, version) not in held]
    assert missing == []


@pytest.mark.parametrize("case_name", ["default", "full", "nulls", "unknown-tags"])
def test_values_are_those_that_kafka_reads(codec, vectors, case_name):
    wrong = []
    for case in vectors("messages-sample"):
        if case["case"] == case_name:
            decoded = codec.decode(case["message"], bytes.fromhex(case["hex"]), case["version"])
            if to_json(decoded, case["version"]) != case["json"]:
                wrong.append((case["message"], case["version"]))
    assert wrong == []


def test_unknown_tags_are_kept_where_they_were(codec, vectors):
    seen = 0
    for case in vectors("messages-sample"):
        if "unknown_tags" not in case:
            continue
        decoded = codec.decode(case["message"], bytes.fromhex(case["hex"]), case["version"])
        expected = sorted((each["path"], each["tag"], each["hex"]) for each in case["unknown_tags"])
        assert sorted(_unknown_tags(decoded, "")) == expected, (case["message"], case["version"])
        seen += len(expected)
    assert seen > 1000


def test_skipping_ends_where_the_message_ends(codec, vectors):
    for case in vectors("messages-sample"):
        data = bytes.fromhex(case["hex"])
        decoder = codec.compiled.decoder(case["message"], case["version"])
        assert decoder.skip(b"\x00\x00" + data + b"\x7f", 2) == len(data) + 2, (case["message"], case["version"])


def test_tags_of_other_versions_are_refused(codec, vectors):
    for case in vectors("refused-tags"):
        with pytest.raises(BadTag) as caught:
            codec.decode(case["message"], bytes.fromhex(case["hex"]), case["version"])
        steps = [snake_name(step) for step in case["path"].split(".")]
        assert re.sub(r"\[\d+\]", "", caught.value.path) == re.sub(r"\[\d+\]", "", ".".join(steps)), case["message"]
        # The refused tag's number stands at the fault.
        number = int(re.search(r"Tag (\d+)", case["text"])[1])
        assert bytes.fromhex(case["hex"])[caught.value.offset] == number


def test_frames(codec, vectors):
    for case in vectors("frames-sample"):
        frame, header = bytes.fromhex(case["hex"])[4:], case["header"]
        if case["kind"] == "request":
            request = codec.frames.decode_request(frame)
            seen = request.header
            assert (seen.api_key, seen.api_version) == (header["request_api_key"], header["request_api_version"])
            assert seen.client_id == header.get("client_id", "")
            assert codec.frames.peek_header(frame) == seen
            body = request.body
        else:
            response = codec.frames.decode_response(frame, case["api_key"], case["version"])
            seen, body = response.header, response.body
            assert (response.api_key, response.api_version, response.violation) == (case["api_key"], case["version"], None)
        assert seen.correlation_id == header["correlation_id"]
        # The header ends where Kafka's ends: what follows it is this body, to the last byte.
        name = type(body).__name__  # the newest name of the api
        assert codec.decode(name, frame[case["header_size"] :], case["version"]) == body, (case["message"], case["version"])


def test_refused_versions_are_answered_in_version_0(codec, vectors):
    for case in vectors("version-refusals"):
        request = bytes.fromhex(case["request_hex"])[4:]
        header = codec.frames.peek_header(request)
        assert (header.api_key, header.api_version, header.correlation_id) == (18, case["version"], case["correlation_id"])
        with pytest.raises(WireError):
            codec.frames.decode_request(request)
        response = codec.frames.decode_response(bytes.fromhex(case["response_hex"])[4:], 18, case["version"])
        assert (response.api_version, response.header.correlation_id) == (0, case["correlation_id"])
        assert to_json(response.body, 0) == case["response_json"]
