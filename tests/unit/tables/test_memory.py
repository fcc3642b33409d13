"""What a series keeps in memory: a bound for each open connection, little for closed ones (docs/internals/capture-memory.md)."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from kwire.capture.dividing.pair_counts import RECENT_PAIRS

PER_OPEN_CONNECTION = {"native": 4 << 10, "pure": 16 << 10}
PER_PAST_CONNECTION = 512
PER_HALF_OPEN_CONNECTION = 256
PER_UNDECIDED_CONNECTION = {"native": 1 << 10, "pure": 3 << 10}
PER_ANALYZED_CONNECTION = 2700
PER_PAIR_ON_DISK = 100  # their names, until 65,536 are forgotten together, and the database's cache, which has a cap; it was 143 in memory

# Run in a process of its own, whose memory nobody else fills. Prints bytes per connection.
PROGRAM = """
import gc, os, struct, sys
from kwire.capture.dividing import pair_counts
from kwire.capture.packet_columns import ACK, FIN, SYN, PacketColumns
from kwire.tables import series

pair_counts.RECENT_PAIRS = {4}
talk = {0!r}
STEP = 2000
carry = series.begin_series("s")
sink = carry.sink
sink.begin_file("a file")


def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def read(first):
    data, columns = bytearray(), PacketColumns()
    for number in range(first, first + STEP):
        columns.keys.append(bytes([4, 10, 0, 0, 1, 0x23, 0x84, 10]) + struct.pack(">I", number)[1:] + bytes([0x80, 1]))
        for direction, seq, ack, flags, payload in talk:
            row = 1, number * {1}, number - first, direction, seq, ack, flags, len(data), len(payload), len(payload), seq
            for column, value in zip(
                (columns.number, columns.time_ns, columns.key, columns.direction, columns.seq, columns.ack, columns.flags, columns.offset,
                 columns.captured, columns.original, columns.signature), row, strict=True
            ):
                column.append(value)
            data += payload
    carry.streams.take(bytes(data), columns, sink)
    sink.take("requests", whole=True), sink.take("connections", whole=True), sink.violations.take(whole=True)


for first in range(0, {2}, STEP):
    read(first)
before = resident()
for first in range({2}, {3}, STEP):
    read(first)
