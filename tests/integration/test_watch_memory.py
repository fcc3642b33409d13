"""`kwire watch` runs for weeks: what it keeps does not grow with the connections that it has seen, ends captured or not."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.matrix

MIB = 1 << 20
CLIENT, BROKER = bytes([10, 0, 0, 9]), bytes([10, 0, 0, 1])
# Bounds that are reached within seconds: pairs of endpoints in memory, and rows of a batch
PROGRAM = """
import sys
import kwire.capture.dividing.pair_counts, kwire.tables.column_builder
kwire.capture.dividing.pair_counts.RECENT_PAIRS = kwire.tables.column_builder.BATCH_ROWS = 1000
from kwire.cli import main
sys.argv = ["kwire", "watch", "--port", "9092"]
main()
"""
SYN, SYN_ACK, DATA, FIN = 0x02, 0x12, 0x18, 0x11


def packet(number: int, is_client: bool, flags: int, seq: int, ack: int, payload: bytes = b"") -> bytes:
    """A packet of connection n, which comes from an address and a port of its own, a second after the one before."""
    host, port = bytes([10, 1 + (number >> 16), number >> 8 & 0xFF, number & 0xFF]), 40_000
    ends = (host, BROKER, port, 9092) if is_client else (BROKER, host, 9092, port)
    size = 40 + len(payload)
    address = struct.pack(">BBHHHBBH4s4s", 0x45, 0, size, 0, 0, 64, 6, 0, *ends[:2])
    tcp = struct.pack(">HHIIBBHHH", *ends[2:], seq, ack, 0x50, flags, 65535, 0, 0)
    return struct.pack("<IIII", number, 0, size, size) + address + tcp + payload


def connection(number: int, has_end: bool) -> bytes:
    """Metadata v1 and its answer: no brokers, controller -1, no topics."""
    asked = struct.pack(">ihhih", 22, 3, 1, 1, 8) + b"c-%06d" % (number % 500) + struct.pack(">i", 0)
    answered = struct.pack(">iiiii", 16, 1, 0, -1, 0)
    found = packet(number, True, SYN, 7000, 0) + packet(number, False, SYN_ACK, 9000, 7001)
    found += packet(number, True, DATA, 7001, 9001, asked) + packet(number, False, DATA, 9001, 7001 + len(asked), answered)
    if has_end:
        found += packet(number, True, FIN, 7001 + len(asked), 9001 + len(answered))
        found += packet(number, False, FIN, 9001 + len(answered), 7002 + len(asked))
    return found


@pytest.mark.parametrize("has_end", [True, False], ids=["connections that end", "connections whose ends are not captured"])
def test_memory_does_not_grow_with_connections(has_end: bool) -> None:
    """12,000 connections in 3.3 hours fill what has a bound; 24,000 more cost less than the 100 MB that their state has."""
    watching = subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert watching.stdin is not None
    process = Path(f"/proc/{watching.pid}")

    def memory() -> int:
        used = -1
        while True:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if (now := int(fields[11]) + int(fields[12])) == used and fields[0] == "S":
                break
            used = now
            time.sleep(1)
        found = re.search(r"VmRSS:\s+(\d+) kB", (process / "status").read_text())
        assert found is not None
        return int(found[1]) << 10

    watching.stdin.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    sizes = []
    for begin, end in ((0, 12_000), (12_000, 36_000)):
        for number in range(begin, end):
            watching.stdin.write(connection(number, has_end))
        watching.stdin.flush()
        sizes.append(memory())
    shown, _ = watching.communicate(timeout=60)
    assert b"of 500 clients" in shown
    assert sizes[1] - sizes[0] < 16 * MIB
