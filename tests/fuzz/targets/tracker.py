"""`kwire.Connection`: what both sides send, in pieces, some of them lost.

Four bytes come first: a connection that is seen from its beginning or late, which bodies are read, what else is asked for, and every which
piece is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import parity.test_damaged_conversations as damaged
from fuzz.byte_choices import cut_pieces, joined_pieces
from kwire.codec.impl import load_twin
from kwire.protocol.events import Asked
from kwire.protocol.tracking.connection import Connection as PureConnection

BODIES = (None, (), (3,), (0, 1, 11, 12))
WISHES: tuple[dict[str, Any], ...] = ({}, {"frames": True}, {"max_frame": 300}, {"asked": Asked("response", 12, 4)})
LOST = (0, 0, 5, 17)
SHORT = 400  # bytes of a frame in a seed, and frames of a connection
FRAMES = 12
PIECES_FROM = 4


def seeds() -> Iterator[bytes]:
    for number, frames in enumerate(damaged.conversations()):
        head = bytes([number % 7 == 0, number // 2 % 4, number // 8 % 4, number // 32 % 4])
        yield head + joined_pieces((int(not from_client), data[:SHORT]) for from_client, data in frames[:FRAMES])


def compare(data: bytes) -> None:
    if len(data) < PIECES_FROM:
        return
    late, bodies, wish, lost = data[:PIECES_FROM]
    native = load_twin("protocol", "tracker", "native").Connection
    twins = [make(bool(late & 1), bodies=BODIES[bodies % 4], **WISHES[wish % 4]) for make in (native, PureConnection)]
    damaged.compare(twins, [(side == 0, piece) for side, piece in cut_pieces(data[PIECES_FROM:])], LOST[lost % 4])
