"""A capture with bad bytes in it is read on at the next record that several records in a row prove; files are made by hand."""

from __future__ import annotations

import gzip
import random
import struct
from pathlib import Path

import pytest

from kwire.capture.carry import SeriesCarry
from kwire.capture.files import damaged_records
from kwire.capture.files.damaged_records import Damage, read_behind_damage
from kwire.capture.files.formats import identify
from kwire.capture.reader import FileFacts, read_piece
from kwire.capture.tcp import TcpConnection

# Packets 1.2.3.4:9092 -> 1.2.3.5:50000 of LINKTYPE_RAW, each with two bytes of payload.
IP_HEADER = bytes.fromhex("4500002a00014000400600000102030401020305")
TCP_HEADER = "2384c350{:08x}000000025018ffff"


def packet(index: int, payload: bytes) -> bytes:
    """With its TCP checksum (RFC 1071): the 16-bit words of addresses, protocol, length, header and payload."""
    before = bytes.fromhex(TCP_HEADER.format(1 + 2 * index))
    words = struct.unpack(">15H", IP_HEADER[12:] + struct.pack(">HH", 6, 22) + before + payload)
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return IP_HEADER + before + struct.pack(">H", 0xFFFF - total) + bytes(2) + payload


PACKETS = [packet(index, b"%02d" % index) for index in range(60)]
SECONDS = 1_700_000_000
HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 4096, 101)
RECORDS = [struct.pack("<IIII", SECONDS + index, 5, 42, 42) + data for index, data in enumerate(PACKETS)]
RECORD_BYTES = 16 + 42

SECTION = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
INTERFACE = struct.pack("<IIHHII", 1, 20, 101, 0, 4096, 20)
BLOCK_BYTES = 28 + 44 + 4


def block(index: int, data: bytes) -> bytes:
    ticks = (SECONDS + index) * 1_000_000
    return (
        struct.pack("<IIIIIII", 6, BLOCK_BYTES, 0, ticks >> 32, ticks & 0xFFFFFFFF, 42, 42)
        + data
        + bytes(2)
        + struct.pack("<I", BLOCK_BYTES)
    )


BLOCKS = [block(index, data) for index, data in enumerate(PACKETS)]
FILES = {"pcap": (HEAD, RECORDS), "pcapng": (SECTION + INTERFACE, BLOCKS)}


class Heard:
    """The payload that came, and how many bytes between did not."""

    def __init__(self) -> None:
        self.bytes = b""
        self.missing = 0

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        self.bytes += data

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        self.missing += count

    def opened(self, *_: object) -> None: ...
    def closed(self, *_: object) -> None: ...
    def ended(self, *_: object) -> None: ...


def read(path: Path, content: bytes, chunk_bytes: int = 1 << 20) -> tuple[FileFacts, Heard]:
    path.write_bytes(content)
    heard = Heard()
    carry = SeriesCarry()
    facts = read_piece(str(path), carry, heard, chunk_bytes=chunk_bytes)
    carry.finish(heard)
    return facts, heard


def payload(*ranges: range) -> bytes:
    return b"".join(b"%02d" % index for each in ranges for index in each)


@pytest.mark.parametrize("chunk_bytes", [1 << 20, 100])
@pytest.mark.parametrize("kind", FILES)
def test_bad_bytes_cost_the_records_that_they_touch(tmp_path: Path, kind: str, chunk_bytes: int) -> None:
    """Ten records are overwritten from the length of the eleventh on: the other fifty are read."""
    head, records = FILES[kind]
    size = len(records[0])
    whole = head + b"".join(records)
    first = len(head) + 10 * size
    bad = first + (8 if kind == "pcap" else 4)
    content = whole[:bad] + b"\xff" * (10 * size - bad + first) + whole[first + 10 * size :]
    facts, heard = read(tmp_path / "x", content, chunk_bytes)
    assert (facts.packets, facts.damages, facts.damage_count, facts.damaged_bytes) == (50, (Damage(first, 10 * size),), 1, 10 * size)
    assert (facts.cut_at, facts.cut_reason) == (None, "")
    assert (heard.bytes, heard.missing) == (payload(range(10), range(20, 60)), 20)
    assert facts.end_ns == (SECONDS + 59) * 1_000_000_000 + (5_000 if kind == "pcap" else 0)


