"""Packets in tunnels, as scapy builds them, through both twins of the scanner."""

from __future__ import annotations

import random
import struct
from ipaddress import ip_address
from typing import Any

import pytest
from scapy.contrib.erspan import ERSPAN_II, ERSPAN_III
from scapy.contrib.geneve import GENEVE
from scapy.contrib.mpls import MPLS
from scapy.layers.dot11 import Dot11, Dot11QoS, RadioTap
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop
from scapy.layers.ipsec import AH
from scapy.layers.l2 import GRE, LLC, SNAP, CookedLinux, Dot1AD, Dot1Q, Dot3, Ether
from scapy.layers.ppp import HDLC, PPP, PPPoE
from scapy.layers.vxlan import VXLAN

from kwire.capture._pure.packet_view import TCP as TCP_FOUND
from kwire.capture._pure.packet_view import PacketView
from kwire.capture.files.formats import identify
from kwire.capture.packet_columns import FileState, PacketColumns
from kwire.capture.trimming.address_pseudonyms import AddressPseudonyms
from kwire.capture.trimming.address_rewriting import rewrite_packet
from kwire.codec.impl import Twin, load_twin

MAC = {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}
ETHER = Ether(**MAC)
OUTER = IP(src="192.0.2.7", dst="192.0.2.1")
OUTER_GRE = IP(src="192.0.2.7", dst="192.0.2.1", proto=47)
OUTER_6 = IPv6(src="2001:db8:1::7", dst="2001:db8:1::1")
BODY = b"kafka bytes"
PACKET = IP(src="10.0.0.9", dst="10.0.0.1", id=7) / TCP(sport=50000, dport=9092, seq=1000, ack=2000, flags="PA") / BODY
PACKET_6 = IPv6(src="2001:db8::9", dst="2001:db8::1") / TCP(sport=50000, dport=9092, seq=1000, ack=2000, flags="PA") / BODY
FRAME = ETHER / PACKET

ADDRESSES_4 = b"\x04" + ip_address("10.0.0.1").packed + b"\x23\x84" + ip_address("10.0.0.9").packed + b"\xc3\x50"
ADDRESSES_6 = b"\x06" + ip_address("2001:db8::1").packed + b"\x23\x84" + ip_address("2001:db8::9").packed + b"\xc3\x50"


def gre(kind: int, *fields: int, flags: int = 0) -> bytes:
    return struct.pack(f">HH{len(fields)}I", flags, kind, *fields)


def attributes(order: str, *values: tuple[int, bytes]) -> bytes:
    """A packet of netfilter's log: family, version, group, then attributes, padded to four bytes (linux/netfilter/nfnetlink_log.h)."""
    made = (struct.pack(f"{order}HH", 4 + len(value), kind) + value + bytes(-len(value) % 4) for kind, value in values)
    return b"\x02\0\0\x05" + b"".join(made)


def nflog(order: str, packet: Any) -> bytes:
    """With hook, prefix and hardware address in front."""
    return attributes(order, (1, b"\x08\0\x03\0"), (10, b"in\0"), (8, b"\0\x06\0\0" + bytes(8)), (9, bytes(packet)))


PKTAP_HEAD = struct.pack("<II", 108, 1)
RADIO = Dot11(type=2, subtype=0) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(code=0x0800) / PACKET

