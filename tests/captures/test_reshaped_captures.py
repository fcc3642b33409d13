"""A real capture in other shapes that networks and capturing tools give it: the rows are those of the capture as it is, in both twins.

Expected are the rows of the capture itself, which other tests hold against the log of its broker.
"""

from __future__ import annotations

import gzip
import io
import random
import struct
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kwire import tables
from kwire.codec.impl import load_twin
from kwire.tables import impl

FLEET = Path(__file__).parents[2] / "examples" / "upgrade-fleet.pcap.gz"
PORT = 19092
FIN, SYN, RST, ACK = 1, 2, 4, 16
# Where and when a row's packets were, and how often they came.
PROVENANCE = {
    "capture",
    "packet_number",
    "series",
    "request_time",
    "response_time",
    "latency_us",
    "first_seen",
    "last_seen",
    "retransmissions",
}

Packet = tuple[int, bytes]


@dataclass(frozen=True)
class Tcp:
    time: int
    ends: bytes  # addresses, then ports
    seq: int
    ack: int
    flags: int
    options: bytes
    payload: bytes
    id: int

    @property
    def flow(self) -> bytes:
        return self.ends

    @property
    def back(self) -> bytes:
        return self.ends[4:8] + self.ends[:4] + self.ends[10:12] + self.ends[8:10]

    def segment(self) -> bytes:
        flags = (5 + len(self.options) // 4) << 12 | self.flags
        ports = self.ends[8:12]
        return ports + struct.pack(">IIHHHH", self.seq & 0xFFFFFFFF, self.ack & 0xFFFFFFFF, flags, 512, 0, 0) + self.options + self.payload

    def ip(self, options: bytes = b"", length: int | None = None) -> bytes:
        body = self.segment()
        size = 20 + len(options) + len(body) if length is None else length
        head = struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, 0, size, self.id & 0xFFFF, 0x4000, 64, 6, 0)
        return head + self.ends[:8] + options + body

    def frame(self, tags: bytes = b"") -> bytes:
        return bytes.fromhex("020000000002020000000001") + tags + b"\x08\0" + self.ip()


def read() -> Iterator[Tcp]:
    data = gzip.decompress(FLEET.read_bytes())
    at, number = 24, 0
    while at < len(data):
        seconds, micros, size = struct.unpack_from("<III", data, at)
        frame, at = data[at + 16 : at + 16 + size], at + 16 + size
        tcp = 14 + (frame[14] & 15) * 4
        seq, ack, flags = struct.unpack_from(">IIH", frame, tcp + 4)
        end, begin = 14 + int.from_bytes(frame[16:18], "big"), tcp + (flags >> 12) * 4
        number += 1
        yield Tcp(
            seconds * 10**9 + micros * 1000, frame[26:34] + frame[tcp : tcp + 4], seq, ack, flags & 0xFF, frame[tcp + 20 : begin],
            frame[begin:end], number,
        )  # fmt: skip


