"""Files that are whole, cut, empty, compressed or no captures at all."""

from __future__ import annotations

import gzip
import hashlib
import io
import struct
from pathlib import Path

import pyarrow
import pytest

from kwire.capture.carry import SeriesCarry
from kwire.capture.reader import FileFacts, read_piece
from kwire.capture.tcp import TcpConnection
from kwire.errors import InputError

# Ten packets 1.2.3.4:9092 -> 1.2.3.5:50000, each with two bytes of payload; see test_capture_formats for the bytes.
HEADERS = "4500002a000140004006000001020304010203052384c350{:08x}000000025018ffff00000000"
PACKETS = [bytes.fromhex(HEADERS.format(1 + 2 * index)) + bytes((65 + index, 97 + index)) for index in range(10)]
RECORDS = [struct.pack("<IIII", 1_700_000_000 + index, 5, len(data), len(data)) + data for index, data in enumerate(PACKETS)]
PCAP = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 4096, 101) + b"".join(RECORDS)
STREAM = b"AaBbCcDdEeFfGgHhIiJj"


class Stream:
    def __init__(self) -> None:
        self.bytes = b""

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        assert packet == 1

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        self.bytes += data

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        raise AssertionError("nothing is lost here")

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        raise AssertionError("nothing closes here")

    def ended(self, connection: TcpConnection) -> None:
        raise AssertionError("nothing ends here")


def read(path: Path, chunk_bytes: int = 8 << 20) -> tuple[FileFacts, bytes]:
    heard = Stream()
    return read_piece(str(path), SeriesCarry(), heard, chunk_bytes=chunk_bytes), heard.bytes


def test_facts_of_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(PCAP)
    facts, stream = read(path)
    assert stream == STREAM
    assert facts == FileFacts(
        location=str(path), format="pcap", compression=None, sha256=hashlib.sha256(PCAP).hexdigest(), stored_bytes=len(PCAP),
        start_ns=1_700_000_000_000_005_000, end_ns=1_700_000_009_000_005_000, packets=10, tcp_packets=10, fragments=0, other_packets=0,
        unreadable_packets=0, link_types=(101,), packets_dropped=None, snaplen=4096, packet_bytes=420, packet_bytes_stored=420, bytes_cut=0,
        cut_at=None, cut_reason="",
    )  # fmt: skip


@pytest.mark.parametrize("chunk_bytes", [1, 24, 57, 100, 200])
def test_chunks_of_any_size_give_the_same(tmp_path: Path, chunk_bytes: int) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(PCAP)
    assert read(path, chunk_bytes) == read(path)


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_compressed_files_whatever_their_names(tmp_path: Path, compression: str) -> None:
    stored = pyarrow.compress(PCAP, compression, asbytes=True)
    path = tmp_path / "x.pcap"
    path.write_bytes(stored)
    facts, stream = read(path)
    assert stream == STREAM
    assert (facts.compression, facts.stored_bytes, facts.sha256) == (compression, len(stored), hashlib.sha256(stored).hexdigest())


def test_several_gzip_members_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap.gz"
    path.write_bytes(gzip.compress(PCAP[:300]) + gzip.compress(PCAP[300:]))
    assert read(path)[1] == STREAM


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_a_compressed_file_that_was_cut_keeps_what_came_before(tmp_path: Path, compression: str) -> None:
    many = PCAP + b"".join(
        struct.pack("<IIII", 1, 1, 60, 60) + b"\x00" + hashlib.sha512(bytes((index & 255, index >> 8))).digest()[:59]
        for index in range(3000)
    )
    stored = pyarrow.compress(many, compression, asbytes=True)
    path = tmp_path / "x.pcap.gz"
    path.write_bytes(stored[: len(stored) * 9 // 10])
    facts, stream = read(path)
    assert stream == STREAM
    assert 1500 < facts.packets < 2900
    assert facts.cut_at is not None
    assert "cannot be read on" in facts.cut_reason
    assert facts.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_cut_inside_a_record_tells_where(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    seventh = 24 + sum(map(len, RECORDS[:6]))
    for end in range(seventh + 1, seventh + len(RECORDS[6])):
        path.write_bytes(PCAP[:end])
        facts, stream = read(path, 50)
        assert (stream, facts.packets, facts.cut_at) == (STREAM[:12], 6, seventh)
        assert facts.cut_reason == "the file ends inside a packet record"


def test_damage_with_nothing_to_prove_behind_it_ends_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    seventh = 24 + sum(map(len, RECORDS[:6]))
    path.write_bytes(PCAP[: seventh + 8] + b"\xff\xff\xff\x7f" + PCAP[seventh + 12 : -1])
    facts, stream = read(path)
    assert (stream, facts.cut_at, facts.cut_reason) == (STREAM[:12], seventh, "a record with an impossible length")
    assert facts.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_header_without_packets_is_a_capture(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(PCAP[:24])
    facts, _stream = read(path)
    assert (facts.packets, facts.start_ns, facts.cut_at) == (0, None, None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"time,client\n1,2\n" * 9, "is not a capture file: neither pcap nor pcapng begins with bytes 74696d652c"),
        (gzip.compress(b"time,client\n1,2\n" * 9, mtime=0), "is not a capture file"),
        (PCAP[:20], "truncated pcap header (20 of 24 bytes)"),
        (b"\x1f\x8b\x08\x00 not gzip at all, although it begins so", "cannot be read"),
    ],
)
def test_what_is_no_capture_is_one_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(content)
    carry = SeriesCarry()
    with pytest.raises(InputError) as caught:
        read_piece(str(path), carry, Stream())
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert carry.packets == 0


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_piece(str(tmp_path / "x.pcap"), SeriesCarry(), Stream())
    with pytest.raises(InputError, match="cannot be opened"):
        read_piece("nowhere://x/y.pcap", SeriesCarry(), Stream())


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        read_piece(str(tmp_path), SeriesCarry(), Stream())


def test_uris_and_streams(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(PCAP)
    heard = Stream()
    assert read_piece(path.as_uri(), SeriesCarry(), heard).packets == 10
    assert read_piece(io.BytesIO(PCAP), SeriesCarry(), heard).location == "standard input"
    assert heard.bytes == STREAM * 2


def test_progress_counts_stored_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(PCAP)
    told: list[int] = []
    read_piece(str(path), SeriesCarry(), Stream(), chunk_bytes=100, progress=told.append)
    assert sum(told) == len(PCAP)
    assert len(told) > 3
