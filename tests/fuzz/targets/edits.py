"""Programs that edit a frame: four bytes for changes, direction, api and version, then the frame, which the relay sends in two pieces."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from kafka_bytes import Frames
from kwire.codec import Edit
from kwire.codec.impl import load_twin
from kwire.protocol.relay import RelayPlan, RelayRule
from parity.test_edit_parity import CHANGES, SHARED, outcome, relayed
from twin_codecs import codec_of, vectors_of

KINDS = ("request", "response")
NAMES = tuple(CHANGES)


@cache
def frames() -> Frames:
    return Frames(vectors_of)


@cache
def apis() -> list[tuple[int, int]]:
    """Api keys and versions that stand for the others. A program takes milliseconds to make, so an input names one of few."""
    return [api for api in frames().apis if api[0] in SHARED and api[1] % 3 == 0]


@cache
def edits(which: str, kind: str, key: int, version: int) -> tuple[Edit, Edit]:
    ours, theirs = (Edit(kind, key, version, CHANGES[which], source=codec_of(twin).compiled) for twin in ("native", "pure"))
    return ours, theirs


@cache
def plan(which: str, kind: str) -> RelayPlan:
    """All native programs of some changes: the table of a plan over all apis and versions takes longer to make than they do."""
    return RelayPlan([RelayRule(kind, key, (version,), edits(which, kind, key, version)[0]) for key, version in apis()])


def begin() -> None:
    """Make all programs and the tables of their plans, so that no input has to be the first of its changes."""
    for which in NAMES:
        for kind in KINDS:
            load_twin("protocol", "relay", "native").Relay(plan(which, kind))  # keeps its table with the plan


def seeds() -> Iterator[bytes]:
    for number, (key, version) in enumerate(apis()):
        for side, kind in enumerate(KINDS):
            yield bytes([number % len(NAMES), side, key, version]) + frames().frame((key, version), kind, number, number)[:3000]


def compare(data: bytes) -> None:
    if len(data) < 4:
        return
    which, side, key, version = data[:4]
    name, kind, frame = NAMES[which % len(NAMES)], KINDS[side & 1], data[4:]
    key, version = (key, version) if (key, version) in apis() else apis()[(key ^ version) % len(apis())]
    native, pure = edits(name, kind, key, version)
    assert native.is_empty == pure.is_empty
    assert outcome(native, frame) == outcome(pure, frame)
    if len(frame) >= 8 and not native.is_empty:
        relayed(native, frame, len(frame) // 2, plan(name, kind))