WRAPPED: dict[str, tuple[int, Any]] = {
    "vxlan": (1, ETHER / OUTER / UDP(sport=5, dport=4789) / VXLAN(vni=9, flags="Instance") / FRAME),
    "vxlan-8472": (1, ETHER / OUTER / UDP(sport=5, dport=8472) / b"\x08\0\0\0\0\0\x09\0" / FRAME),
    "vxlan-over-ipv6": (1, ETHER / OUTER_6 / UDP(sport=5, dport=4789) / VXLAN(vni=9, flags="Instance") / FRAME),
    "vxlan-of-vlan": (1, ETHER / Dot1Q(vlan=2) / OUTER / UDP(dport=4789) / VXLAN(vni=9, flags="Instance") / ETHER / Dot1Q(vlan=3) / PACKET),
    "vxlan-gpe-ipv4": (1, ETHER / OUTER / UDP(dport=4790) / b"\x0c\0\0\x01\0\0\x09\0" / PACKET),
    "vxlan-gpe-ethernet": (1, ETHER / OUTER / UDP(dport=4790) / b"\x0c\0\0\x03\0\0\x09\0" / FRAME),
    "geneve": (1, ETHER / OUTER / UDP(dport=6081) / GENEVE(vni=9, proto=0x6558) / FRAME),
    "geneve-with-options": (1, ETHER / OUTER / UDP(dport=6081) / b"\x02\0\x65\x58\0\0\x09\0" / (bytes(8) / FRAME)),
    "geneve-of-ipv4": (1, ETHER / OUTER / UDP(dport=6081) / b"\0\0\x08\0\0\0\x09\0" / PACKET),
    "gre": (1, ETHER / OUTER / GRE() / PACKET),
    "gre-all-fields": (1, ETHER / OUTER / GRE(chksum_present=1, key_present=1, seqnum_present=1, key=1) / PACKET),
    "gre-bridge": (1, ETHER / OUTER / GRE(key_present=1, key=77, proto=0x6558) / FRAME),
    "gre-in-udp": (1, ETHER / OUTER / UDP(dport=4754) / gre(0x0800) / PACKET),
    "erspan-1": (1, ETHER / OUTER / GRE(proto=0x88BE) / bytes(FRAME)),
    "erspan-2": (1, ETHER / OUTER / GRE(proto=0x88BE, seqnum_present=1, sequence_number=4) / ERSPAN_II(session_id=3) / FRAME),
    "erspan-3": (1, ETHER / OUTER / GRE(proto=0x22EB, seqnum_present=1, sequence_number=4) / ERSPAN_III(session_id=3) / FRAME),
    "erspan-3-platform": (1, ETHER / OUTER_GRE / gre(0x22EB, 4, flags=0x1000) / b"\x20" / bytes(10) / b"\x01" / bytes(8) / FRAME),
    "ip-in-ip": (1, ETHER / OUTER / PACKET),
    "ip-in-ip-in-ip": (1, ETHER / OUTER / OUTER / OUTER / PACKET),
    "ipv4-in-ipv6": (1, ETHER / OUTER_6 / IPv6ExtHdrHopByHop() / PACKET),
    "authentication": (1, ETHER / OUTER / AH(nh=4, payloadlen=4, icv=bytes(12)) / PACKET),
    "etherip": (1, ETHER / IP(src="192.0.2.7", dst="192.0.2.1", proto=97) / b"\x30\0" / FRAME),
    "mpls": (1, Ether(**MAC, type=0x8847) / MPLS(label=16, s=0) / MPLS(label=17, s=1) / PACKET),
    "mpls-pseudowire": (1, Ether(**MAC, type=0x8847) / MPLS(label=16, s=1) / bytes(4) / FRAME),
    "mpls-bridge": (1, Ether(**MAC, type=0x8847) / b"\0\x01\x01\x40" / FRAME),
    "mpls-bridge-vlan": (1, Ether(**MAC, type=0x8847) / b"\0\x01\x01\x40" / ETHER / Dot1Q(vlan=3) / PACKET),
    "mpls-bridge-other-card": (1, Ether(**MAC, type=0x8847) / b"\0\x01\x01\x40" / Ether(dst="82:00:00:00:00:02") / PACKET),
    "mpls-in-udp": (1, ETHER / OUTER / UDP(dport=6635) / b"\0\x01\x01\x40" / PACKET),
    "mpls-in-ip": (1, ETHER / IP(src="192.0.2.7", dst="192.0.2.1", proto=137) / b"\0\x01\x01\x40" / PACKET),
    "pppoe": (1, ETHER / PPPoE(sessionid=5) / PPP() / PACKET),
    "three-vlan-tags": (1, ETHER / Dot1AD(vlan=1) / Dot1AD(vlan=2) / Dot1Q(vlan=3) / PACKET),
    "snap": (1, Dot3(**MAC) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(code=0x0800) / PACKET),
    "cooked-vxlan": (113, CookedLinux(proto=0x0800) / OUTER / UDP(dport=4789) / VXLAN(vni=9, flags="Instance") / FRAME),
    "ppp": (9, b"\xff\x03\x00\x21" / PACKET),
    "ppp-bare": (50, b"\x00\x21" / PACKET),
    "ppp-hdlc": (50, HDLC() / PPP(proto=0x21) / PACKET),
    "ppp-ether": (51, PPPoE(sessionid=5) / PPP(proto=0x21) / PACKET),
    "cisco-hdlc": (104, b"\x0f\x00\x08\x00" / PACKET),
    "mpls-link": (219, b"\0\x01\x01\x40" / PACKET),
    "802.11": (105, Dot11(type=2, subtype=0, FCfield=1) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(code=0x0800) / PACKET),
    "802.11-qos": (105, Dot11(type=2, subtype=8) / Dot11QoS() / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(code=0x0800) / PACKET),
    "802.11-between-access-points": (
        105,
        (b"\x08\x03" + bytes(28)) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(code=0x0800) / PACKET,
    ),
    "nflog": (239, nflog("<", PACKET)),
    "nflog-big-endian": (239, nflog(">", PACKET)),
    "pktap": (258, PKTAP_HEAD + struct.pack("<I", 1) + bytes(96) + bytes(FRAME)),
    "pktap-of-old": (149, PKTAP_HEAD + struct.pack("<I", 12) + bytes(96) + bytes(PACKET)),
    "pktap-loopback": (258, PKTAP_HEAD + struct.pack("<I", 0) + bytes(96) + b"\x02\0\0\0" + bytes(PACKET)),
    "ppi": (192, struct.pack("<BBHI", 0, 0, 32, 105) + bytes(24) + bytes(RADIO)),
    "ppi-bare": (192, struct.pack("<BBHI", 0, 0, 8, 101) + bytes(PACKET)),
    "radiotap": (127, RadioTap() / Dot11(type=2, subtype=0) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(code=0x0800) / PACKET),
}
WRAPPED_6: dict[str, tuple[int, Any]] = {
    "vxlan": (1, ETHER / OUTER / UDP(dport=4789) / VXLAN(vni=9, flags="Instance") / ETHER / PACKET_6),
    "vxlan-gpe": (1, ETHER / OUTER / UDP(dport=4790) / b"\x0c\0\0\x02\0\0\x09\0" / PACKET_6),
    "gre": (1, ETHER / OUTER / GRE(proto=0x86DD) / PACKET_6),
    "nflog": (239, b"\x0a" + nflog("<", PACKET_6)[1:]),
    "6in4": (1, ETHER / OUTER / PACKET_6),
    "ip-in-ipv6": (1, ETHER / OUTER_6 / PACKET_6),
    "mpls": (1, Ether(**MAC, type=0x8848) / b"\0\x01\x01\x40" / PACKET_6),
    "pppoe": (1, ETHER / PPPoE(sessionid=5) / PPP(proto=0x57) / PACKET_6),
    "ppp-mpls": (50, b"\x02\x81\0\x01\x01\x40" / PACKET_6),
}


