"""Encrypted connections give the same tables through the native tracker as through Python's rules, however they are cut and damaged."""

from __future__ import annotations

import io
import random
import struct
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from kwire.capture import impl as capture_impl
from kwire.capture import reader
from kwire.capture.tls.session_keys import TlsOptions, tls_options
from kwire.codec.impl import load_twin
from kwire.tables import impl, series
from kwire.tables.carry_state import pack_carry, unpack_carry
from kwire.tables.row_sink import RowSink
from tls_capture import KEY_LOG, PACKET, blocks

KEYS = TlsOptions((str(KEY_LOG),))
TCP_FLAGS = 14 + 20 + 13  # in a packet of Ethernet and IPv4
SYN = 2


def tables(pieces: list[bytes], options: TlsOptions, ports: tuple[int, ...] = ()) -> dict[str, Any]:
    found: dict[str, list[pa.RecordBatch]] = {}

    def take() -> None:
        sink = carry.sink
        for table in ("requests", "connections"):
            found.setdefault(table, []).extend(sink.take(table, whole=True))
        found.setdefault("violations", []).extend(sink.violations.take(whole=True))
        for name, builder in sink.observed.builders.items():
            found.setdefault(name, []).extend(builder.take(whole=True))

    with tls_options(options):
        carry = series.begin_series("s", ports)
        for piece in pieces:
            carry.sink.begin_file("a file")
            reader.read_piece(io.BytesIO(piece), carry.streams, carry.sink)
            take()
            carry = unpack_carry(b"".join(pack_carry(carry)))
        carry.streams.finish(carry.sink)
        carry.sink.settle()
        take()
    made: dict[str, Any] = {name: sorted(repr(row) for batch in batches for row in batch.to_pylist()) for name, batches in found.items()}
    made["counts"] = [{name: getattr(count, name) for name in type(count).__slots__} for count in carry.sink.counts]
    return made | {f"fact {name}": table.to_pylist() for name, table in carry.sink.facts.tables().items()}


def both(monkeypatch: pytest.MonkeyPatch, pieces: list[bytes], options: TlsOptions, ports: tuple[int, ...] = ()) -> dict[str, Any]:
    """What the twins make of it; they must agree."""
    found = []
    for twin in ("pure", "native"):
        monkeypatch.setattr(capture_impl, "backend", twin)
        monkeypatch.setattr(impl, "_chosen", (twin, None if twin == "pure" else load_twin("tables", "bulk", "native")))
        found.append(tables(pieces, options, ports))
    for name, rows in found[0].items():
        assert found[1][name] == rows, name
    return found[1]


@pytest.mark.parametrize("options", [KEYS, TlsOptions()])
def test_tables_of_an_encrypted_capture(options: TlsOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    found = both(monkeypatch, [b"".join(blocks())], options)
    assert found["requests"]


@pytest.mark.parametrize("count", [2, 13])
def test_tables_of_pieces_with_the_carry_pickled_in_between(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    heads = b"".join(block for block in blocks() if block[:4] != PACKET)
    packets = [block for block in blocks() if block[:4] == PACKET]
    borders = [len(packets) * number // count for number in range(count + 1)]
    both(monkeypatch, [heads + b"".join(packets[a:b]) for a, b in pairwise(borders)], KEYS)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1])
def test_tables_of_a_capture_that_lacks_packets(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rnd = random.Random(str(share))
    both(monkeypatch, [b"".join(block for block in blocks() if block[:4] != PACKET or rnd.random() >= share)], KEYS)


@pytest.mark.parametrize("ports", [(), (9093, 9094, 9095, 19093, 19094)])
def test_tables_of_connections_that_are_joined_late(ports: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    heads = b"".join(block for block in blocks() if block[:4] != PACKET)
    packets = [block for block in blocks() if block[:4] == PACKET]
    both(monkeypatch, [heads + b"".join(packets[len(packets) // 3 :])], KEYS, ports)


@pytest.mark.parametrize("seed", range(6))
def test_tables_of_connections_that_are_joined_late_in_pieces(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most SYNs are missing, and the carry is pickled while first bytes say neither what is spoken nor by whom."""
    rnd = random.Random(seed)
    heads = b"".join(block for block in blocks() if block[:4] != PACKET)
    packets = [
        block
        for block in blocks()
        if block[:4] == PACKET and rnd.random() >= 0.01 and not (block[28 + TCP_FLAGS] & SYN and rnd.random() < 0.8)
    ]
    borders = [0, *sorted(rnd.sample(range(len(packets)), 12)), len(packets)]
    both(monkeypatch, [heads + b"".join(packets[a:b]) for a, b in pairwise(borders)], rnd.choice((KEYS, TlsOptions())))


@pytest.mark.parametrize("first", [0, 1 / 3])
def test_decrypted_streams_stay_out_of_python(first: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's sink takes no piece of an encrypted connection, of one that was joined late neither."""
    monkeypatch.setattr(impl, "_chosen", ("native", load_twin("tables", "bulk", "native")))
    for name in ("data", "lost", "closed", "ended"):
        monkeypatch.setattr(RowSink, name, None)
    heads = b"".join(block for block in blocks() if block[:4] != PACKET)
    packets = [block for block in blocks() if block[:4] == PACKET]
    with tls_options(KEYS):
        carry = series.begin_series("s", ())
        carry.sink.begin_file("a file")
        reader.read_piece(io.BytesIO(heads + b"".join(packets[int(first * len(packets)) :])), carry.streams, carry.sink)
        carry.streams.finish(carry.sink)
    sink: Any = carry.sink
    assert sum(batch.num_rows for batch in sink.take("requests", whole=True)) >= 50


@pytest.mark.parametrize("seed", range(3))
def test_tables_of_a_capture_with_bytes_that_changed(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Record lengths, types, hellos and ciphertext that are damaged anywhere; most near the beginning of a segment."""
    rnd, out = random.Random(seed), []
    for block in blocks():
        made = bytearray(block)
        end = 28 + struct.unpack_from("<I", block, 20)[0] if block[:4] == PACKET else 0
        first = 28 + 66  # behind the headers of Ethernet, IPv4 and TCP with time stamps
        if end > first and rnd.random() < 0.15:
            for _ in range(rnd.choice((1, 3, 20))):
                at = first + int(rnd.random() ** 3 * (end - first))
                made[at] = rnd.choice((made[at] ^ 1 << rnd.randrange(8), 0, 255, 0x16, 3))
        out.append(bytes(made))
    both(monkeypatch, [b"".join(out)], KEYS)
