"""Packets of one pair of endpoints, put into the reassembly one by one, and what it says of them."""

from __future__ import annotations

from typing import Any

from kwire.capture import impl
from kwire.capture.packet_columns import ACK, SYN, PacketColumns
from kwire.capture.tcp import TcpConnection

KEY = b"\x04\x0a\x00\x00\x01\x23\x84\x0a\x00\x00\x02\xc3\x50"  # 10.0.0.1:9092 and 10.0.0.2:50000
SERVER, CLIENT = 0, 1
WRAP = 1 << 32


class Recorder:
    """Notes events; `stream` joins what one direction gave, lost bytes as None."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        self.events.append(("opened", connection.n, connection.opened_by))

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        self.events.append(("data", connection.n, direction, data, time_ns))

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        self.events.append(("lost", connection.n, direction, count, cut))

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        self.events.append(("closed", connection.n, direction, reset))

    def ended(self, connection: TcpConnection) -> None:
        self.events.append(("ended", connection.n))

    def stream(self, direction: int, n: int = 0) -> list[int | None]:
        out: list[int | None] = []
        for event in self.events:
            if event[:3] == ("data", n, direction):
                out += event[3]
            elif event[:3] == ("lost", n, direction):
                out += [None] * event[3]
        return out

    def short(self) -> list[tuple[Any, ...]]:
        return [event[:4] if event[0] == "data" else event for event in self.events]


class Wire:
    """Feeds packets of one pair of endpoints; sequence numbers are given relative to the initial ones."""

    def __init__(self, isn: tuple[int, int] = (5000, 9000)) -> None:
        self.carry = impl.series_carry()
        self.heard = Recorder()
        self.isn = isn
        self.key = KEY
        self.number = 0
        self.time_ns = 0

    def send(
        self,
        direction: int,
        seq: int,
        ack: int,
        flags: int = ACK,
        data: bytes = b"",
        *,
        original: int | None = None,
        mark: int | None = None,
    ) -> None:
        self.number += 1
        self.time_ns += 1_000_000
        row = PacketColumns(keys=[self.key])
        row.number.append(self.number)
        row.time_ns.append(self.time_ns)
        row.key.append(0)
        row.direction.append(direction)
        row.seq.append((self.isn[direction] + seq) % WRAP)
        row.ack.append((self.isn[1 - direction] + ack) % WRAP if flags & ACK else 0)
        row.flags.append(flags)
        row.offset.append(0)
        row.captured.append(len(data))
        row.original.append(len(data) if original is None else original)
        row.signature.append(self.number if mark is None else mark)
        self.carry.take(data, row, self.heard)

    def shake(self) -> None:
        self.send(CLIENT, 0, 0, SYN)
        self.send(SERVER, 0, 1, SYN | ACK)
        self.send(CLIENT, 1, 1)

    def finish(self) -> list[tuple[Any, ...]]:
        self.carry.finish(self.heard)
        return self.heard.short()
