"""A proxy on sockets in one event loop with the test, and a broker that the test plays."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import trustme

from kwire.proxy.config import ListenerConfig, ProxyConfig, TlsConfig, UpstreamTlsConfig
from kwire.proxy.server import ProxyServer
from tls_streams import TlsServer, open_tls, serve_tls

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OPEN: list[asyncio.StreamWriter] = []
LOOP = {"loop": "auto"}
"""Which loop serves."""


class TlsOfBoth:
    """TLS towards clients and towards the broker, with one certificate."""

    def __init__(self, authority: trustme.CA, folder: Path) -> None:
        self._files = {name: str(folder / f"{name}.pem") for name in ("certificate", "key", "ca")}
        made = authority.issue_cert("proxy.example.com")
        made.cert_chain_pems[0].write_to_path(self._files["certificate"])
        made.private_key_pem.write_to_path(self._files["key"])
        authority.cert_pem.write_to_path(self._files["ca"])
        self.client, self.broker = ssl.create_default_context(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.configure_trust(self.client)
        made.configure_cert(self.broker)

        self.towards_clients = TlsConfig(certificate=self._files["certificate"], key=self._files["key"])

    def listener(self) -> dict[str, TlsConfig | UpstreamTlsConfig]:
        return {
            "tls": self.towards_clients,
            "upstream_tls": UpstreamTlsConfig(ca=self._files["ca"], server_name="proxy.example.com"),
        }

    def tables(self, *, upstream: bool = True) -> str:
        """Return the same as text of the configuration."""
        client = f'[listeners.tls]\ncertificate = "{self._files["certificate"]}"\nkey = "{self._files["key"]}"\n'
        broker = f'[listeners.upstream_tls]\nca = "{self._files["ca"]}"\nserver_name = "proxy.example.com"\n'
        return client + broker if upstream else client


TLS: TlsOfBoth | None = None
"""TLS of all connections of a test."""


async def serving(serve: Serve, port: int = 0, context: ssl.SSLContext | None = None) -> asyncio.Server | TlsServer:
    """Begin a broker."""
    if TLS is not None:
        return await serve_tls(serve, port, TLS.broker)
    return await asyncio.start_server(serve, "127.0.0.1", port, ssl=context)


@asynccontextmanager
async def proxied(
    serve: Serve, *, upstream: ssl.SSLContext | None = None, broker_address: str = "", **more: object
) -> AsyncIterator[ProxyServer]:
    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        OPEN.append(writer)
        with suppress(ConnectionError):
            await serve(reader, writer)

    listener = {
        key: more.pop(key) for key in ("tls", "upstream_tls", "advertised", "proxy_protocol", "upstream_proxy_protocol") if key in more
    }
    if TLS is not None:
        listener.update(TLS.listener())
    broker = await serving(served, context=upstream)
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
    reader, writer = await opened(server.ports[0], context)
    OPEN.append(writer)
    return reader, writer


async def opened(port: int, context: ssl.SSLContext | None = None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if TLS is not None:
        return await open_tls(port, TLS.client, "proxy.example.com")
    name = None if context is None else "proxy.example.com"
    return await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
