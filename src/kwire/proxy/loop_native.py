"""Native loop: threads that forward bytes without the GIL, on Linux.

Each thread has an epoll instance, a socket at every port (SO_REUSEPORT: the kernel distributes clients), one receive buffer, and its own
counters. It calls Python when a connection opens or ends, and for frames that a rule requests. pyx/proxy/loop.pyx has the loop.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final, cast

from kwire.codec.impl import load_native
from kwire.errors import InputError
from kwire.proxy.admission import Slot
from kwire.proxy.config import ListenerConfig, SniListenerConfig, host_and_port
from kwire.proxy.connection import ProxiedConnection
from kwire.proxy.counts import TLS_FAILED, Ending
from kwire.proxy.loop_asyncio import certified_principal
from kwire.proxy.proxy_protocol import BalancedPort, header_of
from kwire.proxy.rules.rule import Peer
from kwire.proxy.sni_names import SniNames
from kwire.proxy.tap_thread import TapThread
from kwire.proxy.tls_native import ListenerTls, native_tls

if TYPE_CHECKING:
    from types import ModuleType

    from kwire.proxy.server import ProxyServer

__all__ = ["Addresses", "NativeLoop", "WorkerCalls", "native_module"]

log = logging.getLogger("kwire.proxy")

Addresses = list[tuple[int, tuple[Any, ...]]]
"""Family and address of a broker, as returned by `socket.getaddrinfo`."""

_READ_BYTES: Final = 128 << 10
_RESOLVERS: Final = 4
_CLOSE_STEP: Final = 0.01
_NANO: Final = 1_000_000_000


def native_module() -> ModuleType | None:
    """Return the compiled loop; None if not on Linux or with the pure backend."""
    return load_native("proxy", "loop", "proxy loop") if sys.platform == "linux" else None


class NativeLoop:
    def __init__(self, server: ProxyServer, listeners: Sequence[ListenerConfig | SniListenerConfig], threads: int) -> None:
        native = native_module()
        if native is None:
            raise InputError('loop = "native" runs on Linux only, and needs kwire\'s compiled modules')
        if any(listener.has_tls for listener in listeners) and native_tls() is None:
            raise InputError('loop = "native" needs an OpenSSL 3 that Python shares, for TLS; use "auto", which then serves it by asyncio')
        self.listeners = tuple(listeners)
        self._server = server
        self._native = native
        self._sockets: list[list[tuple[int, socket.socket]]] = [[] for _ in range(threads)]  # of each thread; number of the listener
        self._calls = [WorkerCalls(self, 1 + number) for number in range(threads)]
        self._balanced: dict[int, BalancedPort] = {}
        self._workers: list[Any] = []
        self._in_turn: Iterator[tuple[Any, WorkerCalls]] = iter(())
        self._threads: list[threading.Thread] = []
        self._resolvers = ThreadPoolExecutor(_RESOLVERS, "kwire names")
        self._numeric = {broker: _numeric(broker) for listener in listeners for broker in _brokers(listener)}
        self._names = [SniNames(each, server.quiet) if isinstance(each, SniListenerConfig) else None for each in listeners]
        self._tls: list[ListenerTls | None] = []
        self.renew_certificates()
        self._taps: TapThread | None = None

    def open(self) -> None:
        """Listen and start the threads; if a port is unavailable, close all."""
        try:
            for number, listener in enumerate(self.listeners):
                if listener.proxy_protocol:
                    self._balanced[number] = BalancedPort(self._server, listener, partial(self._take, number))
                    for (each,) in self._server.sockets.listen(listener.listen):
                        self._balanced[number].open(each)
                    continue
                for group in self._server.sockets.listen(listener.listen, len(self._sockets)):
                    for of_thread, each in zip(self._sockets, group, strict=True):
                        of_thread.append((number, each))
        except InputError:
            self._close_sockets()
            raise
        for number, (sockets, calls) in enumerate(zip(self._sockets, self._calls, strict=True)):
            calls.listeners = [listener for listener, _ in sockets]
            worker = self._native.Worker(calls, [each.fileno() for _, each in sockets], _READ_BYTES)
            self._workers.append(worker)
            self._threads.append(threading.Thread(target=worker.run, name=f"kwire proxy {number}", daemon=True))
        self._in_turn = cycle(zip(self._workers, self._calls, strict=True))
        self.take_limits()
        taps = self._server.taps
        if taps is not None and taps.max_queued:
            self._taps = TapThread(taps, self._workers, taps.max_queued)
        for thread in self._threads:
            thread.start()

    def take_limits(self) -> None:
        for worker in self._workers:
            worker.first_frame_ns = int(self._server.config.first_frame_seconds * _NANO)
            worker.connect_ns = int(self._server.config.connect_seconds * _NANO)

    def renew_certificates(self) -> None:
        """Read certificates and keys again, for new connections; if one is invalid, the old ones stay in use."""
        self._tls = [
            ListenerTls(listener, None if names is None else names.knows) if listener.has_tls else None
            for listener, names in zip(self.listeners, self._names, strict=True)
        ]

    @property
    def ports(self) -> list[int]:
        found = {listener: each.getsockname()[1] for listener, each in reversed(self._sockets[0])}
        found |= {listener: each.port for listener, each in self._balanced.items()}
        return [int(found[number]) for number in range(len(self.listeners))]

    @property
    def connections(self) -> int:
        return sum(len(calls.open) + len(calls.arrivals) for calls in self._calls)

    def peers(self) -> Iterator[Peer]:
        for calls in self._calls:
            yield from (proxied.peer for proxied in calls.open.copy())

    async def close_balanced(self) -> None:
        """Close the ports behind balancers; serve the clients that wait at them."""
        await asyncio.gather(*(balanced.close() for balanced in self._balanced.values()))

    def stop(self, until: float) -> None:
        """Stop accepting; close idle connections, and all connections at `until`, in seconds of `time.monotonic`."""
        for worker in self._workers:
            worker.stop(int(until * _NANO))

    async def ended(self) -> None:
        """Wait for the threads. The ports are closed first, so that new clients are rejected and do not wait."""
        while any(worker.accepting for worker in self._workers):
            await asyncio.sleep(_CLOSE_STEP)
        self._close_sockets()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)
        if self._taps is not None:
            await asyncio.to_thread(self._taps.close)
        self._resolvers.shutdown(wait=False)

    def _close_sockets(self) -> None:
        for sockets in self._sockets:
            for _, each in sockets:
                each.close()

    def _take(self, number: int, connection: socket.socket, end: tuple[str, int]) -> None:
        """Give a client of a `BalancedPort` to the next thread."""
        worker, calls = next(self._in_turn)
        local = connection.getsockname()[:2]
        worker.call(partial(calls.adopt, worker, number, connection.detach(), end, local))

    # for the threads

    def arrived(self, number: int, end: tuple[str, int], local: tuple[str, int]) -> Arrival | None:
        listener = self.listeners[number]
        slot = self._server.enter(listener, end[0])
        if slot is None:
            return None
        broker = "" if isinstance(listener, SniListenerConfig) else listener.broker
        return Arrival(number, slot, Peer(*end, listener.node_id, tenant=listener.tenant or ""), local, broker, self._tls[number])

    def connected(self, arrival: Arrival, name: str | None, thread: int) -> ProxiedConnection:
        names = self._names[arrival.listener]
        if names is not None:
            found = names.broker(name)
            arrival.peer.node_id, arrival.broker = found.node_id, found.broker
        return self._server.connected(arrival.peer, arrival.local, thread)

    def tapped(self, proxied: ProxiedConnection) -> int:
        tap = proxied.take_tap()
        return 0 if self._taps is None or tap is None else self._taps.connected(tap)

    def disconnected(self, slot: Slot, peer: Peer, ending: Ending, reason: str, api: str = "") -> None:
        self._server.left(slot, peer, ending, reason, api)

    def numeric(self, broker: str) -> Addresses | None:
        """Return the addresses of a broker given by address; None if its name must be resolved."""
        return self._numeric.get(broker)

    def resolve(self, arrival: Arrival, found: Callable[[Addresses | str], None]) -> None:
        """Resolve a broker's name for one connection, because a restarted broker may have another address."""

        def failed(error: BaseException) -> None:
            found(error.strerror or str(error) if isinstance(error, OSError) else "the lookup failed")

        def placed(place: Future[str]) -> None:
            error = place.exception()
            if error is not None:
                failed(error)
                return
            arrival.broker = place.result()
            with suppress(RuntimeError):  # the proxy has stopped
                self._resolvers.submit(_addresses, arrival.broker).add_done_callback(done)

        def done(looked_up: Future[Addresses]) -> None:
            error = looked_up.exception()
            if error is not None:
                failed(error)
            else:
                found(looked_up.result() or "no address")

        self._server.place(arrival.broker).add_done_callback(placed)

    @property
    def first_frame_seconds(self) -> float:
        return self._server.config.first_frame_seconds


