"""Brokers by address, learned from responses alone (KIP-35: metadata without ZooKeeper)."""

from __future__ import annotations

from typing import Final, NamedTuple

from kwire.protocol.events import BrokerNode, BrokersLearned

__all__ = ["BOOTSTRAP", "NodeAddresses", "NodeMismatch"]

BOOTSTRAP: Final = "bootstrap"  # label of KIP-714 for a broker whose id is not known


class NodeMismatch(NamedTuple):
    """Address that the cluster's metadata lists for one node but that answers as another, as behind a proxy."""

    host: str
    port: int
    listed: int
    answering: int


class NodeAddresses:
    """Nodes of one cluster."""

    def __init__(self) -> None:
        self.cluster_id: str | None = None  # None until a response names it
        self.mismatches: list[NodeMismatch] = []  # addresses that answered for another node, each once
        self._nodes: dict[int, BrokerNode] = {}
        self._by_address: dict[tuple[str, int], int] = {}

    def learn(self, learned: BrokersLearned) -> None:
        """Record the nodes of a response; a node that moved loses its old address."""
        self.cluster_id = learned.cluster_id or self.cluster_id
        for node in learned.nodes:
            before = self._nodes.get(node.node_id)
            if before is not None:
                if self._by_address.get((before.host, before.port)) == node.node_id:
                    del self._by_address[before.host, before.port]
                if node.rack is None:  # FindCoordinator has no racks
                    node = BrokerNode(node.node_id, node.host, node.port, before.rack)
            self._nodes[node.node_id] = node
            self._by_address[node.host, node.port] = node.node_id

    def node_of(self, host: str, port: int) -> int | None:
        """Return the node at an address, None if unknown."""
        return self._by_address.get((host, port))

    def label(self, host: str, port: int) -> str:
        """Return the node id at an address as a label, `bootstrap` if unknown."""
        node = self.node_of(host, port)
        return BOOTSTRAP if node is None else str(node)

    def answered(self, host: str, port: int, node_id: int) -> NodeMismatch | None:
        """Record the node id that a broker returns at an address (ApiVersions v5, or a tag); return a mismatch."""
        listed = self.node_of(host, port)
        if listed is None or listed == node_id:
            return None
        found = NodeMismatch(host, port, listed, node_id)
        if found not in self.mismatches:
            self.mismatches.append(found)
        return found

    @property
    def nodes(self) -> list[BrokerNode]:
        """Known nodes, by id."""
        return [self._nodes[each] for each in sorted(self._nodes)]
