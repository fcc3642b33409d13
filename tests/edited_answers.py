"""Exchanges through the rules of a proxy, with arbitrary messages of every api and version."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import kwire
from arbitrary_messages import NODES, PREFIX, arbitrary
from kafka_bytes import framed
from kwire import messages
from kwire.codec import Uuid
from kwire.proxy import ProxiedConnection, RuleSet
from kwire.proxy.config import (
    AddressesConfig,
    ListenerConfig,
    ProxyConfig,
    RefusalConfig,
    RehearsalConfig,
    TelemetryConfig,
    TenantConfig,
    VersionsConfig,
)
from kwire.proxy.configured_rules import configured_rule_sets
from kwire.proxy.rules.rule import Peer
from kwire.schema import catalog, releases

__all__ = ["API_VERSIONS", "CAPPED", "CONFIGURATIONS", "Exchange", "exchanges"]

MIB: Final = 1 << 20
API_VERSIONS: Final = 18
SASL: Final = (17, 36)  # tokens follow, which are no frames of an api


def _listeners(tenant: str | None = None) -> list[ListenerConfig]:
    return [ListenerConfig(f":{9000 + n}", f"b{n}:9092", node_id=n, advertised=f"proxy:{9000 + n}", tenant=tenant) for n in NODES]


TENANT: Final = {"acme": TenantConfig(prefix=PREFIX)}
TELEMETRY: Final = TelemetryConfig(file="none")
CONFIGURATIONS: Final[dict[str, ProxyConfig]] = {
    "addresses": ProxyConfig(listeners=_listeners()),
    "hold": ProxyConfig(listeners=_listeners(), addresses=AddressesConfig(large_answers="hold")),
    "tenant": ProxyConfig(listeners=_listeners("acme"), tenants=TENANT),
    "tenant-cap": ProxyConfig(listeners=_listeners("acme"), tenants=TENANT, telemetry=TELEMETRY, versions=VersionsConfig("4.0")),
    "rehearsal": ProxyConfig(listeners=_listeners(), rehearsal=RehearsalConfig("4.0", "break")),
    "refused": ProxyConfig(listeners=_listeners(), refusals=[RefusalConfig(client_id="*")]),
}
CAPPED: Final = {each.name: ProxyConfig(versions=VersionsConfig(each.name)) for each in releases()}
"""By release."""


class Exchange(NamedTuple):
    """A request's api and version, the broker's answer, and what the client got: frames without lengths, empty where it was closed."""

    api_key: int
    version: int
    sent: bytes
    got: bytes

    @property
    def body_version(self) -> int:
        """Version of the body that the client got: error 35 has the form of version 0 (KIP-511)."""
        return 0 if self.api_key == API_VERSIONS and self.got[4:6] == b"\0\x23" else self.version


class _Side:
    """Rules of a configuration, with the topics of the tenant known."""

    def __init__(self, configuration: str) -> None:
        config = CONFIGURATIONS.get(configuration) or CAPPED[configuration]
        self._tenant = "acme" if config.tenants else ""
        self._rules: RuleSet = configured_rule_sets(config, len)[self._tenant]
        topic = messages.MetadataResponse.MetadataResponseTopic
        ids = [topic(name=f"{PREFIX}{n}", topic_id=Uuid(bytes(15) + bytes([n]))) for n in range(1, 9)]
        self.exchange(3, 12, messages.MetadataRequest(), messages.MetadataResponse(topics=ids))

    def exchange(self, key: int, version: int, asked: Any, answered: Any) -> Exchange:
        connection = ProxiedConnection(self._rules, Peer("10.0.0.9", 50_000, 1, tenant=self._tenant), max_frame=MIB, max_held=MIB)
        header = messages.RequestHeader(api_key=key, api_version=version, correlation_id=7, client_id="shop")
        moves = connection.from_client(framed(kwire.encode_request(header, asked)), 1)
        sent = kwire.encode_response(7, answered, key, version)
        if connection.delayed is not None:
            moves = connection.settle_delayed(2)
        elif moves.to_server:
            moves = connection.from_server(framed(sent), 2)
        got = b"" if connection.close_reason else b"".join(moves.to_client)
        return Exchange(key, version, sent, got[4:])


_side = cache(_Side)


def exchanges(configuration: str, keys: tuple[int, ...] | None, seed: int) -> Iterator[Exchange]:
    """One exchange for each version of each api that expects an answer, of some apis with `keys`; a release stands for its limits."""
    side, chance = _side(configuration), random.Random(f"{configuration} {seed}")
    for message in catalog().messages.values():
        key = message.api_key
        if message.kind != "request" or key is None or key in SASL or (keys is not None and key not in keys):
            continue
        response = catalog().response(key)
        assert response is not None
        for version in message.valid_versions:
            if version in response.valid_versions:
                yield side.exchange(key, version, arbitrary(message, version, chance), arbitrary(response, version, chance))
