"""Exported PDUs (link type 252), as Wireshark and taps write them, through both twins of the scanner."""

from __future__ import annotations

import pickle
import random
import struct
from ipaddress import ip_address

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from kwire.capture.files.formats import identify
from kwire.capture.packet_columns import FileState, PacketColumns
from kwire.codec.impl import Twin, load_twin

CLIENT, BROKER = "10.0.0.9", "10.0.0.1"
ENDPOINTS = b"\x04" + ip_address(BROKER).packed + b"\x23\x84" + ip_address(CLIENT).packed + b"\xc3\x50"
TO_BROKER, TO_CLIENT = 1, 0  # directions: the broker's address is the smaller


def tag(code: int, value: bytes) -> bytes:
    return struct.pack(">HH", code, len(value)) + value


def port(number: int) -> bytes:
    return number.to_bytes(4, "big")


def addresses(source: str, target: str) -> bytes:
    code = 20 if ip_address(source).version == 4 else 22
    return tag(code, ip_address(source).packed) + tag(code + 1, ip_address(target).packed)


def ends(direction: int, client: str = CLIENT, broker: str = BROKER) -> bytes:
    if direction == TO_BROKER:
        return addresses(client, broker) + tag(24, port(2)) + tag(25, port(50000)) + tag(26, port(9092))
    return addresses(broker, client) + tag(24, port(2)) + tag(25, port(9092)) + tag(26, port(50000))


def pdu(direction: int, body: bytes, *more: bytes) -> bytes:
    return tag(12, b"kafka\0\0\0") + ends(direction) + b"".join(more) + bytes(4) + body


def numbers(seq: int, end: int, ack: int, flags: int) -> bytes:
    return tag(34, struct.pack(">HIIIBHH", 1, seq, end, ack, 0, flags, 0))


def pcap(*packets: bytes, cut: int = 0) -> bytes:
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 252)
    return out + b"".join(
        struct.pack("<IIII", 1, index, len(packet) - cut, len(packet)) + packet[: len(packet) - cut] for index, packet in enumerate(packets)
    )


def scan(twin: Twin, data: bytes, step: int = 1 << 30) -> tuple[list[tuple[int, ...]], FileState, list[PacketColumns]]:
    """Rows (direction, seq, ack, flags, captured, original, payload) of a capture read in steps."""
    known = identify(data[:24])
    assert known is not None
    state, begin = known
    rows, chunks, rest = [], [], b""
    for start in range(begin, len(data), step):
        rest += data[start : start + step]
        found: PacketColumns = load_twin("capture", "packets", twin).scan(rest, 0, state)
        chunks.append(found)
        rows += [
            (found.direction[i], found.seq[i], found.ack[i], found.flags[i], found.captured[i], found.original[i],
             rest[found.offset[i] : found.offset[i] + found.captured[i]])
            for i in range(len(found))
        ]  # fmt: skip
        rest = rest[found.consumed :]
        state = pickle.loads(pickle.dumps(state))
    return rows, state, chunks


def test_pdus_without_numbers_make_a_stream_each_way(twin: Twin) -> None:
    data = pcap(pdu(TO_BROKER, b"ask"), pdu(TO_CLIENT, b"answer"), pdu(TO_BROKER, b"ask on"), pdu(TO_CLIENT, b"again"))
    rows, state, chunks = scan(twin, data)
    assert rows == [
        (TO_BROKER, 1, 1, 0x18, 3, 3, b"ask"),
        (TO_CLIENT, 1, 4, 0x18, 6, 6, b"answer"),
        (TO_BROKER, 4, 7, 0x18, 6, 6, b"ask on"),
        (TO_CLIENT, 7, 10, 0x18, 5, 5, b"again"),
    ]
    assert chunks[0].keys == [ENDPOINTS]
    assert state.carry.exported == {ENDPOINTS: (12, 10)}
    for step in (1, 7, 64, 200):
        again, stepped, _chunks = scan(twin, data, step)
        assert (again, stepped) == (rows, state)


def test_numbers_are_taken_where_they_fit_the_pdu(twin: Twin) -> None:
    rows, _state, _chunks = scan(
        twin,
        pcap(
            pdu(TO_BROKER, b"abc", numbers(100, 103, 50, 0x18)),
            pdu(TO_BROKER, b"abcdef", numbers(100, 106, 50, 0x19)),  # put together again, and the FIN
            pdu(TO_BROKER, b"xy", numbers(900, 990, 50, 0x18)),  # the numbers of something else: it follows
            pdu(TO_CLIENT, b"z", numbers(0xFFFFFFFF, 0, 106, 0x12)),  # across the wrap; a SYN is never told
        ),
    )
    assert [row[:4] for row in rows] == [
        (TO_BROKER, 100, 50, 0x18),
        (TO_BROKER, 100, 50, 0x19),
        (TO_BROKER, 106, 1, 0x18),
        (TO_CLIENT, 0xFFFFFFFF, 106, 0x10),
    ]


