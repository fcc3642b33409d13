"""IP fragments become segments of the stream, in any order, over any cut of the capture, within bounds."""

from __future__ import annotations

import pickle
import random
import struct
from itertools import permutations
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP, UDP, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment, fragment6
from scapy.layers.l2 import Ether
from scapy.layers.vxlan import VXLAN

from kwire.capture.files.formats import identify
from kwire.capture.packet_columns import (
    ACK,
    FIN,
    FRAGMENT_NS,
    MAX_FRAGMENT_BYTES,
    MAX_FRAGMENTED_PACKETS,
    SYN,
    FileState,
    PacketColumns,
    ScanCarry,
)  # fmt: skip
from kwire.codec.impl import Twin, load_twin

ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
BODY = bytes(random.Random(1).randbytes(3000))
SEQ = 0xFFFFF000  # wraps inside the packet


def segment(flags: str = "PA", **more: Any) -> TCP:
    return TCP(sport=50000, dport=9092, seq=SEQ, ack=7, flags=flags, **more)


def fragments_of(packet: Any, size: int = 1000) -> list[bytes]:
    return [bytes(ETHER / part) for part in fragment(packet, fragsize=size)]


V4 = fragments_of(IP(src="10.0.0.9", dst="10.0.0.1", id=7) / segment() / BODY)
V6 = [
    bytes(ETHER / part)
    for part in fragment6(IPv6(src="2001:db8::9", dst="2001:db8::1") / IPv6ExtHdrFragment(id=77) / segment() / BODY, 1280)
]
# the tunnel's packets are cut, so only the first holds any header
INNER = ETHER / IP(src="10.0.0.9", dst="10.0.0.1", id=7) / segment() / BODY
TUNNEL = fragments_of(IP(src="192.0.2.7", dst="192.0.2.1", id=9) / UDP(dport=4789) / VXLAN(vni=9, flags="Instance") / INNER)
KINDS = {"ipv4": V4, "ipv6": V6, "vxlan": TUNNEL}


def records(packets: list[bytes], times_ns: list[int] | None = None) -> bytes:
    times = times_ns or [index * 1000 for index in range(len(packets))]
    return b"".join(
        struct.pack("<IIII", time // 10**9, time % 10**9, len(packet), len(packet)) + packet
        for packet, time in zip(packets, times, strict=True)
    )


def header() -> bytes:
    return struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)


def scan_chunks(twin: Twin, chunks: list[bytes], *, through_pickle: bool = False) -> tuple[list[tuple[bytes, PacketColumns]], FileState]:
    """Scan chunks that end with a record."""
    known = identify(header())
    assert known is not None
    state = known[0]
    found = []
    for chunk in chunks:
        columns = load_twin("capture", "packets", twin).scan(chunk, 0, state)
        assert columns.consumed == len(chunk)
        found.append((chunk + columns.spilled, columns))
        if through_pickle:
            state = pickle.loads(pickle.dumps(state))
    return found, state


def rows(found: list[tuple[bytes, PacketColumns]]) -> list[tuple[int, ...]]:
    """Everything of the rows but where their payload lies, with its hash instead."""
    out = []
    for data, each in found:
        for at in range(len(each)):
            payload = data[each.offset[at] : each.offset[at] + each.captured[at]]
            out.append(
                (each.number[at], each.time_ns[at], each.seq[at], each.ack[at], each.flags[at], each.original[at],
                 each.signature[at], each.direction[at], hash(each.keys[each.key[at]]), hash(payload))
            )  # fmt: skip
    return out


