"""Packets to columns: the native scan beside the pure one, routing to 32 shares, and what a script would do with struct."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest

from captures import ETHERNET, FILE_HEADER, PACKET_HEADER
from kwire.capture.files.formats import identify
from kwire.codec.impl import load_twin

PACKETS = 20_000
CONNECTIONS = 50
PAYLOADS = (0, 0, 31, 120, 0, 1448)  # half of the packets of a Kafka cluster acknowledge and say nothing


def frame(number: int) -> bytes:
    """An Ethernet frame with TCP over IPv4, with the timestamps that Linux sends."""
    payload = bytes(PAYLOADS[number % len(PAYLOADS)])
    client, to_broker = number // 8 % CONNECTIONS, number % 2
    ends = (b"\x0a\0\0\1", b"\x0a\0\1" + bytes((client,)))
    ports = (9092, 50_000 + client)
    source, target = (1, 0) if to_broker else (0, 1)
    tcp = struct.pack(">HHIIBBHHH", ports[source], ports[target], number, number, 0x80, 0x18, 500, number & 0xFFFF, 0)
    tcp += b"\1\1\x08\x0a" + struct.pack(">II", number, number)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp) + len(payload), number & 0xFFFF, 0x4000, 64, 6, 0) + ends[source] + ends[target]
    return bytes(12) + b"\x08\0" + ip + tcp + payload


def capture() -> bytes:
    """A pcap file as tcpdump writes it."""
    parts = [FILE_HEADER.pack(0xA1B2C3D4, 2, 4, 0, 0, 262144, ETHERNET)]
    for number in range(PACKETS):
        packet = frame(number)
        parts += [PACKET_HEADER.pack(number // 1000, number % 1000, len(packet), len(packet)), packet]
    return b"".join(parts)


def struct_loop(data: bytes) -> int:
    """What a script does that only counts the bytes of each pair of ports: no checks, no tunnels, no columns."""
    record, ip_header, tcp_header = (
        struct.Struct("<IIII").unpack_from,
        struct.Struct(">BBHHHBBH4s4s").unpack_from,
        struct.Struct(">HHIIBB").unpack_from,
    )
    at, end, packets = FILE_HEADER.size, len(data), 0
    seen: dict[tuple[Any, ...], int] = {}
    while at < end:
        _seconds, _fraction, captured, _original = record(data, at)
        first, _tos, total, _id, _place, _ttl, protocol, _sum, source, target = ip_header(data, at + 30)
        if protocol == 6:
            header = (first & 15) << 2
            source_port, target_port, _seq, _ack, words, _flags = tcp_header(data, at + 30 + header)
            pair = source, source_port, target, target_port
            seen[pair] = seen.get(pair, 0) + total - header - (words >> 4 << 2)
            packets += 1
        at += 16 + captured
    return packets


def record_loop(data: bytes) -> int:
    """The headers of the records alone."""
    record, at, end, packets = struct.Struct("<IIII").unpack_from, FILE_HEADER.size, len(data), 0
    while at < end:
        at += 16 + record(data, at)[2]
        packets += 1
    return packets


def prepare(who: str, data: bytes) -> Callable[[], Any]:
    if who in ("native", "pure"):
        scan = load_twin("capture", "packets", who).scan

        def run() -> Any:
            known = identify(data[:24])
            assert known is not None
            return scan(data, known[1], known[0])

        assert len(run()) == PACKETS
        return run
    if who == "routed":
        packets = load_twin("capture", "packets", "native")

        def route() -> Any:
            known = identify(data[:24])
            assert known is not None
            router = packets.Router(32)
            packets.route(data, known[1], known[0], router)
            return sum(len(router.take(share)) for share in range(32))

        assert route() > len(data)
        return route
    loop = struct_loop if who == "struct loop" else record_loop
    assert loop(data) == PACKETS
    return lambda: loop(data)


@pytest.mark.parametrize("who", ["native", "pure", "routed", "struct loop", "record headers"])
def test_packets_to_columns(race, who):
    data = capture()
    race("packets to columns", who, prepare(who, data), PACKETS, len(data))
