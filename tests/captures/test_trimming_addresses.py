"""Trimmed captures whose addresses are pseudonyms: the same tables under other addresses, and no address of before."""

from __future__ import annotations

import gzip
import ipaddress
import itertools
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt
from scapy.layers.l2 import GRE, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Raw
from scapy.utils import PcapReader, wrpcap

from kwire.analysis import run
from kwire.analysis.redaction import Redaction, Redactor
from kwire.capture.trimming.address_pseudonyms import AddressPseudonyms
from kwire.capture.trimming.proxy_pseudonyms import proxy_header_of
from kwire.capture.trimming.trim import trim
from kwire.cli.entry import commands
from kwire.tables import read_series

DATA = Path(__file__).parent / "data"
CAPTURES = sorted(DATA.glob("*.pcap*.gz"), key=lambda path: path.name)
KEY = b"0123456789abcdef0123456789abcdef"
PSEUDONYMS = AddressPseudonyms(KEY)


def common_bits(one: str, other: str) -> int:
    a, b = (ipaddress.ip_address(each) for each in (one, other))
    return a.max_prefixlen - (int(a) ^ int(b)).bit_length()


def redacted(source: Path, target: Path) -> Path:
    trim([(str(source), str(target))], overwrite=True, pseudonyms=PSEUDONYMS)
    return target


def test_networks_stay_together_and_nothing_else() -> None:
    addresses = ["10.1.2.3", "10.1.2.4", "10.1.9.9", "10.200.0.1", "192.168.0.1", "127.0.0.1"]
    changed = {each: PSEUDONYMS.address(each) for each in addresses}
    for one, other in itertools.combinations(addresses, 2):
        assert common_bits(changed[one], changed[other]) == common_bits(one, other)
    six = ["2001:db8:1:2::3", "2001:db8:1:2::4", "2001:db8:ffff::1", "fe80::1"]
    for one, other in itertools.combinations(six, 2):
        assert common_bits(PSEUDONYMS.address(one), PSEUDONYMS.address(other)) == common_bits(one, other)
    assert all(each != changed[each] for each in addresses)
    assert AddressPseudonyms(KEY[::-1]).address("10.1.2.3") != changed["10.1.2.3"]


def test_leading_bits_stay_when_asked() -> None:
    kept = AddressPseudonyms(KEY, 16)
    assert kept.address("10.1.2.3").startswith("10.1.")
    assert kept.address("10.1.2.3").rpartition("10.1.")[2] == PSEUDONYMS.address("10.1.2.3").split(".", 2)[2]
    assert kept.address("2001:db8:1:2::3").startswith("2001:db8:")


def test_addresses_that_name_no_machine_stay() -> None:
    assert [PSEUDONYMS.address(each) for each in ("0.0.0.0", "255.255.255.255", "::")] == ["0.0.0.0", "255.255.255.255", "::"]
    assert PSEUDONYMS.hardware(b"\xff" * 6) == b"\xff" * 6
    group = PSEUDONYMS.hardware(bytes.fromhex("01005e000001"))
    assert group[0] & 1 == 1
    assert PSEUDONYMS.hardware(bytes.fromhex("001122334455"))[0] & 3 == 2


def test_hosts_keep_their_length() -> None:
    for host in (b"", b"*", b"broker-1.kafka.example.com", b"h" * 249):
        assert len(PSEUDONYMS.host(host)) == len(host)
    assert PSEUDONYMS.host(b"*") == b"*"
    assert PSEUDONYMS.host(b"broker-1") != PSEUDONYMS.host(b"broker-2")


@pytest.mark.parametrize("source", CAPTURES, ids=lambda path: path.name)
def test_tables_are_those_of_before_under_other_addresses(source: Path, tmp_path: Path) -> None:
    target = redacted(source, tmp_path / source.name)
    redactor = Redactor(Redaction(KEY))

    def rows(path: Path, name_of: Callable[[str], str]) -> list[tuple[object, ...]]:
        with read_series([str(path)], "x", ()) as read:
            tables = {name: read.table(name) for name in ("connections", "requests")}
        found: list[tuple[object, ...]] = [
            (name_of(row["client_address"]), name_of(row["server_address"]), row["client_port"], row["first_seen"], row["request_frames"])
            for row in tables["connections"].to_pylist()
        ]
        names = ("api_key", "correlation_id", "request_time", "response_time", "client_id", "error_code")
        found += [tuple(row[name] for name in names) for row in tables["requests"].to_pylist()]
        return sorted(found, key=repr)

    assert rows(target, str) == rows(source, redactor.host)
    before, after = gzip.decompress(source.read_bytes()), gzip.decompress(target.read_bytes())
    assert len(after) == len(before)