def stream(found: list[tuple[bytes, PacketColumns]], seq: int = SEQ) -> bytes:
    """Put the payload of all rows where their sequence numbers say."""
    pieces = {}
    for data, each in found:
        for at in range(len(each)):
            place = each.seq[at] - seq & 0xFFFFFFFF
            assert each.captured[at] == each.original[at]
            pieces[place] = data[each.offset[at] : each.offset[at] + each.captured[at]]
    out = b""
    for place in sorted(pieces):
        assert place == len(out)
        out += pieces[place]
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_fragments_in_any_order_give_the_stream(twin: Twin, kind: str) -> None:
    parts = KINDS[kind]
    assert len(parts) >= 3
    for order in permutations(range(len(parts))):
        found, state = scan_chunks(twin, [records([parts[index] for index in order])])
        assert stream(found) == BODY
        assert (state.packets, state.tcp, state.fragments) == (len(parts), len(parts), 0)
        assert state.carry == ScanCarry()
        assert len(found[0][1].keys) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_any_cut_into_chunks_gives_the_same_rows(twin: Twin, kind: str) -> None:
    for order in permutations(range(len(KINDS[kind]))):
        packets = [KINDS[kind][index] for index in order]
        single = [records([packet], [1000 * index]) for index, packet in enumerate(packets)]
        whole, state = scan_chunks(twin, [b"".join(single)])
        for cut in (single, [single[0], b"".join(single[1:])], [b"".join(single[:2]), *single[2:]]):
            pieces, last = scan_chunks(twin, cut, through_pickle=True)
            assert rows(pieces) == rows(whole)
            assert last == state


def test_fin_and_syn_stand_where_they_belong(twin: Twin) -> None:
    closing = fragments_of(IP(src="10.0.0.9", dst="10.0.0.1", id=7) / segment("FA") / BODY)
    found, _state = scan_chunks(twin, [records(closing)])
    assert [flags & FIN for flags in found[0][1].flags] == [0] * (len(closing) - 1) + [FIN]
    opening = fragments_of(IP(src="10.0.0.9", dst="10.0.0.1", id=7) / segment("S") / BODY)
    found, _state = scan_chunks(twin, [records(opening)])
    columns = found[0][1]
    assert [flags & SYN for flags in columns.flags] == [SYN] + [0] * (len(opening) - 1)
    assert columns.seq[1] == SEQ + 1 + columns.original[0]  # the SYN takes a number
    assert all(flags & ACK for flags in scan_chunks(twin, [records(V4)])[0][0][1].flags)


def test_snaplen_cuts_each_fragment(twin: Twin) -> None:
    data = b"".join(struct.pack("<IIII", 0, 0, len(packet[:100]), len(packet)) + packet[:100] for packet in V4)
    found, state = scan_chunks(twin, [data])
    columns = found[0][1]
    assert sum(columns.original) == len(BODY)
    assert list(columns.captured) == [100 - 54, 100 - 34, 100 - 34, 20]
    assert state.cut_bytes == len(BODY) - sum(columns.captured)


def test_copies_have_one_signature_and_fragments_have_their_own(twin: Twin) -> None:
    found, state = scan_chunks(twin, [records([V4[0], V4[0], V4[1], V4[1]])])
    signatures = list(found[0][1].signature)
    assert signatures[0] == signatures[1]
    assert signatures[2] == signatures[3] != signatures[0]
    assert state.tcp == 4


def test_what_is_not_tcp_is_counted_as_what_it_is(twin: Twin) -> None:
    other = fragments_of(IP(src="10.0.0.9", dst="10.0.0.1", id=8) / UDP(dport=53) / BODY)
    found, state = scan_chunks(twin, [records(other[::-1])])
    assert (len(found[0][1]), state.others, state.fragments, state.unreadable) == (0, len(other), 0, 0)
    assert state.carry == ScanCarry()
    tiny = fragments_of(IP(src="10.0.0.9", dst="10.0.0.1", id=8) / segment() / bytes(50), 8)
    found, state = scan_chunks(twin, [records(tiny)])  # the header itself is in pieces
    assert (len(found[0][1]), state.unreadable, state.fragments) == (0, len(tiny), 0)