def test_random_bytes_in_a_compressed_file(tmp_path: Path) -> None:
    """Bytes that went missing or came in move the records behind them; what gzip holds was damaged before it was packed."""
    noise = random.Random(1).randbytes(2048)
    at = 24 + 30 * RECORD_BYTES
    content = HEAD + b"".join(RECORDS)
    facts, heard = read(tmp_path / "x.gz", gzip.compress(content[:at] + b"\xff" * 16 + noise + content[at + 7 :]))
    # the 31st record lost its first seven bytes
    assert (facts.packets, facts.damages) == (59, (Damage(at, 16 + 2048 + RECORD_BYTES - 7),))
    assert (heard.bytes, heard.missing) == (payload(range(30), range(31, 60)), 2)


def test_a_length_that_reaches_behind_the_end(tmp_path: Path) -> None:
    """What it covers is searched too: one bad bit in a length cost all that followed."""
    at = 24 + 20 * RECORD_BYTES
    whole = HEAD + b"".join(RECORDS)
    facts, heard = read(tmp_path / "x", whole[: at + 8] + struct.pack("<I", 1 << 19) + whole[at + 12 :])
    assert (facts.packets, facts.damages, facts.cut_at) == (59, (Damage(at, RECORD_BYTES),), None)
    assert heard.missing == 2


@pytest.mark.parametrize("left", range(1, 6))
def test_few_records_count_where_they_end_with_the_file(tmp_path: Path, left: int) -> None:
    at = 24 + 20 * RECORD_BYTES
    behind = b"".join(RECORDS[21 : 21 + left])
    content = HEAD + b"".join(RECORDS[:20]) + b"\xff" * RECORD_BYTES + behind
    facts, _ = read(tmp_path / "x", content)
    assert (facts.packets, facts.damages) == (20 + left, (Damage(at, RECORD_BYTES),))
    # of four a whole chain is there; of three nothing proves that they are no payload
    cut, _ = read(tmp_path / "x", content + RECORDS[40][:20])
    assert cut.packets == (20 + left if left >= 4 else 20)
    assert cut.cut_at == (len(content) if left >= 4 else at)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda record: struct.pack("<I", SECONDS + 40 * 86_400) + record[4:], "a time 40 days away"),
        (lambda record: record[:4] + struct.pack("<I", 1_000_000) + record[8:], "a million microseconds"),
        (lambda record: record[:12] + struct.pack("<I", 41) + record[16:], "more bytes captured than there were"),
        (lambda record: record[:16] + b"\x42" + record[17:], "an IP header of 8 bytes"),
    ],
)
def test_what_no_record_can_be(tmp_path: Path, change, what: str) -> None:
    """The first record behind the damage is odd, the ones behind it are not: it is not read."""
    content = HEAD + b"".join(RECORDS[:20]) + b"\xff" * RECORD_BYTES + change(RECORDS[21]) + b"".join(RECORDS[22:])
    facts, heard = read(tmp_path / "x", content)
    assert facts.damages == (Damage(24 + 20 * RECORD_BYTES, 2 * RECORD_BYTES),), what
    assert heard.bytes == payload(range(20), range(22, 60))


def unproven(record: bytes) -> bytes:
    """Its checksum says nothing: it was captured before the card made it."""
    return record[:52] + bytes(2) + record[54:]


@pytest.mark.parametrize("chunk_bytes", [1 << 20, 100])
def test_a_record_in_front_of_damage_counts_where_its_checksum_is_right(tmp_path: Path, chunk_bytes: int) -> None:
    """The header of the 21st record is overwritten with noise, which may have begun in the 20th record."""
    at = 24 + 19 * RECORD_BYTES
    bad = random.Random(2).randbytes(16) + RECORDS[20][16:]
    facts, _ = read(tmp_path / "x", HEAD + b"".join(RECORDS[:20]) + bad + b"".join(RECORDS[21:]), chunk_bytes)
    assert (facts.packets, facts.damages) == (59, (Damage(at + RECORD_BYTES, RECORD_BYTES),))
    facts, heard = read(tmp_path / "x", HEAD + b"".join(RECORDS[:19]) + unproven(RECORDS[19]) + bad + b"".join(RECORDS[21:]), chunk_bytes)
    assert (facts.packets, facts.damages) == (58, (Damage(at, 2 * RECORD_BYTES),))
    assert heard.bytes == payload(range(19), range(21, 60))
    # only the length is bad: the time in front of it is right, so the damage begins behind the time
    bad = RECORDS[20][:8] + b"\xff" * 8 + RECORDS[20][16:]
    facts, _ = read(tmp_path / "x", HEAD + b"".join(RECORDS[:19]) + unproven(RECORDS[19]) + bad + b"".join(RECORDS[21:]), chunk_bytes)
    assert (facts.packets, facts.damages) == (59, (Damage(at + RECORD_BYTES, RECORD_BYTES),))


