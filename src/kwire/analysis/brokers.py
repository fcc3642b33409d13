"""Table `brokers`: nodes named in responses and servers that clients connected to, with their advertised versions and likely release."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from datetime import datetime, timezone
from typing import Any, Final

import pyarrow as pa

from kwire.analysis.partials import Partial
from kwire.analysis.release_ranges import fitting_releases, releases_text
from kwire.schema import catalog
from kwire.tables.schemas import BROKERS

__all__ = ["Offers", "brokers", "offers_of", "versions_sent"]

# Behind every time: what a request log without times names.
LAST: Final = datetime.max.replace(tzinfo=timezone.utc)

# The client ids of brokers and controllers towards each other have their node id: `1`, `raft-client-1`, `broker-1-txn-marker-sender`.
_NODE: Final = re.compile(r"(?:broker-|.*-client-)?([0-9]{1,9})(?:-.*)?")

Offers = dict[str, dict[int, tuple[int, int]]]


def offers_of(partial: Partial) -> Offers:
    offers: Offers = defaultdict(dict)
    for part in partial["advertised"].to_pylist():
        offers[part["server"]][part["api_key"]] = (part["min_version"], part["max_version"])
    return offers


def versions_sent(partial: Partial) -> dict[int | None, set[str]]:
    found: dict[int | None, set[str]] = defaultdict(set)
    for part in partial["members"].to_pylist():
        node = _NODE.fullmatch(part["client_id"] or "")
        if node is not None:
            found[int(node[1])].add(part["software_version"])
    return found


def brokers(partial: Partial) -> pa.Table:
    offers, sent = offers_of(partial), versions_sent(partial)
    servers: dict[int | None, dict[str, dict[str, Any]]] = defaultdict(dict)
    for part in partial["servers"].to_pylist():
        if part["node_id"] is not None or part["server"] in offers:
            servers[part["node_id"]][part["server"]] = part
    nodes: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for part in partial["nodes"].to_pylist():
        nodes[part["node_id"]].append(part)
    rows = [_node(node_id, named, servers.get(node_id, {}), offers, sent[node_id]) for node_id, named in sorted(nodes.items())]
    for server, part in sorted(servers.get(None, {}).items()):
        host, _, port = server.rpartition(":")
        ranges = offers.get(server, {})
        rows.append(_row(None, host, int(port), None, None, [server], ranges, (), part["first_seen"], part["last_seen"]))
    return pa.Table.from_pylist(rows, schema=BROKERS)


def _node(
    node_id: int, named: list[dict[str, Any]], seen: dict[str, dict[str, Any]], offers: Offers, sent: Collection[str]
) -> dict[str, Any]:
    named = sorted(named, key=lambda part: (part["first_seen"] or LAST, part["host"], part["port"]))
    first = named[0]
    ranges: dict[int, tuple[int, int]] = {}
    for server in sorted(seen):
        ranges |= offers.get(server, {})
    parts = (*named, *seen.values())
    first_seen = min((part["first_seen"] for part in parts if part["first_seen"] is not None), default=None)
    last_seen = max((part["last_seen"] for part in parts if part["last_seen"] is not None), default=None)
    addresses = sorted({f"{part['host']}:{part['port']}" for part in named} | seen.keys())
    rack = next((part["rack"] for part in named if part["rack"]), None)
    cluster = next((part["cluster_id"] for part in named if part["cluster_id"]), None)
    return _row(node_id, first["host"], first["port"], rack, cluster, addresses, ranges, sent, first_seen, last_seen)


def _row(
    node_id: int | None, host: str, port: int, rack: str | None, cluster_id: str | None, addresses: list[str],
    ranges: dict[int, tuple[int, int]], sent: Collection[str], first_seen: Any, last_seen: Any,
) -> dict[str, Any]:  # fmt: skip
    versions = [
        {"api_key": key, "api_name": catalog().api_name(key), "min_version": low, "max_version": high}
        for key, (low, high) in sorted(ranges.items())
    ]
    return {
        "node_id": node_id, "host": host, "addresses": addresses, "port": port, "rack": rack, "cluster_id": cluster_id,
        "versions": versions or None, "release_guess": releases_text(fitting_releases(ranges, sent)), "first_seen": first_seen,
        "last_seen": last_seen,
    }  # fmt: skip
