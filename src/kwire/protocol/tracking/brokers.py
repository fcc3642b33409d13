"""Nodes and advertised version ranges in responses."""

from __future__ import annotations

from typing import Any, Final

from kwire.protocol.events import BrokerNode, BrokersLearned

__all__ = ["NODE_FIELDS", "nodes_of", "ranges_of"]

_SOURCES: Final = frozenset(("Metadata", "FindCoordinator", "DescribeCluster"))
# What `nodes_of` reads of their responses, but for the controller's id: by api key, each field in the versions that have it.
NODE_FIELDS: Final = {
    3: ("brokers", "cluster_id"),
    10: ("node_id", "host", "port", "coordinators.node_id", "coordinators.host", "coordinators.port"),
    60: ("brokers", "cluster_id"),
}


def ranges_of(message: Any) -> dict[int, tuple[int, int]]:
    """Return (lowest, highest) by API key of an ApiVersions response; a truncated one gives its whole entries."""
    ranges = {}
    for each in getattr(message, "api_keys", None) or ():
        highest = getattr(each, "max_version", None)
        if highest is not None:
            ranges[each.api_key] = (each.min_version, highest)
    return ranges


def nodes_of(api_name: str | None, request_index: int, time: int, message: Any) -> BrokersLearned | None:
    if api_name not in _SOURCES:
        return None
    if api_name == "FindCoordinator":
        # Up to version 3 the one coordinator is the response itself.
        found = getattr(message, "coordinators", None) or [message]
    else:
        found = getattr(message, "brokers", None) or []
    nodes = []
    for each in found:
        identifier = getattr(each, "node_id", getattr(each, "broker_id", None))
        host, port = getattr(each, "host", None), getattr(each, "port", None)
        # FindCoordinator answers an error with node -1 and no host.
        if identifier is not None and identifier >= 0 and host and port is not None and port >= 0:
            nodes.append(BrokerNode(identifier, host, port, getattr(each, "rack", None)))
    if not nodes:
        return None
    controller_id = getattr(message, "controller_id", None)
    return BrokersLearned(
        request_index=request_index,
        time=time,
        source=api_name,
        nodes=nodes,
        cluster_id=getattr(message, "cluster_id", None),
        controller_id=None if controller_id is None or controller_id < 0 else controller_id,
    )
