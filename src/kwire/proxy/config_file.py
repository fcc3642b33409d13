"""Reader of a proxy's configuration file, which is checked completely before any port is opened."""

from __future__ import annotations

import os
import re
from itertools import combinations, pairwise
from pathlib import Path

from kwire.errors import InputError
from kwire.proxy.cluster_listeners import with_cluster
from kwire.proxy.config import FilesConfig, ProxyConfig, SniListenerConfig, host_and_port
from kwire.proxy.config_table import msgspec
from kwire.proxy.configured_rules import configured_rules
from kwire.proxy.rules.principals import PrincipalsRule
from kwire.proxy.rules.tenants import tenant_prefix

__all__ = ["check_config", "load_config"]

_DOMAIN = re.compile(r"([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.?")


def load_config(path: str | os.PathLike[str]) -> ProxyConfig:
    """Read a file and check it completely; errors name the invalid key or value."""
    try:
        found = msgspec.toml.decode(Path(path).read_bytes(), type=ProxyConfig)
    except OSError as error:
        raise InputError(f"{os.fspath(path)} cannot be read: {error.strerror}") from error
    except msgspec.ValidationError as error:
        raise InputError(f"{os.fspath(path)}: {_in_toml(str(error))}") from error
    except msgspec.DecodeError as error:
        raise InputError(f"{os.fspath(path)} is not TOML: {error}") from error
    try:
        found = with_cluster(found)
        check_config(found)
    except InputError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from error
    return found


def _in_toml(text: str) -> str:
    said, _, place = text.partition(" - at `$")
    said = said[:1].lower() + said[1:]
    return f"{place.strip('`').lstrip('.')}: {said}" if place else said


def check_config(config: ProxyConfig) -> None:
    """Check the values together, without opening a port."""
    if not config.listeners and not config.sni_listeners:
        raise InputError("no [[listeners]]: add at least one")
    for sni in config.sni_listeners:
        _check_sni(sni)
    for listener in config.listeners:
        _check_reachable(listener.broker, "broker")
        if listener.advertised is not None:
            _check_reachable(listener.advertised, "advertised")
            if listener.node_id < 0:
                raise InputError(f"advertised {listener.advertised!r} needs the node_id of its broker")
        for tls in (listener.tls, listener.upstream_tls):
            if tls is not None:
                tls.context()
    _check_ports(config)
    ids = [(each.tenant, node_id) for each in config.all_listeners for node_id, _ in each.addresses()]
    if len(ids) != len(set(ids)):
        raise InputError("two listeners advertise one node_id")
    _check_tenants(config)
    if config.raw_sasl_tokens and any(each.principal is not None for each in config.refusals):
        raise InputError("raw_sasl_tokens: raw tokens hide the principal, so they bypass refusals by principal; remove one of the two")
    _check_files(config)
    configured_rules(config)


def _check_reachable(text: str, what: str) -> None:
    host, port = host_and_port(text, what)
    if not host or not port:
        raise InputError(f"{what} {text!r} needs a host and a port from 1 to 65535, because it is connected to")


def _check_ports(config: ProxyConfig) -> None:
    """Refuse two sockets on one port; names of hosts are not resolved."""
    ends = [(host_and_port(each.listen, "listen"), f"listen {each.listen!r}") for each in config.all_listeners]
    if config.metrics is not None:
        ends.append((host_and_port(config.metrics, "metrics"), f"metrics {config.metrics!r}"))
    for ((one, port), name), ((other, other_port), other_name) in combinations(ends, 2):
        if port and port == other_port and (one == other or _is_within(one, other) or _is_within(other, one)):
            raise InputError(f"{name} and {other_name} are one port: choose another for one of them")


def _is_within(host: str, wildcard: str) -> bool:
    return wildcard == "" or (wildcard == "::" and ":" in host) or (wildcard == "0.0.0.0" and ":" not in host)


def _check_files(config: ProxyConfig) -> None:
    names: dict[str, str] = {}
    for name in ("tap", "request_log", "telemetry", "audit"):
        table: FilesConfig | None = getattr(config, name)
        if table is None:
            continue
        if table.file in names:
            raise InputError(f"{names[table.file]} and {name} name one file")
        names[table.file] = name


def _check_sni(config: SniListenerConfig) -> None:
    if _DOMAIN.fullmatch(config.domain) is None:
        raise InputError(f"domain {config.domain!r} of an SNI listener is not a domain name")
    if not config.brokers:
        raise InputError(f"SNI listener {config.domain} has no brokers: add them, or [cluster]")
    for broker in config.brokers:
        _check_reachable(broker.broker, "broker")
    if not config.port:
        raise InputError(f"SNI listener {config.domain}: clients need a port: set advertised_port to one from 1 to 65535")
    config.tls.context()
    if config.upstream_tls is not None:
        config.upstream_tls.context()


def _check_tenants(config: ProxyConfig) -> None:
    for tenant in config.tenants.values():
        if tenant.principals is not None:
            PrincipalsRule(tenant.principals)
            if config.raw_sasl_tokens:
                raise InputError(
                    "raw_sasl_tokens: raw tokens hide the principal, so they bypass principals of a tenant; remove one of the two"
                )
    for quota in config.quotas:
        if quota.tenant is not None and quota.tenant not in config.tenants:
            raise InputError(f"a quota is of tenant {quota.tenant!r}, and there is no [tenants.{quota.tenant}]")
    for listener in config.all_listeners:
        if listener.tenant is not None and listener.tenant not in config.tenants:
            raise InputError(f"listener {listener.listen} is of tenant {listener.tenant!r}, and there is no [tenants.{listener.tenant}]")
    # Kafka refuses a topic whose name is that of another but for dots and underscores (org.apache.kafka.common.internals.Topic)
    prefixes = sorted((tenant_prefix(each.prefix).replace(".", "_"), each.prefix, name) for name, each in config.tenants.items())
    for (begin, shorter, one), (name, longer, other) in pairwise(prefixes):
        if longer.startswith(shorter):
            raise InputError(f"tenant {one!r} would see the topics of {other!r}: {longer!r} begins with {shorter!r}")
        if name.startswith(begin):
            raise InputError(f"topics of the tenants {one!r} and {other!r} may collide: {shorter!r} and {longer!r} differ by dots alone")
