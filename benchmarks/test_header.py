"""The header of a request, one call a frame: both twins, kio with the right reader at hand, msgspec from msgpack of four fields."""

from __future__ import annotations

import msgspec
import pytest
from kio.serial import entity_reader

import peers
from frames import Corpus

INPUTS = 1000
BODY = bytes(100)


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
@pytest.mark.parametrize("who", ["native", "pure", "kio", "msgspec"])
def test_peek_header(race, who, many):
    corpus = Corpus(many)
    frames = [corpus.next_header(1, 12) + BODY for _ in range(INPUTS)]
    peek = peers.twin_frames("native").peek_header
    headers = [peek(frame) for frame in frames]
    assert [header.correlation_id for header in headers] == list(range(1, INPUTS + 1))
    case = f"RequestHeader-v2{'-many' if many else ''}"
    if who == "kio":
        read = entity_reader(peers.kio_schema(1, 12, "request").__header_schema__)
        assert read(frames[0], 0)[0].client_id == headers[0].client_id

        def run() -> None:
            for frame in frames:
                read(frame, 0)

    else:
        if who == "msgspec":
            frames = [msgspec.msgpack.encode(peers.as_arrays(header, "RequestHeader")) for header in headers]
            peek = peers.msgspec_decoder("RequestHeader", False)
            assert peek(frames[0]).client == headers[0].client_id
        else:
            peek = peers.twin_frames(who).peek_header
            assert repr(peek(frames[0])) == repr(headers[0])

        def run() -> None:
            for frame in frames:
                peek(frame)

    race(case, who, run, INPUTS)