def pcap(link_type: int, *packets: bytes) -> bytes:
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link_type)
    return out + b"".join(struct.pack("<IIII", 1, index, len(packet), len(packet)) + packet for index, packet in enumerate(packets))


def scan(twin: Twin, data: bytes) -> tuple[PacketColumns, FileState]:
    known = identify(data[:24])
    assert known is not None
    state, at = known
    columns: PacketColumns = load_twin("capture", "packets", twin).scan(data, at, state)
    return columns, state


def check(twin: Twin, link_type: int, packet: Any, endpoints: bytes) -> None:
    data = pcap(link_type, bytes(packet), bytes(packet) + bytes(9))
    columns, state = scan(twin, data)
    assert [data[at : at + size] for at, size in zip(columns.offset, columns.captured, strict=True)] == [BODY, BODY]
    assert (list(columns.seq), list(columns.ack), list(columns.original)) == ([1000] * 2, [2000] * 2, [len(BODY)] * 2)
    assert (columns.keys, list(columns.direction)) == ([endpoints], [1, 1])
    assert (state.tcp, state.cut_bytes) == (2, 0)


@pytest.mark.parametrize("name", WRAPPED)
def test_ipv4_in_tunnels(twin: Twin, name: str) -> None:
    check(twin, *WRAPPED[name], ADDRESSES_4)


@pytest.mark.parametrize("name", WRAPPED_6)
def test_ipv6_in_tunnels(twin: Twin, name: str) -> None:
    check(twin, *WRAPPED_6[name], ADDRESSES_6)