@pytest.mark.parametrize("chunk_bytes", [1 << 20, 100])
def test_a_hole_of_zeros_is_no_packets(tmp_path: Path, chunk_bytes: int) -> None:
    """A crash leaves blocks of zeros: 16 of them would be a record without a byte, captured in 1970."""
    at = 24 + 20 * RECORD_BYTES
    whole = HEAD + b"".join(RECORDS)
    for records in (RECORDS, [unproven(record) for record in RECORDS]):
        whole = HEAD + b"".join(records)
        facts, _ = read(tmp_path / "x", whole[:at] + bytes(4096) + whole[at:], chunk_bytes)
        assert (facts.packets, facts.unreadable_packets, facts.damages) == (60, 0, (Damage(at, 4096),))
        assert facts.start_ns == SECONDS * 1_000_000_000 + 5_000
        facts, _ = read(tmp_path / "x", whole + bytes(4096), chunk_bytes)
        assert (facts.packets, facts.damages, facts.cut_at) == (60, (), len(whole))


def test_empty_records_are_records(tmp_path: Path) -> None:
    """Three in a row may be, also in 1970 where the capture is of that time; four with nothing in them are a hole."""
    times = [struct.pack("<II", index, 5) + record[8:] for index, record in enumerate(RECORDS)]
    for count, packets in ((1, 61), (3, 63), (4, 60), (40, 60)):
        content = HEAD + b"".join(times[:20]) + bytes(16 * count) + b"".join(times[20:])
        facts, heard = read(tmp_path / "x", content)
        assert (facts.packets, facts.damaged_bytes, heard.missing) == (packets, 0 if packets > 60 else 16 * count, 0), count


@pytest.mark.parametrize("at", [0, 1, 30, 59])
@pytest.mark.parametrize("seconds", [0, SECONDS - 86_400, SECONDS + 86_400, SECONDS + 100_000_000, 0xFFFFFFFF])
@pytest.mark.parametrize("kind", FILES)
def test_a_time_that_leaps_costs_nothing(tmp_path: Path, kind: str, seconds: int, at: int) -> None:
    """All records are whole: a capture that was appended may have one packet, and a clock may be set."""
    head, records = FILES[kind]
    odd = timed(kind, at, seconds)
    facts, heard = read(tmp_path / "x", head + b"".join([*records[:at], odd, *records[at + 1 :]]))
    assert (facts.packets, facts.damages, facts.cut_at) == (60, (), None)
    assert facts.start_ns is not None
    assert facts.start_ns // 10**9 == min(seconds, SECONDS + (at == 0))
    assert heard.bytes == payload(range(60))


def timed(kind: str, index: int, seconds: int) -> bytes:
    """The record of a packet with another time."""
    return struct.pack("<I", seconds) + RECORDS[index][4:] if kind == "pcap" else block(seconds - SECONDS, PACKETS[index])


@pytest.mark.parametrize("chunk_bytes", [1 << 20, 100])
@pytest.mark.parametrize("kind", FILES)
def test_times_of_any_order_are_read(tmp_path: Path, kind: str, chunk_bytes: int) -> None:
    """As after `mergecap -a`, and of generators that write random times; the last record is cut."""
    seconds = random.Random(3).choices(range(1 << 32), k=60)
    content = FILES[kind][0] + b"".join(timed(kind, index, each) for index, each in enumerate(seconds))
    facts, heard = read(tmp_path / "x", content[:-10], chunk_bytes)
    assert (facts.packets, facts.damages, heard.bytes) == (59, (), payload(range(59)))