def pcap(packets: list[Packet], link_type: int = 1) -> bytes:
    head = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 0, link_type)
    return head + b"".join(struct.pack("<IIII", time // 10**9, time % 10**9, len(frame), len(frame)) + frame for time, frame in packets)


def framed(packets: list[Tcp]) -> bytes:
    return pcap([(each.time, each.frame()) for each in packets])


def span(packets: list[Tcp], _chance: random.Random) -> bytes:
    """A mirror port gives each packet as it comes and, with a VLAN tag, as it goes."""
    return pcap([copy for each in packets for copy in ((each.time, each.frame()), (each.time + 2000, each.frame(b"\x81\0\0\x07")))])


def keepalives(packets: list[Tcp], chance: random.Random) -> bytes:
    found = []
    for each in packets:
        found.append(each)
        if each.payload and not each.flags & (SYN | FIN | RST) and chance.random() < 0.3:
            seq = each.seq + len(each.payload) - 1
            found.append(replace(each, seq=seq, payload=chance.choice([b"", b"\0"]), id=chance.randrange(1 << 16)))
    return framed(found)


def zero_windows(packets: list[Tcp], chance: random.Random) -> bytes:
    """A closed window is probed with the next byte, twice, before the segment comes whole."""
    found = []
    for each in packets:
        if len(each.payload) > 1 and chance.random() < 0.3:
            found += [replace(each, payload=each.payload[:1], flags=ACK, id=chance.randrange(1 << 16)) for _ in range(2)]
        found.append(each)
    return framed(found)


def other_segments(packets: list[Tcp], chance: random.Random) -> bytes:
    found = []
    for each in packets:
        cuts = sorted(chance.sample(range(1, len(each.payload)), min(3, len(each.payload) - 1))) if len(each.payload) > 3 else []
        places = [0, *cuts, len(each.payload)]
        for start, end in pairwise(places):
            last = end == len(each.payload)
            flags = each.flags if last else each.flags & ~FIN
            found.append(replace(each, seq=each.seq + start, payload=each.payload[start:end], flags=flags, id=chance.randrange(1 << 16)))
    return framed(found)


def sent_again(packets: list[Tcp], chance: random.Random) -> bytes:
    """Retransmissions that nobody needed, cut in another way; handshakes and goodbyes too."""
    found: list[Tcp] = []
    latest: dict[bytes, deque[Tcp]] = {}
    for each in packets:
        found.append(each)
        if each.flags & SYN:
            latest[each.flow] = deque(maxlen=3)
        if each.payload:
            latest.setdefault(each.flow, deque(maxlen=3)).append(each)
        if each.flags & (SYN | FIN):
            found.append(replace(each, id=chance.randrange(1 << 16)))
        elif not each.flags & RST and latest.get(each.flow) and chance.random() < 0.3:
            old = chance.choice(latest[each.flow])
            at = chance.randrange(len(old.payload))
            found.append(replace(old, seq=old.seq + at, payload=old.payload[at:], flags=ACK, id=chance.randrange(1 << 16)))
    return framed(found)


def fast_open(packets: list[Tcp], _chance: random.Random) -> bytes:
    """TCP Fast Open: the first bytes of the client come with its SYN."""
    opened: dict[bytes, int] = {}
    found: list[Tcp] = []
    for each in packets:
        if each.flags & (SYN | ACK) == SYN:
            opened[each.flow] = len(found)
        elif each.payload and each.flow in opened:
            at = opened.pop(each.flow)
            found[at] = replace(found[at], payload=each.payload)
            continue
        found.append(each)
    return framed(found)


def swapped(packets: list[Tcp], chance: random.Random) -> bytes:
    found, at = list(packets), 0
    while at + 1 < len(found):
        if chance.random() < 0.2:
            found[at], found[at + 1] = replace(found[at + 1], time=found[at].time), replace(found[at], time=found[at + 1].time)
            at += 1
        at += 1
    return framed(found)


def numbers_that_wrap(packets: list[Tcp], chance: random.Random) -> bytes:
    """Every sequence number passes 2**32 soon after its connection began."""
    moved: dict[bytes, int] = {}
    found = []
    for each in packets:
        if each.flags & (SYN | ACK) == SYN:
            moved.pop(each.flow, None)
            moved.pop(each.back, None)
        own = moved.setdefault(each.flow, 0xFFFFFFFF - each.seq - chance.randrange(400))
        other = moved.setdefault(each.back, 0xFFFFFFFF - each.ack - chance.randrange(400)) if each.flags & ACK else 0
        found.append(replace(each, seq=each.seq + own, ack=each.ack + other))
    return framed(found)


def payload_only(packets: list[Tcp], _chance: random.Random) -> bytes:
    """A capture filter that leaves bare acknowledgements out."""
    return framed([each for each in packets if each.payload or each.flags & (SYN | FIN | RST)])


def false_resets(packets: list[Tcp], chance: random.Random) -> bytes:
    """RSTs far outside the window, which the ends ignore; the right ones say why, in a payload."""
    found = []
    for each in packets:
        found.append(replace(each, payload=b"by policy") if each.flags & RST else each)
        if each.payload and chance.random() < 0.1:
            found.append(replace(each, seq=each.seq + 0x60000000, flags=RST, payload=b"", id=chance.randrange(1 << 16)))
    return framed(found)


def clocks_that_jump(packets: list[Tcp], chance: random.Random) -> bytes:
    return framed([replace(each, time=each.time - chance.choice([0, 0, 1_500_000])) for each in packets])


def offloaded(packets: list[Tcp], _chance: random.Random) -> bytes:
    """Length 0 in the IP header (segmentation offload), options in it, a trailer with a checksum behind it."""
    mac = bytes.fromhex("020000000002020000000001")
    shapes: list[Callable[[Tcp], bytes]] = [
        lambda each: mac + b"\x08\0" + each.ip(length=0),
        lambda each: mac + b"\x08\0" + each.ip(options=b"\x94\x04\0\0"),
        lambda each: each.frame(b"\x81\0\xe0\0").ljust(60, b"\xaa") + b"\xde\xad\xbe\xef",
    ]
    return pcap([(each.time, shapes[number % 3](each)) for number, each in enumerate(packets)])


def block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size


def interfaces(packets: list[Tcp], _chance: random.Random) -> bytes:
    """pcapng with interfaces of three link types and three clocks, and blocks of other kinds between the packets."""
    head = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    head += block(1, struct.pack("<HHI", 1, 0, 0))
    head += block(1, struct.pack("<HHIHHB3xI", 113, 0, 0, 9, 1, 9, 0))
    # a binary clock, 2**-20 s, that began 1,000 s late
    head += block(1, struct.pack("<HHIHHB3xHHqI", 101, 0, 0, 9, 1, 0x80 | 20, 14, 8, 1000, 0))
    parts = [head]
    for number, each in enumerate(packets):
        ticks = (each.time // 1000, each.time, ((each.time - 1000 * 10**9) << 20) // 10**9)[number % 3]
        frame = (each.frame(), b"\0\0\0\1\0\6\2\0\0\0\0\1\0\0\x08\0" + each.ip(), each.ip())[number % 3]
        parts.append(block(6, struct.pack("<IIIII", number % 3, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame)) + frame))
        if number % 100 == 7:
            parts += [block(10, struct.pack("<II", 0x544C534B, 5) + b"abcde"), block(0xBAD, b"\1\0\0\0private")]
    return b"".join(parts)


SHAPES = [
    span, keepalives, zero_windows, other_segments, sent_again, fast_open, swapped, numbers_that_wrap, payload_only, false_resets,
    clocks_that_jump, offloaded, interfaces,
]  # fmt: skip

Rows = dict[str, Counter[str]]


def rows(capture: bytes, ports: tuple[int, ...]) -> Rows:
    with tables.read_series([io.BytesIO(capture)], "x", ports) as found:
        names = {
            table: [name for name in found.table(table).column_names if name not in PROVENANCE] for table in ("requests", "connections")
        }
        return {table: Counter(map(repr, found.table(table).select(names[table]).to_pylist())) for table in names}


@pytest.fixture(scope="module")
def packets() -> list[Tcp]:
    found = list(read())
    return found[: len(found) // 2]


@pytest.fixture(scope="module")
def expected(packets: list[Tcp]) -> Rows:
    found = rows(framed(packets), (PORT,))
    assert sum(found["requests"].values()) > 250
    assert sum(found["connections"].values()) > 60
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_the_rows_of_another_shape(
    shape: Callable[[list[Tcp], random.Random], bytes], twin: str, packets: list[Tcp], expected: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    bulk: Any = None if twin == "pure" else load_twin("tables", "bulk", "native")
    monkeypatch.setattr(impl, "_chosen", (twin, bulk))
    ports = (PORT,) if twin == "native" else ()
    found = rows(shape(packets, random.Random(5)), ports)
    for table, wanted in expected.items():
        assert found[table] == wanted, table


def test_retransmissions_that_nobody_needed_are_counted(packets: list[Tcp]) -> None:
    again = sent_again(packets, random.Random(5))
    with tables.read_series([io.BytesIO(again)], "x", (PORT,)) as found:
        counted = sum(found.table("connections").column("retransmissions").to_pylist())
    with tables.read_series([io.BytesIO(framed(packets))], "x", (PORT,)) as found:
        before = sum(found.table("connections").column("retransmissions").to_pylist())
    added = sum(1 for each in packets if each.payload) * 0.3
    assert added * 0.7 < counted - before < added * 2.5
