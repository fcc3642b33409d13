"""Connections whose first events are kept as bytes: the rows are those of a tracker from the first packet on. And how many may be open."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import pytest

from kwire.capture import carry
from kwire.tables import first_events, from_capture, series
from pcap_files import pieces_of
from read_by_twins import Reader, using

DATA = Path(__file__).parents[2] / "captures" / "data"


def rows_of(data: list[bytes]) -> dict[str, list[Any]]:
    """Rows of each table, sorted: rows of two connections may come in another order."""
    one = Reader()
    for piece in data:
        one.read(piece, 1 << 20)
        one.stored()
    return {table: sorted(map(repr, rows)) for table, rows in one.tables().items()}


@pytest.mark.parametrize("name", ["seed", "late-join", "gap-response", "tcp-tricks", "hostile-requests", "ipv6"])
def test_rows_are_those_of_connections_that_are_tracked_from_the_first_packet_on(
    name: str, twin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = pieces_of(gzip.decompress((DATA / f"{name}.pcap.gz").read_bytes()), 5)
    using(monkeypatch, twin)
    found = rows_of(data)
    monkeypatch.setattr(first_events, "MAX_FIRST_BYTES", 0)
    assert found == rows_of(data)


def flood(count: int) -> bytes:
    """A capture of SYN packets, each from another port, a millisecond apart."""
    records = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for n in range(count):
        tcp = struct.pack(">HHIIBBHHH", 20_000 + n, 9092, 7, 0, 0x50, 2, 65535, 0, 0)
        packet = bytes(12) + b"\x08\0" + struct.pack(">BBHHHBBHII", 0x45, 0, 40, 1, 0, 64, 6, 0, 0x0A000009, 0x0A000001) + tcp
        records.append(struct.pack("<IIII", 1_700_000_000, n * 1000, len(packet), len(packet)) + packet)
    return b"".join(records)


def test_connections_beyond_the_limit_are_ended_and_counted(twin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 at most 32 are open: three go when there are 33, and three more at 33, 36 and 39 in all."""
    using(monkeypatch, twin)
    for module in (carry, series):
        monkeypatch.setattr(module, "MAX_OPEN", 32)
    path = tmp_path / "flood.pcap"
    path.write_bytes(flood(40))
    connections = from_capture(str(path), "connections").to_pylist()
    assert [row["client_port"] for row in connections] == list(range(20_000, 20_040))
    assert {(row["state"], row["protocol"]) for row in connections} == {("open", "silent")}
    said = {row["rule"]: row["explanation"] for row in from_capture(str(path), "violations").to_pylist()}
    text = "More than 32 connections were open at the same time; the 9 that were oldest or silent for longest were ended early."
    assert said["series_connections"] == text
