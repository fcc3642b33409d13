"""PROXY protocol, version 2: addresses of clients behind a balancer (haproxy.org/download/2.8/doc/proxy-protocol.txt).

    0d0a0d0a000d0a515549540a | 21 | 11 | length | source and destination address, both ports | TLVs     TCP over IPv4; 21 for IPv6
                             | 20 |    | length | ...                                                   LOCAL: a health check

A header is read from the socket before TLS and before any loop sees the connection; no byte behind it is read.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from kwire.errors import InputError

if TYPE_CHECKING:
    from kwire.proxy.config import ListenerConfig, SniListenerConfig
    from kwire.proxy.server import ProxyServer

__all__ = ["MAX_HEADER", "BalancedPort", "connected_socket", "header_of", "source_of"]

End = tuple[str, int]
"""Address and port."""

_SIGNATURE: Final = b"\r\n\r\n\0\r\nQUIT\n"
_FIXED: Final = 16
_LOCAL: Final = 0x20
_PROXY: Final = 0x21
_SIZES: Final = {0x11: 4, 0x21: 16}  # of an address, by family and protocol
MAX_HEADER: Final = 4096
_STOP_SECONDS: Final = 0.25  # for headers that come while the port is closed
_PAUSE_SECONDS: Final = 1.0  # in which nothing is accepted when the process has no more files


def header_of(client: End, local: End) -> bytes:
    """Return the header of a client's connection to a local address."""
    ends = [ipaddress.ip_address(host) for host, _ in (client, local)]
    size = max(len(each.packed) for each in ends)
    packed = [each.packed if len(each.packed) == size else bytes(10) + b"\xff\xff" + each.packed for each in ends]
    body = b"".join(packed) + b"".join(port.to_bytes(2, "big") for _, port in (client, local))
    return _SIGNATURE + bytes((_PROXY, 0x11 if size == _SIZES[0x11] else 0x21)) + len(body).to_bytes(2, "big") + body


def source_of(header: bytes) -> End | None:
    """Return the client of a whole header; None if it names none, so that the connection's own address counts.

    Raises:
        InputError: not a header of version 2.
    """
    if len(header) < _FIXED or header[:12] != _SIGNATURE or header[12] not in (_LOCAL, _PROXY):
        raise InputError(f"expected a header of the PROXY protocol, version 2, found {header[:_FIXED]!r}")
    size = _SIZES.get(header[13])
    if header[12] == _LOCAL or size is None:
        return None
    body = header[_FIXED:]
    if len(body) < 2 * size + 4:
        raise InputError(f"the header of the PROXY protocol has {len(body)} bytes of addresses, not {2 * size + 4}")
    found = ipaddress.ip_address(body[:size])
    plain = getattr(found, "ipv4_mapped", None) or found
    return str(plain), int.from_bytes(body[2 * size : 2 * size + 2], "big")


async def _receive(connection: socket.socket) -> bytes:
    """Read a header and no byte behind it; return nothing if the connection ends before."""
    loop, header, wanted = asyncio.get_running_loop(), b"", _FIXED
    while len(header) < wanted:
        data = await loop.sock_recv(connection, wanted - len(header))
        header += data
        if not data or not header.startswith(_SIGNATURE[: len(header)]):
            return header
        if len(header) == _FIXED:
            wanted += int.from_bytes(header[14:16], "big")
            if wanted > MAX_HEADER:
                raise InputError(f"a header of the PROXY protocol with {wanted} bytes: expected at most {MAX_HEADER}")
    return header


async def connected_socket(host: str, port: int, header: bytes) -> socket.socket:
    """Connect to the first address of a host that can be reached, and send a header."""
    loop, failed = asyncio.get_running_loop(), OSError("no address")
    for family, kind, protocol, _, address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)
        try:
            await loop.sock_connect(made, address)
            await loop.sock_sendall(made, header)
        except OSError as error:
            made.close()
            failed = error
        except asyncio.CancelledError:
            made.close()
            raise
        else:
            return made
    raise failed


class BalancedPort:
    """Port whose connections begin with a header; `take` gets each socket with the client's address."""

    def __init__(
        self, server: ProxyServer, listener: ListenerConfig | SniListenerConfig, take: Callable[[socket.socket, End], object]
    ) -> None:
        self._server = server
        self._listener = listener
        self._take = take
        self._sockets: list[socket.socket] = []
        self._is_closed = False
        self._accepting: set[asyncio.Task[None]] = set()  # one for each socket
        self._reading: set[asyncio.Task[None]] = set()  # one for each header

    def open(self, port: socket.socket) -> None:
        """Accept at a socket that listens; a listener may have several."""
        self._sockets.append(port)
        _start(self._accept(port), self._accepting)

    @property
    def port(self) -> int:
        return int(self._sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Accept the clients that wait, then close the sockets; clients whose header does not come at once are closed."""
        if self._is_closed:
            return
        self._is_closed = True
        for port in self._sockets:
            with suppress(NotImplementedError):  # loops of Windows have no readers of sockets
                asyncio.get_running_loop().remove_reader(port)
        await asyncio.sleep(0)  # a client that was accepted in this turn would be lost with its task
        await _cancel(self._accepting)
        for port in self._sockets:
            with suppress(OSError):  # none waits any more, or no file is left
                while True:
                    connection, end = port.accept()
                    connection.setblocking(False)
                    self._accepted(connection, end)
            port.close()
        if self._reading:
            await asyncio.wait(self._reading, timeout=_STOP_SECONDS)
        await _cancel(self._reading)

    async def _accept(self, port: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while not self._is_closed:
            try:
                connection, end = await loop.sock_accept(port)
            except OSError as error:
                self._server.quiet.warning("cannot_accept", "", f"{self._listener.listen}: no connection can be accepted: {error.strerror}")
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            self._accepted(connection, end)

    def _accepted(self, connection: socket.socket, end: tuple[Any, ...]) -> None:
        if len(self._reading) > self._server.config.max_connections // 2:
            connection.close()
            self._server.quiet.warning("too_many_handshakes", end[0], f"{end[0]} to {self._listener.listen}: too many without a header")
        else:
            _start(self._begin(connection, end[:2]), self._reading)

    async def _begin(self, connection: socket.socket, end: End) -> None:
        seconds, is_taken = self._server.config.first_frame_seconds, False
        try:
            header = await asyncio.wait_for(_receive(connection), seconds)
            if header:  # a health check only connects
                self._take(connection, source_of(header) or end)
                is_taken = True
        except (OSError, asyncio.TimeoutError, InputError) as error:
            text = str(error) or f"no header of the PROXY protocol within {seconds:g} s"
            self._server.quiet.warning("proxy_protocol", end[0], f"{end[0]} to {self._listener.listen}: {text}")
        finally:
            if not is_taken:
                connection.close()


def _start(step: Coroutine[None, None, None], tasks: set[asyncio.Task[None]]) -> None:
    task = asyncio.get_running_loop().create_task(step)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _cancel(tasks: set[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
