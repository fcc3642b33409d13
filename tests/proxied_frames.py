"""Heartbeats v0 and their answers, with bytes behind them that Kafka ignores, and a broker that tests play."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from kafka_bytes import framed_hex
from kwire.proxy import ProxiedConnection

HEARTBEAT = bytes.fromhex("000c 0000 00000000 0001 63 0001 67 00000001 0001 6d")


def heartbeat(number: int, padding: int = 0) -> bytes:
    frame = HEARTBEAT[:4] + number.to_bytes(4, "big") + HEARTBEAT[8:] + bytes(padding)
    return len(frame).to_bytes(4, "big") + frame


def answer(number: int, padding: int = 0) -> bytes:
    frame = number.to_bytes(4, "big") + b"\0\0" + bytes(padding)
    return len(frame).to_bytes(4, "big") + frame


async def frames(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        try:
            size = int.from_bytes(await reader.readexactly(4), "big")
            yield await reader.readexactly(size)
        except asyncio.IncompleteReadError:
            return


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A broker that answers each Heartbeat with as many bytes as it brought."""
    async for frame in frames(reader):
        writer.write(answer(int.from_bytes(frame[4:8], "big"), len(frame)))
    await writer.drain()
    writer.close()


def asked(connection: ProxiedConnection, text: str) -> bytes:
    """Send a request in hex and return what goes to the broker."""
    moves = connection.from_client(framed_hex(text), 1)
    assert connection.close_reason == ""
    return b"".join(moves.to_server)


def answered(connection: ProxiedConnection, text: str) -> bytes:
    """Send an answer in hex and return what goes to the client."""
    moves = connection.from_server(framed_hex(text), 2)
    assert connection.close_reason == ""
    return b"".join(moves.to_client)
