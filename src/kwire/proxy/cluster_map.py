"""Brokers of the cluster of `[cluster]`, as one of them named them last."""

from __future__ import annotations

import logging
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from kwire.cluster.broker_session import Address, BrokerSession, Login, addresses
from kwire.cluster.nodes import ask_addresses
from kwire.errors import InputError
from kwire.json_encoding import encode_json
from kwire.proxy.cluster_listeners import is_asked, node_of
from kwire.proxy.config import ClusterConfig, ProxyConfig

__all__ = ["ClusterMap"]

log = logging.getLogger("kwire.proxy")
_SECONDS: Final = 5.0
_AGAIN: Final = 0.1  # seconds until clients of an unknown broker make the proxy ask again


class ClusterMap:
    """Addresses by node id; thread-safe. One thread asks the cluster, so that only clients of unknown brokers wait for it.

    Arguments:
        config: configuration with `[cluster]`.
        warn: function for a sentence about a cluster that does not answer.
    """

    def __init__(self, config: ProxyConfig, warn: Callable[[str], None]) -> None:
        assert config.cluster is not None
        self._config: ClusterConfig = config.cluster
        self._warn = warn
        self._bootstrap = addresses(self._config.bootstrap)
        properties = self._config.client_properties
        self._login: Login | None = None
        self._tls: ssl.SSLContext | None = None
        if properties is not None:
            from kwire.cluster.client_properties import read_client_properties

            self._login, self._tls = read_client_properties(properties)
        self._seen: dict[int, list[str]] = {}
        for node_id, (host, port) in (found for each in config.all_listeners for found in each.addresses()):
            self._seen.setdefault(node_id, []).append(str(Address(host, port)))
        self._lock = threading.Lock()
        self._asker = ThreadPoolExecutor(1, "kwire cluster")
        self._asking: Future[None] | None = None
        self._asked_at = -_AGAIN
        self._next = 0
        self.nodes: dict[int, Address] = {}

    def ask(self) -> dict[int, Address]:
        """Ask the first broker that answers: of `bootstrap`, then of those known."""
        servers = dict.fromkeys((*self._bootstrap, *self.nodes.values()))
        with BrokerSession(tuple(servers), timeout=_SECONDS, client_id="kwire-proxy", login=self._login, tls=self._tls) as session:
            return ask_addresses(session)

    def refresh(self) -> Future[None]:
        """Ask the cluster for its brokers, unless an answer is already expected."""
        with self._lock:
            if self._asking is None or self._asking.done():
                self._asking = self._asker.submit(self._refresh)
            return self._asking

    def close(self) -> None:
        self._asker.shutdown(wait=False, cancel_futures=True)

    def _refresh(self) -> None:
        try:
            found = self.ask()
        except InputError as error:
            self._warn(f"the cluster cannot be asked for its brokers: {error}")
        else:
            if found != self.nodes:
                self._tell(found)
                self.nodes = found
                self._write()
        self._asked_at = time.monotonic()

    def place(self, broker: str) -> Future[str]:
        """Find the address of a broker, `host:port`; ask the cluster for one that is unknown.

        The result is an `OSError` if the cluster does not have it.
        """
        found: Future[str] = Future()
        if not is_asked(broker):
            found.set_result(broker)
            return found
        node_id, nodes = node_of(broker), self.nodes
        is_known = bool(nodes) if node_id is None else node_id in nodes
        if is_known or time.monotonic() - self._asked_at < _AGAIN:
            self._settle(found, node_id)
        else:
            self.refresh().add_done_callback(lambda _: self._settle(found, node_id))
        return found

    def _settle(self, found: Future[str], node_id: int | None) -> None:
        known = self._known(node_id)
        if not found.set_running_or_notify_cancel():
            return
        if known is not None:
            found.set_result(str(known))
        else:
            absent = "the cluster has not named its brokers" if node_id is None else f"the cluster has no broker {node_id}"
            found.set_exception(OSError(absent))

    def _known(self, node_id: int | None) -> Address | None:
        nodes = self.nodes
        if node_id is not None or not nodes:
            return None if node_id is None else nodes.get(node_id)
        self._next += 1
        return list(nodes.values())[self._next % len(nodes)]

    def _tell(self, found: dict[int, Address]) -> None:
        for node_id in sorted(found.keys() | self.nodes.keys()):
            old, new = self.nodes.get(node_id), found.get(node_id)
            if new is None:
                log.info("broker %d at %s has left the cluster", node_id, old)
            elif node_id not in self._seen:
                range_of = f"first_node_id = {self._config.first_node_id} to last_node_id = {self._config.last_node_id}"
                log.warning("broker %d at %s has no listener: its node id is outside of %s", node_id, new, range_of)
            elif new != old:
                log.info("broker %d is at %s; clients get %s", node_id, new, ", ".join(self._seen[node_id]))

    def _write(self) -> None:
        if self._config.brokers_file is None:
            return
        brokers = [{"node_id": each, "broker": str(at), "advertised": self._seen.get(each, [])} for each, at in self.nodes.items()]
        path = Path(self._config.brokers_file)
        made = path.with_name(f"{path.name}.new")
        try:
            made.write_text(encode_json({"brokers": brokers}, indent=1) + "\n", "utf-8")
            made.replace(path)
        except OSError as error:
            self._warn(f"{path} cannot be written: {error.strerror}")
