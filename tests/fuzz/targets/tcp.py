"""TCP reassembly: packets of a capture (first byte 0), or nine bytes for each packet of three connections.

The second byte has flags: the state is copied between chunks, a handshake comes first, one connection is ignored. The third one says after
which part the first chunk ends.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from fuzz.capture_beginnings import capture_beginnings
from kwire.capture.files.formats import identify
from kwire.capture.packet_columns import ACK, FIN, RST, SYN
from parity.test_tcp_parity import SECOND, both_say_the_same, chunks_of, columns_of, packets_of

GAPS = (*[1000] * 13, -500, 61 * SECOND, 200 * SECOND)
NUMBERS = (*(n * 5 & 0xFFFFFFFF for n in range(-6, 15)), 1, 2, 0x7FFFFFFF, 0x40000001, 0xFFFFFFFF)
FLAGS = (*[ACK] * 6, SYN, SYN | ACK, FIN | ACK, RST, RST | ACK, 0, FIN, SYN | FIN, ACK | 8)
SIZES = (0, 5, 10, 1)
CHOICES = (GAPS, range(3), range(2), NUMBERS, NUMBERS, FLAGS, SIZES, (*[0] * 9, 3), range(7))


def seeds() -> Iterator[bytes]:
    for number, data in enumerate(capture_beginnings(6000)):
        yield bytes([0, number % 2, 40 * number % 256]) + data
    chance = random.Random(793)
    for number in range(30):
        yield bytes([1, number % 8, number * 8]) + chance.randbytes(9 * number)


def compare(data: bytes) -> None:
    if len(data) < 3:
        return
    source, flags, part = data[:3]
    data = data[3:]
    ignored = {0x8001} if flags & 4 else set()
    if source == 0:
        if identify(data[:24]) is None:
            return
        chunks = chunks_of(data, [0, len(data) * part // 256, len(data)])
    else:
        steps = [
            tuple(choices[byte % len(choices)] for choices, byte in zip(CHOICES, data[at : at + 9], strict=True))
            for at in range(0, len(data) - 8, 9)
        ]
        packets = packets_of(steps[:200], bool(flags & 2))
        cut = len(packets) * part // 256
        chunks = [(bytes(range(64)), columns_of(packets[:cut], 1)), (bytes(range(64)), columns_of(packets[cut:], cut + 1))]
    both_say_the_same(chunks, bool(flags & 1), ignored)