OTHERS: dict[str, tuple[int, Any]] = {
    "another-udp-port": (1, ETHER / OUTER / UDP(dport=4788) / bytes(8) / FRAME),
    "vxlan-without-network": (1, ETHER / OUTER / UDP(dport=4789) / bytes(8) / FRAME),
    "geneve-control": (1, ETHER / OUTER / UDP(dport=6081) / b"\0\x80\x65\x58\0\0\x09\0" / FRAME),
    "geneve-version": (1, ETHER / OUTER / UDP(dport=6081) / b"\x40\0\x65\x58\0\0\x09\0" / FRAME),
    "pptp": (1, ETHER / OUTER_GRE / gre(0x880B, 0, flags=0x2001) / PACKET),
    "gre-source-route": (1, ETHER / OUTER_GRE / gre(0x0800, flags=0x4000) / PACKET),
    "gre-keepalive": (1, ETHER / OUTER_GRE / gre(0)),
    "mpls-channel": (1, Ether(**MAC, type=0x8847) / b"\0\x01\x01\x40\x10\0\0\x57" / bytes(8)),
    "spanning-tree": (1, Dot3(**MAC) / LLC(dsap=0x42, ssap=0x42, ctrl=3) / bytes(35)),
    "802.11-beacon": (105, Dot11(type=0, subtype=8) / bytes(20)),
    "802.11-null": (105, Dot11(type=2, subtype=4) / bytes(20)),
    "802.11-protected": (105, Dot11(type=2, FCfield=0x40) / bytes(40)),
    "802.11-aggregate": (105, Dot11(type=2, subtype=8) / b"\x80\0" / bytes(40)),
    "lcp": (9, b"\xff\x03\xc0\x21" + bytes(9)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_holds_no_tcp_is_counted_as_other(twin: Twin, name: str) -> None:
    link_type, packet = OTHERS[name]
    columns, state = scan(twin, pcap(link_type, bytes(packet)))
    assert (len(columns), state.others, state.unreadable) == (0, 1, 0)


UNREAD: dict[str, tuple[int, bytes]] = {
    "usb": (189, bytes(64)),
    "user2": (149, b"\xff" * 64),
    "pktap-of-pktap": (258, PKTAP_HEAD + struct.pack("<I", 258) + bytes(96) + bytes(FRAME)),
    "ppi-of-usb": (192, struct.pack("<BBHI", 0, 0, 8, 189) + bytes(64)),
}


@pytest.mark.parametrize("name", UNREAD)
def test_link_types_that_are_not_read_are_counted(twin: Twin, name: str) -> None:
    link_type, packet = UNREAD[name]
    columns, state = scan(twin, pcap(link_type, packet, packet))
    assert (len(columns), state.unreadable, state.unread) == (0, 2, {link_type: 2})


@pytest.mark.parametrize("packet", [b"\x02\0\0\x05", attributes("<", (10, b"no packet")), b"\x02\0\0\x05\x03\0\x09\0" + bytes(60)])
def test_a_log_without_a_packet_is_unreadable(twin: Twin, packet: bytes) -> None:
    columns, state = scan(twin, pcap(239, packet))
    assert (len(columns), state.unreadable, state.unread) == (0, 1, {})


def test_outer_padding_and_a_cut_inner_packet(twin: Twin) -> None:
    """The inner header tells the length on the wire, the outer one where the stored bytes end."""
    whole = bytes(ETHER / OUTER / GRE() / PACKET)
    data = pcap(1, whole[:-4])
    columns, state = scan(twin, data)
    assert (list(columns.captured), list(columns.original), state.cut_bytes) == ([len(BODY) - 4], [len(BODY)], 4)


def test_a_packet_full_of_labels_costs_its_size(twin: Twin) -> None:
    columns, state = scan(twin, pcap(219, bytes(400_000)))
    assert (len(columns), state.unreadable) == (0, 1)


def test_the_twins_agree_on_tunnels_cut_anywhere(twin: Twin) -> None:
    for link_type, packet in [*WRAPPED.values(), *WRAPPED_6.values(), *OTHERS.values(), *UNREAD.values()]:
        raw = bytes(packet)
        data = pcap(link_type, *(raw[:size] for size in range(len(raw))))
        assert scan(twin, data) == scan("pure", data)


def test_the_twins_agree_on_damaged_tunnels(twin: Twin) -> None:
    chance = random.Random(4789)
    for link_type, packet in [*WRAPPED.values(), *WRAPPED_6.values(), *OTHERS.values(), *UNREAD.values()]:
        damaged, whole = [], bytes(packet)
        for _ in range(60):
            raw = bytearray(whole)
            for _ in range(chance.choice((1, 1, 2, 8))):
                raw[chance.randrange(len(raw))] = chance.choice((0, 1, 4, 6, 8, 17, 44, 47, 0x80, 255, chance.randrange(256)))
            damaged.append(bytes(raw))
        data = pcap(link_type, *damaged)
        assert scan(twin, data) == scan("pure", data)


@pytest.mark.parametrize("name", ["nflog", "nflog-big-endian", "pktap", "ppi"])
def test_what_a_link_layer_says_of_machines_is_hidden(name: str) -> None:
    """Names of interfaces and processes, hardware addresses and places go with the addresses."""
    link_type, packet = WRAPPED[name]
    raw = bytes(packet)
    at = raw.find(bytes(8)) + 4
    raw = raw[:at] + b"mine" + raw[at + 4 :]
    hidden = rewrite_packet(raw, 0, len(raw), 0, link_type, AddressPseudonyms(bytes(32)), True)
    assert len(hidden) == len(raw)
    assert b"mine" not in hidden
    assert b"in\0" not in hidden
    assert ip_address("10.0.0.9").packed not in hidden
    assert PacketView(hidden, 0, len(hidden), 0).find(link_type) == TCP_FOUND
