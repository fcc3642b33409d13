"""Brokers of a cluster, asked of one of them."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from kwire.cluster.broker_session import Address, BrokerSession

__all__ = ["ClusterNodes", "ask_addresses", "ask_nodes"]

_DESCRIBE_CONFIGS: Final = 32
_BROKER: Final = 4  # org.apache.kafka.common.config.ConfigResource.Type
# A broker describes its own configuration only, and names itself in the error (kafka.server.ConfigHelper)
_EXPECTED: Final = re.compile(r"Unexpected broker id, expected (\d+) ")


class ClusterNodes(NamedTuple):
    """Addresses of the brokers by node id, sorted, and the node id of the broker that was asked; None if it is unknown."""

    addresses: dict[int, Address]
    own: int | None


def ask_addresses(session: BrokerSession) -> dict[int, Address]:
    """Ask for Metadata without topics, and return the brokers' addresses by node id."""
    answer = session.ask(session.messages.MetadataRequest(topics=[]))
    return {each.node_id: Address(each.host, each.port) for each in sorted(answer.brokers, key=lambda each: int(each.node_id))}


def ask_nodes(session: BrokerSession, guess: int = 0) -> ClusterNodes:
    """Ask also for the node id of the broker itself; `guess` is the expected one."""
    found = ask_addresses(session)
    own = [node_id for node_id, address in found.items() if str(address) == session.node]
    if not own and session.has(_DESCRIBE_CONFIGS):
        request = session.messages.DescribeConfigsRequest
        resource = request.DescribeConfigsResource(resource_type=_BROKER, resource_name=str(guess), configuration_keys=["broker.id"])
        own = _told(session.ask(request(resources=[resource])).results, guess)
    own = own or (list(found) if len(found) == 1 else [])
    return ClusterNodes(found, own[0] if own else None)


def _told(results: list[Any], guess: int) -> list[int]:
    if results and not results[0].error_code:
        return [guess]
    match = _EXPECTED.match((results[0].error_message or "") if results else "")
    return [] if match is None else [int(match[1])]
