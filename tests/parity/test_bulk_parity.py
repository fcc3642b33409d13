"""The native tracker gives the tables that Python's rules give: row for row, on captures and on made-up traffic, however it is cut."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafka_frames import Frames
from kwire.capture.packet_columns import ACK, FIN, RST, SYN, PacketColumns
from kwire.tables.row_sink import RowSink
from pcap_files import cut_to, random_pieces_of
from read_by_twins import Reader, check, using

DATA = Path(__file__).parents[1] / "captures" / "data"
CUT = ["gap-response", "hostile-requests", "ipv6", "late-join", "seed", "tcp-tricks"]


def capture(name: str) -> bytes:
    return gzip.decompress((DATA / f"{name}.pcap.gz").read_bytes())


def test_tables_of_captures(capture_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.decompress(capture_path.read_bytes())
    found = check(monkeypatch, lambda one: one.read(data, 1 << 20))
    assert found["connections"]


@pytest.mark.parametrize("count", [pytest.param(2, marks=pytest.mark.whole), 12])
@pytest.mark.parametrize("name", CUT)
def test_tables_of_pieces_with_the_carry_pickled_in_between(name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = random_pieces_of(capture(name), count, count)

    def work(one: Reader) -> None:
        for number, piece in enumerate(pieces):
            one.read(piece, 1 << 20)
            if number % 2 == 0:
                one.stored()

    check(monkeypatch, work)


SNAPLENS = pytest.mark.parametrize("snaplen", [pytest.param(96, marks=pytest.mark.whole), 128, pytest.param(256, marks=pytest.mark.whole)])


@SNAPLENS
@pytest.mark.parametrize("name", CUT)
def test_tables_of_captures_cut_by_snaplen(name: str, snaplen: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = cut_to(capture(name), snaplen)
    check(monkeypatch, lambda one: one.read(data, 1 << 20))


@SNAPLENS
def test_tables_of_a_fleet_cut_by_snaplen(snaplen: int, fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = cut_to(gzip.decompress(fleet.read_bytes()), snaplen)
    check(monkeypatch, lambda one: one.read(data, 1 << 20))


@pytest.mark.whole
def test_tables_of_pieces_whose_packets_are_cut(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The carry is pickled while damaged frames wait for their end."""
    pieces = random_pieces_of(cut_to(gzip.decompress(fleet.read_bytes()), 140), 12, 3)

    def work(one: Reader) -> None:
        for piece in pieces:
            one.read(piece, 1 << 20)
            one.stored()

    check(monkeypatch, work)


