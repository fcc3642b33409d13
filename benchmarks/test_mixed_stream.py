"""Streams of requests, header and body of each: what a proxy or a tap does all day. Of many kinds, and of the shortest kind alone."""

from __future__ import annotations

from typing import Any

import pytest
from kio.serial import entity_reader

import peers
from frames import Corpus

FRAMES = 1000


def kio_reader() -> Any:
    """kio has no call for a whole request: the header's reader by what the first four bytes say, then the body's."""
    readers: dict[bytes, Any] = {}

    def read(frame: bytes) -> Any:
        found = readers.get(frame[:4])
        if found is None:
            schema = peers.kio_schema(int.from_bytes(frame[:2], "big"), int.from_bytes(frame[2:4], "big"), "request")
            found = readers[frame[:4]] = (entity_reader(schema.__header_schema__), entity_reader(schema))
        header, size = found[0](frame, 0)
        body, end = found[1](frame, size)
        return header, body, size + end

    return read


def stream_of(corpus: Corpus, kind: str) -> list[bytes]:
    if kind == "mixed requests":
        return corpus.request_stream(FRAMES)
    return [corpus.next_header(12, 4) + corpus.heartbeat_request() for _ in range(FRAMES)]


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
@pytest.mark.parametrize("kind", ["mixed requests", "Heartbeat requests"])
@pytest.mark.parametrize("who", ["native", "pure", "kio"])
def test_mixed_stream(race, who, kind, many):
    frames = stream_of(Corpus(many), kind)
    decode = kio_reader() if who == "kio" else peers.twin_frames(who).decode_request
    for frame in frames:
        if who == "kio":
            assert decode(frame)[2] == len(frame)
        else:
            assert decode(frame).header.api_key == int.from_bytes(frame[:2], "big")

    def run() -> None:
        for frame in frames:
            decode(frame)

    race(f"{kind}{'-many' if many else ''}", who, run, FRAMES)
