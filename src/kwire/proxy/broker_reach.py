"""First connection to a broker: an orchestrator sends no client to a proxy that has reached none."""

from __future__ import annotations

import asyncio
from typing import Final

from kwire.proxy.cluster_listeners import is_asked
from kwire.proxy.cluster_map import ClusterMap
from kwire.proxy.config import ListenerConfig, ProxyConfig, SniBroker, host_and_port

__all__ = ["BrokerReach"]

_SECONDS: Final = 1.0


class BrokerReach:
    """Attempts to reach a broker, made while somebody asks and until one succeeds: later, clients show what works."""

    def __init__(self, config: ProxyConfig, cluster: ClusterMap | None) -> None:
        places: list[ListenerConfig | SniBroker] = [*config.listeners, *(each for sni in config.sni_listeners for each in sni.brokers)]
        self._brokers = {each.broker: each.node_id for each in places if not is_asked(each.broker)}
        self._config = config
        self._cluster = cluster
        self._is_reached = False
        self._trying: asyncio.Task[list[str]] | None = None

    async def missing(self) -> str:
        """Return the brokers that cannot be reached, with the reasons; nothing once a broker was reached."""
        if self._is_reached:
            return ""
        if self._trying is None or self._trying.done():
            self._trying = asyncio.ensure_future(self._try())
        failures = await asyncio.shield(self._trying)
        return "" if self._is_reached else f"no broker can be reached: {'; '.join(failures)}"

    def close(self) -> None:
        if self._trying is not None:
            self._trying.cancel()

    async def _try(self) -> list[str]:
        attempts = [self._connect(broker, node_id) for broker, node_id in self._brokers.items()]
        if self._cluster is not None:
            attempts.append(self._ask(self._cluster))
        failures = await asyncio.gather(*attempts)
        self._is_reached = "" in failures
        return failures

    async def _connect(self, broker: str, node_id: int) -> str:
        """Return why a broker cannot be reached; nothing if it can."""
        host, port = host_and_port(broker, "broker")
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), _SECONDS)
        except (OSError, asyncio.TimeoutError) as error:
            reason = str(error) or f"no connection within {_SECONDS:g} s"
            return f"broker {node_id} at {broker}: {reason}"
        writer.close()
        return ""

    async def _ask(self, cluster: ClusterMap) -> str:
        if not cluster.nodes:
            await asyncio.wait([asyncio.wrap_future(cluster.refresh())], timeout=_SECONDS)
        assert self._config.cluster is not None
        return "" if cluster.nodes else f"the cluster at {self._config.cluster.bootstrap} has not named its brokers"
