"""The headers of a stream in one call, beside one call a frame and beside a walk over the lengths alone."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest
from kio.serial import entity_reader

import peers
from frames import Corpus
from kwire.codec.header_scan import HeaderScan

FRAMES = 20_000
SMALL_FRAMES = 2000  # stay in the cache
BODY = bytes(100)


def prepare(who: str, frames: list[bytes]) -> Callable[[], Any]:
    stream = b"".join(struct.pack(">i", len(frame)) + frame for frame in frames)
    if who == "native":
        scan = HeaderScan(peers._compiled["native"]).scan_headers
        columns = scan(stream)
        assert (len(columns), columns.end, set(columns.error)) == (len(frames), len(stream), {0})
        return lambda: scan(stream)
    if who == "memcpy":
        return lambda: bytearray(stream)
    if who == "kio":
        readers = {
            frame[:4]: entity_reader(
                peers.kio_schema(int.from_bytes(frame[:2], "big"), int.from_bytes(frame[2:4], "big"), "request").__header_schema__
            )
            for frame in frames
        }
        peek: Any = lambda frame: readers[frame[:4]](frame, 0)  # noqa: E731
    else:
        peek = peers.twin_frames("native").peek_header

    def run() -> None:
        for frame in frames:
            peek(frame)

    return run


@pytest.mark.parametrize("who", ["native", "native peek", "kio", "memcpy"])
def test_mixed_stream(race, who):
    frames = Corpus().request_stream(FRAMES)
    race("scan_headers mixed requests", who, prepare(who, frames), FRAMES, sum(map(len, frames)))


@pytest.mark.parametrize("who", ["native", "native peek", "kio", "memcpy"])
def test_small_frames(race, who):
    corpus = Corpus()
    frames = [corpus.next_header(1, 12) + BODY for _ in range(SMALL_FRAMES)]
    race("scan_headers 130-byte frames", who, prepare(who, frames), SMALL_FRAMES, sum(map(len, frames)))
