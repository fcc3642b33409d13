"""Every message at every version is written as Kafka's own Java classes write it, and refused where they refuse it."""

from __future__ import annotations

import pytest

from kwire.codec.json_reading import from_json
from kwire.errors import EncodeError
from kwire.schema import snake_name


def test_what_was_decoded_is_written_as_it_was(codec, vectors):
    wrong = []
    for case in vectors("messages-sample"):
        data = bytes.fromhex(case["hex"])
        if codec.encode(codec.decode(case["message"], data, case["version"]), case["version"]) != data:
            wrong.append((case["message"], case["version"], case["case"]))
    assert wrong == []


def test_what_json_says_is_written_as_kafka_writes_it(codec, vectors):
    wrong = []
    for case in vectors("messages-sample"):
        if "unknown_tags" in case:
            continue  # JSON does not hold them
        built = from_json(case["message"], case["json"], case["version"], source=codec.compiled)
        if codec.encode(built, case["version"]).hex() != case["hex"]:
            wrong.append((case["message"], case["version"], case["case"]))
    assert wrong == []


def test_new_objects_are_those_of_kafka(codec, vectors):
    """An object made of nothing but defaults is what Kafka's constructors make."""
    wrong, seen = [], 0
    for case in vectors("messages-sample"):
        if case["case"] == "default":
            seen += 1
            if codec.encode(codec.message_class(case["message"])(), case["version"]).hex() != case["hex"]:
                wrong.append((case["message"], case["version"]))
    assert wrong == []
    assert seen > 800


def test_fields_that_a_version_lacks(codec, vectors):
    """Only `field` is not at its default: it is dropped where Kafka drops it and refused, by its path, where Kafka refuses it."""
    outcomes = {"ignorable": 0, "encode-error": 0, "null-not-allowed": 0}
    for case in vectors("encode-rules"):
        label = (case["message"], case["version"], case["field"])
        built = from_json(case["message"], case["json_at_latest"], case["json_version"], source=codec.compiled)
        outcomes[case["case"]] += 1
        if case["case"] == "ignorable":
            assert codec.encode(built, case["version"]).hex() == case["hex"], label
            continue
        with pytest.raises(EncodeError) as caught:
            codec.encode(built, case["version"])
        error = caught.value
        assert (error.message, error.api_version) == (case["message"], case["version"])
        if case["case"] == "null-not-allowed":
            assert (error.reason, error.path) == ("null is not allowed", snake_name(case["field"])), label
        else:
            assert error.reason == f"version {case['version']} lacks this field, so it must hold its default", label
            name = snake_name(case["field"].rpartition(".")[2])
            assert error.path.rpartition(".")[2] == (name.removeprefix("request_") if case["message"] == "RequestHeader" else name), label
    assert min(outcomes.values()) > 30


def test_frames_are_written_as_kafka_writes_them(codec, vectors):
    for case in vectors("frames-sample"):
        frame = bytes.fromhex(case["hex"])[4:]
        if case["kind"] == "request":
            request = codec.frames.decode_request(frame)
            for _ in range(2):  # the first frame of an api and the others are written on two ways
                assert codec.writer.encode_request(request.header, request.body) == frame, (case["message"], case["version"])
            continue
        response = codec.frames.decode_response(frame, case["api_key"], case["version"])
        for each in (response.header, response.header.correlation_id, response.header):
            written = codec.writer.encode_response(each, response.body, case["api_key"], case["version"])
            assert written == frame, (case["message"], case["version"])


def test_refusals_of_a_version_are_written_in_version_0(codec, vectors):
    for case in vectors("version-refusals"):
        frame = bytes.fromhex(case["response_hex"])[4:]
        response = codec.frames.decode_response(frame, 18, case["version"])
        assert codec.writer.encode_response(case["correlation_id"], response.body, 18, response.api_version) == frame
