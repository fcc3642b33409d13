"""Packets of connections made by hand, and the columns in which a reader takes them."""

from __future__ import annotations

from typing import NamedTuple

from kwire.capture.packet_columns import ACK, FIN, SYN, PacketColumns

__all__ = ["CLIENT", "MISSING", "SERVER", "Packet", "Packets", "Wire", "columns_of", "connections_of"]

CLIENT, SERVER = 1, 0
MISSING = 1 << 8  # among the flags of a packet that was not captured
Packets = list[tuple[int, int, bytes]]  # side, flags, payload
_BROKER = bytes([10, 0, 0, 1]) + (9092).to_bytes(2, "big")
_KEYS = [bytes([4]) + _BROKER + bytes([10, 0, 0, 9]) + (40000 + key).to_bytes(2, "big") for key in range(4)]


class Packet(NamedTuple):
    """A packet of the connection with this key (client 10.0.0.9:40000 + key, server 10.0.0.1:9092); `kept` bytes of it are captured."""

    key: int
    side: int
    flags: int
    seq: int
    ack: int
    payload: bytes
    kept: int


class Wire:
    """One connection as it is on the wire; `first`: sequence numbers of server and client."""

    def __init__(self, key: int = 0, first: tuple[int, int] = (7000, 9000)) -> None:
        self.key, self.numbers, self.packets = key, list(first), list[Packet]()

    def send(self, side: int, payload: bytes = b"", *, flags: int = ACK, kept: int | None = None, lost: bool = False) -> None:
        ack = self.numbers[1 - side] & 0xFFFFFFFF if flags & ACK else 0
        size = len(payload) if kept is None else kept
        if not lost:
            self.packets.append(Packet(self.key, side, flags, self.numbers[side] & 0xFFFFFFFF, ack, payload, size))
        self.numbers[side] += len(payload) + bool(flags & (SYN | FIN))

    def exchange(self, request: bytes, response: bytes) -> None:
        self.send(CLIENT, request)
        self.send(SERVER, response)

    def shake(self) -> None:
        self.send(CLIENT, flags=SYN)
        self.send(SERVER, flags=SYN | ACK)
        self.send(CLIENT)

    def close(self, first: int = CLIENT) -> None:
        self.send(first, flags=FIN | ACK)
        self.send(1 - first, flags=FIN | ACK)


def opened() -> Wire:
    """Packets that begin with the handshake."""
    wire = Wire()
    wire.shake()
    return wire


def columns_of(packets: list[Packet], first: int = 1) -> tuple[bytes, PacketColumns]:
    """Payloads and columns; packet n, counted from `first` on, came 1,234,567 n nanoseconds after a round time."""
    data, columns = bytearray(), PacketColumns(keys=_KEYS)
    for number, each in enumerate(packets, first):
        values = {
            "number": number, "time_ns": 1_700_000_000_000_000_000 + number * 1_234_567, "key": each.key, "direction": each.side,
            "seq": each.seq, "ack": each.ack, "flags": each.flags, "offset": len(data), "captured": each.kept,
            "original": len(each.payload), "signature": each.seq ^ len(each.payload),
        }  # fmt: skip
        for name, value in values.items():
            getattr(columns, name).append(value)
        data += each.payload[: each.kept]
    return bytes(data), columns


def connections_of(played: list[Packets], snaplen: int = 1 << 16) -> tuple[bytes, PacketColumns]:
    """Payloads and columns; packet n of all, from 1 on, comes n us after 10**18 ns; the client at index n has port 20000 + n."""
    data, columns, number = bytearray(), PacketColumns(), 0
    for key, packets in enumerate(played):
        columns.keys.append(bytes([4]) + _BROKER + bytes([10, 0, 0, 9]) + (20_000 + key).to_bytes(2, "big"))
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
    return bytes(data), columns
