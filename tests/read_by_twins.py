"""A series read into tables, step by step, by one of the twins or by both, which must agree."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from kafka_bytes import framed
from kwire.capture import impl as capture_impl
from kwire.capture import reader
from kwire.capture.packet_columns import ACK, SYN
from kwire.codec.impl import load_twin
from kwire.tables import impl, series
from kwire.tables.carry_state import pack_carry, unpack_carry
from made_packets import CLIENT, SERVER, Packet, Packets, columns_of, connections_of

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
        sink = self.carry.sink
        sink.begin_file("a file")
        reader.read_piece(io.BytesIO(data), self.carry.streams, sink, chunk_bytes=chunk_bytes)
        self.take()

    def play(self, played: list[Packets], snaplen: int = 1 << 16) -> None:
        self.carry.sink.begin_file("a file")
        self.carry.streams.take(*connections_of(played, snaplen), self.carry.sink)

    def take(self) -> None:
        sink = self.carry.sink
        self.add({table: sink.take(table, whole=True) for table in ("requests", "connections")})
        self.add({"violations": sink.violations.take(whole=True)})
        self.add({name: builder.take(whole=True) for name, builder in sink.observed.builders.items()})

    def stored(self) -> None:
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


def check(work: Callable[[Reader], None], ports: tuple[int, ...] = (), twins: tuple[str, ...] = ("pure", "native")) -> Tables:
    found = []
    for twin in twins:
        with pytest.MonkeyPatch.context() as monkeypatch:
            using(monkeypatch, twin)
            one = Reader(ports)
            work(one)
            found.append(one.tables())
    assert found[0].keys() == found[-1].keys()
    for table, rows in found[0].items():
        assert found[-1][table] == rows, table
    return found[-1]


def tables_of(twin: str, packets: list[Packet], ports: tuple[int, ...] = (), times_ns: dict[int, int] | None = None) -> Tables:
    """Read packets made by hand by one twin; `times_ns`: of packets by index, where they are others than those of `columns_of`."""
    data, columns = columns_of(packets)
    for index, time_ns in (times_ns or {}).items():
        columns.time_ns[index] = time_ns

    def work(one: Reader) -> None:
        one.carry.sink.begin_file("a file")
        one.carry.streams.take(data, columns, one.carry.sink)

    return check(work, ports, (twin,))


def read_connections(
    played: list[Packets], twin: str, silent_ns: int | None = None, snaplen: int = 1 << 16, ports: tuple[int, ...] = ()
) -> Any:
    """The sink behind the end of all connections, or (`silent_ns`) of those alone that have brought nothing since then."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        using(monkeypatch, twin)
        one = Reader(ports)
        one.play(played, snaplen)
        sink = one.carry.sink
        if silent_ns is None:
            one.carry.streams.finish(sink)
        else:
            one.carry.streams.end_silent(silent_ns, sink)
        sink.settle()
    return sink


def read_connection(frames: list[tuple[int, bytes]], twin: str, snaplen: int = 1 << 16) -> Any:
    """The sink behind a connection whose frames, given without length, came in a packet each behind the three of the handshake."""
    shake: Packets = [(CLIENT, SYN, b""), (SERVER, SYN | ACK, b""), (CLIENT, ACK, b"")]
    return read_connections([[*shake, *((side, ACK, framed(each)) for side, each in frames)]], twin, snaplen=snaplen)


def sink_tables(sink: Any) -> Tables:
    """The rows of `requests`, `connections` and `violations` in the order of their connections, and `counts` of files."""
    found = {table: sink.take(table, whole=True) for table in ("requests", "connections")}
    found["violations"] = sink.violations.take(whole=True)
    tables = {
        table: sorted((row for batch in batches for row in batch.to_pylist()), key=lambda row: (row["connection_id"], repr(row)))
        for table, batches in found.items()
    }
    tables["counts"] = [{name: getattr(count, name) for name in type(count).__slots__} for count in sink.counts]
    return tables


def rows(tables: Tables, *columns: str) -> list[Any]:
    """The columns of the rows of `requests`, in the order in which the capture has them; orphans stand where they are."""
    found = sorted(tables.get("requests", []), key=lambda row: (row["packet_number"], row["stream_offset"]))
    return [row[columns[0]] if len(columns) == 1 else tuple(row[column] for column in columns) for row in found]


def connection(tables: Tables, *columns: str) -> list[Any]:
    (row,) = tables["connections"]
    return [row[column] for column in columns]


def refusals(tables: Tables) -> list[tuple[int, int, int, str]]:
    return [(row["request_index"], row["api_key"], row["api_version"], row["refusal"]) for row in tables["fact refusals"]]


def micros(value: Any) -> int | None:
    """Microseconds behind the round time."""
    return None if value is None else round((value.timestamp() - 1_700_000_000) * 1_000_000)
