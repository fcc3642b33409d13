"""All tables of one connection of a capture: what both sides send, in packets, some of them lost, or cut by snaplen.

Three bytes come first: whether the handshake was captured and the connection ends, every which packet is missing, and snaplen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import parity.test_damaged_conversations as damaged
from fuzz.byte_choices import cut_pieces, joined_pieces
from kwire.capture.packet_columns import ACK, FIN, RST, SYN
from made_packets import CLIENT, MISSING, SERVER, Packets
from read_by_twins import read_connections, sink_tables

LOST = (0, 0, 5, 17)
SNAPLENS = (1 << 16, 1 << 16, 1 << 16, 200, 66, 20)
SHORT = 400  # bytes of a frame in a seed, and frames of a connection
FRAMES = 12
PIECES_FROM = 3


def seeds() -> Iterator[bytes]:
    for number, frames in enumerate(damaged.conversations()):
        head = bytes([number % 7, number // 2 % 4, number % 6])
        yield head + joined_pieces((int(not from_client), data[:SHORT]) for from_client, data in frames[:FRAMES])


def compare(data: bytes) -> None:
    if len(data) < PIECES_FROM:
        return
    flags, lost, snaplen = data[:PIECES_FROM]
    packets: Packets = [] if flags & 1 else [(CLIENT, SYN, b""), (SERVER, SYN | ACK, b"")]
    every = LOST[lost % len(LOST)]
    for number, (side, piece) in enumerate(cut_pieces(data[PIECES_FROM:])):
        is_missing = every and number % every == every - 1
        packets.append((SERVER if side else CLIENT, ACK | (MISSING if is_missing else 0), piece))
    if flags & 2:
        packets += [(CLIENT, FIN | ACK, b""), (SERVER, RST | ACK if flags & 4 else FIN | ACK, b"")]
    native, pure = (told(read_connections([packets], twin, snaplen=SNAPLENS[snaplen % len(SNAPLENS)])) for twin in ("native", "pure"))
    assert native == pure


def told(sink: Any) -> dict[str, list[str]]:
    """The rows of all tables, as text: no number is another one that it is not equal to."""
    tables = sink_tables(sink)
    for name, builder in sink.observed.builders.items():
        tables[name] = [row for batch in builder.take(whole=True) for row in batch.to_pylist()]
    for name, table in sink.facts.tables().items():
        tables[name] = table.to_pylist()
    return {name: sorted(map(repr, rows)) for name, rows in tables.items()}
