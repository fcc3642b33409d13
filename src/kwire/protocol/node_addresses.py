"""Which broker an address is: a node table that is built from what responses say alone (KIP-35: metadata without ZooKeeper).

A client's first connections go to addresses that are no broker's yet. Once a response names the nodes, such a connection is one to a known
broker. Behind a proxy or an address translation the two can disagree: then the address answers for another node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kwire.protocol.events import BrokerNode, BrokersLearned

__all__ = ["BOOTSTRAP", "NodeAddresses", "NodeMismatch"]

BOOTSTRAP: Final = "bootstrap"  # what KIP-714 calls the broker of a connection while it is unknown which one it is


@dataclass(frozen=True, slots=True)
class NodeMismatch:
    """An address that is one node by the cluster's metadata and another by what answers there."""

    host: str
    port: int
    listed: int
    answering: int


class NodeAddresses:
    """The nodes of one cluster.

    Attributes:
        cluster_id: None until a response names it.
        mismatches: addresses that answered for another node, in the order in which they were found.
    """

    def __init__(self) -> None:
        self.cluster_id: str | None = None
        self.mismatches: list[NodeMismatch] = []
        self._nodes: dict[int, BrokerNode] = {}
        self._by_address: dict[tuple[str, int], int] = {}

    def learn(self, learned: BrokersLearned) -> None:
        """Take what a response says; a node that moved has its new address alone."""
        self.cluster_id = learned.cluster_id or self.cluster_id
        for node in learned.nodes:
            before = self._nodes.get(node.node_id)
            if before is not None:
                if self._by_address.get((before.host, before.port)) == node.node_id:
                    del self._by_address[before.host, before.port]
                if node.rack is None:  # FindCoordinator knows no racks
                    node = BrokerNode(node.node_id, node.host, node.port, before.rack)
            self._nodes[node.node_id] = node
            self._by_address[node.host, node.port] = node.node_id

    def node_of(self, host: str, port: int) -> int | None:
        """The node that has this address, None while it is unknown."""
        return self._by_address.get((host, port))

    def label(self, host: str, port: int) -> str:
        """The broker of a connection to an address as a label: its node id, `bootstrap` while that is not known."""
        node = self.node_of(host, port)
        return BOOTSTRAP if node is None else str(node)

    def answered(self, host: str, port: int, node_id: int) -> NodeMismatch | None:
        """What answers at an address says that it is this node, in ApiVersions v5 or a tag; gives a disagreement, once."""
        listed = self.node_of(host, port)
        if listed is None or listed == node_id:
            return None
        found = NodeMismatch(host, port, listed, node_id)
        if found not in self.mismatches:
            self.mismatches.append(found)
        return found

    @property
    def nodes(self) -> list[BrokerNode]:
        """The nodes that were named, by id."""
        return [self._nodes[each] for each in sorted(self._nodes)]