def test_ipv6_and_ports_without_a_type(twin: Twin) -> None:
    body = addresses("2001:db8::9", "2001:db8::1") + tag(25, port(50000)) + tag(26, port(9092)) + tag(36, b"told") + bytes(4) + b"bytes"
    rows, state, chunks = scan(twin, pcap(tag(13, b"kafka_tcp\0\0\0") + body))
    assert (rows[0][-1], state.tcp) == (b"bytes", 1)
    assert chunks[0].keys == [b"\x06" + ip_address("2001:db8::1").packed + b"\x23\x84" + ip_address("2001:db8::9").packed + b"\xc3\x50"]


def test_snaplen_cuts_pdus(twin: Twin) -> None:
    rows, state, _chunks = scan(twin, pcap(pdu(TO_BROKER, bytes(100)), pdu(TO_BROKER, bytes(50)), cut=30))
    assert [(row[1], row[4], row[5]) for row in rows] == [(1, 70, 100), (101, 20, 50)]
    assert state.cut_bytes == 60


PACKET = IP(src=CLIENT, dst=BROKER, id=7) / TCP(sport=50000, dport=9092, seq=1000, ack=2000, flags="PA") / b"inside"


@pytest.mark.parametrize(
    "body",
    [
        tag(12, b"ip\0\0") + bytes(4) + bytes(PACKET),
        tag(12, b"ip") + addresses("192.0.2.1", "192.0.2.2") + bytes(4) + bytes(PACKET),
        tag(12, b"eth_withoutfcs\0\0") + bytes(4) + bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / PACKET),
        tag(12, b"tcp\0") + addresses(CLIENT, BROKER) + bytes(4) + bytes(PACKET)[20:],
        tag(14, b"ip.proto") + tag(32, port(6)) + addresses(CLIENT, BROKER) + bytes(4) + bytes(PACKET)[20:],
    ],
    ids=["ip", "ip-with-addresses", "ethernet", "tcp", "tcp-by-number"],
)
def test_pdus_of_lower_layers_have_their_own_headers(twin: Twin, body: bytes) -> None:
    rows, state, chunks = scan(twin, pcap(body))
    assert [(row[0], row[1], row[2], row[-1]) for row in rows] == [(TO_BROKER, 1000, 2000, b"inside")]
    assert (chunks[0].keys, state.carry.exported) == ([ENDPOINTS], {})


@pytest.mark.parametrize(
    "body",
    [
        pdu(TO_BROKER, b"x").replace(tag(24, port(2)), tag(24, port(3))),  # UDP
        tag(12, b"kafka") + addresses(CLIENT, BROKER) + bytes(4) + b"x",  # no ports
        tag(12, b"kafka") + tag(25, port(1)) + tag(26, port(2)) + bytes(4) + b"x",  # no addresses
        tag(12, b"kafka") + tag(20, bytes(4)) + tag(23, bytes(16)) + tag(25, port(1)) + tag(26, port(2)) + bytes(4) + b"x",  # mixed
    ],
)
def test_pdus_without_a_connection_are_other(twin: Twin, body: bytes) -> None:
    rows, state, _chunks = scan(twin, pcap(body))
    assert (rows, state.others, state.unreadable) == ([], 1, 0)


def test_the_twins_agree_on_cut_and_damaged_pdus(twin: Twin) -> None:
    chance = random.Random(252)
    for body in (
        pdu(TO_BROKER, b"abcdef", numbers(100, 106, 50, 0x19), tag(14, b"ip.proto"), tag(32, port(5))),
        tag(12, b"ipv6") + addresses("2001:db8::9", "2001:db8::1") + bytes(4) + b"bytes",
        tag(12, b"tcp\0") + addresses(CLIENT, BROKER) + bytes(4) + bytes(PACKET)[20:],
    ):
        packets = [body[:size] for size in range(len(body))]
        for _ in range(300):
            raw = bytearray(body)
            for _ in range(chance.choice((1, 1, 2, 5))):
                raw[chance.randrange(len(raw))] = chance.choice((0, 1, 4, 12, 14, 16, 20, 22, 32, 34, 255, chance.randrange(256)))
            packets.append(bytes(raw))
        for step in (1 << 30, 999):
            assert scan(twin, pcap(*packets), step)[1:] == scan("pure", pcap(*packets), step)[1:]
