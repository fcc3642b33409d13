"""Streams through TLS that can be half-closed, which those of asyncio cannot."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

SIZE = 1 << 16
TASKS: set[asyncio.Task[None]] = set()


async def open_tls(port: int, context: ssl.SSLContext, name: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect, and return streams whose bytes and end a task carries to and from the TLS connection."""
    wire = await _connected(port)
    near, far = socket.socketpair()
    far.setblocking(False)
    came, made = ssl.MemoryBIO(), ssl.MemoryBIO()
    _begin(_Pump(far, wire, came, made, context.wrap_bio(came, made, server_hostname=name)).run())
    return await asyncio.open_connection(sock=near)


class TlsServer:
    """Port with TLS in front of `asyncio.start_server`."""

    def __init__(self, plain: asyncio.Server, context: ssl.SSLContext, port: int) -> None:
        self.sockets = [socket.create_server(("127.0.0.1", port), backlog=1000)]
        self.sockets[0].setblocking(False)
        self._plain, self._context = plain, context
        self._accepting = _begin(self._accept())

    async def _accept(self) -> None:
        with self.sockets[0]:
            while True:
                wire, _ = await asyncio.get_running_loop().sock_accept(self.sockets[0])
                wire.setblocking(False)
                _begin(self._carry(wire)).add_done_callback(partial(_close, wire))  # also if the task never began

    async def _carry(self, wire: socket.socket) -> None:
        came, made = ssl.MemoryBIO(), ssl.MemoryBIO()
        plain = await _connected(self._plain.sockets[0].getsockname()[1])
        await _Pump(plain, wire, came, made, self._context.wrap_bio(came, made, server_side=True)).run()

    def close(self) -> None:
        self._accepting.cancel()
        self._plain.close()


async def serve_tls(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], port: int, context: ssl.SSLContext
) -> TlsServer:
    return TlsServer(await asyncio.start_server(serve, "127.0.0.1", 0), context, port)


def _close(wire: socket.socket, _: asyncio.Task[None]) -> None:
    wire.close()


def _begin(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    made = asyncio.ensure_future(work)
    TASKS.add(made)
    made.add_done_callback(TASKS.discard)
    return made


async def _connected(port: int) -> socket.socket:
    made = socket.socket()
    made.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", port))
    except BaseException:
        made.close()
        raise
    return made


class _Pump:
    """Two sockets: bytes of one are those of the other in TLS."""

    def __init__(self, plain: socket.socket, wire: socket.socket, came: ssl.MemoryBIO, made: ssl.MemoryBIO, tls: ssl.SSLObject) -> None:
        self._plain, self._wire, self._came, self._made, self._tls = plain, wire, came, made, tls
        self._loop = asyncio.get_running_loop()

    async def run(self) -> None:
        with self._plain, self._wire, suppress(OSError):  # ssl's errors are OSErrors
            if not await self._shake():
                return
            both = [asyncio.ensure_future(each) for each in (self._to_wire(), self._from_wire())]
            try:
                await asyncio.gather(*both)
            finally:
                for each in both:
                    each.cancel()
                await asyncio.gather(*both, return_exceptions=True)

    async def _shake(self) -> bool:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._send()
                data = await self._loop.sock_recv(self._wire, SIZE)
                if not data:
                    return False
                self._came.write(data)
            else:
                await self._send()
                return True

    async def _send(self) -> None:
        await self._loop.sock_sendall(self._wire, self._made.read())

    async def _to_wire(self) -> None:
        while data := await self._loop.sock_recv(self._plain, SIZE):
            self._tls.write(data)
            await self._send()
        while self._came.pending or self._tls.pending():  # unwrap fails if it finds bytes that were not read
            await asyncio.sleep(0.001)
        with suppress(ssl.SSLWantReadError):
            self._tls.unwrap()
        await self._send()
        self._wire.shutdown(socket.SHUT_WR)

    async def _from_wire(self) -> None:
        await self._give()  # what came with the end of the handshake
        while data := await self._loop.sock_recv(self._wire, SIZE):
            self._came.write(data)
            await self._give()
        self._plain.shutdown(socket.SHUT_WR)

    async def _give(self) -> None:
        while True:
            try:
                data = self._tls.read(SIZE)
            except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
                return
            if not data:
                return
            await self._loop.sock_sendall(self._plain, data)
