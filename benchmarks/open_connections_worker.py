"""Reads a capture in which every packet begins a connection that stays open; prints the memory that these take, in bytes.

open_connections_worker.py COUNT FLAGS PAYLOAD
"""

from __future__ import annotations

import io
import resource
import struct
import sys
from pathlib import Path

from kwire.tables.series import begin_series, iter_piece

count, flags, payload = int(sys.argv[1]), int(sys.argv[2]), bytes.fromhex(sys.argv[3])


def capture(first: int, last: int) -> io.BytesIO:
    """Of clients whose addresses are the numbers from `first` on."""
    records = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for number in range(first, last):
        tcp = struct.pack(">HHIIBBHHH", 40_000, 9092, number, flags & 16, 0x50, flags, 65535, 0, 0) + payload
        ends = 0x0B000000 + number, 0x0A000001
        packet = bytes(12) + b"\x08\0" + struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0, *ends) + tcp
        records.append(struct.pack("<IIII", 1_700_000_000, number, len(packet), len(packet)) + packet)
    return io.BytesIO(b"".join(records))


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


carry = begin_series("open")
STEP = 10_000
before = 0
for first in range(0, count + 80_000, STEP):
    if first == 80_000:  # behind what pairs of endpoints take, which has a cap
        before = resident()
    for _ in iter_piece(capture(first, first + STEP), carry):
        pass
print(resident() - before)
