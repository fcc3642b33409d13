"""Inputs of a corpus, changed at random without watching where they lead: several times as many in the same time as with coverage.

What the coverage-guided fuzzer learned is in its corpus. A target whose inputs are pieces of two sides (`fuzz.byte_choices`) says with
`PIECES_FROM` where they begin; its pieces are changed, left out, repeated, swapped, and spliced with those of another input.
"""

from __future__ import annotations

import mmap
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from fuzz.byte_choices import cut_pieces, joined_pieces

__all__ = ["changed", "changed_pieces", "feed", "last_input"]

# Borders of numbers and of variable-length numbers, big-endian, and what frames begin with.
VALUES = [
    *map(bytes, ([0], [1], [127], [128], [255], [127, 255], [128, 0], [255] * 2, [127, *[255] * 3], [128, 0, 0, 0], [255] * 4)),
    *map(bytes, ([255, 255, 255, 254], [0, 0, 0, 4], [*[255] * 4, 15])),
]
LENGTH = 8  # bytes in front of the last input


def changed(data: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, cut off, left out, put in, copied or made a border of a number; a half of the changes near the beginning."""
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        if not made:
            break
        at = chance.randrange(min(len(made), chance.choice((16, len(made)))))
        kind = chance.randrange(12)
        if kind < 4:
            made[at] = chance.randrange(256)
        elif kind < 7:
            value = chance.choice(VALUES)
            made[at : at + len(value)] = value
        elif kind < 8:
            del made[at:]
        elif kind < 10:
            del made[at : at + chance.choice((1, 2, 4, 8, 30))]
        elif kind < 11:
            made[at:at] = chance.randbytes(chance.choice((1, 2, 4)))
        else:
            end = at + chance.choice((1, 4, 16))
            to = chance.randrange(len(made))
            made[to : to + end - at] = made[at:end]
    return bytes(made)


def changed_pieces(pieces: list[tuple[int, bytes]], others: list[tuple[int, bytes]], chance: random.Random) -> list[tuple[int, bytes]]:
    """Pieces of two sides: some of another input among them, some changed, gone, repeated, swapped or sent by the other side."""
    made = list(pieces)
    if others and chance.random() < 0.4:
        begin, at = chance.randrange(len(others)), chance.randrange(len(made) + 1)
        made[at:at] = others[begin : begin + chance.randrange(1, 6)]
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        if not made:
            break
        place, kind = chance.randrange(len(made)), chance.randrange(10)
        side, data = made[place]
        if kind < 6:
            made[place] = side, changed(data, chance)
        elif kind < 7:
            del made[place]
        elif kind < 8:
            made.insert(chance.randrange(len(made) + 1), (side, data))
        elif kind < 9:
            other = chance.randrange(len(made))
            made[place], made[other] = made[other], made[place]
        else:
            made[place] = 1 - side, data
    return made


def next_input(corpus: Sequence[bytes], begin: int | None, longest: int, chance: random.Random) -> bytes:
    """One input; `begin` is where its pieces begin, None where it has none."""
    data = chance.choice(corpus)
    if begin is None or chance.random() < 0.1:
        return changed(data, chance)[:longest]
    head = data[:begin] if chance.random() < 0.7 else changed(data[:begin], chance)[:begin].ljust(begin, b"\0")
    return (head + joined_pieces(changed_pieces(cut_pieces(data[begin:]), cut_pieces(chance.choice(corpus)[begin:]), chance)))[:longest]


def feed(
    compare: Callable[[bytes], None], corpus: Sequence[bytes], begin: int | None, longest: int, seconds: float, seed: int, last: Path
) -> int:
    """Compare the twins on changed inputs until the time is up.

    Arguments:
        corpus: inputs, at least one.
        begin: of the pieces in an input, None for a target without.
        longest: bytes of an input.
        seed: of the random numbers.
        last: this file holds the latest input, also when native code ends the process.

    Returns:
        How many inputs there were.

    Raises:
        Exception: what `compare` raised.
    """
    chance = random.Random(seed)
    with last.open("w+b") as file:
        file.truncate(LENGTH + longest)
        kept = mmap.mmap(file.fileno(), LENGTH + longest)
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        data = next_input(corpus, begin, longest, chance)
        kept[: LENGTH + len(data)] = len(data).to_bytes(LENGTH, "big") + data
        count += 1
        compare(data)
    last.unlink()
    return count


def last_input(last: Path) -> bytes | None:
    """The input at which a process ended; None if it ended well, or before its first."""
    if not last.exists():
        return None
    kept = last.read_bytes()
    last.unlink()
    return kept[LENGTH : LENGTH + int.from_bytes(kept[:LENGTH], "big")] or None
