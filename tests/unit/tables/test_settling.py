"""Rows of connections that are over do not wait for the end of their series: what waits does not grow with the file."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest

from kwire.tables import iter_series, read_series, series_rows
from kwire.tables.series_rows import SeriesView

PORT = 9092
FIN, SYN, ACK = 1, 2, 16
APP = struct.pack(">hhih", 3, 1, 1, 3) + b"app" + struct.pack(">i", 0)  # Metadata v1 of no topic
REQUEST = struct.pack(">i", len(APP)) + APP
ANSWER = struct.pack(">iiiii", 16, 1, 0, 1, 0)  # no broker, controller 1, no topic
PIECES, CONNECTIONS = 3, 10_000  # the latter in each piece: more packets than are read between two looks at what is over


def packet(seconds: int, client: int, to_broker: bool, seq: int, ack: int, flags: int, payload: bytes) -> bytes:
    ends = [(0x0A000000 + client, 40000), (0x0A800001, PORT)]
    (source, source_port), (target, target_port) = ends if to_broker else ends[::-1]
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 40 + len(payload), 0, 0, 64, 6, 0, source, target)
    tcp = struct.pack(">HHIIBBHHH", source_port, target_port, seq, ack, 5 << 4, flags, 1000, 0, 0)
    data = ip + tcp + payload
    return struct.pack("<IIII", seconds, 0, len(data), len(data)) + data


def detector(number: int) -> bytes:
    end, answered = 1 + len(REQUEST), 1 + len(ANSWER)
    steps = [
        (True, 0, 0, SYN, b""), (False, 0, 1, SYN | ACK, b""), (True, 1, 1, ACK, REQUEST), (False, 1, end, ACK, ANSWER),
        (True, end, answered, FIN | ACK, b""), (False, answered, end + 1, FIN | ACK, b""), (True, end + 1, answered + 1, ACK, b""),
    ]  # fmt: skip
    return b"".join(packet(number, number, *step) for step in steps)


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A connection a second, each closed after one request: those before the last minute are over."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    paths = [tmp_path_factory.mktemp("settling") / f"x_{piece}.pcap" for piece in range(PIECES)]
    for piece, path in enumerate(paths):
        path.write_bytes(head + b"".join(detector(piece * CONNECTIONS + number) for number in range(CONNECTIONS)))
    return [str(path) for path in paths]


def test_what_waits_does_not_grow_with_the_file(pieces: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series_rows, "SETTLE_BYTES", 1 << 16)
    settled: list[int] = []

    def take(view: SeriesView) -> None:
        requests = view.table("requests")
        assert requests.column("client_key").null_count == 0
        assert sorted(requests.column("connection_id").to_pylist()) == sorted(view.connections.column("connection_id").to_pylist())
        settled.append(len(view.connections))

    with read_series(pieces, ports=(PORT,), settle=take) as rows:
        left = len(rows.connections)
        assert rows.table("requests").num_rows == left
    assert sum(settled) + left == PIECES * CONNECTIONS
    assert len(settled) == PIECES
    assert left < CONNECTIONS


def test_views_of_a_series_hold_each_row_once(pieces: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series_rows, "SETTLE_BYTES", 1 << 16)
    tables = []
    for view in iter_series(pieces[:2], ports=(PORT,)):
        tables.append(view.table("requests"))
        assert tables[-1].column("client_key").null_count == 0
    assert len(tables) > 1
    ids = pa.concat_tables(tables).column("connection_id").to_pylist()
    assert len(ids) == len(set(ids)) == 2 * CONNECTIONS
