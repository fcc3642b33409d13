"""Sockets of one client and its broker, on asyncio.

Backpressure: while one side's buffer is full, the other side is not read, so a slow reader uses only the sockets' buffers.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Callable
from typing import Final, Protocol

from kwire.capture.tls.certificates import PrincipalRules, read_certificate
from kwire.protocol.relay import Moves
from kwire.proxy.connection import ProxiedConnection
from kwire.proxy.counts import Ending

__all__ = ["ClientSide"]

# Bytes that may wait in a transport before the other side is no longer read.
_MOST_UNSENT: Final = 256 << 10
_FLUSH_SECONDS: Final = 10.0  # for an end to take what it was given before the connection was over
_LINGER_SECONDS: Final = 0.5  # for a client to close after the proxy has
_PRINCIPALS: Final = PrincipalRules()
_KEEPALIVE: Final = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))


def keep_alive(transport: asyncio.BaseTransport) -> None:
    """Detect dead peers; client and broker apply Kafka's own idle limits."""
    found = transport.get_extra_info("socket")
    if found is None:
        return
    found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        if hasattr(socket, name):
            found.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def certified_principal(der: bytes | None) -> str:
    """Return `User:SUBJECT`, as brokers do with `ssl.principal.mapping.rules=DEFAULT`; empty without a certificate."""
    found = None if der is None else read_certificate(der)
    return "" if found is None else _PRINCIPALS.principal(found.subject)


def enforce_pause(transport: asyncio.Transport) -> None:
    """Make the pause of `connection_made` effective, because Python 3.10 and 3.11.2 continue reading despite it, and ignore a second
    pause."""
    transport.resume_reading()
    transport.pause_reading()