def test_checksums_of_ip_and_tcp_that_were_right_are_right(tmp_path: Path) -> None:
    def sums(path: Path) -> list[tuple[bool, bool, int]]:
        found = []
        plain = tmp_path / "plain.pcap"
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        with PcapReader(str(plain)) as packets:
            for packet in packets:
                again = IP(bytes(packet[IP]))
                for layer in (again, again[TCP]):
                    del layer.chksum
                again = IP(bytes(again))
                found.append((again.chksum == packet[IP].chksum, again[TCP].chksum == packet[TCP].chksum, packet[TCP].chksum))
        return found

    before = sums(DATA / "raw-ip.pcap.gz")
    after = sums(redacted(DATA / "raw-ip.pcap.gz", tmp_path / "raw-ip.pcap.gz"))
    assert [(ip, tcp) for ip, tcp, _ in after] == [(ip, tcp) for ip, tcp, _ in before]
    assert {number for _, tcp, number in after if not tcp} <= {0}  # a checksum that was not right would tell of the addresses


def sent_and_written(packet: object, tmp_path: Path) -> object:
    wrpcap(str(tmp_path / "in.pcap"), [packet])
    redacted(tmp_path / "in.pcap", tmp_path / "out.pcap")
    with PcapReader(str(tmp_path / "out.pcap")) as packets:
        return next(iter(packets))


def test_every_layer_of_a_tunnel_has_pseudonyms(tmp_path: Path) -> None:
    inner = (
        Ether(src="00:11:22:33:44:55", dst="00:11:22:33:44:66")
        / IP(src="10.1.0.1", dst="10.1.0.2")
        / TCP(sport=50000, dport=9092, flags="S")
    )
    outer = Ether(src="00:aa:aa:aa:aa:01", dst="00:aa:aa:aa:aa:02") / Dot1Q(vlan=7) / IP(src="192.0.2.1", dst="192.0.2.2") / UDP(dport=4789)
    out = sent_and_written(outer / VXLAN(flags=8, vni=3) / inner, tmp_path)
    assert [out[IP].src, out[IP].dst] == [PSEUDONYMS.address("192.0.2.1"), PSEUDONYMS.address("192.0.2.2")]
    assert out[UDP].chksum == 0
    assert out[VXLAN].vni == 3
    inside = out[VXLAN].payload
    assert [inside[IP].src, inside[IP].dst] == [PSEUDONYMS.address("10.1.0.1"), PSEUDONYMS.address("10.1.0.2")]
    assert {out.src, out.dst, inside.src, inside.dst}.isdisjoint(
        {"00:11:22:33:44:55", "00:11:22:33:44:66", "00:aa:aa:aa:aa:01", "00:aa:aa:aa:aa:02"}
    )
    assert len({out.src, out.dst, inside.src, inside.dst}) == 4


def test_addresses_in_options_are_written_over(tmp_path: Path) -> None:
    # option 200: where a load balancer puts the address of the client behind it
    toa = bytes.fromhex("c80a") + b"\x12\x34" + bytes((203, 0, 113, 9)) + b"\0\0"
    tcp = TCP(sport=50000, dport=9092, flags="A", options=[("Timestamp", (7, 9)), (200, toa[2:])])
    out = sent_and_written(Ether() / IP(src="10.1.0.1", dst="10.1.0.2", options=[]) / tcp, tmp_path)
    assert ("Timestamp", (7, 9)) in out[TCP].options
    assert bytes((203, 0, 113, 9)) not in bytes(out)
    home = IPv6ExtHdrDestOpt(options=[]) / TCP(sport=50000, dport=9092)
    six = bytearray(bytes(Ether() / IPv6(src="2001:db8::1", dst="2001:db8::2") / home))
    out = sent_and_written(Ether(bytes(six)), tmp_path)
    assert [out[IPv6].src, out[IPv6].dst] == [PSEUDONYMS.address("2001:db8::1"), PSEUDONYMS.address("2001:db8::2")]
    assert bytes(out)[56:62] == bytes(6)  # what stood in the extension header is padding


