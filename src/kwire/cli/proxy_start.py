"""Log lines of a proxy that has started: its ports, and brokers that cannot be reached."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from kwire.proxy.config import host_and_port

if TYPE_CHECKING:
    from kwire.proxy.config import ProxyConfig
    from kwire.proxy.server import ProxyServer

__all__ = ["announce", "check_brokers"]

log = logging.getLogger("kwire.proxy")
_SECONDS: Final = 5.0


def announce(server: ProxyServer) -> None:
    config = server.config
    for listener, port in zip(config.listeners, server.ports, strict=False):
        log.info("listening on port %d for broker %d at %s", port, listener.node_id, listener.broker)
    for sni, port in zip(config.sni_listeners, server.ports[len(config.listeners) :], strict=True):
        log.info(
            "listening on port %d for %d brokers; bootstrap address for clients: %s:%d", port, len(sni.brokers), sni.bootstrap, sni.port
        )


async def check_brokers(config: ProxyConfig) -> None:
    """Connect to each broker once and log failures; the proxy continues, because a broker may start later."""
    brokers = [(each.node_id, each.broker) for each in config.listeners]
    brokers += [(each.node_id, each.broker) for sni in config.sni_listeners for each in sni.brokers]
    reached = await asyncio.gather(*(_can_reach(node_id, address) for node_id, address in brokers))
    if all(reached):
        log.info("all brokers can be reached (%d)", len(brokers))


async def _can_reach(node_id: int, address: str) -> bool:
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(*host_and_port(address, "broker")), _SECONDS)
    except asyncio.TimeoutError:
        log.warning("broker %d at %s cannot be reached: no connection in %g seconds", node_id, address, _SECONDS)
        return False
    except OSError as error:
        log.warning("broker %d at %s cannot be reached: %s", node_id, address, error.strerror or error)
        return False
    writer.close()
    return True