@dataclass(eq=False, slots=True)
class Arrival:
    """Client that has come; the broker of an SNI listener is known behind the handshake."""

    listener: int
    slot: Slot
    peer: Peer
    local: tuple[str, int]
    broker: str
    tls: ListenerTls | None


class WorkerCalls:
    """Callbacks of one thread of the loop; `listeners` has the listener's number for each listening socket."""

    def __init__(self, loop: NativeLoop, thread: int) -> None:
        self._loop = loop
        self._thread = thread
        self.listeners: list[int] = []
        self.open: dict[ProxiedConnection, Slot] = {}
        self.arrivals: set[Arrival] = set()

    def arrived(self, number: int, end: tuple[str, int], local: tuple[str, int]) -> Arrival | None:
        found = self._loop.arrived(self.listeners[number], end, local)
        if found is not None:
            self.arrivals.add(found)
        return found

    def adopt(self, worker: Any, number: int, file: int, end: tuple[str, int], local: tuple[str, int]) -> None:
        """Serve a socket that was accepted elsewhere."""
        found = self._loop.arrived(number, end, local)
        if found is None:
            os.close(file)
        else:
            self.arrivals.add(found)
            worker.adopt(file, found)

    def header(self, arrival: Arrival) -> bytes:
        """Return the bytes that a broker gets first."""
        sends = self._loop.listeners[arrival.listener].upstream_proxy_protocol
        return header_of((arrival.peer.address, arrival.peer.port), arrival.local) if sends else b""

    def client_tls(self, arrival: Arrival) -> Any:
        return None if arrival.tls is None else arrival.tls.client

    def broker_tls(self, arrival: Arrival) -> tuple[Any, str]:
        tls = arrival.tls
        return (None, "") if tls is None or tls.broker is None else (tls.broker, tls.server_name(arrival.broker))

    def opened(self, arrival: Arrival, name: str | None, certificate: bytes | None) -> ProxiedConnection:
        """Connect a client, with the name that it asked for in TLS and its certificate in DER."""
        arrival.peer.principal = certified_principal(certificate)
        made = self._loop.connected(arrival, name, self._thread)
        self.arrivals.discard(arrival)
        self.open[made] = arrival.slot
        return made

    def left(self, arrival: Arrival, cause: str, text: str) -> None:
        """End a connection before it was opened."""
        reason = f"{TLS_FAILED}{text or 'the client hung up'}" if cause == "tls_failed" else ""
        self.arrivals.discard(arrival)
        self._loop.disconnected(arrival.slot, arrival.peer, cast(Ending, cause), reason)

    def passed(self, proxied: ProxiedConnection) -> None:
        self.open[proxied].passed()

    def tapped(self, proxied: ProxiedConnection) -> int:
        return self._loop.tapped(proxied)

    def addresses(self, arrival: Arrival) -> Addresses | None:
        return self._loop.numeric(arrival.broker)

    def resolve(self, arrival: Arrival, found: Callable[[Addresses | str], None]) -> None:
        """Resolve the broker's name; store its addresses, or an error text, in `found`."""
        self._loop.resolve(arrival, found)

    def over(self, proxied: ProxiedConnection, cause: str, text: str) -> None:
        """End a connection for an `Ending`, or for the relay's reason (`relay`); the text is `owed` if a client waits for an answer."""
        ending = cast(Ending, cause)
        reason = ""
        closing = proxied.relay.closing
        if cause == "relay" and closing is not None:
            ending, reason = closing.reason, proxied.close_reason
        elif cause == "rule":
            reason = proxied.refusal
        elif cause in ("client_broke", "broker_broke"):
            reason = f"the {cause.partition('_')[0]}'s connection broke: {text}"
        elif cause == "broker_unreachable":
            reason = f"the broker cannot be reached: {text}"
        elif cause == "tls_failed":
            reason = f"the broker cannot be reached: {text or 'it hung up in the TLS handshake'}"
            ending = "broker_unreachable"
        elif cause == "first_frame_late":
            reason = f"no whole frame within {self._loop.first_frame_seconds:g} s"
        elif cause == "stopped":
            reason = text and "the proxy stops"
        elif cause == "fault":
            reason = "an error in kwire"
        self._loop.disconnected(self.open.pop(proxied), proxied.peer, ending, reason, proxied.closing_api)
        proxied.over()

    def fault(self, error: Exception) -> None:
        log.error("an error in the proxy's loop", exc_info=error)

    def cannot_accept(self, text: str) -> None:
        log.error("no connection can be accepted: %s", text)


def _brokers(listener: ListenerConfig | SniListenerConfig) -> list[str]:
    return [each.broker for each in listener.brokers] if isinstance(listener, SniListenerConfig) else [listener.broker]


def _addresses(broker: str, flags: int = 0) -> Addresses:
    host, port = host_and_port(broker, "broker")
    return [(int(family), address) for family, *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)]


def _numeric(broker: str) -> Addresses | None:
    try:
        return _addresses(broker, socket.AI_NUMERICHOST)
    except socket.gaierror:
        return None