@pytest.mark.parametrize("days", [60, -60])
@pytest.mark.parametrize("kind", FILES)
def test_what_follows_damage_may_be_of_another_time(tmp_path: Path, kind: str, days: int) -> None:
    """No other border is there, and the records lead to the end of the file."""
    head, records = FILES[kind]
    later = b"".join(timed(kind, index, SECONDS + days * 86_400 + index) for index in range(21, 60))
    facts, heard = read(tmp_path / "x", head + b"".join(records[:20]) + b"\xff" * len(records[20]) + later)
    assert (facts.packets, facts.damages) == (59, (Damage(len(head) + 20 * len(records[0]), len(records[0])),))
    assert heard.bytes == payload(range(20), range(21, 60))


@pytest.mark.parametrize("pause", [3600, 86_400, 400 * 86_400, -7200, -400 * 86_400])
@pytest.mark.parametrize("kind", FILES)
def test_a_pause_is_no_damage(tmp_path: Path, kind: str, pause: int) -> None:
    """Nor is a clock that was set, or a file that was put behind another one."""
    content = FILES[kind][0]
    for index in range(60):
        if kind == "pcap":
            content += struct.pack("<I", SECONDS + index + pause * (index >= 30)) + RECORDS[index][4:]
        else:
            content += block(index + pause * (index >= 30), PACKETS[index])
    facts, heard = read(tmp_path / "x", content)
    assert (facts.packets, facts.damages, facts.cut_at, heard.missing) == (60, (), None, 0)


@pytest.mark.parametrize(
    "change",
    [
        lambda index, record: struct.pack("<I", SECONDS + 7200 * index) + record[4:],  # a packet in two hours
        lambda index, record: record[:12] + bytes(4) + record[16:],  # no length on the wire
    ],
)
def test_a_file_of_odd_records_is_read(tmp_path: Path, change) -> None:
    facts, heard = read(tmp_path / "x", HEAD + b"".join(change(index, record) for index, record in enumerate(RECORDS)))
    assert (facts.packets, facts.damages, heard.bytes) == (60, (), payload(range(60)))


def test_a_block_counts_where_both_its_lengths_agree(tmp_path: Path) -> None:
    """Damage that ends inside a block, or begins there, reaches its second length or its first one."""
    at = len(SECTION + INTERFACE) + 20 * BLOCK_BYTES
    whole = SECTION + INTERFACE + b"".join(BLOCKS)
    facts, heard = read(tmp_path / "x", whole[: at + 60] + bytes(BLOCK_BYTES) + whole[at + 60 + BLOCK_BYTES :])
    assert (facts.packets, facts.damages) == (58, (Damage(at, 2 * BLOCK_BYTES),))
    assert heard.bytes == payload(range(20), range(22, 60))


def test_damage_to_the_end_is_an_end(tmp_path: Path) -> None:
    content = HEAD + b"".join(RECORDS[:20]) + b"\xff" * 10_000
    facts, _ = read(tmp_path / "x", content)
    assert (facts.packets, facts.damages, facts.cut_at) == (20, (), 24 + 20 * RECORD_BYTES)
    assert facts.cut_reason == "a record with an impossible length"


def test_many_damages_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(damaged_records, "MAX_DAMAGES", 3)
    parts = [b"".join(RECORDS[at : at + 5]) + b"\xff" * 20 for at in range(0, 55, 5)]
    facts, heard = read(tmp_path / "x", HEAD + b"".join(parts) + b"".join(RECORDS[55:]))
    assert (facts.packets, len(facts.damages), facts.damage_count, facts.damaged_bytes) == (60, 3, 11, 220)
    assert heard.missing == 0


def test_a_search_costs_what_it_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    """Damage behind every fifth record of a big chunk must not look through the chunk each time."""
    known = identify(HEAD)
    assert known is not None
    looked = []
    whole = damaged_records._PcapRecords.candidates

    def candidates(self, data: bytes, start: int, stop: int) -> list[int]:
        looked.append(stop - start)
        return whole(self, data, start, stop)

    monkeypatch.setattr(damaged_records._PcapRecords, "candidates", candidates)
    data, skipped = read_behind_damage(b"\xff" * 20 + b"".join(RECORDS) * 500, lambda _: b"", known[0])
    assert (skipped, data[:16]) == (20, RECORDS[0][:16])
    assert sum(looked) <= 1 << 12
