"""Frames, read by kwire and by its peers: a byte for the direction, of a response two more for api and version, then the frame."""

from __future__ import annotations

from collections.abc import Iterator

from other_decoders.asking import Question
from other_decoders.disagreement import begin, compare_with_peers
from twin_codecs import vectors_of

__all__ = ["begin", "compare", "seeds"]

REQUEST, RESPONSE = 0, 1


def seeds() -> Iterator[bytes]:
    for case in vectors_of("frames-sample")[::4]:
        frame = bytes.fromhex(case["hex"])[4:]
        if len(frame) < 1500:
            yield (b"\0" if case["kind"] == "request" else bytes([RESPONSE, case["api_key"], case["version"]])) + frame


def compare(data: bytes) -> None:
    if data[:1] and data[0] & 1 == REQUEST:
        compare_with_peers(Question("request", "", 0, data[1:]))
    elif len(data) >= 3:
        compare_with_peers(Question("response", str(data[1] & 0x7F), data[2] & 0x1F, data[3:]))
