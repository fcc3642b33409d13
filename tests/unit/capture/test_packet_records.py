"""pcapng files say more than packets: comments, keys, journals. Trimming takes that out and leaves what readers need."""

from __future__ import annotations

import gzip
import struct
from itertools import pairwise
from pathlib import Path

import pytest

from kwire.capture.files.formats import identify
from kwire.capture.trimming.packet_records import Erasure, PacketRecord, RecordWalker
from kwire.capture.trimming.trim import trim
from kwire.tables import from_capture

DATA = Path(__file__).parents[2] / "captures" / "data"
SECRETS = 10
JOURNAL = 9
CUSTOM = 0x0BAD
NAMES = 4


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = 12 + len(body)
    return struct.pack(f"{order}II", kind, length) + body + struct.pack(f"{order}I", length)


def option(order: str, code: int, value: bytes) -> bytes:
    return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)


def blocks_of(data: bytes) -> tuple[str, list[bytes]]:
    order = "<" if data[8:12] == b"\x4d\x3c\x2b\x1a" else ">"
    found, at = [], 0
    while at < len(data):
        length = struct.unpack_from(f"{order}I", data, at + 4)[0]
        found.append(data[at : at + length])
        at += length
    return order, found


def with_comment(order: str, packet: bytes, comment: bytes) -> bytes:
    """An enhanced packet block with a comment and a hash for options."""
    captured = struct.unpack_from(f"{order}I", packet, 20)[0]
    body = packet[8 : 28 + captured + (-captured % 4)]
    return block(order, 6, body + option(order, 1, comment) + option(order, 3, b"\2" + b"hash") + option(order, 0, b""))


@pytest.fixture
def talkative(tmp_path: Path) -> Path:
    """A real pcapng file to which somebody added what tools add."""
    order, blocks = blocks_of(gzip.decompress((DATA / "real.pcapng.gz").read_bytes()))
    first = next(index for index, each in enumerate(blocks) if struct.unpack_from(f"{order}I", each)[0] == 6)
    added = [
        block(order, SECRETS, struct.pack(f"{order}II", 0x544C534B, 18) + b"CLIENT_RANDOM keys"),
        block(order, JOURNAL, b"MESSAGE=password of the host"),
        block(order, CUSTOM, struct.pack(f"{order}I", 32473) + b"custom words"),
        block(order, NAMES, struct.pack(f"{order}HH", 1, 9) + b"\x7f\0\0\1host\0" + bytes(3) + bytes(4)),
        block(order, 5, struct.pack(f"{order}III", 0, 0, 0) + option(order, 1, b"statistics comment") + option(order, 0, b"")),
    ]
    blocks = [*blocks[:first], *added, with_comment(order, blocks[first], b"my comment"), *blocks[first + 1 :]]
    path = tmp_path / "talkative.pcapng"
    path.write_bytes(b"".join(blocks))
    return path


def test_what_a_file_says_beside_packets_goes(talkative: Path, tmp_path: Path) -> None:
    before = talkative.read_bytes()
    trim([(str(talkative), str(tmp_path / "out.pcapng"))])
    after = (tmp_path / "out.pcapng").read_bytes()
    assert len(after) == len(before)
    for words in (b"CLIENT_RANDOM", b"password of the host", b"custom words", b"my comment", b"statistics comment", b"hash"):
        assert words in before
        assert words not in after
    assert b"\x7f\0\0\1host" in after, "names of hosts are no secrets: addresses are shown too"
    drop = ["capture", "series"]
    for table in ("requests", "connections", "violations"):
        assert from_capture(str(talkative), table).drop(drop) == from_capture(str(tmp_path / "out.pcapng"), table).drop(drop)


def test_records_are_told_as_the_scan_counts_them(talkative: Path) -> None:
    data = talkative.read_bytes()
    known = identify(data[:24])
    assert known is not None
    walker = RecordWalker(known[0])
    told = list(walker.walk(data, 0, len(data)))
    packets = [each for each in told if isinstance(each, PacketRecord)]
    assert [each.number for each in packets] == list(range(1, len(packets) + 1))
    assert len(packets) == from_capture(str(talkative), "captures")["packets"][0].as_py()
    erased = b"".join(data[each.at : each.end] for each in told if isinstance(each, Erasure))
    assert b"my comment" in erased
    spans = sorted((each.at, each.end) for each in told if each.at < each.end)
    assert all(before[1] <= behind[0] for before, behind in pairwise(spans)), "nothing is told twice"


@pytest.mark.parametrize("cut", [1, 7, 11, 15, 16, 30, 100])
@pytest.mark.parametrize("name", ["seed.pcap", "real.pcapng"])
def test_the_end_of_a_torn_file_is_filled(name: str, cut: int, tmp_path: Path) -> None:
    data = gzip.decompress((DATA / f"{name}.gz").read_bytes())[:-cut]
    (tmp_path / name).write_bytes(data)
    (report,) = trim([(str(tmp_path / name), str(tmp_path / f"out-{name}"))])
    after = (tmp_path / f"out-{name}").read_bytes()
    assert len(after) == len(data)
    assert report.damage == "it ends inside a packet record"
    columns = ["rule", "explanation"]
    before_rows, after_rows = (
        from_capture(str(path), "violations").select(columns) for path in (tmp_path / name, tmp_path / f"out-{name}")
    )
    assert before_rows == after_rows


def test_a_record_of_impossible_length_ends_the_file(tmp_path: Path) -> None:
    data = gzip.decompress((DATA / "seed.pcap.gz").read_bytes())
    order = "<" if data[0] in (0xD4, 0x4D) else ">"
    # the time of the first record is near that of the last: with another one the last would count as damaged too
    bad = data + data[24:32] + struct.pack(f"{order}II", 1 << 30, 1 << 30) + b"secret behind it"
    (tmp_path / "bad.pcap").write_bytes(bad)
    (report,) = trim([(str(tmp_path / "bad.pcap"), str(tmp_path / "out.pcap"))])
    after = (tmp_path / "out.pcap").read_bytes()
    assert report.damage == "a record has an impossible length"
    assert after[len(data) :] == bad[len(data) : len(data) + 16]
