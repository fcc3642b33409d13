"""A series read into tables, step by step, by one of the twins or by both, which must agree."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from kwire.capture import impl as capture_impl
from kwire.capture import reader
from kwire.codec.impl import load_twin
from kwire.tables import impl, series
from kwire.tables.carry_state import pack_carry, unpack_carry
from made_packets import Packet, columns_of

Tables = dict[str, list[dict[str, Any]]]


def using(monkeypatch: pytest.MonkeyPatch, twin: str) -> None:
    monkeypatch.setattr(capture_impl, "backend", twin)
    monkeypatch.setattr(impl, "_chosen", (twin, None if twin == "pure" else load_twin("tables", "bulk", "native")))


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """NaN, which equals nothing, as text."""
    return [{name: "NaN" if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()} for row in rows]


class Reader:
    """Reads a series into tables, step by step, so that the carry can be looked at or stored in between."""

    def __init__(self, ports: tuple[int, ...] = ()) -> None:
        self.carry = series.begin_series("s", ports)
        self.found: dict[str, list[pa.RecordBatch]] = {}

    def add(self, batches: series.Batches) -> None:
        for table, more in batches.items():
            self.found.setdefault(table, []).extend(more)

    def read(self, data: bytes, chunk_bytes: int) -> None:
        """A file, without what is said of files."""
        sink = self.carry.sink
        sink.begin_file("a file")
        reader.read_piece(io.BytesIO(data), self.carry.streams, sink, chunk_bytes=chunk_bytes)
        self.take()

    def take(self) -> None:
        sink = self.carry.sink
        self.add({table: sink.take(table, whole=True) for table in ("requests", "connections")})
        self.add({"violations": sink.violations.take(whole=True)})
        self.add({name: builder.take(whole=True) for name, builder in sink.observed.builders.items()})

    def stored(self) -> None:
        """Continue from the state as a file holds it."""
        self.carry = unpack_carry(b"".join(pack_carry(self.carry)))

    def tables(self) -> Tables:
        sink = self.carry.sink
        self.carry.streams.finish(sink)
        sink.settle()
        self.take()
        tables = {name: plain(pa.Table.from_batches(batches).to_pylist()) for name, batches in self.found.items() if batches}
        tables |= {f"fact {name}": table.to_pylist() for name, table in sink.facts.tables().items()}
        tables["counts"] = [{name: getattr(count, name) for name in type(count).__slots__} for count in sink.counts]
        return tables


def check(
    monkeypatch: pytest.MonkeyPatch,
    work: Callable[[Reader], None],
    ports: tuple[int, ...] = (),
    twins: tuple[str, ...] = ("pure", "native"),
) -> Tables:
    """What the twins make of the same work; they must agree."""
    found = []
    for twin in twins:
        using(monkeypatch, twin)
        one = Reader(ports)
        work(one)
        found.append(one.tables())
    assert found[0].keys() == found[-1].keys()
    for table, rows in found[0].items():
        assert found[-1][table] == rows, table
    return found[-1]


def tables_of(twin: str, packets: list[Packet], ports: tuple[int, ...] = (), times_ns: dict[int, int] | None = None) -> Tables:
    """What one twin makes of packets made by hand; for tests that state each value themselves.

    Args:
        twin, packets, ports: as the names say.
        times_ns: of packets by their index, where they are others than those of `columns_of`.
    """
    data, columns = columns_of(packets)
    for index, time_ns in (times_ns or {}).items():
        columns.time_ns[index] = time_ns
    with pytest.MonkeyPatch.context() as monkeypatch:
        using(monkeypatch, twin)
        one = Reader(ports)
        one.carry.sink.begin_file("a file")
        one.carry.streams.take(data, columns, one.carry.sink)
        return one.tables()