def test_what_is_not_tcp_loses_its_addresses_too(tmp_path: Path) -> None:
    arp = bytes.fromhex("0001080006040001") + bytes.fromhex("001122334455") + bytes((10, 1, 0, 1)) + bytes(6) + bytes((10, 1, 0, 2))
    out = sent_and_written(Ether(type=0x0806, src="00:11:22:33:44:55", dst="ff:ff:ff:ff:ff:ff") / Raw(arp), tmp_path)
    assert bytes(out)[14:] == bytes(len(arp))
    assert out.dst == "ff:ff:ff:ff:ff:ff"
    gre = (
        Ether()
        / IP(src="192.0.2.1", dst="192.0.2.2")
        / GRE()
        / IP(src="10.1.0.1", dst="10.1.0.2")
        / UDP(sport=53, dport=53)
        / Raw(b"secret")
    )
    out = sent_and_written(gre, tmp_path)
    assert out[GRE][IP].src == PSEUDONYMS.address("10.1.0.1")
    assert b"secret" not in bytes(out)


def test_proxy_headers_keep_their_shape() -> None:
    text = b"PROXY TCP4 203.0.113.9 10.1.0.2 4711 9092\r\n"
    out = proxy_header_of(text + b"rest", PSEUDONYMS)
    assert out == b"PROXY UNKNOWN".ljust(len(text) - 2) + b"\r\nrest"
    head = bytes.fromhex("0d0a0d0a000d0a515549540a2111")
    addresses = bytes((203, 0, 113, 9, 10, 1, 0, 2)) + struct.pack(">HH", 4711, 9092)
    authority = b"\x02\x00\x05shop1"
    out = proxy_header_of(head + struct.pack(">H", 20) + addresses + authority, PSEUDONYMS)
    changed = PSEUDONYMS.packed(addresses[:4]) + PSEUDONYMS.packed(addresses[4:8])
    assert out == head + struct.pack(">H", 20) + changed + addresses[8:] + b"\x04\x00\x05" + bytes(5)


def test_hosts_in_messages_are_replaced(tmp_path: Path) -> None:
    source = DATA / "seed.pcap.gz"
    hosts = {row["host"].encode() for row in run([str(source)])["brokers"].to_pylist() if row["host"]}
    plain = gzip.decompress(source.read_bytes())
    assert any(host in plain for host in hosts)
    out = gzip.decompress(redacted(source, tmp_path / "out.pcap.gz").read_bytes())
    assert not any(host in out for host in hosts)


def test_names_of_machines_in_pcapng_are_written_over(tmp_path: Path) -> None:
    def block(kind: int, body: bytes) -> bytes:
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    def option(code: int, value: bytes) -> bytes:
        return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)

    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + option(3, b"Linux host77") + option(0, b""))
    interface = block(
        1,
        struct.pack("<HHI", 1, 0, 0)
        + option(2, b"eth-host77")
        + option(4, bytes((203, 0, 113, 9, 255, 255, 255, 0)))
        + option(9, b"\x09")
        + option(0, b""),
    )
    names = block(4, struct.pack("<HH", 1, 11) + bytes((203, 0, 113, 9)) + b"host77\0" + bytes(1) + bytes(4))
    packet = bytes(Ether() / IP(src="203.0.113.9", dst="10.1.0.2") / TCP(sport=50000, dport=9092, flags="S"))
    captured = block(6, struct.pack("<IIIII", 0, 0, 0, len(packet), len(packet)) + packet + bytes(-len(packet) % 4))
    (tmp_path / "in.pcapng").write_bytes(section + interface + names + captured)
    out = redacted(tmp_path / "in.pcapng", tmp_path / "out.pcapng").read_bytes()
    assert len(out) == len(section + interface + names + captured)
    assert b"host77" not in out
    assert bytes((203, 0, 113, 9)) not in out
    with PcapReader(str(tmp_path / "out.pcapng")) as packets:
        assert next(iter(packets))[IP].src == PSEUDONYMS.address("203.0.113.9")


def test_the_command_wants_a_key(tmp_path: Path) -> None:
    source, target, key = DATA / "seed.pcap.gz", tmp_path / "out.pcap.gz", tmp_path / "key"
    refused = CliRunner().invoke(commands, ["trim", str(source), str(target), "--redact"])
    assert refused.exit_code == 2
    assert "--redact-key" in refused.output
    key.write_bytes(KEY + b"\n")
    done = CliRunner().invoke(commands, ["trim", str(source), str(target), "--redact", "--redact-key", str(key)])
    assert done.exit_code == 0, done.output
    assert target.read_bytes() != b""
    by_hand = redacted(source, tmp_path / "by-hand.pcap.gz")
    assert gzip.decompress(target.read_bytes()) == gzip.decompress(by_hand.read_bytes())