@pytest.mark.parametrize("chunk_bytes", [200, 5000])
def test_tables_in_chunks_of_any_size(chunk_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = capture("seed")
    check(monkeypatch, lambda one: one.read(data, chunk_bytes))


@pytest.mark.parametrize("snaplen", [65535, 256, 128])
def test_the_fast_path_does_the_work(snaplen: int, fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's sink takes no packet of ordinary traffic, whole or cut."""
    data = cut_to(gzip.decompress(fleet.read_bytes()), snaplen)
    using(monkeypatch, "native")
    for name in ("data", "lost", "closed", "ended"):
        monkeypatch.setattr(RowSink, name, None)
    one = Reader()
    one.read(data, 1 << 20)
    assert one.carry.streams.packets > 1000


def test_a_response_that_is_never_finished_is_told_alike(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three consumers of the capture leave while a Fetch response is under way, and the RST meets the rest of it."""
    data = gzip.decompress(fleet.read_bytes())
    found = check(monkeypatch, lambda one: one.read(data, 1 << 20))
    assert sum(row["rule"] == "frame_unfinished" for row in found["violations"]) == 3


def test_a_port_keeps_other_connections_out(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.decompress(fleet.read_bytes())
    for ports, count in (((19092,), 152), ((1,), 0)):
        for twin in ("pure", "native"):
            using(monkeypatch, twin)
            one = Reader(ports)
            one.read(data, 1 << 20)
            assert len(one.tables().get("connections", [])) == count


# Made-up traffic: frames of Kafka's own making over TCP with all that can go wrong.

KEY = bytes([4, 10, 0, 0, 1, 0x23, 0x84, 10, 0, 0, 9, 0x80, 1])  # a: 10.0.0.1:9092, b: 10.0.0.9:32769
CLIENT, SERVER = 1, 0


# What happens next: a request of an api in a case, a response to one that waits (0: the first) or to none, damage to a frame.
REQUEST = st.tuples(st.just("request"), st.integers(0, 10_000), st.integers(0, 6))
RESPONSE = st.tuples(st.just("response"), st.sampled_from([0, 0, 0, 0, 0, 1, 9]), st.integers(0, 6))
DAMAGE = st.tuples(st.just("damage"), st.sampled_from(["flip", "cut", "more", "length"]), st.integers(0, 1000))
TALK = st.lists(st.one_of(REQUEST, RESPONSE, REQUEST, RESPONSE, REQUEST, RESPONSE, DAMAGE), min_size=1, max_size=14)
COMMON = [
    (18, 3),
    (3, 12),
    (0, 9),
    (1, 12),
    (1, 4),
    (10, 4),
    (11, 7),
    (12, 4),
    (14, 5),
    (8, 8),
    (9, 8),
    (2, 7),
    (19, 7),
    (36, 2),
    (17, 1),
    (0, 3),
    (71, 0),
    (72, 0),
]


def stream_of(talk: list[Any], frames: Frames) -> list[tuple[int, bytes]]:
    """The bytes of both sides in the order in which they are sent."""
    sent: list[tuple[int, bytes]] = []
    waiting: list[tuple[tuple[int, int], int]] = []
    damage: tuple[str, int] | None = None
    for number, (what, one, two) in enumerate(talk):
        if what == "damage":
            damage = one, two
            continue
        if what == "request":
            api = COMMON[one % len(COMMON)] if one % 3 else frames.apis[one % len(frames.apis)]
            payload, side = frames.frame(api, "request", two, number), CLIENT
            waiting.append((api, number))
        else:
            if one >= len(waiting):
                api, correlation_id = (3, 12), 4711
            else:
                api, correlation_id = waiting.pop(one)
            payload, side = frames.frame(api, "response", two, correlation_id), SERVER
        length = len(payload)
        if damage is not None:
            payload, length, damage = *damaged(payload, *damage), None
        sent.append((side, struct.pack(">i", length) + payload))
    return sent


def damaged(payload: bytes, how: str, where: int) -> tuple[bytes, int]:
    at = where % len(payload)
    if how == "flip":
        payload = payload[:at] + bytes([payload[at] ^ 1 << where % 8]) + payload[at + 1 :]
    elif how == "cut":
        payload = payload[: max(at, 1)]
    elif how == "more":
        payload += b"?" * (1 + where % 5)
    return payload, len(payload) + (where % 30 if how == "length" else 0)


def packets_of(sent: list[tuple[int, bytes]], sizes: list[int], accidents: dict[int, str], ending: str, late: bool) -> list[list[Any]]:
    """Segments on the wire: [direction, seq, ack, flags, payload], with accidents by their number."""
    numbers = [(1 << 32) - 40, 7_000]
    packets: list[list[Any]] = []

    def add(side: int, flags: int, payload: bytes = b"") -> None:
        packets.append([side, numbers[side] & 0xFFFFFFFF, numbers[1 - side] & 0xFFFFFFFF if flags & ACK else 0, flags, payload])
        numbers[side] += len(payload) + bool(flags & (SYN | FIN))

    add(CLIENT, SYN)
    add(SERVER, SYN | ACK)
    add(CLIENT, ACK)
    turn = 0
    for side, data in sent:
        while data:
            size = sizes[turn % len(sizes)]
            add(side, ACK, data[:size])
            data = data[size:]
            turn += 1
    if ending != "none":
        add(CLIENT if ending in ("client", "reset") else SERVER, RST | ACK if ending == "reset" else FIN | ACK)
        if ending != "reset":
            add(SERVER if ending == "client" else CLIENT, FIN | ACK)
    for at, what in sorted(accidents.items(), reverse=True):
        if 3 <= at < len(packets):
            if what == "lost":
                del packets[at]
            elif what == "twice":
                packets.insert(at, packets[at])
            elif what == "again":
                packets.insert(min(at + 3, len(packets)), packets[at])
            elif what == "swapped" and at + 1 < len(packets):
                packets[at], packets[at + 1] = packets[at + 1], packets[at]
            elif what == "cut" and len(packets[at][4]) > 1:
                packets[at] = [*packets[at], len(packets[at][4]) // 2]
    return packets[4:] if late else packets


def columns_of(packets: list[list[Any]]) -> tuple[bytes, PacketColumns]:
    data, columns = bytearray(), PacketColumns(keys=[KEY])
    for number, (direction, seq, ack, flags, payload, *kept) in enumerate(packets, 1):
        captured = kept[0] if kept else len(payload)
        columns.number.append(number)
        columns.time_ns.append(1_700_000_000_000_000_000 + number * 1_234_567)
        columns.key.append(0)
        columns.direction.append(direction)
        columns.seq.append(seq)
        columns.ack.append(ack)
        columns.flags.append(flags)
        columns.offset.append(len(data))
        columns.captured.append(captured)
        columns.original.append(len(payload))
        columns.signature.append(seq ^ len(payload))
        data += payload[:captured]
    return bytes(data), columns


ACCIDENTS = st.dictionaries(st.integers(3, 40), st.sampled_from(["lost", "twice", "again", "swapped", "cut"]), max_size=3)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    talk=TALK,
    sizes=st.lists(st.sampled_from([1, 3, 4, 9, 40, 100, 1460, 9000]), min_size=1, max_size=5),
    accidents=ACCIDENTS | st.just({}),
    ending=st.sampled_from(["client", "server", "reset", "none"]),
    late=st.sampled_from([False, False, False, True]),
    cut=st.integers(0, 40),
    pickled=st.booleans(),
    missing=st.sampled_from([0, 0, 0, 1, 6, 25, 60]),
)
def test_tables_of_made_up_traffic(
    talk: list[Any], sizes: list[int], accidents: dict[int, str], ending: str, late: bool, cut: int, pickled: bool, missing: int,
    frames: Frames,
) -> None:  # fmt: skip
    sent = stream_of(talk, frames)
    if missing and sent:  # the last frame is never finished
        sent[-1] = sent[-1][0], sent[-1][1][:-missing]
    packets = packets_of(sent, sizes, accidents, ending, late)

    def work(one: Reader) -> None:
        one.carry.sink.begin_file("a file")
        for part in (packets[:cut], packets[cut:]):
            one.carry.streams.take(*columns_of(part), one.carry.sink)
            one.take()
            if pickled:
                one.stored()

    with pytest.MonkeyPatch.context() as monkeypatch:
        check(monkeypatch, work)
