"""Programs that edit a frame: four bytes for changes, direction, api and version, then the frame, which the relay sends in two pieces."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from kafka_frames import Frames
from kwire.codec import Edit
from parity.test_edit_parity import CHANGES, SHARED, outcome, relayed
from twin_codecs import codec_of, vectors_of

KINDS = ("request", "response")
NAMES = tuple(CHANGES)


@cache
def frames() -> Frames:
    return Frames(vectors_of)


@cache
def edits(which: str, kind: str, key: int, version: int) -> tuple[Edit, Edit]:
    ours, theirs = (Edit(kind, key, version, CHANGES[which], source=codec_of(twin).compiled) for twin in ("native", "pure"))
    return ours, theirs


def seeds() -> Iterator[bytes]:
    for number, (key, version) in enumerate(api for api in frames().apis if api[0] in SHARED and api[1] % 3 == 0):
        for side, kind in enumerate(KINDS):
            yield bytes([number % len(NAMES), side, key, version]) + frames().frame((key, version), kind, number, number)[:3000]


def compare(data: bytes) -> None:
    if len(data) < 4:
        return
    which, side, key, version = data[:4]
    frame, kind = data[4:], KINDS[side & 1]
    if (key, version, kind) not in frames().bodies:
        return
    native, pure = edits(NAMES[which % len(NAMES)], kind, key, version)
    assert native.is_empty == pure.is_empty
    assert outcome(native, frame) == outcome(pure, frame)
    if len(frame) >= 8 and not native.is_empty:
        relayed(native, frame, len(frame) // 2)
