"""A running proxy: listeners, their connections, and an end in good order."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from kwire.errors import InputError
from kwire.protocol.relay import HeldBudget, RelayCounters
from kwire.proxy.config import ListenerConfig, ProxyConfig, host_and_port
from kwire.proxy.configured_rules import configured_rules
from kwire.proxy.connection import ProxiedConnection
from kwire.proxy.counts import ConnectionCounts, Ending
from kwire.proxy.loop_asyncio import ClientSide
from kwire.proxy.rule_set import RuleSet
from kwire.proxy.rules.rule import Peer
from kwire.proxy.tap_file import TapFile
from kwire.proxy.tapped_connection import TappedConnection

if TYPE_CHECKING:
    from kwire.proxy.metrics_endpoint import MetricsEndpoint

__all__ = ["ProxyServer"]

log = logging.getLogger("kwire.proxy")
_BACKLOG: Final = 1024
_DRAIN_STEP: Final = 0.05


class _Listener:
    """One port and the broker behind it."""

    def __init__(self, server: ProxyServer, config: ListenerConfig) -> None:
        self.config = config
        self.sides: set[ClientSide] = set()
        self.tls = None if config.tls is None else config.tls.context()
        self._server = server
        self._upstream_tls = None if config.upstream_tls is None else config.upstream_tls.context()
        self._broker = host_and_port(config.broker, "broker")
        self.socket: asyncio.Server | None = None

    async def open(self) -> None:
        host, port = host_and_port(self.config.listen, "listen")
        loop = asyncio.get_running_loop()
        try:
            self.socket = await loop.create_server(self._accept, host or None, port, ssl=self.tls, backlog=_BACKLOG)
        except OSError as error:
            raise InputError(f"{self.config.listen} cannot be listened on: {error.strerror or error}") from error

    @property
    def port(self) -> int:
        assert self.socket is not None
        return int(self.socket.sockets[0].getsockname()[1])

    def _accept(self) -> asyncio.BaseProtocol:
        if len(self.sides) >= self._server.config.max_connections:
            log.warning("%s: more than %d connections", self.config.listen, self._server.config.max_connections)
            self._server.counts.ended[self.config.node_id, "too_many"] += 1
            return _Turned()
        side = ClientSide(self._connect, self._made, self._closed, self._server.config.first_frame_seconds)
        self.sides.add(side)
        self._server.counts.opened[self.config.node_id] += 1
        return side

    def _closed(self, side: ClientSide, ending: Ending) -> None:
        self.sides.discard(side)
        self._server.counts.ended[self.config.node_id, ending] += 1

    def _made(self, end: tuple[str, int], local: tuple[str, int]) -> ProxiedConnection:
        return self._server.connected(Peer(end[0], end[1], self.config.node_id), local)

    def _connect(self, protocol: asyncio.BufferedProtocol) -> asyncio.Future[object]:
        loop = asyncio.get_running_loop()
        host, port = self._broker
        name = None
        if self._upstream_tls is not None and self.config.upstream_tls is not None:
            name = self.config.upstream_tls.server_name or host
        opening = loop.create_connection(lambda: protocol, host, port, ssl=self._upstream_tls, server_hostname=name)
        return asyncio.ensure_future(asyncio.wait_for(opening, self._server.config.connect_seconds))


class _Turned(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


class ProxyServer:
    """A proxy.

    Arguments:
        config: checked by `load_config`.

    Attributes:
        config, rules: as they are now.
        counts: of connections.
        counters: of exchanges; None without `metrics`.
        tap: where packets go; None without `[tap]`, and before `open`.

    Raises:
        InputError: a file of its rules cannot be opened, or a package is missing.
    """

    def __init__(self, config: ProxyConfig) -> None:
        self.config = config
        self.counts = ConnectionCounts()
        self.counters = None if config.metrics is None else RelayCounters()
        self.tap: TapFile | None = None
        self._metrics = None if config.metrics is None else self._endpoint()
        self.rules = RuleSet(configured_rules(config), unknown=config.unknown)
        self._budget = HeldBudget(config.max_held_in_all)
        self._listeners = [_Listener(self, each) for each in config.listeners]

    def _endpoint(self) -> MetricsEndpoint:
        try:
            from kwire.proxy.metrics import metrics_of
            from kwire.proxy.metrics_endpoint import MetricsEndpoint
        except ModuleNotFoundError as error:
            if error.name != "prometheus_client":
                raise
            raise InputError("metrics need the package prometheus_client: pip install 'kwire[proxy]'") from error
        return MetricsEndpoint(lambda: metrics_of(self))

    def peers(self) -> Iterator[Peer]:
        """The clients that are connected."""
        for listener in self._listeners:
            yield from (side.proxied.peer for side in listener.sides if side.proxied is not None)

    def connected(self, peer: Peer, local: tuple[str, int]) -> ProxiedConnection:
        """A new connection under the rules of now; `local` is where the client connected to."""
        limits = {"max_frame": self.config.max_frame, "max_held": self.config.max_held}
        return ProxiedConnection(self.rules, peer, budget=self._budget, counters=self.counters, tap=self._tapped(peer, local), **limits)

    def _tapped(self, peer: Peer, local: tuple[str, int]) -> TappedConnection | None:
        if self.tap is None or self.config.tap is None:
            return None
        return TappedConnection(self.tap, peer, local, self.config.tap.snaplen, time.time_ns())

    @property
    def ports(self) -> list[int]:
        """Of the listeners, in the order of the configuration."""
        return [listener.port for listener in self._listeners]

    @property
    def metrics_port(self) -> int | None:
        """Where metrics are served; None where they are not."""
        return None if self._metrics is None else self._metrics.port

    def replace_rules(self, config: ProxyConfig) -> None:
        """Take other rules and limits for connections that come from now on. Listeners stay as they are.

        Raises:
            InputError: the listeners, the metrics' address or the tap are others, or a file of the rules cannot be opened.
        """
        if any(getattr(config, name) != getattr(self.config, name) for name in ("listeners", "metrics", "tap")):
            raise InputError("listeners, metrics and tap can only be changed by a restart")
        self.rules = RuleSet(configured_rules(config), unknown=config.unknown)
        self.config = config

    async def open(self) -> None:
        """Listen.

        Raises:
            InputError: the tap's file cannot be made, or a port cannot be listened on; none is listened on then.
        """
        if self.config.tap is not None:
            tap = self.config.tap
            self.tap = TapFile(tap.file, max_bytes=tap.max_bytes, max_files=tap.max_files, max_queued=tap.max_queued)
        try:
            for listener in self._listeners:
                await listener.open()
            if self._metrics is not None and self.config.metrics is not None:
                await self._metrics.open(*host_and_port(self.config.metrics, "metrics"))
        except InputError:
            await self.close(0)
            raise

    async def close(self, seconds: float) -> None:
        """Stop listening, wait for answers that clients are owed, then close all connections.

        Arguments:
            seconds: to wait at most.
        """
        for listener in self._listeners:
            if listener.socket is not None:
                listener.socket.close()
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while True:
            sides = [side for listener in self._listeners for side in list(listener.sides)]
            late = loop.time() >= until
            for side in sides:
                if late or side.proxied is None or side.proxied.relay.is_idle:
                    side.over("stopped", "the proxy stops" if side.proxied is not None and not side.proxied.relay.is_idle else "")
            if late or not any(listener.sides for listener in self._listeners):
                break
            await asyncio.sleep(_DRAIN_STEP)
        if self._metrics is not None:
            self._metrics.close()
        if self.tap is not None:
            await asyncio.to_thread(self.tap.close)

    async def run(self, ready: Callable[[ProxyServer], None], reload: Callable[[], ProxyConfig] | None = None) -> None:
        """Serve until SIGTERM or SIGINT; SIGHUP reads the configuration again.

        Arguments:
            ready: called when all ports are listened on.
            reload: reads the configuration. What is wrong with it is logged, and the old rules stay.

        Raises:
            InputError: a port cannot be listened on.
        """
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGINT"):
            loop.add_signal_handler(getattr(signal, name), stop.set)
        if reload is not None and hasattr(signal, "SIGHUP"):
            loop.add_signal_handler(signal.SIGHUP, self._reload, reload)
        await self.open()
        ready(self)
        await stop.wait()
        log.info("stopping: %d connections", sum(len(listener.sides) for listener in self._listeners))
        await self.close(self.config.drain_seconds)

    def _reload(self, read: Callable[[], ProxyConfig]) -> None:
        try:
            self.replace_rules(read())
        except InputError as error:
            log.error("the configuration was not read again: %s", error)
        else:
            log.info("the configuration was read again; it holds for new connections")
