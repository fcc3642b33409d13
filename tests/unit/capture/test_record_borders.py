"""Record borders found from arbitrary offsets are true ones, whatever the payload looks like."""

from __future__ import annotations

import gzip
import itertools
import random
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.capture.dividing.record_borders import RecordBorders, find_record
from kwire.capture.files.formats import PCAP_HEADER_BYTES, identify
from kwire.capture.packet_columns import MAX_PACKET_BYTES, FileState

DATA = Path(__file__).parents[2] / "captures" / "data"
# little and big endian, nanoseconds; packets are at most this long
CAPTURES = ["seed", "big-endian", "nanosecond", "dribble", "ipv6", "snaplen-96"]
LONGEST = 4096


def capture(name: str) -> bytes:
    return gzip.decompress((DATA / f"{name}.pcap.gz").read_bytes())


def state_of(data: bytes) -> FileState:
    known = identify(data[:24])
    assert known is not None
    return known[0]


def starts_of(data: bytes) -> list[int]:
    """Every record of a whole file, and its end, by walking from the beginning."""
    state, at, found = state_of(data), PCAP_HEADER_BYTES, []
    while at < len(data):
        found.append(at)
        size = int.from_bytes(data[at + 8 : at + 12], "big" if state.big_endian else "little")
        at += state.record_header + size
    assert at == len(data)
    return [*found, at]


def ranges_of(data: bytes, parts: int, longest: int | None = None) -> list[tuple[int, int | None]]:
    """The parts as each reader of one finds them alone."""
    borders = RecordBorders(lambda at, count: data[at : at + count], len(data), parts, state_of(data), longest)
    return [found for part in range(parts) if (found := borders.range_of(part)) is not None]


def pcap(payloads: Sequence[bytes], *, order: str = "<", magic: int = 0xA1B2C3D4) -> bytes:
    extra = bytes(8) if magic == 0xA1B2CD34 else b""
    out = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
    return out + b"".join(
        struct.pack(f"{order}IIII", 1_700_000_000 + index, index, len(payload), len(payload)) + extra + payload
        for index, payload in enumerate(payloads)
    )


