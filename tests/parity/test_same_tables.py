"""The native tracker gives the tables that Python's rules give, row for row: one table of traffic, and how it is cut."""

from __future__ import annotations

import gzip
import itertools
import random
import struct
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kafka_bytes import framed, heartbeat, ok
from kwire.capture.packet_columns import ACK, FIN, RST, SYN
from kwire.capture.tls.session_keys import TlsOptions, tls_options
from kwire.codec.impl import load_twin
from kwire.protocol.tracking import foreign_protocols
from kwire.protocol.tracking.connection import Connection as PureConnection
from kwire.tables.row_sink import RowSink
from made_packets import CLIENT, MISSING, SERVER, Packets
from pcap_files import cut_to, random_pieces_of
from read_by_twins import Reader, check, read_connections, sink_tables, using
from tls_capture import KEY_LOG, PACKET, blocks

DATA = Path(__file__).parents[1] / "captures" / "data"
FLEET = Path(__file__).parents[2] / "examples" / "upgrade-fleet.pcap.gz"  # many clients and APIs
CUT = ["gap-response", "hostile-requests", "ipv6", "late-join", "seed", "tcp-tricks"]
Work = Callable[[Reader], None]


def capture(name: str) -> bytes:
    return gzip.decompress((FLEET if name == "fleet" else DATA / f"{name}.pcap.gz").read_bytes())


def cut(name: str, snaplen: int = 1 << 16, pieces: int = 1, chunk_bytes: int = 1 << 20, stored_every: int = 1) -> Work:
    """Read a capture cut by snaplen into files with random borders; the state is stored and restored behind every so many of them."""

    def work(one: Reader) -> None:
        data = cut_to(capture(name), snaplen)
        for number, piece in enumerate(random_pieces_of(data, pieces, pieces) if pieces > 1 else [data]):
            one.read(piece, chunk_bytes)
            if pieces > 1 and number % stored_every == 0:
                one.stored()

    return work


def case(label: str, work: Work, whole: bool = False) -> Any:
    return pytest.param(work, id=label, marks=[pytest.mark.whole] if whole else [])


CUT_CAPTURES = [
    *(case(f"{name} in {n} pieces", cut(name, pieces=n, stored_every=2), n == 2) for name in CUT for n in (2, 12)),
    *(case(f"{name} cut to {n}", cut(name, snaplen=n), n != 128) for name in [*CUT, "fleet"] for n in (96, 128, 256)),
    case("fleet cut to 140 in 12 pieces", cut("fleet", 140, 12), whole=True),  # stored while damaged frames wait for their end
    *(case(f"seed in chunks of {n}", cut("seed", chunk_bytes=n)) for n in (200, 5000)),
]


def test_captures(capture_path: Path) -> None:
    found = check(lambda one: one.read(gzip.decompress(capture_path.read_bytes()), 1 << 20))
    assert found["connections"]
    if capture_path == FLEET:  # three consumers leave while a Fetch response is under way, and the RST meets the rest of it
        assert sum(row["rule"] == "frame_unfinished" for row in found["violations"]) == 3


@pytest.mark.parametrize("work", CUT_CAPTURES)
def test_captures_that_are_cut(work: Work) -> None:
    check(work)


