"""Port of the proxy on asyncio, for TLS on either side and for systems without the native loop."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kwire.proxy.admission import Slot
from kwire.proxy.cluster_listeners import is_asked
from kwire.proxy.config import ListenerConfig, SniListenerConfig, host_and_port
from kwire.proxy.connection import ProxiedConnection
from kwire.proxy.counts import TLS_FAILED, Ending
from kwire.proxy.listening_sockets import BACKLOG
from kwire.proxy.loop_asyncio import ClientSide, Side, enforce_pause
from kwire.proxy.proxy_protocol import BalancedPort, connected_socket, header_of
from kwire.proxy.rules.rule import Peer

if TYPE_CHECKING:
    from kwire.proxy.server import ProxyServer

__all__ = ["AsyncioListener"]

_DRAIN_STEP: Final = 0.05
_RECEIVE_BYTES: Final = 256 << 10


class AsyncioListener:
    """Port with one broker."""

    def __init__(self, server: ProxyServer, config: ListenerConfig | SniListenerConfig) -> None:
        self.config = config
        self.received = memoryview(bytearray(_RECEIVE_BYTES))
        self.leaving: set[Side] = set()
        self._sides: dict[ClientSide, tuple[Slot, Peer]] = {}
        self._handshakes: set[asyncio.Task[None]] = set()
        self._server = server
        self._tls = self._tls_context()
        self._upstream_tls = None if config.upstream_tls is None else config.upstream_tls.context()
        self._servers: list[asyncio.Server] = []
        self._balanced = BalancedPort(server, config, self._take) if config.proxy_protocol else None
        self._taking: set[asyncio.Task[object]] = set()

    def _tls_context(self) -> ssl.SSLContext | None:
        return None if self.config.tls is None else self.config.tls.context()

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        for (each,) in self._server.sockets.listen(self.config.listen):
            if self._balanced is not None:
                self._balanced.open(each)
                continue
            self._servers.append(await loop.create_server(lambda: _Arrival(self), sock=each, backlog=BACKLOG))

    @property
    def port(self) -> int:
        return self._balanced.port if self._balanced is not None else int(self._servers[0].sockets[0].getsockname()[1])

    @property
    def connections(self) -> int:
        return len(self._sides)

    def peers(self) -> Iterator[Peer]:
        yield from (side.proxied.peer for side in self._sides if side.proxied is not None)

    def renew_certificates(self) -> None:
        """Read certificates and keys again, for new connections; if one is invalid, the old ones stay in use."""
        tls = self._tls_context()
        upstream_tls = None if self.config.upstream_tls is None else self.config.upstream_tls.context()
        self._tls, self._upstream_tls = tls, upstream_tls

    async def close_balanced(self) -> None:
        """Close a port behind a balancer; serve the clients that wait at it."""
        if self._balanced is not None:
            await self._balanced.close()
            await asyncio.gather(*self._taking, return_exceptions=True)

    def stop(self) -> None:
        """Accept no more clients."""
        for each in (each for server in self._servers for each in server.sockets):
            with suppress(NotImplementedError):  # loops of Windows have no readers of sockets
                asyncio.get_running_loop().remove_reader(each.fileno())

    async def close(self, until: float) -> None:
        """Begin no more requests, close idle connections, and all connections at `until`, in seconds of `time.monotonic`."""
        loop = asyncio.get_running_loop()
        if loop.time() < until:
            await asyncio.sleep(_DRAIN_STEP)  # a closed server drops clients that it has accepted a few turns before
        for server in self._servers:
            server.close()
        while True:
            late = loop.time() >= until
            for handshake in self._handshakes:
                handshake.cancel()
            for side in list(self._sides):
                side.end_requests()
                is_idle = side.proxied is None or side.proxied.relay.is_idle
                if late or is_idle:
                    side.over("stopped", "" if is_idle else "the proxy stops", lingers=not late)
            if late:
                for left in self.leaving:
                    left.close()
            if late or not (self._sides or self.leaving):
                return
            await asyncio.sleep(_DRAIN_STEP)

    def _take(self, connection: socket.socket, end: tuple[str, int]) -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(loop.connect_accepted_socket(lambda: _Arrival(self, end), connection))
        self._taking.add(task)
        task.add_done_callback(self._taking.discard)

    def arrived(self, transport: asyncio.Transport, end: tuple[str, int] | None) -> None:
        slot = None if end is None else self._server.enter(self.config, end[0])
        if slot is None or end is None:
            transport.abort()
            return
        side = ClientSide(self, slot.passed)
        self._sides[side] = slot, Peer(end[0], end[1], self.config.node_id, tenant=self.config.tenant or "")
        if self._tls is not None:
            self.secure(transport, side)
            return
        transport.set_protocol(side)
        side.connection_made(transport)

    @property
    def first_frame_seconds(self) -> float:
        return self._server.config.first_frame_seconds

    def secure(self, transport: asyncio.Transport, side: ClientSide) -> None:
        task = asyncio.ensure_future(self._secure(transport, side))
        self._handshakes.add(task)
        task.add_done_callback(self._handshakes.discard)

    async def _secure(self, transport: asyncio.Transport, side: ClientSide) -> None:
        """Replace `create_server` with TLS, which reports neither failed handshakes nor clients that close during one."""
        assert self._tls is not None
        loop, seconds = asyncio.get_running_loop(), self.first_frame_seconds
        enforce_pause(transport)  # bytes that came already belong to the handshake
        try:
            secured = await loop.start_tls(transport, side, self._tls, server_side=True, ssl_handshake_timeout=seconds)
        except (OSError, TimeoutError) as error:
            reason = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else str(error) or "the client hung up"
            side.over("tls_failed", f"{TLS_FAILED}{reason}")
            transport.close()
            return
        if secured is None or side.is_over:
            return
        if secured.is_closing():  # what came with the last record of the handshake was none
            side.over("tls_failed", f"{TLS_FAILED}the client sent no record behind its handshake")
            return
        side.connection_made(secured)

    # for `ClientSide`

    def broker_of(self, side: ClientSide) -> tuple[int, str] | None:
        """Return node id and address of a client's broker; None if the handshake decides it later."""
        assert isinstance(self.config, ListenerConfig)
        return self.config.node_id, self.config.broker

    def made(self, side: ClientSide, local: tuple[str, int]) -> ProxiedConnection:
        broker = self.broker_of(side)
        assert broker is not None
        came = self._sides[side][1]
        return self._server.connected(Peer(came.address, came.port, broker[0], tenant=came.tenant), local, 0)

    def connect(self, side: ClientSide) -> asyncio.Future[object]:
        broker = self.broker_of(side)
        assert broker is not None
        return asyncio.ensure_future(asyncio.wait_for(self._open_broker(side, broker[1]), self._server.config.connect_seconds))

    async def _open_broker(self, side: ClientSide, broker: str) -> object:
        if is_asked(broker):
            broker = await asyncio.wrap_future(self._server.place(broker))
        host, port = host_and_port(broker, "broker")
        name = None
        if self._upstream_tls is not None and self.config.upstream_tls is not None:
            name = self.config.upstream_tls.server_name or host
        loop, tls = asyncio.get_running_loop(), self._upstream_tls
        if not self.config.upstream_proxy_protocol:
            return await loop.create_connection(lambda: side.broker, host, port, ssl=tls, server_hostname=name)
        assert side.transport is not None
        came = self._sides[side][1]
        header = header_of((came.address, came.port), side.transport.get_extra_info("sockname")[:2])
        connection = await connected_socket(host, port, header)
        return await loop.create_connection(lambda: side.broker, sock=connection, ssl=tls, server_hostname=name)

    def closed(self, side: ClientSide, ending: Ending, reason: str) -> None:
        slot, peer = self._sides.pop(side)
        proxied = side.proxied
        if proxied is None:
            self._server.left(slot, peer, ending, reason)
        else:
            self._server.left(slot, proxied.peer, ending, reason, proxied.closing_api)


class _Arrival(asyncio.Protocol):
    """New client, which is read only after the listener has accepted it."""

    def __init__(self, listener: AsyncioListener, end: tuple[str, int] | None = None) -> None:
        self._listener = listener
        self._end = end

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        self._listener.arrived(transport, self._end or transport.get_extra_info("peername"))
