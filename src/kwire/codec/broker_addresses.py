"""Addresses of brokers in a message at a version, and their rewriting.

The node id of a host and port is the nearest field with Kafka's `entityType` `brokerId`, in the same struct or one around it. A name beside
it is the listener's, because a node may be a broker and a controller with the same id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from kwire.codec.edit_actions import Outcome
from kwire.codec.splice_plan import Rule
from kwire.codec.splicers import Splicers, Work, WorkOf, Works
from kwire.codec.topic_fields import fields_at
from kwire.codec.written_values import LONGEST_TEXT
from kwire.errors import EncodeError
from kwire.schema.model import Field, Message

__all__ = ["AddressTable", "Addresses", "BrokerAddress", "BrokerRewriting", "ChangeAddress", "NewAddress", "broker_fields"]

Address = tuple[str, int]


class BrokerAddress(NamedTuple):
    """Broker address in a frame."""

    node_id: int | None  # node id; None if the message does not have it
    host: str
    port: int
    listener: str | None  # name of the listener, such as `CONTROLLER`; None if the message does not have it
    message: str  # name of the message, such as `DescribeQuorumResponse`
    path: str  # path of the host in the message, without indexes, such as `nodes.listeners.host`


class AddressTable:
    """New addresses by node id. A compiled edit looks them up without calling Python.

    Arguments:
        addresses: node id, or (node id, name of the listener), to (host, port). The listener's own entry comes first; the node id -1 is
            used for brokers whose node id is not in the message.
        kept_listeners: names of listeners whose addresses stay, such as those of controllers, to which clients do not connect.
        unknown: action for a broker without an entry: `refuse` it with an EncodeError, or `keep` its address.
    """

    __slots__ = ("addresses", "kept_listeners", "unknown")

    def __init__(
        self,
        addresses: Mapping[Any, Address],
        *,
        kept_listeners: Iterable[str] = ("CONTROLLER",),
        unknown: Literal["refuse", "keep"] = "refuse",
    ) -> None:
        for host, port in addresses.values():
            if not 0 <= port < 1 << 31 or len(host.encode()) > LONGEST_TEXT:
                raise ValueError(f"{host[:_SHOWN]!r}, {port} is not an address")
        self.addresses: dict[int | tuple[int, str], Address] = dict(addresses)
        self.kept_listeners = frozenset(kept_listeners)
        self.unknown: Literal["refuse", "keep"] = unknown

    def __call__(self, found: BrokerAddress) -> Address:
        if found.listener in self.kept_listeners:
            return found.host, found.port
        node = -1 if found.node_id is None else found.node_id
        known = None if found.listener is None else self.addresses.get((node, found.listener))
        known = self.addresses.get(node) if known is None else known
        if known is not None:
            return known
        if self.unknown == "keep":
            return found.host, found.port
        raise EncodeError(f"no new address is given for node {found.node_id} at {found.host[:_SHOWN]!r}, port {found.port}")


NewAddress: TypeAlias = Callable[[BrokerAddress], Address] | Callable[[int | None, str, int], Address]
Addresses: TypeAlias = Mapping[Any, Address] | NewAddress
"""Function that returns (host, port), of one argument, a `BrokerAddress`, or three, (node id, host, port); or a mapping, see
`FrameSplicer.rewrite_brokers`."""

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
_LISTENERS: Final = ("name", "listener")  # beside a host and a port, the name of the listener
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
    """Find the rules that read node id and listener and write host and port, and the fields that no rule covers."""
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
        listener = [before + each for each in _LISTENERS if each in there]
        rules.append(Rule((*(() if node is None else (node,)), *listener[:1]), (path, before + port)))
    return tuple(rules), tuple(uncovered)


def _takes_one(function: Callable[..., Any]) -> bool:
    """Tell whether a function has one parameter, the address; other functions have three: node id, host and port."""
    import inspect  # it takes milliseconds to load, and most proxies give a mapping

    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):  # some builtins have no signature
        return False
    positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return len(positional) == 1 and not any(each.kind == each.VAR_POSITIONAL for each in parameters)


def _looked_up(given: Mapping[Any, Address]) -> Callable[..., Address]:
    def look_up(node_id: int | None, host: str, port: int, listener: str | None) -> Address:
        for key in ((host, port), node_id if listener is None else (node_id, listener)):
            if key in given:
                return given[key]
        whose = "a broker" if node_id is None else f"node {node_id}"
        where = f"{host[:_SHOWN]!r}, port {port}" + ("" if listener is None else f", listener {listener[:_SHOWN]!r}")
        raise EncodeError(f"no new address is given for {whose} at {where}")

    return look_up


def _new_address(addresses: Addresses, message: str, path: str) -> Callable[..., Address]:
    """Return a function of node id, host, port and listener, for the addresses at a path."""
    given: Any = addresses
    if isinstance(given, Mapping):
        return _looked_up(given)
    if _takes_one(given):
        return lambda node_id, host, port, listener: given(BrokerAddress(node_id, host, port, listener, message, path))
    return lambda node_id, host, port, listener: given(node_id, host, port)


class ChangeAddress:
    """Action for an address: (node id, listener, host, port); the first two only if the message has them."""

    __slots__ = ("_new_address", "addresses", "has_listener", "has_node")

    def __init__(self, addresses: Addresses, message: str, rule: Rule) -> None:
        self.addresses = addresses
        self.has_listener = bool(rule.reads) and rule.reads[-1].rpartition(".")[2] in _LISTENERS
        self.has_node = len(rule.reads) > self.has_listener
        self._new_address = _new_address(addresses, message, rule.writes[0])

    def __call__(self, *values: Any) -> Outcome:
        node_id, (host, port) = values[0] if self.has_node else None, values[-2:]
        if not host or (node_id is not None and node_id < 0):
            return None  # no broker: FindCoordinator says it so when it has an error
        made = self._new_address(node_id, host, port, values[-3] if self.has_listener else None)
        if not isinstance(made, (tuple, list)) or len(made) != 2:
            raise EncodeError(f"a new address is a host and a port, not {type(made).__qualname__}")
        return tuple(made)


def _refuse(old: Any) -> Outcome:
    if old:
        raise EncodeError("addresses of brokers may be in here, which cannot be rewritten")
    return None


class BrokerRewriting:
    """Rewriter of brokers' addresses in the messages of a catalog."""

    def __init__(self, splicers: Splicers) -> None:
        self._splicers = splicers
        self._fields = cache(lambda name, version: broker_fields(splicers.source.message(name), version))
        # a proxy gives the same addresses with every frame: what was worked out for the last ones is kept
        self._last: tuple[Any, WorkOf] | None = None

    def works(self, addresses: Addresses) -> WorkOf:
        """Return the work for each message."""
        last = self._last
        if last is None or last[0] is not addresses:
            last = self._last = addresses, Works(partial(self._work, addresses))
        return last[1]

    def _work(self, addresses: Addresses, name: str, version: int) -> Work | None:
        rules, uncovered = self._fields(name, version)
        if not rules and not uncovered:
            return None
        changes = tuple([ChangeAddress(addresses, name, rule) for rule in rules])
        return self._splicers.get(name, version, uncovered, rules), (_refuse,) * len(uncovered), changes
