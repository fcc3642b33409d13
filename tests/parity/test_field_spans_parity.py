"""The twins of the walk over fields find the same and stop at the same byte, on messages that are whole, cut and changed."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

from kwire.codec.classes import CompiledCatalog
from kwire.codec.field_spans import FieldWalker
from kwire.schema import catalog

PURE, NATIVE = CompiledCatalog(catalog(), "pure"), CompiledCatalog(catalog(), "native")


@cache
def walkers(name: str, version: int) -> tuple[FieldWalker, FieldWalker]:
    def wanted(path: tuple[str, ...]) -> bool:
        return len(path[-1]) % 3 > 0

    return FieldWalker(PURE, name, version, wanted), FieldWalker(NATIVE, name, version, wanted)


def test_whole_cut_and_changed_messages(vectors: Callable[[str], list[dict[str, Any]]], share: Callable[..., list[dict[str, Any]]]) -> None:
    chance = random.Random(3)
    faults = set()
    for case in share(vectors("messages-sample"), 5):
        whole = bytes.fromhex(case["hex"])
        pure, native = walkers(case["message"], case["version"])
        changed = [whole, whole + b"\0", b""]
        for _ in range(3):
            at = chance.randrange(len(whole) + 1)
            changed.append(whole[:at])
            for byte in (0xFF, 0x80, 0x00, chance.randrange(256)):
                changed.append(whole[:at] + bytes([byte]) + whole[at + 1 :])
        for huge, step in ((b"\xff\xff\xff\xff\x7f", 11), (b"\xff\xff\xff\xff\x0f", 13)):
            places = range(0, len(whole), step)
            changed += [whole[:at] + huge + whole[at:] for at in chance.sample(places, min(4, len(places)))]
        for data in changed:
            for complete, offset in ((True, 0), (False, 0), (True, min(3, len(data)))):
                expected = pure.walk(data, offset, whole=complete)
                assert native.walk(data, offset, whole=complete) == expected, (case["message"], case["version"], data.hex(), complete)
                assert offset <= expected.end <= len(data)
                faults.add(expected.fault)
    assert len(faults) == 6  # none, and every one that a walk can meet


def test_an_offset_beyond_the_end() -> None:
    pure, native = walkers("MetadataRequest", 12)
    for data in (b"", b"\0\0"):
        for complete in (True, False):
            assert native.walk(data, 5, whole=complete) == pure.walk(data, 5, whole=complete)
