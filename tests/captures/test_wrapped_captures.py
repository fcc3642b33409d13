"""The packets of a real capture in tunnels, in fragments and as exported PDUs give the rows that they give as they are."""

from __future__ import annotations

import gzip
import io
import random
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Set
from itertools import pairwise
from pathlib import Path

import pytest

from kwire import tables
from pcap_files import records_of

DATA = Path(__file__).parent / "data"
PORT = 20192
PROVENANCE = {"capture", "packet_number", "series"}
ETHERNET = bytes.fromhex("020000000002020000000001")


def packets_of(name: str) -> Iterator[tuple[bytes, bytes]]:
    for record in records_of(gzip.decompress((DATA / f"{name}.gz").read_bytes())):
        yield record[:8], record[16:]


def pcap(link_type: int, packets: list[tuple[bytes, bytes]]) -> bytes:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link_type)
    return head + b"".join(time + struct.pack("<II", len(packet), len(packet)) + packet for time, packet in packets)


def ipv4(protocol: int, body: bytes, *, id: int = 0, place: int = 0, more: bool = False) -> bytes:
    flags = place // 8 | (0x2000 if more else 0)
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(body), id & 0xFFFF, flags, 64, protocol, 0, b"\xc0\0\2\7", b"\xc0\0\2\1") + body


def ethernet(kind: int, body: bytes) -> bytes:
    return ETHERNET + kind.to_bytes(2, "big") + body


def udp(port: int, body: bytes) -> bytes:
    return struct.pack(">HHHH", 40000, port, 8 + len(body), 0) + body


# frame -> frame
TUNNELS: dict[str, Callable[[bytes], bytes]] = {
    "vxlan": lambda frame: ethernet(0x0800, ipv4(17, udp(4789, b"\x08\0\0\0\0\0\x05\0" + frame))),
    "geneve": lambda frame: ethernet(0x0800, ipv4(17, udp(6081, b"\0\0\x65\x58\0\0\x05\0" + frame))),
    "gre": lambda frame: ethernet(0x0800, ipv4(47, b"\x30\0\x08\0\0\0\0\x05\0\0\0\x01" + frame[14:])),
    "erspan": lambda frame: ethernet(0x0800, ipv4(47, b"\x10\0\x88\xbe\0\0\0\1" + bytes(8) + frame)),
    "ip-in-ip": lambda frame: ethernet(0x0800, ipv4(4, frame[14:])),
    "mpls": lambda frame: ethernet(0x8847, b"\0\1\0\x40\0\1\x01\x40" + frame[14:]),
    "pppoe": lambda frame: ethernet(0x8864, b"\x11\0\0\1" + (len(frame) - 12).to_bytes(2, "big") + b"\0\x21" + frame[14:]),
    "qinq": lambda frame: ethernet(0x88A8, b"\0\7\x81\0\0\x08" + frame[12:]),
}


