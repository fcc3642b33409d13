"""Ends that never read what they were given: their sockets are closed all the same, though no limit counts them any more."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.proxy.metrics_endpoint import MetricsEndpoint
from proxied_frames import answer, heartbeat
from proxied_sockets import LOOP, proxied

LARGE = 32 << 20  # more than the buffers of all sockets on the way


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the asyncio loop, whose transports would wait for ever; the native one has no other sockets than its own."""
    monkeypatch.setitem(LOOP, "loop", "asyncio")
    monkeypatch.setattr("kwire.proxy.loop_asyncio._FLUSH_SECONDS", 0.1)
    monkeypatch.setattr("kwire.proxy.metrics_endpoint._SECONDS", 0.5)


@pytest.fixture
def client() -> Iterator[socket.socket]:
    with socket.socket() as made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.setblocking(False)
        yield made


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def have_closed(files: int) -> None:
    while open_files() > files:
        await asyncio.sleep(0.05)


def test_a_client(client: socket.socket) -> None:
    poured = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(heartbeat(1)))
        writer.write(answer(1, LARGE))
        poured.set()
        await reader.read(-1)
        writer.transport.abort()

    async def go() -> None:
        loop = asyncio.get_running_loop()
        async with proxied(serve) as server:
            before = open_files()
            await loop.sock_connect(client, ("127.0.0.1", server.ports[0]))
            await loop.sock_sendall(client, heartbeat(1))
            await poured.wait()
            await asyncio.sleep(0.3)  # until the buffers are full
            await loop.sock_sendall(client, b"\xff\xff\xff\xff")  # a negative length
            while server.connections:
                await asyncio.sleep(0.01)
            await asyncio.wait_for(have_closed(before), 30)

    asyncio.run(go())


def test_a_scraper(client: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kwire.proxy.metrics_endpoint.exposition", lambda metrics: bytes(LARGE))

    async def go() -> None:
        loop = asyncio.get_running_loop()
        endpoint = MetricsEndpoint(list, bool)
        await endpoint.open("127.0.0.1", 0)
        await asyncio.to_thread(int)  # the pool's thread
        before = open_files()
        await loop.sock_connect(client, ("127.0.0.1", endpoint.port))
        await loop.sock_sendall(client, b"GET /metrics HTTP/1.1\r\n\r\n")
        while open_files() == before:
            await asyncio.sleep(0.01)
        await asyncio.wait_for(have_closed(before), 30)
        endpoint.close()

    asyncio.run(go())
