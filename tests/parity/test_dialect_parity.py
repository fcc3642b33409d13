"""Dialects in both twins: request header 3 and api keys far above Kafka's, whole, cut at every byte and with every byte changed."""

from __future__ import annotations

from typing import Any

import pytest

from damaged_bytes import told
from kwire.codec.catalog_codec import Codec
from kwire.errors import WireError
from kwire.schema import dialect

FRAMES = {
    # OffsetDelete v1: no client id; client id "c" and an unknown tag
    "header-3": "002f 0001 00000007 ffff 00112233445566778899aabbccddeeff 00 02 67 02 02 74 02 00000000 00 00 00",
    "header-3-tags": "002f 0001 00000007 0001 63 00112233445566778899aabbccddeeff 01 09 02 aabb 02 67 01 00",
    # BrokerMetadata v0 and v1
    "far-key": "4e43 0000 00000007 0001 63 00000001 ffffffff",
    "far-key-header-3": "4e43 0001 00000007 0001 63 00112233445566778899aabbccddeeff 00 00000001 ffffffff",
    "unknown-far-key": "4e44 0001 00000007 0001 63",
}


@pytest.fixture(scope="module")
def known() -> Any:
    return dialect("kip-35-draft", "kip-1313")


@pytest.fixture(scope="module")
def native(known) -> Codec:
    return Codec(known, "native")


@pytest.fixture(scope="module")
def reference(known) -> Codec:
    return Codec(known, "pure")


def variants(frame: bytes) -> list[bytes]:
    cut = [frame[:length] for length in range(len(frame))]
    changed = [frame[:at] + bytes([value]) + frame[at + 1 :] for at in range(len(frame)) for value in (0, 1, 0x7F, 0x80, 0xFF)]
    return [frame, *cut, *changed]


def outcome(codec: Codec, frame: bytes) -> Any:
    found = []
    for strict in (True, False):
        try:
            request = codec.decode_request(frame, strict=strict)
        except WireError as error:
            found.append(told(error))
        else:
            found.append((repr(request.header), repr(request.body), str(request.violation)))
    return found


@pytest.mark.parametrize("name", FRAMES)
def test_frames_of_dialects(name: str, native: Codec, reference: Codec) -> None:
    for frame in variants(bytes.fromhex(FRAMES[name])):
        assert outcome(native, frame) == outcome(reference, frame), frame.hex()


def test_scans_of_dialects(native: Codec, reference: Codec) -> None:
    frames = [frame for text in FRAMES.values() for frame in variants(bytes.fromhex(text))]
    stream = b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)
    ours, theirs = native.scan_headers(stream), reference.scan_headers(stream)
    assert len(ours) == len(frames)
    assert [list(getattr(ours, column)) for column in ours.names] == [list(getattr(theirs, column)) for column in theirs.names]
    assert ours.client_instance_ids == theirs.client_instance_ids
    # and a scan says what peeking at each frame says
    for row, frame in enumerate(frames):
        header = peeked(native, frame)
        assert (header is None) == (ours.body_offset[row] < 0), frame.hex()
        instance = ours.client_instance_ids[row]
        assert instance is None or instance == header.client_instance_id, frame.hex()


def peeked(codec: Codec, frame: bytes) -> Any:
    try:
        return codec.peek_header(frame, strict=False)
    except WireError:
        return None
