"""Changes of bytes that readers must survive: borders of varints and of signed bytes, noise, and bytes put in between."""

from __future__ import annotations

import random
from typing import Any

BORDERS = (0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF)
INSERTED = tuple(
    map(bytes.fromhex, ("ffffffff0f", "ffffffffffffffffff01", "7fffffff", "80000000", "ffffffff", "8000", "00", "02c328", "c3"))
)


def mutated(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        changed[chance.randrange(len(changed))] = chance.choice((*BORDERS, chance.randrange(256)))
    if chance.random() < 0.25:
        at = chance.randrange(len(changed) + 1)
        changed[at:at] = chance.choice(INSERTED)
    return bytes(changed)


def told(error: Any) -> tuple[Any, ...]:
    """What both backends must say of a fault."""
    return type(error).__name__, error.code, error.offset, error.path, error.message, error.api_key, error.api_version, str(error)