def test_a_first_fragment_that_never_comes_is_waited_for_a_while(twin: Twin) -> None:
    found, state = scan_chunks(twin, [records(V4[1:])])
    assert (len(found[0][1]), state.fragments, len(state.carry.fragmented)) == (0, len(V4) - 1, 1)
    late = records([V4[0]], [FRAGMENT_NS + 1])
    found, state = scan_chunks(twin, [records(V4[1:]), late])
    assert ([len(columns) for _data, columns in found], state.fragments, state.tcp) == ([0, 1], len(V4) - 1, 1)
    in_time = records([V4[0]], [FRAGMENT_NS])
    found, state = scan_chunks(twin, [records(V4[1:]), in_time])
    assert stream(found) == BODY


def test_the_same_identification_again_begins_anew(twin: Twin) -> None:
    again = fragments_of(IP(src="10.0.0.9", dst="10.0.0.1", id=7) / TCP(sport=50000, dport=9092, seq=5, flags="PA") / BODY)
    found, _state = scan_chunks(twin, [records([*V4[:-1], *again])])  # the last of the first packet was lost
    columns = found[0][1]
    # the first fragment of 1000 bytes holds 20 of the TCP header
    assert list(columns.seq)[len(V4) - 1 :] == [5, 985, 1985, 2985]


def lonely(id: int, place: int, size: int) -> bytes:
    return bytes(ETHER / IP(src="10.0.0.9", dst="10.0.0.1", id=id, proto=6, flags="MF", frag=place // 8) / bytes(size))


def test_the_number_of_waiting_packets_is_bounded(twin: Twin) -> None:
    crowd = [lonely(id, 1480, 8) for id in range(MAX_FRAGMENTED_PACKETS + 3)]
    _found, state = scan_chunks(twin, [records(crowd)])
    assert len(state.carry.fragmented) == MAX_FRAGMENTED_PACKETS
    assert [name[-1] for name in state.carry.fragmented][:2] == [3, 4]  # the oldest are gone
    assert state.fragments == len(crowd)


def test_the_bytes_that_wait_are_bounded(twin: Twin) -> None:
    crowd = [lonely(id, 1480, 60_000) for id in range(40)]
    _found, state = scan_chunks(twin, [records(crowd)])
    waiting = [len(part.data) for packet in state.carry.fragmented.values() for part in packet.early]
    assert MAX_FRAGMENT_BYTES - 60_100 < sum(waiting) <= MAX_FRAGMENT_BYTES
    assert list(state.carry.fragmented)[-1][-1] == 39
    same = [lonely(1, 1480, 60_000) for _ in range(40)]
    _found, state = scan_chunks(twin, [records(same)])
    (packet,) = state.carry.fragmented.values()
    assert sum(len(part.data) for part in packet.early) <= MAX_FRAGMENT_BYTES


def test_the_twins_agree_on_damaged_fragments(twin: Twin) -> None:
    chance = random.Random(44)
    plain = bytes(ETHER / IP(src="10.0.0.9", dst="10.0.0.1", id=7) / segment() / b"short")
    for _ in range(150):
        packets = [*chance.choice(list(KINDS.values())), *chance.choice(list(KINDS.values())), plain, lonely(7, 800, 100)]
        chance.shuffle(packets)
        for index in range(len(packets)):
            raw = bytearray(packets[index])
            if chance.random() < 0.4:
                for _ in range(chance.choice((1, 2, 5))):
                    raw[chance.randrange(min(len(raw), 90))] = chance.choice((0, 1, 6, 44, 0x20, 255, chance.randrange(256)))
            packets[index] = bytes(raw[: chance.choice((len(raw), len(raw), chance.randrange(len(raw) + 1)))])
        times = [chance.choice((0, 1, FRAGMENT_NS, 2 * FRAGMENT_NS, 7)) for _ in packets]
        chunks = [records([packet], [time]) for packet, time in zip(packets, times, strict=True)]
        cut = chance.randrange(len(chunks))
        chunks = [b"".join(chunks[:cut]), b"".join(chunks[cut:])]
        mine, state = scan_chunks(twin, chunks, through_pickle=True)
        pure, pure_state = scan_chunks("pure", chunks)
        assert [columns for _data, columns in mine] == [columns for _data, columns in pure]
        assert state == pure_state
        assert list(state.carry.fragmented) == list(pure_state.carry.fragmented)