def fragments(packet: bytes, id: int, size: int) -> list[bytes]:
    """Cut the IPv4 packet of a frame into fragments of at most `size` bytes; what is too small stays whole."""
    body, protocol = packet[34:], packet[23]
    places = [*range(0, len(body), size), len(body)]
    return [
        ethernet(0x0800, packet[14:18] + (id & 0xFFFF).to_bytes(2, "big") + struct.pack(">H", at // 8 | (0x2000 if end < len(body) else 0)))
        + packet[22:23] + bytes((protocol,)) + packet[24:34] + body[at:end]
        for at, end in pairwise(places)
    ]  # fmt: skip


def with_length(fragment: bytes) -> bytes:
    return fragment[:16] + (len(fragment) - 14).to_bytes(2, "big") + fragment[18:]


def rows(capture: bytes | list[bytes], without: Set[str] = frozenset()) -> Counter[str]:
    pieces = [capture] if isinstance(capture, bytes) else capture
    with tables.read_series([io.BytesIO(piece) for piece in pieces], "x", (PORT,)) as found:
        names = [name for name in found.table("requests").column_names if name not in PROVENANCE | without]
        return Counter(map(repr, found.table("requests").select(names).to_pylist()))


@pytest.fixture(scope="module")
def plain() -> list[tuple[bytes, bytes]]:
    return list(packets_of("seed.pcap"))


@pytest.fixture(scope="module")
def expected(plain: list[tuple[bytes, bytes]]) -> Counter[str]:
    found = rows(pcap(1, plain))
    assert sum(found.values()) > 50
    return found


@pytest.mark.parametrize("name", TUNNELS)
def test_tunnels(name: str, plain: list[tuple[bytes, bytes]], expected: Counter[str]) -> None:
    assert rows(pcap(1, [(time, TUNNELS[name](frame)) for time, frame in plain])) == expected


@pytest.mark.parametrize("order", ["in order", "backwards", "any order"])
@pytest.mark.parametrize("name", ["plain", "vxlan", "gre"])
def test_fragments_of_packets_and_of_tunnels(name: str, order: str, plain: list[tuple[bytes, bytes]], expected: Counter[str]) -> None:
    chance = random.Random(5)
    wrap = TUNNELS.get(name, lambda frame: frame)
    packets = []
    for id, (time, frame) in enumerate(plain):
        parts = [with_length(part) for part in fragments(wrap(frame), id, 200)]
        if order == "backwards":
            parts.reverse()
        elif order == "any order":
            chance.shuffle(parts)
        packets += [(time, part) for part in parts]
    assert len(packets) > len(plain) + 50
    assert rows(pcap(1, packets)) == expected
    borders = [0, *sorted(chance.sample(range(1, len(packets)), 9)), len(packets)]
    assert rows([pcap(1, packets[start:end]) for start, end in pairwise(borders)]) == expected


def exported(frame: bytes, *, numbers: bool) -> bytes | None:
    """The payload of a TCP segment as a tap without packets would write it; None where there is none."""
    size = 14 + int.from_bytes(frame[16:18], "big")
    at = 34 + (frame[46] >> 4 << 2)
    payload = frame[at:size]
    if not payload:
        return None
    tags = struct.pack(">HH8s", 12, 8, b"kafka") if not numbers else struct.pack(">HH8sHHI", 14, 8, b"tcp.port", 32, 4, PORT)
    tags += struct.pack(">HH4sHH4sHHI", 20, 4, frame[26:30], 21, 4, frame[30:34], 24, 4, 2)
    tags += struct.pack(">HHHHHHHH", 25, 4, 0, int.from_bytes(frame[34:36], "big"), 26, 4, 0, int.from_bytes(frame[36:38], "big"))
    if numbers:
        seq, ack = struct.unpack_from(">II", frame, 38)
        tags += struct.pack(">HHHIIIBHHB", 34, 20, 1, seq, seq + len(payload) & 0xFFFFFFFF, ack, 0, frame[47], 0, 0)
    return tags + bytes(4) + payload


def without_copies(packets: list[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """What a tap sees that has streams, not packets: no segment twice."""
    seen = set()
    for time, frame in packets:
        segment = frame[26:42]  # addresses, ports, sequence number
        if exported(frame, numbers=False) is not None and segment not in seen:
            seen.add(segment)
            yield time, frame


@pytest.mark.parametrize("numbers", [False, True], ids=["bare", "with numbers"])
def test_exported_pdus(numbers: bool, plain: list[tuple[bytes, bytes]]) -> None:
    # no handshake is seen, so a client that does not name itself may have done so before
    unknown = {"client_key", "software_name", "software_version"}
    expected = rows(pcap(1, plain), without=unknown)
    packets = plain if numbers else without_copies(plain)
    pdus = [(time, pdu) for time, frame in packets if (pdu := exported(frame, numbers=numbers)) is not None]
    assert rows(pcap(252, pdus), without=unknown) == expected
    for count in (2, 7):
        borders = [index * len(pdus) // count for index in range(count + 1)]
        assert rows([pcap(252, pdus[start:end]) for start, end in pairwise(borders)], without=unknown) == expected


@pytest.mark.parametrize("name", ["wireshark-pdus", "wireshark-segments"])
def test_what_wireshark_exports_of_a_capture(name: str, plain: list[tuple[bytes, bytes]]) -> None:
    """Once as the Kafka dissector was given it, with segments put together after they were exported, and once as bare segments."""
    unknown = {"client_key", "software_name", "software_version"}
    assert rows(gzip.decompress((DATA / f"{name}.pcap.gz").read_bytes()), without=unknown) == rows(pcap(1, plain), without=unknown)
