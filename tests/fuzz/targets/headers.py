"""Streams of requests: the columns of their headers, and each frame's header and whole request alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from kwire.codec.header_scan import HeaderScan
from parity.test_codec_parity import request_outcome
from parity.test_header_scan_parity import rows_of, stream_of
from twin_codecs import codec_of, vectors_of


def seeds() -> Iterator[bytes]:
    frames = [bytes.fromhex(case["hex"])[4:] for case in vectors_of("frames-sample") if case["kind"] == "request"]
    yield from (stream_of([frame]) for frame in frames)
    yield stream_of([frame for frame in frames[::9] if len(frame) < 300])


@cache
def scans() -> list[Any]:
    return [HeaderScan(codec_of(twin).compiled).scan_headers for twin in ("native", "pure")]


def compare(data: bytes) -> None:
    ours, theirs = (scan(data) for scan in scans())
    assert rows_of(ours) == rows_of(theirs)
    assert (len(ours), ours.end, ours.fault) == (len(theirs), theirs.end, theirs.fault)
    assert ours.client_ids == theirs.client_ids
    for at, size in list(zip(theirs.frame_offset, theirs.frame_length, strict=True))[:8]:
        for strict in (True, False):
            frame = data[at + 4 : at + 4 + size]
            assert request_outcome(codec_of("native"), frame, strict) == request_outcome(codec_of("pure"), frame, strict)
