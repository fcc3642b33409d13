"""Both twins give the same verdict on whatever opens a connection: every opening that is known, whole, cut at every byte and in pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kwire.capture.packet_columns import ACK, FIN, SYN
from kwire.codec.impl import load_twin
from kwire.protocol.tracking import foreign_protocols
from kwire.protocol.tracking.connection import Connection as PureConnection
from many_connections import CLIENT, SERVER, read_connections, tables_of

BEHIND = b" \r\n\0\1 something that follows"
PROXY_V2 = bytes.fromhex("0d0a0d0a000d0a515549540a 2111000c cb007107 c6336409 c8224ee0")
API_VERSIONS = bytes.fromhex("0000001500120000000000010007686f7374696c65") + bytes(4)

CLIENTS: list[bytes] = [
    *foreign_protocols._CLIENT_OPENINGS,
    *(opening + BEHIND for opening in foreign_protocols._CLIENT_OPENINGS),
    *(len(opening + BEHIND).to_bytes(4, "big") + opening + BEHIND for opening in foreign_protocols._FRAMED_OPENINGS),
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
    *(size.to_bytes(4, "big") + bytes(size) for size in range(10)),
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

Pieces = list[tuple[int, bytes]]


def detectors(first: int, openings: list[bytes], answer: bytes = b"") -> list[Pieces]:
    """Each opening whole, up to each of its bytes, in two pieces cut at each byte, and byte by byte; a side and bytes each."""
    made: list[Pieces] = []
    for data in openings:
        made += [[(first, data[:size])] for size in range(1, len(data) + 1)]
        made += [[(first, data[:size]), (first, data[size:])] for size in range(1, len(data))]
        made += [[(first, data[at : at + 1]) for at in range(len(data))], [(first, data), (1 - first, answer)]]
    return [[(side, data) for side, data in pieces if data] for pieces in made]


CASES = {
    "clients": detectors(CLIENT, CLIENTS, b"N"),
    "servers": detectors(SERVER, SERVERS),
    "servers that a Kafka client has dialled": [[(CLIENT, API_VERSIONS), *pieces] for pieces in detectors(SERVER, SERVERS, API_VERSIONS)],
}


def read(twin: str, played: list[Pieces], ended: bool) -> dict[str, list[dict[str, Any]]]:
    """What the tables say of connections, each from its SYN on, and, where they ended, with both FIN."""
    ends = [(CLIENT, FIN | ACK, b""), (SERVER, FIN | ACK, b"")] if ended else []
    shake = [(CLIENT, SYN, b""), (SERVER, SYN | ACK, b"")]
    return tables_of(read_connections([[*shake, *((side, ACK, piece) for side, piece in pieces), *ends] for pieces in played], twin))


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "open"])
@pytest.mark.parametrize("name", CASES)
def test_the_tables_of_both_twins_agree(name: str, ended: bool) -> None:
    pure, native = (read(twin, CASES[name], ended) for twin in ("pure", "native"))
    assert len(pure["connections"]) == len(CASES[name])
    for table, rows in pure.items():
        assert native[table] == rows, table


@pytest.mark.parametrize("name", CASES)
def test_the_trackers_of_both_twins_agree(name: str) -> None:
    made: tuple[Callable[..., Any], ...] = load_twin("protocol", "tracker", "native").Connection, PureConnection
    for pieces in CASES[name]:
        said: list[list[Any]] = []
        for make in made:
            one, events = make(), []
            for at, (side, data) in enumerate(pieces):
                events += (one.receive_request_bytes if side == CLIENT else one.receive_response_bytes)(data, at, at)
            said.append([*events, *one.finish(99), one.protocol, one.summary()])
        assert said[0] == said[1], pieces


@pytest.mark.parametrize("twin", ["pure", "native"])
@pytest.mark.parametrize("code", ["04d2162e", "04d2162f", "04d21630"], ids=["CancelRequest", "SSLRequest", "GSSENCRequest"])
def test_postgresql_is_recognised_by_its_first_eight_bytes(code: str, twin: str) -> None:
    """https://www.postgresql.org/docs/current/protocol-message-formats.html: length 8, code 1234.5678 and its neighbours."""
    asked = bytes.fromhex("00000008" + code)
    for pieces in ([(CLIENT, asked)], [(CLIENT, asked[:5]), (CLIENT, asked[5:])], [(CLIENT, asked), (SERVER, b"N")]):
        found = read(twin, [pieces], ended=True)
        assert [row["protocol"] for row in found["connections"]] == ["postgres"]
        assert found["violations"] == []