@pytest.mark.parametrize("snaplen", [65535, 256, 128])
def test_the_fast_path_does_the_work(snaplen: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's sink takes no packet of ordinary traffic, whole or cut."""
    using(monkeypatch, "native")
    for name in ("data", "lost", "closed", "ended"):
        monkeypatch.setattr(RowSink, name, None)
    one = Reader()
    one.read(cut_to(capture("fleet"), snaplen), 1 << 20)
    assert one.carry.streams.packets > 1000


@pytest.mark.parametrize(("ports", "count"), [((19092,), 152), ((1,), 0)])
def test_a_port_keeps_other_connections_out(ports: tuple[int, ...], count: int) -> None:
    assert len(check(cut("fleet"), ports).get("connections", [])) == count


# Encrypted connections: their blocks, with and without the keys

KEYS = TlsOptions((str(KEY_LOG),))
TCP_FLAGS = 14 + 20 + 13  # in a packet of Ethernet and IPv4
PORTS = (9093, 9094, 9095, 19093, 19094)
HEADS = b"".join(block for block in blocks() if block[:4] != PACKET)
PACKETS = [block for block in blocks() if block[:4] == PACKET]


def lacking(share: float) -> list[bytes]:
    rnd = random.Random(str(share))
    return [block for block in PACKETS if rnd.random() >= share]


def without_syn(seed: int) -> list[bytes]:
    rnd = random.Random(seed)
    return [each for each in PACKETS if rnd.random() >= 0.01 and not (each[28 + TCP_FLAGS] & SYN and rnd.random() < 0.8)]


def changed(seed: int) -> list[bytes]:
    """Record lengths, types, hellos and ciphertext that are damaged anywhere; most near the beginning of a segment."""
    rnd, out = random.Random(seed), []
    for block in PACKETS:
        made = bytearray(block)
        end = 28 + struct.unpack_from("<I", block, 20)[0]
        first = 28 + 66  # behind the headers of Ethernet, IPv4 and TCP with time stamps
        if end > first and rnd.random() < 0.15:
            for _ in range(rnd.choice((1, 3, 20))):
                at = first + int(rnd.random() ** 3 * (end - first))
                made[at] = rnd.choice((made[at] ^ 1 << rnd.randrange(8), 0, 255, 0x16, 3))
        out.append(bytes(made))
    return out


# packets, in how many pieces (a seed for random borders when it is negative), options, ports
ENCRYPTED: dict[str, tuple[list[bytes], int, TlsOptions, tuple[int, ...]]] = {
    "whole": (PACKETS, 1, KEYS, ()),
    "without keys": (PACKETS, 1, TlsOptions(), ()),
    **{f"in {count} pieces": (PACKETS, count, KEYS, ()) for count in (2, 13)},
    **{f"without {share} of the packets": (lacking(share), 1, KEYS, ()) for share in (0.001, 0.01, 0.1)},
    **{f"joined late, {len(ports)} ports": (PACKETS[len(PACKETS) // 3 :], 1, KEYS, ports) for ports in ((), PORTS)},
    # stored while first bytes say neither what is spoken nor by whom
    **{f"most SYNs missing {n}": (without_syn(n), -n - 1, (KEYS, TlsOptions())[n % 2], ()) for n in range(6)},
    **{f"with changed bytes {n}": (changed(n), 1, KEYS, ()) for n in range(3)},
}


@pytest.mark.parametrize("name", ENCRYPTED)
def test_encrypted_connections(name: str) -> None:
    packets, count, options, ports = ENCRYPTED[name]
    borders = [len(packets) * number // count for number in range(count + 1)] if count > 0 else None
    borders = borders or [0, *sorted(random.Random(count).sample(range(len(packets)), 12)), len(packets)]

    def work(one: Reader) -> None:
        for first, last in pairwise(borders):
            one.read(HEADS + b"".join(packets[first:last]), 1 << 20)
            one.stored()

    with tls_options(options):
        assert check(work, ports)["connections"]


@pytest.mark.parametrize("first", [0, len(PACKETS) // 3])
def test_decrypted_streams_stay_out_of_python(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's sink takes no piece of an encrypted connection, of one that was joined late neither."""
    using(monkeypatch, "native")
    for name in ("data", "lost", "closed", "ended"):
        monkeypatch.setattr(RowSink, name, None)
    with tls_options(KEYS):
        one = Reader()
        one.read(HEADS + b"".join(PACKETS[first:]), 1 << 20)
        assert len(one.tables()["requests"]) >= 50


# Connections made by hand: what opens them, whole, cut at every byte and in pieces, and how they end

BEHIND = b" \r\n\0\1 something that follows"
PROXY_V2 = bytes.fromhex("0d0a0d0a000d0a515549540a 2111000c cb007107 c6336409 c8224ee0")
API_VERSIONS = bytes.fromhex("0000001500120000000000010007686f7374696c65") + bytes(4)
CLIENTS: list[bytes] = [
    *foreign_protocols._CLIENT_OPENINGS,
    *(opening + BEHIND for opening in foreign_protocols._CLIENT_OPENINGS),
    *(framed(opening + BEHIND) for opening in foreign_protocols._FRAMED_OPENINGS),
    bytes.fromhex("0000002c 00000000 0000000000000000 00007530 0000000000000000 00000010") + bytes(16),  # ZooKeeper
    bytes.fromhex("0000000f 0000000b 0802 1207 0a0568656c6c6f"),  # Pulsar
    bytes.fromhex("00000000 fffffffc 080212"),  # no size of a command is 4 less than 0
    *(bytes.fromhex("00000008") + code.to_bytes(4, "big") for code in sorted(foreign_protocols._POSTGRES_CODES)),
    *(bytes.fromhex("00000029 00030000") + name + b"app\0\0" for name in foreign_protocols._POSTGRES_PARAMETERS),
    bytes.fromhex("0000000c 00030000 00000007 00000000"),  # Metadata v0, which a start-up reads as
    bytes.fromhex("160301008d0100008903030001020304"),
    bytes.fromhex("15030300020100"),
    bytes.fromhex("160301000000000000"),
    b"*1\r\n$4\r\nPING\r\n",
    b"*not redis",
    b"PROXY TCP4 203.0.113.7 198.51.100.9 51234 20192\r\n" + API_VERSIONS,
    b"PROXY TCP4 203.0.113.7 198.51.100.9 51234 20192\r\n" + bytes.fromhex("0000000804d2162f"),
    PROXY_V2 + API_VERSIONS,
    API_VERSIONS,
    API_VERSIONS[:4] + bytes.fromhex("1388") + API_VERSIONS[6:],  # an api that no release has
    *(framed(bytes(size)) for size in range(10)),
    bytes.fromhex("fffffffe0012"),
    bytes.fromhex("7fffffff0012"),
    bytes.fromhex("e7eee7615ef35f30"),
]
SERVERS: list[bytes] = [
    *foreign_protocols._SERVER_OPENINGS,
    *(opening + BEHIND for opening in foreign_protocols._SERVER_OPENINGS),
    bytes.fromhex("4a0000000a") + b"8.0.36\0",
    bytes.fromhex("160303007a0200007603"),
    bytes.fromhex("00000010000000010000"),
    b"N",  # PostgreSQL: no encryption
    bytes.fromhex("fffffff70000"),
]
SHAKE: Packets = [(CLIENT, SYN, b""), (SERVER, SYN | ACK, b"")]
ENDS: Packets = [(CLIENT, FIN | ACK, b""), (SERVER, FIN | ACK, b"")]


def openings(first: int, data: list[bytes], answer: bytes = b"") -> list[Packets]:
    """Each opening whole, up to each of its bytes, in two pieces cut at each byte, and byte by byte."""
    made: list[list[tuple[int, bytes]]] = []
    for each in data:
        made += [[(first, each[:size])] for size in range(1, len(each) + 1)]
        made += [[(first, each[:size]), (first, each[size:])] for size in range(1, len(each))]
        made += [[(first, each[at : at + 1]) for at in range(len(each))], [(first, each), (1 - first, answer)]]
    return [[(side, ACK, piece) for side, piece in pieces if piece] for pieces in made]


OPENINGS = {
    "clients": openings(CLIENT, CLIENTS, b"N"),
    "servers": openings(SERVER, SERVERS),
    "servers that a Kafka client has dialled": [[(CLIENT, ACK, API_VERSIONS), *each] for each in openings(SERVER, SERVERS, API_VERSIONS)],
}
SENT: Packets = [*SHAKE, (CLIENT, ACK, b""), *ENDS, (CLIENT, RST, b""), (SERVER, RST | ACK, b"")]
PLAYED: dict[str, list[Packets]] = {
    **{f"{name}, open": [[*SHAKE, *each] for each in played] for name, played in OPENINGS.items()},
    **{f"{name}, ended": [[*SHAKE, *each, *ENDS] for each in played] for name, played in OPENINGS.items()},
    **{f"any {n} of SYN, FIN and RST": [list(each) for each in itertools.product(SENT, repeat=n)] for n in (1, 2, 3, 4)},
}


@pytest.mark.parametrize("name", PLAYED)
def test_made_connections(name: str) -> None:
    pure, native = (sink_tables(read_connections(PLAYED[name], twin)) for twin in ("pure", "native"))
    assert len(pure["connections"]) >= len(PLAYED[name])
    assert native == pure


@pytest.mark.parametrize("name", OPENINGS)
def test_trackers_say_the_same_of_what_opens_a_connection(name: str) -> None:
    for packets in OPENINGS[name]:
        said: list[list[Any]] = []
        for make in (load_twin("protocol", "tracker", "native").Connection, PureConnection):
            one, events = make(), []
            for at, (side, _, data) in enumerate(packets):
                events += (one.receive_request_bytes if side == CLIENT else one.receive_response_bytes)(data, at, at)
            said.append([*events, *one.finish(99), one.protocol, one.summary()])
        assert said[0] == said[1], packets


def test_a_loss_does_not_say_that_the_server_is_out_of_sight() -> None:
    """Its FIN is in the capture, so requests that come free with a later loss are unanswered, not unseen."""
    asked = ["0000000c01f4ffff0000", "0005000000", "01", "00000044fe534d424000", 46 * "00", 16 * "00"]
    asked.append("00000014000300010000000400036170700000000500 0174")
    more = ["0000231400110000", "0000000400036170700005504c41494e"]
    packets: Packets = [
        (SERVER, SYN | ACK, b""), *((CLIENT, ACK, bytes.fromhex(each)) for each in asked), (SERVER, FIN | ACK, b""),
        *((CLIENT, ACK, bytes.fromhex(each)) for each in more), (CLIENT, ACK | MISSING, bytes(11)), (CLIENT, FIN | ACK, b""),
    ]  # fmt: skip
    assert {row["state"] for row in check(lambda one: one.play([packets]))["requests"]} == {"unanswered"}


def test_bytes_that_may_be_tls_are_judged_before_they_are_split() -> None:
    """A record's first byte alone does not say that it is one: the connection is Kafka's all the same."""
    response = bytes.fromhex("17")  # the end of a response that the capture has not seen begin
    packets: Packets = [(SERVER, ACK, response), (CLIENT, ACK, heartbeat(1)), (SERVER, ACK, ok(1)), (CLIENT, ACK, heartbeat(2))]
    rows = check(lambda one: one.play([packets]))["requests"]
    assert [(row["correlation_id"], row["state"]) for row in rows] == [(1, "answered"), (2, "unanswered")]
