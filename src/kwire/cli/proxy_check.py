"""Check of a proxy's configuration against its brokers: each is asked once, for its node id and for the others."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kwire.cluster.broker_session import BrokerSession, Login, addresses
from kwire.cluster.nodes import ask_nodes
from kwire.errors import InputError
from kwire.proxy.cluster_listeners import is_asked
from kwire.proxy.cluster_map import ClusterMap

if TYPE_CHECKING:
    from kwire.proxy.config import ClusterConfig, ListenerConfig, ProxyConfig, SniBroker, SniListenerConfig

__all__ = ["BrokerCheck", "check_brokers", "log_check"]

log = logging.getLogger("kwire.proxy")
_SECONDS: Final = 5.0
_AT_ONCE: Final = 8


@dataclass(slots=True)
class BrokerCheck:
    """Answers of the brokers.

    Attributes:
        brokers: number of brokers that were asked.
        wrong: sentences about what will not work.
        notes: sentences about what is unusual, or could not be checked.
        named: node ids in the brokers' answers, by tenant.
    """

    brokers: int = 0
    wrong: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    named: defaultdict[str | None, set[int]] = field(default_factory=lambda: defaultdict(set))


_Place = tuple["ListenerConfig | SniListenerConfig", "ListenerConfig | SniBroker"]


def check_brokers(config: ProxyConfig, login: Login | None = None) -> BrokerCheck:
    every: list[_Place] = [(each, each) for each in config.listeners]
    every += [(sni, each) for sni in config.sni_listeners for each in sni.brokers]
    places = [place for place in every if not is_asked(place[1].broker)]
    found = BrokerCheck(len(places))
    if config.cluster is not None:
        _ask_cluster(config, config.cluster, found)
    with ThreadPoolExecutor(_AT_ONCE, "kwire brokers") as executor:
        node_ids = list(executor.map(lambda place: _ask(place, login, found), places))
    for tenant, named in found.named.items():
        served = {own for (listener, _), own in zip(places, node_ids, strict=True) if listener.tenant == tenant and listener.addresses()}
        if served and (missing := named - served):
            _say_missing(missing, tenant, config, found)
    return found


def _ask(place: _Place, login: Login | None, found: BrokerCheck) -> int:
    """Return the node id of a broker: its own, or that of the configuration."""
    listener, broker = place
    name, tls = f"broker {broker.node_id} at {broker.broker}", listener.upstream_tls
    context, server_name = (None, None) if tls is None else (tls.context(), tls.server_name)
    try:
        session = BrokerSession(
            addresses(broker.broker), timeout=_SECONDS, client_id="kwire-proxy", login=login, tls=context, server_name=server_name
        )
    except InputError as error:
        found.wrong.append(f"{name} cannot be reached: {error}")
        return broker.node_id
    with session:
        try:
            nodes = ask_nodes(session, broker.node_id)
        except InputError as error:
            found.notes.append(f"{name} does not say its node id: {error}; --command-config FILE lets the proxy log in to ask")
            return broker.node_id
    found.named[listener.tenant].update(nodes.addresses)
    own = broker.node_id if nodes.own is None else nodes.own
    if listener.addresses() and own != broker.node_id:
        found.wrong.append(f"{name}: its node id is {own}, not {broker.node_id}: set node_id = {own}, or --node-id {own}")
    elif listener.addresses() and own not in nodes.addresses:
        found.wrong.append(f"{name}: the cluster has {_brokers(nodes.addresses)}, and no {own}")
    return own


def _ask_cluster(config: ProxyConfig, cluster: ClusterConfig, found: BrokerCheck) -> None:
    try:
        nodes = ClusterMap(config, found.wrong.append).ask()
    except InputError as error:
        found.wrong.append(f"the cluster cannot be asked for its brokers: {error}")
        return
    found.brokers += len(nodes)
    outside = {each for each in nodes if not cluster.first_node_id <= each <= cluster.last_node_id}
    if outside:
        found.wrong.append(f"{_brokers(outside)} of the cluster: outside of first_node_id to last_node_id, so clients cannot reach them")


def _say_missing(missing: set[int], tenant: str | None, config: ProxyConfig, found: BrokerCheck) -> None:
    what = f"{_brokers(missing)} {'has' if len(missing) == 1 else 'have'} no listener{f' of tenant {tenant}' if tenant else ''}"
    if config.addresses.unknown_node == "keep":
        found.notes.append(f"{what}: clients reach {'it' if len(missing) == 1 else 'them'} without the proxy")
        return
    remedy = f'add [[listeners]] with node_id = {min(missing)}, or unknown_node = "keep" under [addresses]'
    found.wrong.append(f"{what}, so clients whose answers name {'it' if len(missing) == 1 else 'them'} are closed: {remedy}")


def _brokers(node_ids: Collection[int]) -> str:
    *others, last = map(str, sorted(node_ids))
    return f"brokers {', '.join(others)} and {last}" if others else f"broker {last}"


async def log_check(config: ProxyConfig, login: Login | None) -> None:
    """Log what is wrong; the proxy continues, because a broker may start later."""
    found = await asyncio.to_thread(check_brokers, config, login)
    for sentence in sorted(found.wrong):
        log.warning("%s", sentence)
    for sentence in sorted(found.notes):
        log.info("%s", sentence)
    if not found.wrong:
        log.info("all brokers can be reached (%d)", found.brokers)
