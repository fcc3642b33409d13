"""Node ids of servers: the node at an address, according to the cluster's responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from kwire.tables.schemas import CONNECTIONS

__all__ = ["node_finder", "with_nodes"]

NodeOf = Callable[[str, int], int | None]


def node_finder(nodes: pa.Table) -> NodeOf:
    """Return a look-up by address and port, else by a port that only one node has; `nodes` has `node_id`, `host` and `port`."""
    exact: dict[tuple[str, int], set[int]] = {}
    by_port: dict[int, set[int]] = {}
    for node, host, port in zip(*(nodes.column(name).to_pylist() for name in ("node_id", "host", "port")), strict=True):
        exact.setdefault((host, port), set()).add(node)
        by_port.setdefault(port, set()).add(node)

    def node_of(address: str, port: int) -> int | None:
        found = exact.get((address, port)) or by_port.get(port) or set()
        return next(iter(found)) if len(found) == 1 else None

    return node_of


def with_nodes(connections: pa.Table, node_of: NodeOf) -> pa.Table:
    columns: list[list[Any]] = [connections.column(name).to_pylist() for name in ("server_address", "server_port")]
    servers = list(zip(*columns, strict=True))
    known = {server: node_of(*server) for server in set(servers)}
    at = CONNECTIONS.get_field_index("node_id")
    field = CONNECTIONS.field(at)
    return connections.set_column(at, field, pa.array([known[server] for server in servers], field.type))
