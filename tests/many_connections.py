"""Connections packet by packet, read into the tables by one of the twins."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.capture.packet_columns import FIN, SYN, PacketColumns
from kwire.codec.impl import load_twin
from kwire.tables import impl, series

CLIENT, SERVER = 1, 0
MISSING = 1 << 8
Packets = list[tuple[int, int, bytes]]  # side, flags, payload


def read_connections(
    played: list[Packets], twin: str, silent_ns: int | None = None, snaplen: int = 1 << 16, ports: tuple[int, ...] = ()
) -> Any:
    """The sink of the tables behind the end of all: the connection at index n has the client's port 20000 + n.

    Args:
        played: the packets of each connection in the order of their stream; one with `MISSING` among its flags was not captured.
        twin: which one reads. Packet n of all, counted from 1, comes n microseconds after 10**18 ns.
        silent_ns: end only the connections that have brought nothing since then; None ends all.
        snaplen: how many bytes of each payload were captured at most.
        ports: where brokers listen; the servers' is 9092.
    """
    data, columns, number = bytearray(), PacketColumns(), 0
    for key, packets in enumerate(played):
        columns.keys.append(bytes([4, 10, 0, 0, 1, 0x23, 0x84, 10, 0, 0, 9, *(20000 + key).to_bytes(2, "big")]))
        seq = [7000, 9000]
        for side, flags, payload in packets:
            number += 1
            at, taken = seq[side], payload[:snaplen]
            seq[side] = at + len(payload) + bool(flags & (SYN | FIN))
            if flags & MISSING:
                continue
            values = {
                "number": number, "time_ns": 10**18 + number * 1000, "key": key, "direction": side, "seq": at, "ack": seq[1 - side],
                "flags": flags, "offset": len(data), "captured": len(taken), "original": len(payload), "signature": number,
            }  # fmt: skip
            for name, value in values.items():
                getattr(columns, name).append(value)
            data += taken
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(impl, "_chosen", (twin, None if twin == "pure" else load_twin("tables", "bulk", "native")))
        carry = series.begin_series("s", ports)
        carry.sink.begin_file("a file")
        carry.streams.take(bytes(data), columns, carry.sink)
        if silent_ns is None:
            carry.streams.finish(carry.sink)
        else:
            carry.streams.end_silent(silent_ns, carry.sink)
        carry.sink.settle()
    return carry.sink


def tables_of(sink: Any) -> dict[str, list[dict[str, Any]]]:
    """The rows of `requests`, `connections` and `violations` in the order of their connections, and `counts` of files."""
    found = {table: sink.take(table, whole=True) for table in ("requests", "connections")}
    found["violations"] = sink.violations.take(whole=True)
    tables = {
        table: sorted((row for batch in batches for row in batch.to_pylist()), key=lambda row: (row["connection_id"], repr(row)))
        for table, batches in found.items()
    }
    tables["counts"] = [{name: getattr(count, name) for name in type(count).__slots__} for count in sink.counts]
    return tables
