"""A capture that comes through a pipe packet by packet: what is read at once, and what a batch of rows costs."""

from __future__ import annotations

import gzip
import io
import os
import struct
from pathlib import Path

import pytest

from kwire.cli import standard_input
from kwire.tables import flowing_rows, iter_pieces

CAPTURE = gzip.decompress((Path(__file__).parents[3] / "examples" / "upgrade-fleet.pcap.gz").read_bytes())


def packets_of(data: bytes) -> list[bytes]:
    """The header of a pcap file, then each of its packets."""
    found, at = [data[:24]], 24
    while at < len(data):
        end = at + 16 + struct.unpack_from("<I", data, at + 8)[0]
        found.append(data[at:end])
        at = end
    return found


class Drips(io.RawIOBase):
    """Gives a packet with each read, as tcpdump -U does."""

    def __init__(self, parts: list[bytes]) -> None:
        super().__init__()
        self.parts = parts[::-1]

    def readable(self) -> bool:
        return True

    def read1(self, _size: int = -1) -> bytes:
        return self.parts.pop() if self.parts else b""


def test_packets_that_come_one_by_one_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    read_end, write_end = os.pipe()

    class Stdin:
        buffer = os.fdopen(read_end, "rb")

    monkeypatch.setattr("sys.stdin", Stdin)
    monkeypatch.setattr(standard_input, "_GATHER_SECONDS", 30.0)
    pauses = iter((b"b", b"c", b""))  # what comes while the reader pauses, then the end

    def pause(_seconds: float) -> None:
        if part := next(pauses):
            os.write(write_end, part)
        else:
            os.close(write_end)

    monkeypatch.setattr(standard_input.time, "sleep", pause)
    os.write(write_end, b"a")
    with standard_input.waiting_input() as stream, Stdin.buffer:
        assert stream.read1(1000) == b"abc"  # type: ignore[attr-defined]


def test_a_batch_looks_only_at_the_connections_of_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look costs as much as a row; a broker has thousands of open connections."""
    looked = []
    real = flowing_rows.tracked_on
    monkeypatch.setattr(flowing_rows, "tracked_on", lambda connection: looked.append(connection) or real(connection))
    rows = [batch for batches in iter_pieces([Drips(packets_of(CAPTURE))], "pipe") for batch in batches["requests"]]
    count = sum(batch.num_rows for batch in rows)
    assert 0 < len(looked) <= count
    assert None not in {key for batch in rows for key in batch.column("client_key").to_pylist()}
