"""Frames of an api and version that were met before take a shorter way in both twins: what it gives is what the first one gave."""

from __future__ import annotations

import copy
import gc
import pickle
import struct
import sys
from typing import Any

import pytest

from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.decoding import FrameReader
from kwire.codec.frames import Request
from kwire.codec.impl import load_twin
from kwire.errors import WireError
from kwire.schema import catalog

HEADER = bytes.fromhex("0003" + "000c" + "00000007" + "0001" + "63" + "00")  # Metadata v12 of client "c"
BODY = bytes.fromhex("02" + "00" * 16 + "07" + "6f7264657273" + "00" + "01" + "00" + "00")  # topic "orders"
REQUESTS = {
    "whole": HEADER + BODY,
    "bytes left over": HEADER + BODY + b"\0",
    "cut body": HEADER + BODY[:-1],
    "cut header": HEADER[:9],
    "text that is no UTF-8": HEADER + BODY.replace(b"orders", b"ord\xff\xfes"),
    "client id that is no UTF-8": HEADER.replace(b"\x63", b"\xff") + BODY,
    "unknown tag": HEADER[:-1] + bytes.fromhex("01" + "09" + "02" + "aabb") + BODY,
    "unknown api": b"\x03\xe7" + HEADER[2:] + BODY,
    "negative version": b"\x00\x03\xff\xff" + HEADER[4:] + BODY,
    "empty": b"",
}
REFUSAL = bytes.fromhex("00000007" + "0023" + "00000001" + "0012" + "0000" + "0004")
RESPONSES = {
    "version 3": bytes.fromhex("00000007" + "0000" + "02" + "0012" + "0000" + "0004" + "00" + "00000000" + "00"),
    "refusal": REFUSAL,
    "cut refusal": REFUSAL[:-1],
    "left over": REFUSAL + b"\0",
    "cut header": REFUSAL[:3],
}


@pytest.fixture
def frames(twin):
    """A reader that has met nothing yet."""
    return FrameReader(CompiledCatalog(catalog(), twin))


def outcome(read: Any, *arguments: Any, **options: Any) -> Any:
    try:
        found = read(*arguments, **options)
    except WireError as error:
        return type(error).__name__, str(error)
    return repr(found), str(found.violation)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("data", REQUESTS.values(), ids=REQUESTS)
def test_requests_met_again(frames, data, strict):
    first = outcome(frames.decode_request, data, strict=strict)
    whole = frames.decode_request(REQUESTS["whole"])
    assert whole.body.topics[0].name == "orders"
    for each in (data, bytearray(data), memoryview(b"x" + data)[1:]):
        assert outcome(frames.decode_request, each, strict=strict) == first
    again = frames.decode_request(REQUESTS["whole"])
    assert isinstance(again, Request)
    assert again == whole
    assert again.violation is None


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("data", RESPONSES.values(), ids=RESPONSES)
def test_responses_met_again(frames, data, strict):
    first = outcome(frames.decode_response, data, 18, 3, strict=strict)
    whole = frames.decode_response(RESPONSES["version 3"], 18, 3)
    assert (whole.api_key, whole.api_version, whole.body.api_keys[0].max_version) == (18, 3, 4)
    assert outcome(frames.decode_response, data, 18, 3, strict=strict) == first
    assert frames.decode_response(RESPONSES["version 3"], 18, 3) == whole


def test_projections_are_never_taken_for_whole_bodies(frames):
    for _ in range(2):
        assert frames.decode_request(REQUESTS["whole"]).body.allow_auto_topic_creation is True
        assert not hasattr(frames.decode_request(REQUESTS["whole"], fields=("topics.name",)).body, "allow_auto_topic_creation")


def test_frames_that_are_given_back_leave_nothing(frames):
    def read() -> None:
        for data in REQUESTS.values():
            outcome(frames.decode_request, data, strict=False)
        for data in RESPONSES.values():
            outcome(frames.decode_response, data, 18, 3, strict=False)

    def kept() -> int:
        gc.collect()  # exceptions and their tracebacks hold each other
        before = sys.getallocatedblocks()
        for _ in range(200):
            read()
        gc.collect()
        return sys.getallocatedblocks() - before

    for _ in range(20):
        read()
    # what is never given back grows each time; another thread of the process, as that of pytest-xdist, takes its blocks once
    assert min(kept() for _ in range(3)) < 100


def test_requests_and_responses_travel():
    """Objects of the shorter way pickle and copy as those of the first one do."""
    frames = FrameReader(compiled())
    for _ in range(2):
        request = frames.decode_request(REQUESTS["whole"] + b"\0", strict=False)
        response = frames.decode_response(RESPONSES["version 3"], 18, 3)
        for found in (request, response):
            for again in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
                assert again == found
                assert str(again.violation) == str(found.violation)
                assert type(again).__qualname__ == type(found).__qualname__
        assert copy.copy(request).body is request.body


def test_frames_in_cycles_are_collected(frames):
    for _ in range(2):
        request = frames.decode_request(REQUESTS["whole"])
        gc.collect()
        request.violation = request
        request.body.topics.append(request)
        kind = type(request)
        del request
        gc.collect()
        assert not [each for each in gc.get_objects() if type(each) is kind]


def test_names_and_numbers_that_look_alike(frames):
    """What is kept of one frame must not be given for another: same length, same beginning and end, numbers that share a place."""

    def request(name: str, number: int) -> bytes:
        # Heartbeat v0: group id, generation, member id
        body = struct.pack(">h", len(name)) + name.encode() + struct.pack(">ih", number, len(name)) + name.encode()
        return struct.pack(">hhihs", 12, 0, 1, 1, b"c") + body

    names = [f"consumer-{chr(97 + index % 26)}{chr(97 + index // 26)}-consumer" for index in range(300)] + ["ab", "ac", "a", "", "abcdefgh"]
    for _ in range(2):
        for index, name in enumerate(names):
            number = index * 0x10001 - 2**31 + index % 3
            body = frames.decode_request(request(name, number)).body
            assert (body.group_id, body.generation_id, body.member_id) == (name, number, name)


def test_a_class_with_other_slots_is_refused(twin):
    class Odd:
        __slots__ = ("body", "extra", "header", "violation")

    reader = load_twin("codec", "frames", twin).RequestReader
    for kind in (Odd, Exception, dict):
        if twin == "native":  # which writes slots by their place
            with pytest.raises(TypeError, match="does not have just the slots"):
                reader(kind, print)
        else:
            assert reader(kind, print)
