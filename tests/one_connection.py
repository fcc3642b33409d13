"""A connection of which every frame came in a packet of its own, read into the tables by one of the twins."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from kwire.capture.packet_columns import ACK, SYN, PacketColumns
from kwire.codec.impl import load_twin
from kwire.tables import impl, series

KEY = bytes([4, 10, 0, 0, 1, 0x23, 0x84, 10, 0, 0, 9, 0x80, 1])  # a: 10.0.0.1:9092, b: 10.0.0.9:32769
CLIENT, SERVER = 1, 0


def read_connection(frames: list[tuple[int, bytes]], twin: str, snaplen: int = 1 << 16) -> Any:
    """The sink of the tables behind the end of the connection.

    Args:
        frames: side and bytes without the length, in the order in which they were sent.
        twin: which one reads.
        snaplen: how many bytes of each payload were captured at most.
    """
    data, columns = bytearray(), PacketColumns(keys=[KEY])
    seq = [0, 0]
    shake = [(CLIENT, SYN, b""), (SERVER, SYN | ACK, b""), (CLIENT, ACK, b"")]
    for number, (side, flags, payload) in enumerate([*shake, *((side, ACK, struct.pack(">i", len(each)) + each) for side, each in frames)]):
        captured = payload[:snaplen]
        values = {
            "number": number, "time_ns": 10**18 + number * 1_234_567, "key": 0, "direction": side, "seq": seq[side], "ack": seq[1 - side],
            "flags": flags, "offset": len(data), "captured": len(captured), "original": len(payload), "signature": number,
        }  # fmt: skip
        for name, value in values.items():
            getattr(columns, name).append(value)
        data += captured
        seq[side] += len(payload) + bool(flags & SYN)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(impl, "_chosen", (twin, None if twin == "pure" else load_twin("tables", "bulk", "native")))
        carry = series.begin_series("s")
        carry.sink.begin_file("a file")
        carry.streams.take(bytes(data), columns, carry.sink)
        carry.streams.finish(carry.sink)
    return carry.sink
