"""Reader of a proxy's configuration file, which is checked completely before any port is opened."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path

from kwire.errors import InputError
from kwire.proxy.config import MOST_PORTS, ProxyConfig, SniListenerConfig, TapConfig, TelemetryConfig, host_and_port
from kwire.proxy.config_table import msgspec
from kwire.proxy.configured_rules import configured_rules
from kwire.proxy.rules.principals import PrincipalsRule
from kwire.proxy.rules.tenants import tenant_prefix

__all__ = ["load_config"]

_MOST_THREADS = 256
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
        _check(found)
    except InputError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from error
    return found


def _in_toml(text: str) -> str:
    said, _, place = text.partition(" - at `$")
    said = said[:1].lower() + said[1:]
    return f"{place.strip('`').lstrip('.')}: {said}" if place else said


def _check(config: ProxyConfig) -> None:
    if not config.listeners and not config.sni_listeners:
        raise InputError("no [[listeners]]: add at least one")
    if not 1 <= config.threads <= _MOST_THREADS:
        raise InputError(f"threads: {config.threads} is not in 1 to {_MOST_THREADS}")
    for sni in config.sni_listeners:
        _check_sni(sni)
    for listener in config.listeners:
        host_and_port(listener.listen, "listen")
        host_and_port(listener.broker, "broker")
        if listener.advertised is not None:
            host_and_port(listener.advertised, "advertised")
        for tls in (listener.tls, listener.upstream_tls):
            if tls is not None:
                tls.context()
    if config.metrics is not None:
        host_and_port(config.metrics, "metrics")
    ids = [(each.tenant, node_id) for each in config.all_listeners for node_id, _ in each.addresses()]
    if len(ids) != len(set(ids)):
        raise InputError("two listeners advertise one node_id")
    _check_tenants(config)
    if config.raw_sasl_tokens and any(each.principal is not None for each in config.refusals):
        raise InputError("raw_sasl_tokens: raw tokens hide the principal, so they bypass refusals by principal; remove one of the two")
    _check_files(config)
    configured_rules(config)


def _check_files(config: ProxyConfig) -> None:
    names: dict[str, str] = {}
    for name in ("tap", "request_log", "telemetry"):
        table: TapConfig | TelemetryConfig | None = getattr(config, name)
        if table is None:
            continue
        least = "snaplen" if isinstance(table, TapConfig) else "max_pushed"
        if min(getattr(table, least), table.max_bytes, table.max_files, table.max_queued) < 1:
            raise InputError(f"{name}: {least}, max_bytes, max_files and max_queued are at least 1")
        if table.file in names:
            raise InputError(f"{names[table.file]} and {name} name one file")
        names[table.file] = name


def _check_sni(config: SniListenerConfig) -> None:
    host_and_port(config.listen, "listen")
    if _DOMAIN.fullmatch(config.domain) is None:
        raise InputError(f"domain {config.domain!r} of an SNI listener is not a domain name")
    if not config.brokers:
        raise InputError(f"SNI listener {config.domain}: no brokers")
    for broker in config.brokers:
        host_and_port(broker.broker, "broker")
    if not 0 < config.port < MOST_PORTS:
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