print((resident() - before) // ({3} - {2}))
"""

# Analyzes SYNs, each from an address of its own. Prints the peak of memory in bytes.
ANALYSIS = """
import contextlib, random, re, struct, sys
from pathlib import Path
from kwire.cli import main

folder, count = Path(sys.argv[1]), int(sys.argv[2])
draw = random.Random(36)
with (folder / "syns.pcap").open("wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    for number in range(count):
        file.write(struct.pack("<IIII", 1_700_000_000 + number // 10_000, number % 10_000 * 100, 40, 40))
        addresses = struct.pack(">II", draw.randrange(0x0B000000, 0xDF000000), 0x0A000001)
        file.write(bytes([0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0]) + addresses)
        file.write(struct.pack(">HHIIBBHHH", draw.randrange(1024, 65536), 9092, draw.randrange(1 << 32), 0, 0x50, 2, 65535, 0, 0))
sys.argv[1:] = ["analyze", str(folder / "syns.pcap"), "--out", str(folder / "out"), "--engine", "local"]
with contextlib.suppress(SystemExit):
    main()
assert (folder / "out" / "report.html").exists()
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) << 10)
"""


def bytes_per_connection(
    talk: list[tuple[int, int, int, int, bytes]], apart_ns: int, first: int, last: int, twin: str, recent_pairs: int = RECENT_PAIRS
) -> int:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(talk, apart_ns, first, last, recent_pairs)],
        env={**os.environ, "KWIRE_PURE": "1" if twin == "pure" else "0"},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return int(found.stdout)


def request(api_key: int, version: int, body: bytes) -> bytes:
    payload = struct.pack(">hhih", api_key, version, 1, 3) + b"app" + body
    return struct.pack(">i", len(payload)) + payload


SYN, ACK, FIN, RST = 2, 16, 1, 4
NAMED = request(18, 3, b"\0\x08library\x042.3\0")
METADATA = request(3, 1, struct.pack(">i", 0))
OPENED = [(1, 0, 0, SYN, b""), (0, 0, 1, SYN | ACK, b""), (1, 1, 1, ACK, NAMED)]
WAITING = [*OPENED, (1, 1 + len(NAMED), 1, ACK, METADATA + METADATA[:7])]
ATTEMPTS = {
    "a SYN": [(1, 0, 0, SYN, b"")],
    "its copies": [(1, 0, 0, SYN, b"")] * 3,
    "refused": [(1, 0, 0, SYN, b""), (0, 0, 1, RST | ACK, b"")],
}
UNDECIDED = {
    "late": [(1, 1, 1, ACK, b"\0")],
    "accepted": [*OPENED[:2], (1, 1, 1, ACK, b"")],
    "a few bytes": [*OPENED[:2], (1, 1, 1, ACK, NAMED[:13])],
}
CLOSED = [*OPENED, (1, 1 + len(NAMED), 1, FIN | ACK, b""), (0, 1, 2 + len(NAMED), FIN | ACK, b""), (1, 2 + len(NAMED), 2, ACK, b"")]

linux_only = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux' /proc to see memory that Python does not count")


@linux_only
@pytest.mark.parametrize("twin", ["native", pytest.param("pure", marks=pytest.mark.whole)])
def test_an_open_connection_takes_what_the_page_says(twin: str) -> None:
    """Two requests without an answer and the beginning of a third."""
    first, last = (4000, 10_000) if twin == "native" else (2000, 4000)  # the pure twin takes four times as much, and its time
    used = bytes_per_connection(WAITING, 1_000_000, first, last, twin)
    assert 0 < used <= PER_OPEN_CONNECTION[twin]


@linux_only
@pytest.mark.parametrize("twin", ["native", pytest.param("pure", marks=pytest.mark.whole)])
@pytest.mark.parametrize("seen", ATTEMPTS)
def test_a_half_open_connection_takes_256_bytes(seen: str, twin: str) -> None:
    """A SYN flood or a port scan of less than a minute: none of its connections is over yet."""
    assert bytes_per_connection(ATTEMPTS[seen], 1000, 20_000, 70_000, twin, 4096) <= PER_HALF_OPEN_CONNECTION


@linux_only
@pytest.mark.parametrize("twin", ["native", pytest.param("pure", marks=pytest.mark.whole)])
@pytest.mark.parametrize("seen", UNDECIDED)
def test_a_connection_that_said_next_to_nothing_takes_a_kilobyte(seen: str, twin: str) -> None:
    assert bytes_per_connection(UNDECIDED[seen], 1000, 20_000, 40_000, twin, 4096) <= PER_UNDECIDED_CONNECTION[twin]


@pytest.mark.whole
@linux_only
def test_an_analyzed_attempt_takes_what_the_page_says(tmp_path: Path) -> None:
    """From the reader to the report: each address is a client that sent nothing."""
    peaks = []
    for count in (40_000, 80_000):
        folder = tmp_path / str(count)
        folder.mkdir()
        found = subprocess.run([sys.executable, "-c", ANALYSIS, str(folder), str(count)], check=True, capture_output=True, text=True)
        peaks.append(int(found.stdout.split()[-1]))
    assert (peaks[1] - peaks[0]) // 40_000 <= PER_ANALYZED_CONNECTION


@pytest.mark.whole
@linux_only
def test_connections_that_are_over_take_next_to_nothing() -> None:
    """Each was closed more than `LINGER_NS` before the last; what is kept of it is how often its ports were used."""
    assert bytes_per_connection(CLOSED, 100_000_000, 24_000, 60_000, "native") <= PER_PAST_CONNECTION


@pytest.mark.whole
@linux_only
def test_pairs_of_endpoints_that_are_over_take_no_memory() -> None:
    """Beyond the latest `RECENT_PAIRS` they are on disk: a file of any size takes what a small one takes."""
    assert bytes_per_connection(CLOSED, 100_000_000, 24_000, 60_000, "native", 4096) <= PER_PAIR_ON_DISK
