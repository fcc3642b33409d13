"""A proxy for the tests of real clients, in a thread with a loop of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager, suppress
from typing import Any

from kwire.proxy.config import ListenerConfig, ProxyConfig, TenantConfig, TlsConfig
from kwire.proxy.server import ProxyServer
from proxied_frames import echo

TENANTS = {"acme": TenantConfig(prefix="acme."), "globex": TenantConfig(prefix="globex-")}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def running(server: ProxyServer) -> Iterator[ProxyServer]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.open(), loop).result(10)
        yield server
    finally:
        with suppress(futures.TimeoutError):  # Python 3.10's is none of the built-in one
            asyncio.run_coroutine_threadsafe(server.close(1), loop).result(20)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.1), loop).result(10)  # transports end in the loop's next turns
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


@contextmanager
def echo_broker() -> Iterator[int]:
    """A broker that echoes, in a thread; gives its port."""
    found: futures.Future[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]] = futures.Future()

    async def serve() -> None:
        stopped = asyncio.Event()
        served = await asyncio.start_server(echo, "127.0.0.1", 0)
        found.set_result((served.sockets[0].getsockname()[1], asyncio.get_running_loop(), stopped))
        await stopped.wait()
        served.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    port, loop, stopped = found.result(30)
    yield port
    loop.call_soon_threadsafe(stopped.set)
    thread.join(30)


@contextmanager
def proxied(
    broker_port: int, tls: TlsConfig | None = None, upstream_tls: Any = None, tenant: str | None = None, **more: Any
) -> Iterator[ProxyServer]:
    """A proxy in front of one broker; `address` is where clients connect."""
    where = f"127.0.0.1:{free_port()}"
    listener = ListenerConfig(
        listen=where, broker=f"127.0.0.1:{broker_port}", node_id=1, advertised=where, tls=tls, upstream_tls=upstream_tls, tenant=tenant
    )
    with running(ProxyServer(ProxyConfig(listeners=[listener], **more))) as server:
        yield server


@contextmanager
def two_tenants(broker_port: int, **more: Any) -> Iterator[list[str]]:
    """A proxy with a port for each of `TENANTS`; gives their addresses."""
    addresses = [f"127.0.0.1:{free_port()}" for _ in TENANTS]
    listeners = [
        ListenerConfig(listen=each, broker=f"127.0.0.1:{broker_port}", node_id=1, advertised=each, tenant=tenant)
        for each, tenant in zip(addresses, TENANTS, strict=True)
    ]
    with running(ProxyServer(ProxyConfig(listeners=listeners, tenants=TENANTS, **more))):
        yield addresses


def address(server: ProxyServer) -> str:
    return server.config.listeners[0].listen
