"""What a fuzz target draws from its input: random numbers, and pieces of two sides."""

from __future__ import annotations

import random
from collections.abc import Iterable

__all__ = ["ByteChoices", "cut_pieces", "joined_pieces"]


class ByteChoices(random.Random):
    """Random numbers that are the bytes of an input: the fuzzer learns which of them lead to new code.

    After its end come the same numbers for all inputs.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(0)
        self.data, self.at = data, 0

    def getrandbits(self, k: int, /) -> int:
        size = (k + 7) // 8
        taken = self.data[self.at : self.at + size]
        self.at += size
        return int.from_bytes(taken, "big") & ((1 << k) - 1) if len(taken) == size else super().getrandbits(k)

    def random(self) -> float:
        return self.getrandbits(8) / 256


def cut_pieces(data: bytes, most: int = 200) -> list[tuple[int, bytes]]:
    """(side, bytes) of an input: a byte whose lowest bit is the side, two bytes of length, then the bytes."""
    pieces, at = [], 0
    while at + 3 <= len(data) and len(pieces) < most:
        size = int.from_bytes(data[at + 1 : at + 3], "big")
        pieces.append((data[at] & 1, data[at + 3 : at + 3 + size]))
        at += 3 + size
    return [each for each in pieces if each[1]]


def joined_pieces(pieces: Iterable[tuple[int, bytes]]) -> bytes:
    """The input that `cut_pieces` makes these pieces of; of a long piece the first 65,535 bytes."""
    return b"".join(bytes([side]) + len(data[:0xFFFF]).to_bytes(2, "big") + data[:0xFFFF] for side, data in pieces)
