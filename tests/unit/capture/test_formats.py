"""Capture files worked by hand from the pcap and pcapng specifications, through both twins of the scanner."""

from __future__ import annotations

import struct
from typing import Literal

import pytest

from kwire.capture.files.formats import compression_of, identify
from kwire.capture.packet_columns import MAX_PACKET_BYTES, FileState, PacketColumns
from kwire.codec.impl import Twin, load_twin

# An IPv4 packet 1.2.3.4:9092 -> 1.2.3.5:50000, seq 1, ack 2, PSH+ACK, payload "hi", worked by hand; no link layer.
PACKET = bytes.fromhex("4500002a000140004006000001020304010203052384c35000000001000000025018ffff00000000") + b"hi"
RAW = 101


def scan(twin: Twin, data: bytes, whole: bool = True) -> tuple[PacketColumns, FileState]:
    known = identify(data[:24])
    assert known is not None
    state, at = known
    columns: PacketColumns = load_twin("capture", "packets", twin).scan(data, at, state)
    assert (columns.consumed == len(data)) is whole
    return columns, state


Order = Literal["<", ">"]


def block(order: Order, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


def option(order: Order, code: int, value: bytes) -> bytes:
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def section(order: Order) -> bytes:
    return block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(order: Order, link_type: int = RAW, snaplen: int = 0, options: bytes = b"") -> bytes:
    return block(order, 1, struct.pack(order + "HHI", link_type, 0, snaplen) + options)


def enhanced(order: Order, index: int, ticks: int, packet: bytes = PACKET, original: int | None = None, options: bytes = b"") -> bytes:
    head = struct.pack(order + "IIIII", index, ticks >> 32, ticks & 0xFFFFFFFF, len(packet), len(packet) if original is None else original)
    return block(order, 6, head + packet + bytes(-len(packet) % 4) + options)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("magic", "unit", "extra"), [(0xA1B2C3D4, 1000, 0), (0xA1B23C4D, 1, 0), (0xA1B2CD34, 1000, 8)], ids=["micro", "nano", "kuznetzov"]
)
def test_pcap_forms(twin: Twin, order: Order, magic: int, unit: int, extra: int) -> None:
    data = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, RAW)
    data += struct.pack(order + "IIII", 1_700_000_000, 123_456, len(PACKET), len(PACKET)) + bytes(extra) + PACKET
    columns, state = scan(twin, data)
    assert list(columns.time_ns) == [1_700_000_000_000_000_000 + 123_456 * unit]
    assert data[columns.offset[0] :][: columns.captured[0]] == b"hi"
    assert (state.snaplen, state.dropped) == (65535, None)


def test_the_link_field_may_carry_more_than_the_link_type(twin: Twin) -> None:
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 0x2400_0000 | RAW)
    columns, _state = scan(twin, data + struct.pack("<IIII", 1, 1, len(PACKET), len(PACKET)) + PACKET)
    assert len(columns) == 1


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("options", "ticks", "expected"),
    [
        ([], 5, 5_000),
        ([(9, b"\x06")], 5, 5_000),
        ([(9, b"\x09")], 5, 5),
        ([(9, b"\x00")], 5, 5_000_000_000),
        ([(9, b"\x0c")], 5_999, 5),
        ([(9, b"\x1d")], (1 << 64) - 1, 0),
        ([(9, b"\x8a")], 1024 + 512, 1_500_000_000),
        ([(9, b"\xa8")], (1 << 40) + (1 << 39), 1_500_000_000),
        ([(9, b"\x09"), (14, "offset")], 5, 100_000_000_005),
        ([(2, b"eth0"), (9, b"\x09")], 7, 7),
        # a damaged time is never further than 2**63 from another
        ([(9, b"\x09")], (1 << 62) - 1, (1 << 62) - 1),
        ([(9, b"\x09")], 1 << 62, -(1 << 62)),
        ([(9, b"\x09")], 1 << 63, 0),
    ],
)
def test_clocks_of_interfaces(twin: Twin, order: Order, options: list[tuple[int, bytes | str]], ticks: int, expected: int) -> None:
    written = b"".join(option(order, code, struct.pack(order + "q", 100) if isinstance(value, str) else value) for code, value in options)
    columns, _state = scan(twin, section(order) + interface(order, options=written + option(order, 0, b"")) + enhanced(order, 0, ticks))
    assert list(columns.time_ns) == [expected]


def test_a_clock_may_begin_before_1970(twin: Twin) -> None:
    written = option("<", 14, struct.pack("<q", -10))
    columns, _state = scan(twin, section("<") + interface("<", options=written) + enhanced("<", 0, 5))
    assert list(columns.time_ns) == [-10_000_000_000 + 5_000]


