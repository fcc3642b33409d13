"""Both twins find out at the same piece which side is the server, and say the same of the connection before and after."""

from __future__ import annotations

import pickle
import random
from typing import Any

import pytest

from kafka_bytes import framed, head, heartbeat, ok
from kwire.capture.packet_columns import ACK, SYN
from kwire.codec.impl import load_twin
from kwire.protocol.tracking.direction_detection import MAX_UNDECIDED
from kwire.tables import row_sink
from kwire.tables.row_sink import RowSink
from made_packets import CLIENT, SERVER
from read_by_twins import read_connections, sink_tables

NAMED = framed(bytes.fromhex("00120003 00000007 0003617070 00 04 6b676f 03 7631 00"))  # ApiVersions v3 of "app", software kgo v1
VERSIONS = framed(bytes.fromhex("00000007 0000 02 0003 0000 000c 00 00000000 00"))
PRODUCE = framed(bytes.fromhex("00000003 00000009 0003617070 0001 00000001 00000000"))  # Produce v3 with a null transactional id cut short
Piece = tuple[str, int, bytes]


def traffic(chance: random.Random) -> list[Piece]:
    """Pieces of two sides: what was done, the side, and bytes (of a loss as many as are missing)."""
    client = chance.randrange(2)
    sent: list[tuple[int, bytes]] = []
    if chance.random() < 0.5:
        sent.append((chance.randrange(2), chance.randbytes(chance.choice((1, 3, 7, 100)))))
    if chance.random() < 0.4:
        sent += [(client, NAMED), (1 - client, VERSIONS)]
    if chance.random() < 0.2:
        sent.append((client, PRODUCE))
    for number in range(chance.choice((0, 1, 5, 20))):
        sent.append((client, heartbeat(number)))
        if chance.random() < 0.6:
            sent.append((1 - client, ok(number)))
    pieces: list[Piece] = []
    for side, data in sent[chance.randrange(3) :]:
        while data:
            size = chance.choice((1, 5, 30, len(data), len(data)))
            pieces.append(("lost" if chance.random() < 0.05 else "data", side, data[:size]))
            data = data[size:]
    if chance.random() < 0.5:
        pieces.append((chance.choice(("closed", "reset")), chance.randrange(2), b""))
    return pieces


def take(detector: Any, piece: Piece, t: int) -> list[Any]:
    kind, side, data = piece
    if kind == "data":
        return list(detector.receive(side, data, t, t))
    if kind == "lost":
        return list(detector.lost(side, len(data), t, t))
    return list(detector.closed(side, kind == "reset", t, t))


def outcome(twin: str, pieces: list[Piece], ports: tuple[int, int], pickled_at: int) -> list[Any]:
    detector = load_twin("protocol", "direction_detection", twin).DirectionDetector(*ports, frames=True)  # type: ignore[arg-type]
    said: list[Any] = []
    for t, piece in enumerate(pieces):
        if t == pickled_at:
            detector = pickle.loads(pickle.dumps(detector))
        said.append((take(detector, piece, t), detector.server_side, detector.decided_by, detector.summary()))
    said.append((detector.finish(len(pieces)), detector.server_side, detector.decided_by, detector.summary(), repr(detector)))
    return said


@pytest.mark.parametrize("seed", range(150))
def test_both_twins_decide_alike(seed: int) -> None:
    chance = random.Random(seed)
    pieces = traffic(chance)
    ports = chance.choice(((50000, 40000), (40000, 50000)))
    pickled_at = chance.randrange(len(pieces) + 1)
    assert outcome("native", pieces, ports, pickled_at) == outcome("pure", pieces, ports, pickled_at)


@pytest.mark.parametrize("size", [MAX_UNDECIDED - 30, MAX_UNDECIDED + 30])
def test_both_twins_give_up_at_the_same_byte(size: int) -> None:
    """Requests alone, and a last piece that crosses the limit: the reading that is taken has every byte once."""
    frame = framed(head(12, 0, 1) + b"\0\1g" + bytes(4) + (30000).to_bytes(2, "big") + b"m" * 30000)
    data = frame * (size // len(frame) + 1)
    pieces: list[Piece] = [("data", 0, data[:size]), ("data", 0, data[size:] + frame * 3)]
    found = outcome("native", pieces, (40000, 50000), -1)
    assert found == outcome("pure", pieces, (40000, 50000), -1)
    assert found[1][1:3] == (1, "requests")


def test_python_takes_no_piece_of_a_connection_that_was_joined_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither end's port is known to be a broker's: only the response says which side is the server."""
    played = [[(CLIENT, ACK, heartbeat(1)), (SERVER, ACK, ok(1)), (CLIENT, ACK, heartbeat(2))], [(CLIENT, ACK, heartbeat(3))]]
    for name in ("data", "lost", "closed", "ended"):
        monkeypatch.setattr(RowSink, name, None)
    sink = read_connections(played, "native")  # type: ignore[arg-type]
    tables = sink_tables(sink)
    assert [(row["correlation_id"], row["state"]) for row in tables["requests"]] == [(1, "answered"), (2, "unanswered"), (3, "unseen")]
    assert [row["role"] for row in tables["connections"]] == ["client", "client"]


def test_a_request_in_segments_is_not_exported_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of a connection before its first bytes: the detector begins natively."""
    opened: list[tuple[int, int, bytes]] = [(CLIENT, SYN, b""), (SERVER, SYN | ACK, b"")]
    played = [[*opened, (CLIENT, ACK, heartbeat(1)[:9]), (CLIENT, ACK, heartbeat(1)[9:]), (SERVER, ACK, ok(1))]]
    monkeypatch.setattr(row_sink, "Tracked", None)
    tables = sink_tables(read_connections(played, "native"))  # type: ignore[arg-type]
    assert [(row["correlation_id"], row["state"], row["packet_number"]) for row in tables["requests"]] == [(1, "answered", 3)]