class Side(asyncio.BufferedProtocol):
    def __init__(self, received: memoryview, leaving: set[Side]) -> None:
        self.transport: asyncio.Transport | None = None
        self._leaving = leaving
        self.is_full = False
        self.has_ended = False
        self._received = received  # of all connections of a listener: transports fill and report it in one step, so none keeps its own

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(_MOST_UNSENT)
        keep_alive(transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._received

    def received(self, count: int) -> bytes:
        """Return a copy of the received bytes, because a transport may keep parts of it until they are sent."""
        return bytes(self._received[:count])

    def send(self, pieces: list[bytes | bytearray | memoryview]) -> None:
        if self.transport is not None and pieces and not self.transport.is_closing():
            # not writelines: in Python 3.12.0 to 3.12.8 and 3.13.0 to 3.13.1 it never reports a full buffer (CVE-2024-12254)
            self.transport.write(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def end(self) -> None:
        """Half-close the socket; close it with TLS, which does not support that, or if the other direction has ended."""
        if self.transport is None or self.transport.is_closing():
            return
        if self.transport.can_write_eof() and not self.has_ended:
            try:
                self.transport.write_eof()
            except OSError:  # the peer has reset the connection, and the loop has not seen it yet
                self.transport.abort()
        else:
            self.transport.close()

    def close(self, *, lingers: bool = False) -> None:
        """Close the socket once all is sent. Bytes that are not read then would make the kernel reset the connection, and drop answers on
        their way: with `lingers`, the peer closes first."""
        if self.transport is None:
            return
        if not self.transport.is_closing():
            self._leaving.add(self)
        loop = asyncio.get_running_loop()
        if lingers:
            self.end()
            self.transport.resume_reading()
            loop.call_later(_LINGER_SECONDS, self._abort_if_sent)
        else:
            self.transport.close()
        # an end that reads no more would keep its socket, which no limit counts any more
        loop.call_later(_FLUSH_SECONDS, self.transport.abort)

    def _abort_if_sent(self) -> None:
        if self.transport is not None and not self.transport.get_write_buffer_size():
            self.transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._leaving.discard(self)


class Listening(Protocol):
    """Listener of a client's socket; `leaving` has the sockets of connections that are over, until they are closed."""

    received: memoryview
    leaving: set[Side]

    @property
    def first_frame_seconds(self) -> float: ...

    def made(self, side: ClientSide, local: tuple[str, int]) -> ProxiedConnection: ...
    def connect(self, side: ClientSide) -> asyncio.Future[object]: ...
    def closed(self, side: ClientSide, ending: Ending, reason: str) -> None:
        """Handle the end of both sockets, with the reason for counters and log; called once."""


class ClientSide(Side):
    """Socket of a client; it opens the broker's. `passed` is called whenever the client has sent whole frames."""

    def __init__(self, listener: Listening, passed: Callable[[], None]) -> None:
        super().__init__(listener.received, listener.leaving)
        self._listener = listener
        self._passed = passed
        self._timer: asyncio.TimerHandle | None = None
        self._settling: asyncio.TimerHandle | None = None
        self.proxied: ProxiedConnection | None = None
        self.broker = _BrokerSide(self)
        self._opening: asyncio.Future[object] | None = None
        self._early = b""  # what came before the broker was reached: with the last bytes of a handshake, or see `buffer_updated`
        self._is_reached = False
        self.is_over = False

    # the client's socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._guarded(self._begin)

    def _begin(self) -> None:
        assert self.transport is not None
        self.transport.pause_reading()  # until the broker is reached
        self.proxied = self._listener.made(self, self.transport.get_extra_info("sockname")[:2])
        secured: ssl.SSLObject | None = self.transport.get_extra_info("ssl_object")
        self.proxied.peer.principal = certified_principal(None if secured is None else secured.getpeercert(binary_form=True))
        self._timer = asyncio.get_running_loop().call_later(self._listener.first_frame_seconds, self._first_frame_late)
        self._opening = self._listener.connect(self)
        self._opening.add_done_callback(self._reached)

    def _first_frame_late(self) -> None:
        if self.proxied is not None and not self.proxied.has_passed and self.proxied.delayed is None:
            self.over("first_frame_late", f"no whole frame within {self._listener.first_frame_seconds:g} s")

    def _reached(self, opening: asyncio.Future[object]) -> None:
        if opening.cancelled() or self.is_over:
            self.broker.close()
        elif (error := opening.exception()) is not None:
            self.over("broker_unreachable", f"the broker cannot be reached: {str(error) or 'no connection within connect_seconds'}")
        else:
            self._is_reached = True
            self._guarded(self._first_bytes)

    def _guarded(self, step: Callable[[], None]) -> None:
        """Close the connection on an exception, because transports only handle exceptions of `buffer_updated`."""
        try:
            step()
        except Exception as error:
            self.lost("client_broke", f"the client's connection broke: {error}")
            raise

    def _first_bytes(self) -> None:
        self.read_on()
        if self._early and self.proxied is not None:
            early, self._early = self._early, b""
            self.carry_out(self.proxied.from_client(early, time.monotonic_ns()))
        if self.has_ended:
            self.eof_received()

    def buffer_updated(self, count: int) -> None:
        if self.is_over:
            return
        if self.proxied is None or not self._is_reached:
            self._early += self.received(count)
            if self.transport is not None and not self.transport.is_reading():
                enforce_pause(self.transport)
            return
        self.carry_out(self.proxied.from_client(self.received(count), time.monotonic_ns()))

    def eof_received(self) -> bool:
        self.has_ended = True
        if self.proxied is not None and self._is_reached and not self.is_over:
            self.carry_out(self.proxied.end_client(time.monotonic_ns()))
        return self.transport is not None and self.transport.can_write_eof() and not self.is_over

    def pause_writing(self) -> None:
        self.is_full = True
        self.read_on()

    def resume_writing(self) -> None:
        self.is_full = False
        self.read_on()

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self.lost("client_broke", "" if error is None else f"the client's connection broke: {error}")

    # both

    def carry_out(self, moves: Moves) -> None:
        assert self.proxied is not None
        self.broker.send(moves.to_server)
        self.send(moves.to_client)
        if self.proxied.has_passed:
            self._passed()
        if reason := self.proxied.close_reason:
            closing = self.proxied.relay.closing
            self.over("rule" if self.proxied.refusal or closing is None else closing.reason, reason)
            return
        if self.proxied.delayed is not None and self._settling is None:
            self._settling = asyncio.get_running_loop().call_later(self.proxied.delayed[1].delay, self._guarded, self._settle_delayed)
        if moves.end_server:
            self.broker.end()
        if moves.end_client:
            self.end()
        self.read_on()

    def _settle_delayed(self) -> None:
        self._settling = None
        assert self.proxied is not None
        if self.broker.has_ended:
            self.over("ended")  # the client was told so, and gets nothing more
        else:
            self.carry_out(self.proxied.settle_delayed(time.monotonic_ns()))

    def read_on(self) -> None:
        if self.is_over or self.proxied is None or self.transport is None or not self._is_reached:
            return
        relay = self.proxied.relay
        _reading(self, relay.reads_client and not self.broker.is_full)
        _reading(self.broker, relay.reads_server and not self.is_full)

    def end_requests(self) -> None:
        if self.proxied is not None:
            self.proxied.relay.end_requests()
            self.read_on()

    def lost(self, ending: Ending, reason: str) -> None:
        """Handle the end of a socket; without a reason, it was orderly."""
        self.over(ending if reason else "ended", reason)

    def over(self, ending: Ending, reason: str = "", *, lingers: bool = False) -> None:
        """Close both sockets after sending pending bytes; an empty reason is not logged."""
        if self.is_over:
            return
        self.is_over = True
        for timer in (self._timer, self._settling):
            if timer is not None:
                timer.cancel()
        if self._opening is not None and not self._opening.done():
            self._opening.cancel()
        self.close(lingers=lingers)
        self.broker.close()
        if self.proxied is not None:
            self.proxied.over()
        self._listener.closed(self, ending, reason)


class _BrokerSide(Side):
    def __init__(self, client: ClientSide) -> None:
        super().__init__(client._received, client._leaving)
        self._client = client

    def buffer_updated(self, count: int) -> None:
        proxied = self._client.proxied
        assert proxied is not None
        self._client.carry_out(proxied.from_server(self.received(count), time.monotonic_ns()))

    def eof_received(self) -> bool:
        self.has_ended = True
        proxied = self._client.proxied
        if proxied is not None:
            self._client.carry_out(proxied.end_server(time.monotonic_ns()))
        return self.transport is not None and self.transport.can_write_eof()

    def pause_writing(self) -> None:
        self.is_full = True
        self._client.read_on()

    def resume_writing(self) -> None:
        self.is_full = False
        self._client.read_on()

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self._client.lost("broker_broke", "" if error is None else f"the broker's connection broke: {error}")


def _reading(side: Side, wanted: bool) -> None:
    transport = side.transport
    if transport is None or transport.is_closing() or side.has_ended or transport.is_reading() == wanted:
        return
    if wanted:
        transport.resume_reading()
    else:
        transport.pause_reading()
