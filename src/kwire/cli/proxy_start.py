"""First log lines of a proxy: its ports, and clients that would bypass it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kwire.errors import InputError
from kwire.proxy.cluster_listeners import is_asked

if TYPE_CHECKING:
    from kwire.proxy.config import ProxyConfig
    from kwire.proxy.server import ProxyServer

__all__ = ["announce", "bypass_warning"]

log = logging.getLogger("kwire.proxy")


def bypass_warning(config: ProxyConfig) -> str:
    """Return a warning for listeners whose clients get the brokers' own addresses; empty if there are none.

    Raises:
        InputError: a rehearsal would miss the requests of these clients.
    """
    staying = {each.tenant for each in config.all_listeners if each.addresses()}
    bypassed = [each.listen for each in config.listeners if each.tenant not in staying]
    if not bypassed:
        return ""
    text = f"clients of {', '.join(bypassed)} get the brokers' own addresses and bypass the proxy"
    remedy = "set --advertised HOST:PORT, or `advertised` of [[listeners]], to an address of the proxy that clients reach"
    if config.rehearsal is not None:
        raise InputError(f"{text}, so the rehearsal would miss their requests: {remedy}.")
    return f"{text}; {remedy}"


def announce(server: ProxyServer) -> None:
    config = server.config
    for ports in config.port_listeners:
        assert config.cluster is not None
        log.info(
            "listening on %s and the ports behind it for the nodes %d to %d of the cluster at %s; bootstrap address for clients: %s",
            ports.listen, config.cluster.first_node_id, config.cluster.last_node_id, config.cluster.bootstrap, ports.advertised,
        )  # fmt: skip
    for listener, port in zip(config.listeners, server.ports, strict=False):
        if is_asked(listener.broker):
            continue
        log.info("listening on port %d for broker %d at %s", port, listener.node_id, listener.broker)
    for sni, port in zip(config.sni_listeners, server.ports[len(config.listeners) :], strict=True):
        log.info(
            "listening on port %d for %d brokers; bootstrap address for clients: %s:%d", port, len(sni.brokers), sni.bootstrap, sni.port
        )
