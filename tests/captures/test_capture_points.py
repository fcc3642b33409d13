"""The same traffic captured at two points and read with ``--group-files overlap`` gives the rows that one good capture gives."""

from __future__ import annotations

import gzip
import random
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest

from kwire import tables
from kwire.capture.files.capture_points import clock_offsets, location_of_points, names_in, points_of
from kwire.capture.files.formats import identify
from kwire.capture.files.inputs import expand_inputs
from kwire.capture.files.series import group_series
from kwire.capture.packet_columns import PacketColumns
from kwire.codec.impl import load_twin
from kwire.errors import InputError
from pcap_files import records_of

DATA = Path(__file__).parent / "data"
PORT = 20192
PROVENANCE = {"capture", "packet_number", "series"}
TIMES = {"request_time", "response_time", "latency_us", "first_seen", "last_seen"}
SECOND = 1_000_000_000


class Packet(NamedTuple):
    time_ns: int
    frame: bytes

    @property
    def to_broker(self) -> bool:
        return int.from_bytes(self.frame[36:38], "big") == PORT


def packets_of(name: str) -> Iterator[Packet]:
    for record in records_of(gzip.decompress((DATA / f"{name}.gz").read_bytes())):
        seconds, fraction = struct.unpack_from("<II", record)
        yield Packet(seconds * SECOND + fraction * 1000, record[16:])


