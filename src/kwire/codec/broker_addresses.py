"""Where the addresses of brokers are in a message at a version, and rewriting them all.

An address is a host and a port side by side. Whose it is says the nearest field with Kafka's `entityType` `brokerId`, in the same struct or
in one around it. A test goes through the catalog: what looks like an address and is none must be told of here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kwire.codec.splice_plan import Choice, Rule
from kwire.codec.splicers import Splicers, Work, Works
from kwire.codec.topic_fields import fields_at
from kwire.errors import EncodeError
from kwire.schema.model import Field, Message

__all__ = ["Addresses", "BrokerRewriting", "NewAddress", "broker_fields"]

Address = tuple[str, int]
NewAddress = Callable[[int | None, str, int], Address]
Addresses = Mapping[Any, Address] | NewAddress
"""A function (node id, host, port) -> (host, port), or a mapping from (host, port) or from the node id."""

_PORTS: Final = {"host": "port", "host_name": "port", "v0_host": "v0_port"}
# Hosts that are no broker's: those from which clients come, those that an ACL lets in, and those on which Streams applications answer.
_OF_CLIENTS: Final = frozenset(("client_host", "client_host_address", "host_filter"))
_OF_ACLS: Final = frozenset(
    (
        ("AccessControlRecord", "host"),
        ("AccessControlEntryRecord", "host"),
        ("CreateAclsRequest", "creations.host"),
        ("DescribeAclsResponse", "resources.acls.host"),
        ("DeleteAclsResponse", "filter_results.matching_acls.host"),
    )
)
_OF_STREAMS: Final = "user_endpoint"
# Node ids without an entityType; None where the nearest id is another node's, or none is named.
_NODE_IDS: Final[dict[tuple[str, str], str | None]] = {
    ("BeginQuorumEpochRequest", "leader_endpoints."): None,  # the voter is who gets the request, the leader is named by partition
    ("EndQuorumEpochRequest", "leader_endpoints."): None,
    ("ControllerRegistrationRequest", "listeners."): "controller_id",
    ("RegisterControllerRecord", "end_points."): "controller_id",
    ("AddRaftVoterRequest", "listeners."): "voter_id",
    ("UpdateRaftVoterRequest", "listeners."): "voter_id",
}
_FRAMES: Final = frozenset((("EnvelopeRequest", "request_data"), ("EnvelopeResponse", "response_data")))
_SHOWN: Final = 64  # characters of a host that an error shows


def _node_id(message: str, scopes: tuple[tuple[str, dict[str, Field]], ...]) -> str | None:
    key = (message, scopes[-1][0])
    if key in _NODE_IDS:
        return _NODE_IDS[key]
    for before, there in reversed(scopes):
        found = [name for name, field in there.items() if field.entity_type == "brokerId" and field.type == "int32"]
        if found:
            return before + found[0] if len(found) == 1 else None
    return None


def broker_fields(message: Message, version: int) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """Find the addresses of brokers in a message at a version.

    Returns:
        Rules that read the node id, where there is one, and write host and port; and fields that may hold addresses which no rule covers.
    """
    rules: list[Rule] = []
    uncovered: list[str] = []
    for path, _, scopes in fields_at(message, version):
        before, there = scopes[-1]
        name = path[len(before) :]
        if (message.name, path) in _FRAMES:
            uncovered.append(path)
        others = name in _OF_CLIENTS or (message.name, path) in _OF_ACLS or _OF_STREAMS in before.split(".")
        if "host" not in name or others:
            continue
        port = _PORTS.get(name)
        if port is None or port not in there:
            uncovered.append(path)
            continue
        node = _node_id(message.name, scopes)
        rules.append(Rule(() if node is None else (node,), (path, before + port)))
    return tuple(rules), tuple(uncovered)


def _new_address(addresses: Addresses) -> NewAddress:
    if not isinstance(addresses, Mapping):
        return addresses
    given = addresses

    def look_up(node_id: int | None, host: str, port: int) -> Address:
        for key in ((host, port), node_id):
            if key in given:
                return given[key]
        whose = "a broker" if node_id is None else f"node {node_id}"
        raise EncodeError(f"no new address is given for {whose} at {host[:_SHOWN]!r}, port {port}")

    return look_up


def _change(new_address: NewAddress, has_node: bool) -> Callable[..., tuple[Any, ...] | None]:
    def change(*values: Any) -> tuple[Any, ...] | None:
        node_id, host, port = values if has_node else (None, *values)
        if not host or (node_id is not None and node_id < 0):
            return None  # no broker: FindCoordinator says it so when it has an error
        made = new_address(node_id, host, port)
        if not isinstance(made, (tuple, list)) or len(made) != 2:
            raise EncodeError(f"a new address is a host and a port, not {type(made).__qualname__}")
        return tuple(made)

    return change


def _refuse(old: Any) -> Any:
    if old:
        raise EncodeError("addresses of brokers may be in here, which cannot be rewritten")
    return old


class BrokerRewriting:
    """Rewrites the addresses of brokers in the messages of a catalog.

    Arguments:
        splicers: of the catalog.
    """

    def __init__(self, splicers: Splicers) -> None:
        self._splicers = splicers
        self._found: dict[tuple[str, int], tuple[Any, tuple[bool, ...], int]] = {}
        # a proxy gives the same addresses with every frame: what was worked out for the last ones is kept
        self._last: tuple[Any, Works] | None = None

    def works(self, addresses: Addresses) -> Works:
        """What is to be done with each message."""
        last = self._last
        if last is None or last[0] is not addresses:
            new_address = _new_address(addresses)
            last = self._last = addresses, Works(lambda name, version: self._work(name, version, new_address))
        return last[1]

    def _work(self, name: str, version: int, new_address: NewAddress) -> Work | None:
        found = self._found.get((name, version))
        if found is None:
            rules, uncovered = broker_fields(self._splicers.source.message(name), version)
            splicer = self._splicers.get(name, version, uncovered, rules) if rules or uncovered else None
            found = self._found[name, version] = splicer, tuple(bool(rule.reads) for rule in rules), len(uncovered)
        splicer, have_node, uncovered_count = found
        if splicer is None:
            return None
        singles = ((Choice(None, _refuse),),) * uncovered_count
        return splicer, singles, tuple(_change(new_address, has_node) for has_node in have_node)
