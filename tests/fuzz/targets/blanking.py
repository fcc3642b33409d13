"""Frames without secrets: a byte for direction and whether the frame is whole, then api, version and the frame."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.codec.impl import load_twin
from kwire.protocol.secrets.frame_blanking import FrameBlanker
from parity.test_frame_blanking_parity import produce
from twin_codecs import vectors_of

Native = load_twin("protocol", "frame_blanking", "native").FrameBlanker


def seeds() -> Iterator[bytes]:
    for number, vector in enumerate(vectors_of("frames-sample")):
        if number % 3 == 0:
            head = bytes([2 + (vector["kind"] == "response"), vector["api_key"], vector["version"]])
            yield head + bytes.fromhex(vector["hex"])[4:3000]
    for number, vector in enumerate(vectors_of("records-sample")):
        if number % 3 == 0:
            yield bytes([2, 0, 3]) + produce(bytes.fromhex(vector["hex"])[:3000])


def compare(data: bytes) -> None:
    if len(data) < 3:
        return
    flags, key, version = data[:3]
    frame, whole = bytes(data[3:]), bool(flags & 2)
    if flags & 1:
        expected = FrameBlanker().response(frame, key, version, whole=whole)
        assert Native().response(frame, key, version, whole=whole) == expected
    else:
        assert Native().request(frame, whole=whole) == FrameBlanker().request(frame, whole=whole)
