"""Listeners of a cluster that the proxy asks for its brokers: one for each node id that a broker may have, and one to begin at."""

from __future__ import annotations

from kwire.errors import InputError
from kwire.proxy.config import ClusterConfig, ListenerConfig, PortListenerConfig, ProxyConfig, SniBroker, host_and_port
from kwire.proxy.config_table import msgspec

__all__ = ["ANY_BROKER", "is_asked", "node_of", "with_cluster"]

_MARK = "@"  # no host has it
ANY_BROKER = f"{_MARK}:1"
_MOST_NODES = 1_000
_MOST_PORT = 65_535


def with_cluster(config: ProxyConfig) -> ProxyConfig:
    """Add the listeners of `[[port_listeners]]`, and the brokers of SNI listeners that list none."""
    asking = [*config.port_listeners, *(each for each in config.sni_listeners if not each.brokers)]
    cluster = config.cluster
    if cluster is None:
        if config.port_listeners:
            raise InputError("[[port_listeners]] need [cluster]: add it with bootstrap and last_node_id")
        return config
    if not asking:
        raise InputError("[cluster] needs [[port_listeners]], or [[sni_listeners]] without brokers")
    if not 0 <= cluster.last_node_id - cluster.first_node_id < _MOST_NODES:
        raise InputError(f"[cluster]: from first_node_id to last_node_id there are 1 to {_MOST_NODES:,} node ids")
    nodes = range(cluster.first_node_id, cluster.last_node_id + 1)
    brokers = [SniBroker(node_id=node_id, broker=_place(node_id)) for node_id in nodes]
    listeners = [each for ports in config.port_listeners for each in _listeners(ports, cluster)]
    sni = [each if each.brokers else msgspec.structs.replace(each, brokers=brokers) for each in config.sni_listeners]
    return msgspec.structs.replace(config, listeners=[*config.listeners, *listeners], sni_listeners=sni)


def _listeners(ports: PortListenerConfig, cluster: ClusterConfig) -> list[ListenerConfig]:
    (host, first), (seen, seen_first) = host_and_port(ports.listen, "listen"), host_and_port(ports.advertised, "advertised")
    host, seen = (f"[{each}]" if ":" in each else each for each in (host, seen))
    count = cluster.last_node_id - cluster.first_node_id + 1
    if not first or not seen_first or max(first, seen_first) + count > _MOST_PORT or not seen:
        raise InputError(f"[[port_listeners]]: {ports.listen!r} and {ports.advertised!r} need {count} further ports behind them")
    begin = ListenerConfig(listen=ports.listen, broker=ANY_BROKER, tenant=ports.tenant, tls=ports.tls, upstream_tls=ports.upstream_tls)
    found = [begin]
    for at in range(1, count + 1):
        node_id = cluster.first_node_id + at - 1
        place = {"listen": f"{host}:{first + at}", "broker": _place(node_id), "advertised": f"{seen}:{seen_first + at}"}
        found.append(msgspec.structs.replace(begin, node_id=node_id, **place))
    return found


def _place(node_id: int) -> str:
    return f"{_MARK}{node_id}:1"


def is_asked(broker: str) -> bool:
    """Return whether the cluster says where this broker is."""
    return broker.startswith(_MARK)


def node_of(broker: str) -> int | None:
    """Return the node id of a broker that the cluster is asked for; None for any."""
    digits = broker.removeprefix(_MARK).partition(":")[0]
    return int(digits) if digits else None
