"""A proxy on sockets in one event loop with the test, and a broker that the test plays."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from kwire.proxy.config import ListenerConfig, ProxyConfig
from kwire.proxy.server import ProxyServer

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OPEN: list[asyncio.StreamWriter] = []
LOOP = {"loop": "auto"}
"""Which loop serves."""


@asynccontextmanager
async def proxied(
    serve: Serve, *, upstream: ssl.SSLContext | None = None, broker_address: str = "", **more: object
) -> AsyncIterator[ProxyServer]:
    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        OPEN.append(writer)
        with suppress(ConnectionError):
            await serve(reader, writer)

    broker = await asyncio.start_server(served, "127.0.0.1", 0, ssl=upstream)
    listener = {key: more.pop(key) for key in ("tls", "upstream_tls", "advertised") if key in more}
    address = broker_address or f"127.0.0.1:{broker.sockets[0].getsockname()[1]}"
    config = ProxyConfig(listeners=[ListenerConfig(listen="127.0.0.1:0", broker=address, node_id=1, **listener)], loop=LOOP["loop"], **more)  # type: ignore[arg-type]
    server = ProxyServer(config)
    await server.open()
    try:
        yield server
    finally:
        try:
            await asyncio.wait_for(server.close(0), 60)
        finally:
            broker.close()
            while OPEN:
                writer = OPEN.pop()
                writer.transport.abort()  # what nobody reads any more is not waited for
                with suppress(ConnectionError, ssl.SSLError):
                    await asyncio.wait_for(writer.wait_closed(), 60)
        await asyncio.sleep(0.05)  # transports end in the loop's next turns


async def connect(server: ProxyServer, context: ssl.SSLContext | None = None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    name = None if context is None else "proxy.example.com"
    reader, writer = await asyncio.open_connection("127.0.0.1", server.ports[0], ssl=context, server_hostname=name)
    OPEN.append(writer)
    return reader, writer
