"""Running proxy: listeners, their connections, and an orderly shutdown."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import compress, product
from typing import TYPE_CHECKING, Any, Final

from kwire.errors import InputError
from kwire.protocol.relay import HeldBudget, RelayCounters
from kwire.proxy.admission import Admission, Slot, TurnedAway
from kwire.proxy.broker_reach import BrokerReach
from kwire.proxy.certificate_ends import certificate_ends
from kwire.proxy.cluster_map import ClusterMap
from kwire.proxy.config import ListenerConfig, ProxyConfig, SniListenerConfig, host_and_port
from kwire.proxy.configured_rules import configured_rule_sets
from kwire.proxy.connection import ProxiedConnection
from kwire.proxy.counts import TLS_FAILED, ConnectionCounts, Ending
from kwire.proxy.listener_asyncio import AsyncioListener
from kwire.proxy.listener_sni import SniListener
from kwire.proxy.listening_sockets import ListeningSockets, passed_sockets
from kwire.proxy.loop_native import NativeLoop, native_module
from kwire.proxy.quiet_log import QuietLog
from kwire.proxy.rule_set import RuleSet
from kwire.proxy.rules.audit import AuditRule
from kwire.proxy.rules.rehearsal import RehearsalRule
from kwire.proxy.rules.rule import Peer
from kwire.proxy.taps import Taps
from kwire.proxy.tls_native import native_tls

if TYPE_CHECKING:
    from kwire.proxy.metrics_endpoint import MetricsEndpoint

__all__ = ["ProxyServer"]

log = logging.getLogger("kwire.proxy")
_REFUSALS: Final = ("rule", "refused", "unknown_api", "program_failed", "sasl_without_handshake")
_OUT_OF_RESOURCES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_STEER_SECONDS: Final = 0.25  # for handshakes that a client has begun with this process
_LIMITS: Final[dict[TurnedAway, Callable[[ProxyConfig], str]]] = {
    "too_many": lambda config: f"max_connections, {config.max_connections}, are open",
    "too_many_handshakes": lambda config: f"half of max_connections ({config.max_connections}) are clients without a whole frame",
    "too_many_of_address": lambda config: f"max_connections_of_address, {config.max_connections_of_address}, are open",
    "too_many_handshakes_of_address": (
        lambda config: f"max_handshakes_of_address ({config.max_handshakes_of_address}) clients have not sent a whole frame"
    ),
    "too_fast": lambda config: f"max_rate_of_address, {config.max_rate_of_address}, came in one second",
}


class ProxyServer:
    """Proxy for a configuration checked by `load_config`.

    Attributes:
        counters: counters by thread (0 for asyncio's) and tenant; empty without `metrics`.
        certificates: end of the validity of each certificate in use, by listener and file; empty without `metrics`.
        is_ready: whether the ports are open, and the proxy does not stop.
    """

    def __init__(self, config: ProxyConfig) -> None:
        self.config = config
        self.counts = ConnectionCounts()
        self.counters: dict[tuple[int, str], RelayCounters] = {}
        self.is_ready = False
        self.taps: Taps | None = None
        self.sockets = ListeningSockets()
        self._metrics = None if config.metrics is None else self._endpoint()
        self.certificates = {} if config.metrics is None else certificate_ends(config)
        self.budget = HeldBudget(config.max_held_in_all)
        self._audit = None if config.audit is None else AuditRule(self._store_audit)
        self._rule_sets = configured_rule_sets(config, self._store_metrics, self.budget, self._audit)
        self._admission = Admission()
        self.quiet = QuietLog(log)
        self.cluster = None if config.cluster is None else ClusterMap(config, lambda text: self.quiet.warning("cluster", "", text))
        self._reach = BrokerReach(config, self.cluster)
        self._flushing: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None
        listeners: list[ListenerConfig | SniListenerConfig] = [*config.listeners, *config.sni_listeners]
        self._natively = [_is_native(config, each) for each in listeners]
        native = list(compress(listeners, self._natively))
        self._native = NativeLoop(self, native, config.threads) if native else None
        self._listeners: list[AsyncioListener] = [
            SniListener(self, each) if isinstance(each, SniListenerConfig) else AsyncioListener(self, each)
            for each, is_native in zip(listeners, self._natively, strict=True)
            if not is_native
        ]

    def _endpoint(self) -> MetricsEndpoint:
        try:
            from kwire.proxy.metrics import metrics_of
            from kwire.proxy.metrics_endpoint import MetricsEndpoint
        except ModuleNotFoundError as error:
            if error.name != "prometheus_client":
                raise
            raise InputError("metrics need the package prometheus_client: pip install 'kwire[proxy]'") from error
        return MetricsEndpoint(lambda: metrics_of(self), self.unready)

    def _store_metrics(self, lines: bytes) -> None:
        if self.taps is not None and self.taps.telemetry is not None:
            self.taps.telemetry.offer(lines)

    def _store_audit(self, line: bytes) -> None:
        if self.taps is not None and self.taps.audit is not None:
            self.taps.audit.offer(line)

    @property
    def rules(self) -> RuleSet:
        return self._rule_sets[""]

    def peers(self) -> Iterator[Peer]:
        for listener in self._listeners:
            yield from listener.peers()
        if self._native is not None:
            yield from self._native.peers()

    def connected(self, peer: Peer, local: tuple[str, int], thread: int) -> ProxiedConnection:
        """Create a connection with the current rules, whose thread is `thread`."""
        tap = None if self.taps is None else self.taps.connected(peer, local)
        limits = {"max_frame": self.config.max_frame, "max_held": self.config.max_held}
        counters = None
        if self._metrics is not None:
            counters = self.counters.get((thread, peer.tenant)) or self.counters.setdefault((thread, peer.tenant), RelayCounters())
        rules = self._rule_sets[peer.tenant]
        return ProxiedConnection(rules, peer, budget=self.budget, counters=counters, tap=tap, **limits)

    def enter(self, listener: ListenerConfig | SniListenerConfig, address: str) -> Slot | None:
        tenant = listener.tenant or ""
        found = self._admission.enter(self.config, listener.listen, address)
        if isinstance(found, Slot):
            self.counts.count_opened(tenant, listener.node_id)
            return found
        text = f"{address} to {listener.listen}: turned away: {_LIMITS[found](self.config)}"
        self.quiet.warning(found, address, text, listener.listen, client=address)
        self.counts.count_ended(tenant, listener.node_id, found)
        return None

    def left(self, slot: Slot, peer: Peer, ending: Ending, reason: str, api: str = "") -> None:
        """Count the end of a connection, and log the reason unless it is empty; `api` names the API of the frame that ended it."""
        slot.left()
        self.counts.count_ended(peer.tenant, peer.node_id, ending)
        if ending == "tls_failed":
            self.counts.count_handshake(peer.tenant, reason.removeprefix(TLS_FAILED))
        if reason:
            # OpenSSL has a fixed list of reasons; other texts may have numbers that clients choose
            kind, text = (reason, reason) if ending == "tls_failed" else (ending, f"closed: {reason}")
            fields = {"cause": ending, "reason": reason, "api": api, **peer.fields()}
            broker = "a broker" if peer.node_id < 0 else f"broker {peer.node_id}"
            text = f"{fields['client']}{peer.in_brackets()} on {slot.listener} to {broker}: {text}"
            self.quiet.warning(kind, peer.address, text, slot.listener, **fields)
            if self._audit is not None and ending in _REFUSALS:
                self._audit.refused(peer, api, reason)

    @property
    def ports(self) -> list[int]:
        """Ports of the listeners in the order of the configuration, followed by the SNI listeners' ports."""
        plain = iter([] if self._native is None else self._native.ports)
        others = iter([listener.port for listener in self._listeners])
        return [next(plain if is_native else others) for is_native in self._natively]

    @property
    def connections(self) -> int:
        return sum(listener.connections for listener in self._listeners) + (0 if self._native is None else self._native.connections)

    @property
    def metrics_port(self) -> int | None:
        return None if self._metrics is None else self._metrics.port

    def replace_rules(self, config: ProxyConfig) -> None:
        """Apply new rules, limits and certificates to new connections; listeners, loop, metrics and taps cannot change."""
        if any(
            getattr(config, name) != getattr(self.config, name)
            for name in (
                "listeners",
                "sni_listeners",
                "cluster",
                "loop",
                "threads",
                "metrics",
                "tap",
                "request_log",
                "telemetry",
                "audit",
                "reuse_port",
            )
        ):
            raise InputError(
                "listeners, cluster, loop, threads, metrics, audit, telemetry, request_log and tap can only be changed by a restart"
            )
        rule_sets = configured_rule_sets(config, self._store_metrics, self.budget, self._audit)
        certificates = {} if config.metrics is None else certificate_ends(config)
        for listener in self._listeners:
            listener.renew_certificates()
        if self._native is not None:
            self._native.renew_certificates()
        for old, new in product(self.rules.rules, rule_sets[""].rules):
            if isinstance(old, RehearsalRule) and isinstance(new, RehearsalRule) and new.counts.continues(old.counts):
                new.counts = old.counts
        self._rule_sets, self.config, self.certificates = rule_sets, config, certificates
        if self._native is not None:
            self._native.take_limits()

    async def open(self, passed: Sequence[socket.socket] = ()) -> None:
        """Listen, also on sockets that were `passed`; if a port is unavailable, close all."""
        self.sockets = ListeningSockets(passed, reuse_port=self.config.reuse_port)
        self.taps = Taps(self.config)
        self._flushing = asyncio.ensure_future(self._flush())
        if self.cluster is not None:
            self._refreshing = asyncio.ensure_future(self._refresh(self.cluster))
        try:
            for listener in self._listeners:
                await listener.open()
            if self._native is not None:
                self._native.open()
            self.sockets.check_passed()
            if self._metrics is not None and self.config.metrics is not None:
                await self._metrics.open(*host_and_port(self.config.metrics, "metrics"), reuse_port=self.config.reuse_port)
        except InputError:
            await self.close(0)
            raise
        self.is_ready = True

    async def unready(self) -> str:
        """Return why clients should go elsewhere; nothing if the ports are open and a broker was reached."""
        missing = await self._reach.missing() if self.is_ready else ""
        return missing if self.is_ready else "stopping"

    def place(self, broker: str) -> Future[str]:
        """Find the address of a listener's broker; the cluster may be asked for it (`ClusterMap.place`)."""
        if self.cluster is not None:
            return self.cluster.place(broker)
        found: Future[str] = Future()
        found.set_result(broker)
        return found

    async def _refresh(self, cluster: ClusterMap) -> None:
        while True:
            await asyncio.wrap_future(cluster.refresh())
            assert self.config.cluster is not None
            await asyncio.sleep(self.config.cluster.refresh_seconds)

    async def _flush(self) -> None:
        while True:
            await asyncio.sleep(1)
            self.quiet.flush()
            await asyncio.to_thread(self._save_counts)

    def _save_counts(self) -> None:
        for rule in self.rules.rules:
            if isinstance(rule, RehearsalRule):
                try:
                    rule.counts.save()
                except OSError as error:
                    self.quiet.warning("counts", "", f"{rule.counts.path} cannot be written: {error.strerror}")
                except InputError as error:
                    self.quiet.warning("counts", "", f"counts are not saved: {error}")

    async def close(self, seconds: float) -> None:
        """Stop listening, wait up to `seconds` for answers owed to clients, then close all connections."""
        self.is_ready = False
        until = time.monotonic() + seconds
        loops: list[AsyncioListener | NativeLoop] = [*self._listeners]
        if self._native is not None:
            loops.append(self._native)
        await asyncio.gather(*(each.close_balanced() for each in loops))
        for listener in self._listeners:
            listener.stop()
        if self._native is not None:
            self._native.stop(until)
        await asyncio.gather(*(listener.close(until) for listener in self._listeners))
        if self._native is not None:
            await self._native.ended()
        for task in (self._flushing, self._refreshing):
            if task is not None:
                task.cancel()
        self._reach.close()
        if self.cluster is not None:
            self.cluster.close()
        if self._flushing is not None:
            self._save_counts()
        self.quiet.flush(everything=True)
        if self._metrics is not None:
            self._metrics.close()
        if self.taps is not None:
            await asyncio.to_thread(self.taps.close)

    async def run(self, ready: Callable[[ProxyServer], None], reload: Callable[[], ProxyConfig] | None = None) -> None:
        """Serve until SIGTERM or SIGINT; SIGHUP calls `reload`, and keeps the old rules if the configuration is invalid."""
        _allow_files()
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGINT"):
            loop.add_signal_handler(getattr(signal, name), stop.set)
        if hasattr(signal, "SIGHUP"):
            loop.add_signal_handler(signal.SIGHUP, self._reload, reload)
        loop.set_exception_handler(self._loop_failed)
        await self.open(passed_sockets())
        ready(self)
        await stop.wait()
        log.info("stopping: %d connections", self.connections)
        if self.config.reuse_port:
            self.sockets.steer_away()
            await asyncio.sleep(_STEER_SECONDS)
        await self.close(self.config.drain_seconds)

    def _loop_failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _OUT_OF_RESOURCES:  # of each connection that waits, each second
            text = f"no connection can be accepted: {error.strerror}"
            self.quiet.warning("cannot_accept", "", text)
        else:
            loop.default_exception_handler(context)

    def _reload(self, read: Callable[[], ProxyConfig] | None) -> None:
        if read is None:  # the end of a terminal's session, too
            log.info("nothing to reload: the proxy has no configuration file")
            return
        try:
            self.replace_rules(read())
        except InputError as error:
            log.error("configuration not reloaded: %s", error)
        else:
            log.info("configuration reloaded; it applies to new connections")


def _allow_files() -> None:
    """Raise the limit of open files, because each connection uses two and the usual limit is 1,024."""
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limit
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _is_native(config: ProxyConfig, listener: ListenerConfig | SniListenerConfig) -> bool:
    if config.loop == "auto":
        return native_module() is not None and (not listener.has_tls or native_tls() is not None)
    return config.loop == "native"
