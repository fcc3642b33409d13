"""The twins of the walk over fields tell the same and stop at the same byte, on messages that are whole, cut and changed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from kwire.codec import field_spans
from kwire.codec.classes import compiled
from kwire.codec.field_spans import FieldWalker, Scopes, SpanReading
from kwire.codec.impl import load_twin

Told = list[tuple[tuple[str, ...], int, int, list[dict[str, tuple[int, int]]]]]
native: Any = load_twin("codec", "field_walk", "native")


def told_by(walk: Callable[..., SpanReading], data: bytes, offset: int, whole: bool) -> tuple[Told, SpanReading]:
    told: Told = []

    def visit(path: tuple[str, ...], begin: int, stop: int, scopes: Scopes) -> None:
        told.append((path, begin, stop, [dict(scope) for scope in scopes]))

    return told, walk(data, offset, visit, whole=whole)


def test_whole_cut_and_changed_messages(vectors: Callable[[str], list[dict[str, Any]]], share: Callable[..., list[dict[str, Any]]]) -> None:
    assert field_spans._native is native
    chance = random.Random(3)
    faults = set()
    for case in share(vectors("messages-sample"), 5):
        whole = bytes.fromhex(case["hex"])
        walker = FieldWalker(compiled().plan(case["message"], case["version"]), lambda path: len(path[-1]) % 3 > 0)
        changed = [whole, whole + b"\0", b""]
        for _ in range(8):
            at = chance.randrange(len(whole) + 1)
            changed.append(whole[:at])
            for byte in (0xFF, 0x80, 0x00, chance.randrange(256)):
                changed.append(whole[:at] + bytes([byte]) + whole[at + 1 :])
        changed += [whole[:at] + b"\xff\xff\xff\xff\x7f" + whole[at:] for at in range(0, len(whole), 11)]
        for data in changed:
            for complete, offset in ((True, 0), (False, 0), (True, min(3, len(data)))):
                expected = told_by(walker.walk_purely, data, offset, complete)
                assert told_by(walker.walk, data, offset, complete) == expected, (case["message"], case["version"], data.hex(), complete)
                faults.add(expected[1].fault)
    assert len(faults) == 6  # none, and every one that a walk can meet


def test_an_offset_beyond_the_end() -> None:
    walker = FieldWalker(compiled().plan("MetadataRequest", 12), lambda _path: True)
    for data in (b"", b"\0\0"):
        for complete in (True, False):
            assert told_by(walker.walk, data, 5, complete) == told_by(walker.walk_purely, data, 5, complete)