@pytest.mark.parametrize("name", CAPTURES)
def test_real_captures_from_any_offset(name: str) -> None:
    data = capture(name)
    starts, state = starts_of(data), state_of(data)
    true = set(starts)
    assert max(late - early for early, late in itertools.pairwise(starts)) <= LONGEST
    proven = 0
    chance = random.Random(name)
    for start in [PCAP_HEADER_BYTES, *chance.sample(range(PCAP_HEADER_BYTES, len(data)), 150)]:
        found = find_record(data, start, state, longest=LONGEST)
        if found is not None:
            proven += 1
            assert found in true
            assert found >= start
        # a part of the file proves the same, or nothing
        part = data[start : start + chance.randrange(1, 40_000)]
        beyond = find_record(part, 0, state, longest=LONGEST)
        if beyond is not None:
            assert start + beyond in true
    assert proven > 75


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("magic", [0xA1B2C3D4, 0xA1B23C4D, 0xA1B2CD34])
def test_all_forms_of_record_headers(order: str, magic: int) -> None:
    chance = random.Random(7)
    data = pcap([chance.randbytes(chance.randrange(300)) for _ in range(200)], order=order, magic=magic)
    true = set(starts_of(data))
    for start in range(PCAP_HEADER_BYTES, len(data) // 2, 37):
        found = find_record(data, start, state_of(data), longest=300)
        assert found in true


def test_captures_inside_payload_do_not_fool() -> None:
    """Somebody copied capture files through Kafka while it was captured: most record headers in the file are payload."""
    inner = capture("seed")
    step = 1400
    chunks = [inner[at : at + step] for at in range(0, len(inner), step)] * 8
    data = pcap([b"frame" * 11 + chunk for chunk in chunks])
    true = set(starts_of(data))
    state = state_of(data)
    chance = random.Random(3)
    proven = 0
    for start in chance.sample(range(PCAP_HEADER_BYTES, len(data) - 60_000), 200):
        found = find_record(data, start, state, longest=2048)
        assert found is None or found in true
        proven += found is not None
    assert proven > 150
    ranges = ranges_of(data, 7, 2048)
    assert len(ranges) > 3
    assert {start for start, _end in ranges} <= true


def test_a_whole_false_file_beside_the_true_one_is_never_taken() -> None:
    """Every packet holds records whose last one leaps over the next true header into the next packet's false ones: two chains that never
    meet. There is no proof then, and none is given."""
    size, leap = 200, 24 + 16 + 40
    packets = []
    for _ in range(300):
        # 40 bytes, then false records of 16 + 24 bytes; the last one is as long as what separates it from the next packet's first
        inner = struct.pack("<IIII", 1, 1, 24, 24) + bytes(24)
        last = struct.pack("<IIII", 1, 1, leap, leap)
        packets.append(bytes(b"\xff" * 40) + inner * 3 + last + b"\xff" * (size - 40 - 120 - 16))
    data = pcap(packets)
    false_start = PCAP_HEADER_BYTES + 16 + 40
    # the false chain is a chain: it leads from packet to packet
    at, seen = false_start, 0
    while at + 16 <= len(data):
        at += 16 + struct.unpack_from("<I", data, at + 8)[0]
        seen += 1
    assert seen > 250 * 4
    true = set(starts_of(data))
    for start in range(PCAP_HEADER_BYTES, 5000, 13):
        found = find_record(data, start, state_of(data), longest=256)
        assert found is None or found in true
    assert ranges_of(data, 4, 256) == [(PCAP_HEADER_BYTES, None)]


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=120),
            st.integers(0, 150).map(bytes),  # zeros read as empty records
            st.integers(0, 40).map(lambda size: pcap([bytes(size), b"x" * size])),
            st.integers(0, 120).map(lambda size: struct.pack("<IIII", 1, 1, size, size) * 3),
        ),
        min_size=1,
        max_size=80,
    ),
    st.data(),
)
def test_whatever_is_proven_is_true(payloads: list[bytes], draw: st.DataObject) -> None:
    data = pcap(payloads)
    longest = max(map(len, payloads))
    start = draw.draw(st.integers(PCAP_HEADER_BYTES, len(data)))
    end = draw.draw(st.integers(start, len(data)))
    found = find_record(data[:end], start, state_of(data), longest=longest)
    assert found is None or found in set(starts_of(data))


@pytest.mark.parametrize("parts", [1, 2, 3, 10, 100])
def test_ranges_cover_the_file(parts: int) -> None:
    data = capture("dribble")
    ranges = ranges_of(data, parts, 600)
    assert ranges[0][0] == PCAP_HEADER_BYTES
    assert ranges[-1][1] is None
    assert all(late[0] == early[1] for early, late in itertools.pairwise(ranges))
    assert {start for start, _end in ranges} <= set(starts_of(data))
    assert len(ranges) <= parts
    if parts in (2, 3, 10):
        assert len(ranges) == parts


def test_a_large_file_is_split_evenly() -> None:
    """With the limits of a real file: packets of 256 KiB, as tcpdump writes down, and of 1 MiB where nothing is said."""
    chance = random.Random(11)
    packets = [chance.randbytes(chance.choice((66, 200, 1514, 1514))) for _ in range(2000)] * 8
    data = pcap(packets)
    for snaplen in (65_535, 0):
        data = data[:16] + struct.pack("<I", snaplen) + data[20:]
        ranges = ranges_of(data, 4)
        assert {start for start, _end in ranges} <= set(starts_of(data))
        assert len(ranges) == 4
        assert all(abs(start - len(data) * part // 4) < 3 * MAX_PACKET_BYTES for part, (start, _end) in enumerate(ranges))


def test_what_is_not_longer_than_a_packet_may_be_is_one_range() -> None:
    assert ranges_of(capture("seed"), 4) == [(PCAP_HEADER_BYTES, None)]


def test_a_file_that_does_not_keep_the_rules_is_not_split() -> None:
    """Some writers store a captured length above the original one: then no chain is the true one's."""
    data = pcap([]) + b"".join([struct.pack("<IIII", 1, 1, 100, 90) + bytes(100)] * 500)
    assert ranges_of(data, 4, 1000) == [(PCAP_HEADER_BYTES, None)]
