"""Both sides of a relay under a plan with any rules: conversations that the input chooses, or the input's own bytes.

The first byte says which (lowest bit), and whether anything may be closed or refused (next bit); the second one is the plan. Before
bytes of the input's own, 64 choose limits and what is done with frames that are held.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

from fuzz.byte_choices import ByteChoices, cut_pieces, joined_pieces
from kafka_bytes import Frames, framed
from kwire.protocol.relay import RelayPlan
from parity.test_relay_parity import KEYS, Pair, random_plan, random_streams, relay_pieces
from twin_codecs import vectors_of

CHOICES = 64
PIECES_FROM = 2 + CHOICES


@cache
def frames() -> Frames:
    return Frames(vectors_of)


def seeds() -> Iterator[bytes]:
    for seed in range(40):
        chance = random.Random(seed)
        yield bytes([seed % 4 & 2, seed]) + chance.randbytes(600)
        pieces, _ = random_streams(chance, frames(), seed % 2 == 0)
        yield bytes([seed % 4 | 1, seed]) + chance.randbytes(CHOICES) + joined_pieces(pieces[:60])
    for number, api in enumerate(frames().apis):
        if api[0] in KEYS:
            pieces = [(side, framed(frames().frame(api, kind, number, number))) for side, kind in enumerate(("request", "response"))]
            yield bytes([number % 4 | 1, number % 256]) + random.Random(number).randbytes(CHOICES) + joined_pieces(pieces)


@cache
def plan(number: int, gentle: bool) -> RelayPlan:
    """Kept, for the compiled relay takes longer to prepare one than to run it."""
    return random_plan(random.Random(number), gentle)


def compare(data: bytes) -> None:
    if len(data) < 2:
        return
    gentle = data[0] & 2 == 0
    if data[0] & 1 == 0:
        chance = ByteChoices(data[2:])
        pieces, _ = random_streams(chance, frames(), gentle)
    else:
        chance = ByteChoices(data[2:PIECES_FROM])
        pieces = cut_pieces(data[PIECES_FROM:])
    relay_pieces(Pair(chance, gentle, plan(data[1], gentle)), chance, gentle, pieces)