def test_sections_interfaces_and_other_blocks(twin: Twin) -> None:
    loop = b"\x00\x00\x00\x02" + PACKET
    data = (
        section("<")
        + interface("<", snaplen=100)
        + interface("<", link_type=108, snaplen=200)
        + block("<", 4, b"\x01\x00\x05\x00\x01\x02\x03\x04a\x00\x00\x00\x00\x00\x00\x00")  # name resolution
        + enhanced("<", 1, 1, loop, options=option("<", 1, b"a comment") + option("<", 0, b""))
        + block("<", 0x0BAD, b"unknown block")
        + enhanced("<", 0, 2)
        + section(">")
        + interface(">", link_type=RAW)
        + enhanced(">", 0, 3)
        + enhanced(">", 1, 4)  # this section has one interface
    )
    columns, state = scan(twin, data)
    assert (list(columns.number), list(columns.time_ns)) == ([1, 2, 3], [1_000, 2_000, 3_000])
    assert [data[offset : offset + 2] for offset in columns.offset] == [b"hi"] * 3
    assert (state.packets, state.unreadable, state.snaplen, len(state.interfaces)) == (4, 1, 200, 1)


def test_simple_packets_have_the_snaplen_of_the_first_interface_and_no_time(twin: Twin) -> None:
    data = section("<") + interface("<", snaplen=41) + enhanced("<", 0, 9) + block("<", 3, struct.pack("<I", len(PACKET)) + PACKET[:41])
    columns, _state = scan(twin, data)
    assert (list(columns.captured), list(columns.original)) == ([2, 1], [2, 2])
    assert list(columns.time_ns) == [9_000, 9_000]


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_obsolete_packet_block(twin: Twin, order: Order) -> None:
    head = struct.pack(order + "HHIIII", 0, 0xFFFF, 1, 2, len(PACKET), len(PACKET))
    columns, _state = scan(twin, section(order) + interface(order) + block(order, 2, head + PACKET))
    assert list(columns.time_ns) == [((1 << 32) + 2) * 1_000]


def test_drops_are_those_of_the_latest_statistics_of_each_interface(twin: Twin) -> None:
    def statistics(order: Order, index: int, *counts: tuple[int, int]) -> bytes:
        written = b"".join(option(order, code, struct.pack(order + "Q", count)) for code, count in counts)
        return block(order, 5, struct.pack(order + "III", index, 0, 0) + written)

    data = section("<") + interface("<") + interface("<")
    assert scan(twin, data)[1].dropped is None
    data += statistics("<", 0, (4, 1000), (5, 3)) + statistics("<", 0, (5, 7), (7, 2)) + statistics("<", 1, (5, 0))
    assert scan(twin, data)[1].dropped == 9
    data += section(">") + interface(">") + statistics(">", 0, (5, 30)) + statistics(">", 4, (5, 1000))
    assert scan(twin, data)[1].dropped == 39


@pytest.mark.parametrize("length", [0, 8, 13, (16 << 20) + 4], ids=["zero", "short", "odd", "huge"])
def test_a_block_of_an_impossible_length_is_damage(twin: Twin, length: int) -> None:
    good = section("<") + interface("<") + enhanced("<", 0, 1)
    columns, _state = scan(twin, good + struct.pack("<III", 6, length, 0) + bytes(100), whole=False)
    assert (columns.consumed, columns.damaged, len(columns)) == (len(good), True, 1)


def test_a_pcap_record_of_an_impossible_length_is_damage(twin: Twin) -> None:
    record = struct.pack("<IIII", 1, 1, len(PACKET), len(PACKET)) + PACKET
    good = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, RAW) + record
    columns, _state = scan(twin, good + struct.pack("<IIII", 1, 1, MAX_PACKET_BYTES + 1, 60) + record, whole=False)
    assert (columns.consumed, columns.damaged, len(columns)) == (len(good), True, 1)


def test_a_record_that_is_not_whole_waits(twin: Twin) -> None:
    data = section("<") + interface("<") + enhanced("<", 0, 1)
    start = len(data)
    data += enhanced("<", 0, 2)
    for end in range(start + 1, len(data)):
        columns, _state = scan(twin, data[:end], whole=False)
        assert (columns.consumed, columns.damaged, len(columns)) == (start, False, 1)


def test_what_is_no_capture() -> None:
    assert identify(b"") is None
    assert identify(b"PK\x03\x04" + bytes(40)) is None
    assert identify(struct.pack("<I", 0xA1B2C3D4)) is None
    assert identify(b"\n\r\r\n" + bytes(20)) is None


def test_compression_is_told_by_its_first_bytes() -> None:
    assert compression_of(b"\x1f\x8b\x08\x00") == "gzip"
    assert compression_of(b"\x28\xb5\x2f\xfd") == "zstd"
    assert compression_of(b"\xd4\xc3\xb2\xa1") is None
