"""Packets that scapy builds, through both twins of the scanner: link types, IP headers, lengths."""

from __future__ import annotations

import struct
from ipaddress import ip_address
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import (
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
)
from scapy.layers.ipsec import AH
from scapy.layers.l2 import ARP, CookedLinux, CookedLinuxV2, Dot1AD, Dot1Q, Ether

from kwire.capture.files.formats import identify
from kwire.capture.packet_columns import ACK, FileState, PacketColumns
from kwire.codec.impl import Twin, load_twin

# with addresses of its own: scapy would ask the network for the one of the destination
ETHER = Ether(src="02:00:00:00:00:09", dst="02:00:00:00:00:01")
V4 = IP(src="10.0.0.9", dst="10.0.0.1", id=7)
V6 = IPv6(src="2001:db8::9", dst="2001:db8::1")
SEGMENT = TCP(sport=50000, dport=9092, seq=1000, ack=2000, flags="PA")
BODY = b"kafka bytes"


def pcap(link_type: int, *packets: bytes, original: int | None = None, snaplen: int = 262144) -> bytes:
    """A little-endian microsecond capture; packet i has time i seconds and i microseconds."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snaplen, link_type)
    for index, packet in enumerate(packets):
        out += struct.pack("<IIII", index, index, len(packet), len(packet) if original is None else original) + packet
    return out


def scan(twin: Twin, data: bytes) -> tuple[PacketColumns, FileState]:
    known = identify(data[:24])
    assert known is not None
    state, at = known
    columns: PacketColumns = load_twin("capture", "packets", twin).scan(data, at, state)
    assert columns.consumed == len(data)
    return columns, state


def payloads(data: bytes, columns: PacketColumns) -> list[bytes]:
    return [data[offset : offset + size] for offset, size in zip(columns.offset, columns.captured, strict=True)]


FRAMES: list[tuple[str, int, bytes]] = [
    ("ethernet", 1, bytes(ETHER / V4 / SEGMENT / BODY)),
    ("vlan", 1, bytes(ETHER / Dot1Q(vlan=3) / V4 / SEGMENT / BODY)),
    ("qinq", 1, bytes(ETHER / Dot1AD(vlan=4) / Dot1Q(vlan=3) / V4 / SEGMENT / BODY)),
    ("cooked", 113, bytes(CookedLinux(proto=0x0800) / V4 / SEGMENT / BODY)),
    ("cooked-v2", 276, bytes(CookedLinuxV2(proto=0x0800) / V4 / SEGMENT / BODY)),
    ("cooked-v2-vlan", 276, bytes(CookedLinuxV2(proto=0x8100)) + b"\x00\x03\x08\x00" + bytes(V4 / SEGMENT / BODY)),
    ("raw-101", 101, bytes(V4 / SEGMENT / BODY)),
    ("raw-12", 12, bytes(V4 / SEGMENT / BODY)),
    ("raw-14", 14, bytes(V4 / SEGMENT / BODY)),
    ("ipv4-228", 228, bytes(V4 / SEGMENT / BODY)),
    ("null-little", 0, b"\x02\x00\x00\x00" + bytes(V4 / SEGMENT / BODY)),
    ("null-big", 0, b"\x00\x00\x00\x02" + bytes(V4 / SEGMENT / BODY)),
    ("loop", 108, b"\x00\x00\x00\x02" + bytes(V4 / SEGMENT / BODY)),
    ("ip-options", 1, bytes(ETHER / IP(src="10.0.0.9", dst="10.0.0.1", id=7, options=[b"\x94\x04\x00\x00"]) / SEGMENT / BODY)),
    (
        "tcp-options",
        1,
        bytes(ETHER / V4 / TCP(sport=50000, dport=9092, seq=1000, ack=2000, flags="PA", options=[("MSS", 9), ("NOP", 0)]) / BODY),
    ),
]
FRAMES_6: list[tuple[str, int, bytes]] = [
    ("ethernet", 1, bytes(ETHER / V6 / SEGMENT / BODY)),
    ("raw", 101, bytes(V6 / SEGMENT / BODY)),
    ("ipv6-229", 229, bytes(V6 / SEGMENT / BODY)),
    ("null-darwin", 0, b"\x1e\x00\x00\x00" + bytes(V6 / SEGMENT / BODY)),
    ("loop-openbsd", 108, b"\x00\x00\x00\x18" + bytes(V6 / SEGMENT / BODY)),
    ("hop-by-hop", 1, bytes(ETHER / V6 / IPv6ExtHdrHopByHop() / SEGMENT / BODY)),
    ("routing", 1, bytes(ETHER / V6 / IPv6ExtHdrRouting(type=4, addresses=["::1", "::2"]) / SEGMENT / BODY)),
    ("all", 1, bytes(ETHER / V6 / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / IPv6ExtHdrFragment(offset=0, m=0) / SEGMENT / BODY)),
    ("authentication", 1, bytes(ETHER / V6 / AH(nh=6, payloadlen=4, icv=bytes(12)) / SEGMENT / BODY)),
]


@pytest.mark.parametrize(("link_type", "frame"), [row[1:] for row in FRAMES], ids=[row[0] for row in FRAMES])
def test_ipv4_packets(twin: Twin, link_type: int, frame: bytes) -> None:
    data = pcap(link_type, frame)
    columns, state = scan(twin, data)
    assert payloads(data, columns) == [BODY]
    assert (list(columns.seq), list(columns.ack), list(columns.original)) == ([1000], [2000], [len(BODY)])
    assert columns.flags[0] & ACK
    # 10.0.0.1 is the smaller address, so it is a, and the packet goes from b to a
    a, b = ip_address("10.0.0.1").packed + struct.pack(">H", 9092), ip_address("10.0.0.9").packed + struct.pack(">H", 50000)
    assert (columns.keys, list(columns.direction)) == ([b"\x04" + a + b], [1])
    assert (state.packets, state.tcp, state.cut_bytes) == (1, 1, 0)


@pytest.mark.parametrize(("link_type", "frame"), [row[1:] for row in FRAMES_6], ids=[row[0] for row in FRAMES_6])
def test_ipv6_packets(twin: Twin, link_type: int, frame: bytes) -> None:
    data = pcap(link_type, frame)
    columns, _state = scan(twin, data)
    assert payloads(data, columns) == [BODY]
    a, b = ip_address("2001:db8::1").packed + struct.pack(">H", 9092), ip_address("2001:db8::9").packed + struct.pack(">H", 50000)
    assert (columns.keys, list(columns.direction)) == ([b"\x06" + a + b], [1])


def test_ethernet_padding_is_no_payload(twin: Twin) -> None:
    frame = bytes(ETHER / V4 / TCP(sport=50000, dport=9092, flags="A"))
    data = pcap(1, frame + bytes(60 - len(frame)), bytes(ETHER / V4 / SEGMENT / b"xy") + bytes(4))
    columns, state = scan(twin, data)
    assert payloads(data, columns) == [b"", b"xy"]
    assert (list(columns.original), state.cut_bytes) == ([0, 2], 0)


@pytest.mark.parametrize(("network", "at"), [(V4, 14 + 2), (V6, 14 + 4)], ids=["ipv4", "ipv6"])
def test_an_ip_length_of_zero_means_the_frame(twin: Twin, network: Any, at: int) -> None:
    """Offloaded packets of 64 KiB and more have no length that fits; the header then says 0."""
    body = bytes(range(256)) * 300
    frame = bytearray(bytes(ETHER / network / SEGMENT) + body)
    frame[at : at + 2] = b"\x00\x00"
    data = pcap(1, bytes(frame))
    columns, _state = scan(twin, data)
    assert payloads(data, columns) == [body]


def test_snaplen_cuts_payload_and_the_ip_header_tells_how_much(twin: Twin) -> None:
    frame = bytes(ETHER / V4 / SEGMENT / bytes(500))
    data = pcap(1, frame[:96], original=len(frame), snaplen=96)
    columns, state = scan(twin, data)
    assert (list(columns.captured), list(columns.original)) == ([96 - 54], [500])
    assert (state.cut_bytes, state.snaplen) == (500 - 42, 96)


def test_headers_cut_short_are_counted(twin: Twin) -> None:
    frame = bytes(ETHER / V4 / SEGMENT / BODY)
    data = pcap(1, *(frame[:size] for size in range(len(frame))))
    columns, state = scan(twin, data)
    # Ethernet 14, IPv4 20 and the 14 bytes of TCP up to the flags must be there
    assert len(columns) == len(frame) - 48
    assert state.unreadable == 48
    assert list(columns.captured) == [0] * 7 + list(range(1, len(BODY)))


def test_other_traffic_is_counted_not_read(twin: Twin) -> None:
    middle = bytes(ETHER / IP(src="10.0.0.9", dst="10.0.0.1", flags="MF", frag=3, proto=6) / BODY)
    last = bytes(ETHER / IP(src="10.0.0.9", dst="10.0.0.1", frag=9, proto=6) / BODY)
    fragment_6 = bytes(ETHER / V6 / IPv6ExtHdrFragment(offset=3, m=0) / SEGMENT / BODY)
    udp = bytes(ETHER / V4 / UDP(dport=9092) / BODY)
    arp = bytes(ETHER / ARP())
    udp_6 = bytes(ETHER / V6 / IPv6ExtHdrHopByHop() / UDP() / BODY)
    columns, state = scan(twin, pcap(1, middle, last, fragment_6, udp, arp, udp_6))
    assert (len(columns), state.packets, state.fragments, state.others, state.unreadable) == (0, 6, 3, 3, 0)


def test_an_unknown_link_type_is_unreadable(twin: Twin) -> None:
    columns, state = scan(twin, pcap(147, bytes(ETHER / V4 / SEGMENT / BODY)))
    assert (len(columns), state.packets, state.unreadable) == (0, 1, 1)


@pytest.mark.parametrize(
    "change",
    [
        (14, 0x44),  # an IP header of 16 bytes
        (14, 0x55),  # version 5
        (16 + 1, 10),  # a total length smaller than the header
        (14 + 20 + 12, 0x40),  # a TCP header of 16 bytes
        (14 + 20 + 12, 0xF0),  # a TCP header longer than the packet
    ],
)
def test_impossible_headers_are_unreadable(twin: Twin, change: tuple[int, int]) -> None:
    frame = bytearray(bytes(ETHER / V4 / SEGMENT / BODY))
    frame[change[0]] = change[1]
    columns, state = scan(twin, pcap(1, bytes(frame)))
    assert (len(columns), state.unreadable) == (0, 1)


def test_both_directions_share_a_key_and_ports_decide_between_equal_addresses(twin: Twin) -> None:
    there = bytes(ETHER / IP(src="127.0.0.1", dst="127.0.0.1") / TCP(sport=50000, dport=9092))
    back = bytes(ETHER / IP(src="127.0.0.1", dst="127.0.0.1") / TCP(sport=9092, dport=50000))
    other = bytes(ETHER / IP(src="127.0.0.1", dst="127.0.0.1") / TCP(sport=50001, dport=9092))
    columns, _state = scan(twin, pcap(1, there, back, other, back))
    assert (list(columns.key), list(columns.direction)) == ([0, 0, 1, 0], [1, 0, 1, 0])
    assert len(columns.keys) == 2


def test_many_connections_have_as_many_keys(twin: Twin) -> None:
    frames = [bytes(ETHER / IP(src="10.0.0.9", dst="10.0.0.1") / TCP(sport=port, dport=9092)) for port in range(1000, 1400)]
    columns, _state = scan(twin, pcap(1, *frames, *frames))
    assert list(columns.key) == [*range(400), *range(400)]
    assert [int.from_bytes(key[-2:], "big") for key in columns.keys] == list(range(1000, 1400))


def test_a_copy_has_the_signature_of_its_packet_and_a_retransmission_has_not(twin: Twin) -> None:
    def frame(identification: int, clock: int) -> bytes:
        options = [("NOP", None), ("NOP", None), ("Timestamp", (clock, 1))]
        return bytes(ETHER / IP(src="10.0.0.9", dst="10.0.0.1", id=identification) / TCP(sport=1, dport=2, seq=5, options=options) / BODY)

    columns, _state = scan(twin, pcap(1, frame(1, 10), frame(1, 10), frame(2, 210)))
    assert columns.signature[0] == columns.signature[1] != columns.signature[2]


def test_numbers_and_times(twin: Twin) -> None:
    frame = bytes(ETHER / V4 / SEGMENT / BODY)
    columns, state = scan(twin, pcap(1, frame, bytes(ETHER / ARP()), frame))
    assert list(columns.number) == [1, 3]
    assert list(columns.time_ns) == [0, 2_000_002_000]
    assert (state.start_ns, state.end_ns) == (0, 2_000_002_000)