def pcap(packets: list[Packet]) -> bytes:
    head = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
    return head + b"".join(struct.pack("<IIII", time // SECOND, time % SECOND, len(frame), len(frame)) + frame for time, frame in packets)


def counted(table: pa.Table, without: set[str]) -> Counter[str]:
    names = [name for name in table.column_names if name not in without | PROVENANCE]
    return Counter(map(repr, table.select(names).to_pylist()))


class Both(NamedTuple):
    requests: Counter[str]
    connections: Counter[str]


def read(*locations: str, without: set[str] = frozenset()) -> Both:  # type: ignore[assignment]
    with tables.read_series(locations, "x", (PORT,)) as found:
        return Both(counted(found.table("requests"), without), counted(found.connections, without))


def together(folder: Path, *points: list[Packet]) -> str:
    folder /= "points"
    folder.mkdir()
    for index, packets in enumerate(points):
        (folder / f"point-{index}.pcap").write_bytes(pcap(packets))
    files, _missing = expand_inputs([str(folder)])
    (series,) = group_series(files, "points")
    (piece,) = series.pieces
    assert len(points_of(piece.location)) == len(points)
    return piece.location


@pytest.fixture(params=["seed.pcap", "overlapping-segments.pcap", "reordered-duplicated.pcap"])
def packets(request: pytest.FixtureRequest) -> list[Packet]:
    return list(packets_of(request.param))


@pytest.fixture
def alone(packets: list[Packet], tmp_path: Path) -> Callable[[set[str]], Both]:
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "x.pcap").write_bytes(pcap(packets))
    return lambda without: read(str(tmp_path / "alone" / "x.pcap"), without=without)


def test_a_few_microseconds_later(packets: list[Packet], alone: Callable[[set[str]], Both], tmp_path: Path) -> None:
    later = [Packet(time + 3000, frame) for time, frame in packets]
    found = read(together(tmp_path, packets, later))
    expected = alone(set())
    assert found.requests == expected.requests
    # copies inside one capture are told by neighbours, which the merge keeps apart
    assert found.connections == expected.connections


@pytest.mark.parametrize("packets", ["seed.pcap", "overlapping-segments.pcap"], indirect=True)
def test_clocks_apart_and_a_way_between(packets: list[Packet], alone: Callable[[set[str]], Both], tmp_path: Path) -> None:
    """The broker's clock is 5 s ahead, and the way takes 3 us (more does not fit between question and answer on a loopback): the client's
    point tells all times."""
    broker = [Packet(packet.time_ns + 5 * SECOND + (3000 if packet.to_broker else -3000), packet.frame) for packet in packets]
    broker.sort(key=lambda packet: packet.time_ns)
    assert read(together(tmp_path, packets, broker)) == alone(set())


@pytest.mark.parametrize("seed", range(4))
def test_what_one_point_dropped_the_other_has(seed: int, packets: list[Packet], alone: Callable[[set[str]], Both], tmp_path: Path) -> None:
    chance = random.Random(seed)
    first, second = [], []
    for packet in packets:
        lost_by = chance.choice((0, 1, 2, 2, 2))
        if lost_by != 0:
            first.append(packet)
        if lost_by != 1:
            second.append(Packet(packet.time_ns + 7000, packet.frame))
    # a healed packet has the other point's time
    found, expected = read(together(tmp_path, first, second), without=TIMES), alone(TIMES)
    assert found.requests == expected.requests
    assert "'gaps': 0" in next(iter(found.connections))
    assert all("'gaps': 0" in row for row in found.connections)


def test_segments_cut_in_another_way_are_copies_too(tmp_path: Path) -> None:
    """Where a card cuts segments, one point sees a large one without a checksum and the other small ones with."""
    packets = list(packets_of("seed.pcap"))
    (tmp_path / "x.pcap").write_bytes(pcap(packets))
    small = []
    for time, frame in packets:
        header = 34 + (frame[46] >> 4 << 2)
        payload, seq = frame[header:], int.from_bytes(frame[38:42], "big")
        pieces = [payload[at : at + 50] for at in range(0, len(payload), 50)] or [b""]
        for index, piece in enumerate(pieces):
            flags = frame[47] if index == len(pieces) - 1 else frame[47] & ~1
            head = frame[:38] + struct.pack(">I", seq + 50 * index & 0xFFFFFFFF) + frame[42:47] + bytes((flags,)) + frame[48:header]
            total = struct.pack(">H", header - 14 + len(piece))
            small.append(Packet(time + 9000 + index, head[:16] + total + head[18:50] + b"\xab\xcd" + head[52:] + piece))
    (tmp_path / "both").mkdir()
    found = read(together(tmp_path / "both", packets, small))
    assert found == read(str(tmp_path / "x.pcap"))


def test_points_with_rotated_files_of_their_own(tmp_path: Path) -> None:
    packets = list(packets_of("seed.pcap"))
    (tmp_path / "x.pcap").write_bytes(pcap(packets))
    folder = tmp_path / "both"
    folder.mkdir()
    for name, shift, cuts in (("at-client", 0, (0, 100, 250, 433)), ("from-broker", 2000, (0, 13, 400, 433))):
        for number, (start, end) in enumerate(pairwise(cuts)):
            part = [Packet(time + shift, frame) for time, frame in packets[start:end]]
            (folder / f"{name}_{number:05}.pcap").write_bytes(pcap(part))
    files, _missing = expand_inputs([str(folder)])
    (series,) = group_series(files, "points")
    assert read(series.pieces[0].location) == read(str(tmp_path / "x.pcap"))


def test_a_file_of_one_point_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    packets = list(packets_of("seed.pcap"))
    (tmp_path / "x.pcap").write_bytes(pcap(packets))
    (tmp_path / "y_1.pcap").write_bytes(pcap(packets[:50]))
    (tmp_path / "y_2.pcap").write_bytes(b"no capture at all, only text")
    location = location_of_points([[str(tmp_path / "x.pcap")], [str(tmp_path / "y_1.pcap"), str(tmp_path / "y_2.pcap")]])
    with tables.read_series([location], "x", (PORT,)) as found:
        assert counted(found.table("requests"), set()) == read(str(tmp_path / "x.pcap")).requests
        rules = found.table("violations").to_pylist()
        assert any(row["rule"] == "capture_cut" and "y_2.pcap is not a capture file" in row["explanation"] for row in rules)
    with pytest.raises(InputError, match="does not exist"):
        read(location_of_points([[str(tmp_path / "x.pcap")], [str(tmp_path / "none.pcap")]]))


def test_what_is_damaged_at_one_point_is_counted_and_seen_at_the_other(tmp_path: Path) -> None:
    data = gzip.decompress((DATA / "seed.pcap.gz").read_bytes())
    size = int.from_bytes(data[32:36], "little")  # of the first packet
    (tmp_path / "x.pcap").write_bytes(data)
    (tmp_path / "y.pcap").write_bytes(data[: 48 + size] + b"\xff" * 8 + data[56 + size :])  # the lengths of the second record
    location = location_of_points([[str(tmp_path / "x.pcap")], [str(tmp_path / "y.pcap")]])
    second = 16 + int.from_bytes(data[48 + size : 52 + size], "little")
    with tables.read_series([location], "x", (PORT,)) as found:
        assert found.table("captures")["bytes_damaged"].to_pylist() == [second]
        assert [row["rule"] for row in found.table("violations").to_pylist() if row["rule"].startswith("capture")] == ["capture_damaged"]
        assert counted(found.table("requests"), set()) == read(str(tmp_path / "x.pcap")).requests


def test_locations_of_points_can_hold_any_name() -> None:
    points = [["a,b|c%.pcap", "s3://bucket/x y.pcap?region=eu"], ["points:z.pcap"]]
    location = location_of_points(points)
    assert points_of(location) == points
    assert names_in(location) == [location, *points[0], *points[1]]
    assert names_in("a|b.pcap") == ["a|b.pcap"]


def test_clocks_are_compared_by_packets_there_and_back() -> None:
    packets = list(packets_of("seed.pcap"))

    def columns(shift: Callable[[Packet], int]) -> PacketColumns:
        data = pcap([Packet(packet.time_ns + shift(packet), packet.frame) for packet in packets])
        known = identify(data[:24])
        assert known is not None
        found: PacketColumns = load_twin("capture", "packets", "pure").scan(data, known[1], known[0])
        return found

    first = columns(lambda _packet: 0)
    ahead = columns(lambda packet: 3 * SECOND + (80_000 if packet.to_broker else -80_000))
    behind = columns(lambda packet: -7000 + (80_000 if packet.to_broker else -80_000))
    assert clock_offsets([first, ahead, behind, PacketColumns()]) == [0, 3 * SECOND, -7000, 0]
