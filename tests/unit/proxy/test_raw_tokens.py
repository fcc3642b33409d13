"""Raw SASL tokens under rules that have to hold against a client: off, unless the configuration lets them pass."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import kwire
from kafka_bytes import api_versions, framed, handshake
from kwire.proxy import ProxiedConnection, RuleSet
from kwire.proxy.config import ListenerConfig, ProxyConfig, RefusalConfig, TenantConfig
from kwire.proxy.configured_rules import configured_rule_sets
from kwire.proxy.rules.rule import Peer

KERBEROS = framed(bytes.fromhex("6082010206092a864886f71201020201"))  # RFC 2743, 3.1
TENANTS: dict[str, Any] = {"tenants": {"acme": TenantConfig(prefix="acme.")}}
REFUSALS: dict[str, Any] = {"refusals": [RefusalConfig(software="sarama")]}
CONFIGS: dict[str, dict[str, Any]] = {
    "": {},
    "tenants": TENANTS,
    "refusals": REFUSALS,
    "tenants, raw": {**TENANTS, "raw_sasl_tokens": True},
    "refusals, raw": {**REFUSALS, "raw_sasl_tokens": True},
    "not raw": {"raw_sasl_tokens": False},
}


@cache
def rule_sets(config: str) -> dict[str, RuleSet]:
    found = ProxyConfig(listeners=[ListenerConfig(listen=":0", broker="b:9092")], **CONFIGS[config])
    return configured_rule_sets(found, lambda _: None)


def connected(config: str, tenant: str) -> ProxiedConnection:
    return ProxiedConnection(rule_sets(config)[tenant], Peer("10.0.0.9", 50_000, 1), max_frame=1 << 20, max_held=1 << 20)


def offered(connection: ProxiedConnection) -> list[tuple[int, int, int]]:
    """What the client gets of a broker that offers Metadata 0 to 1, SaslHandshake 0 to 1 and ApiVersions 0 to 2."""
    connection.from_client(api_versions(1, 2), 1)
    ranges = b"".join(number.to_bytes(2, "big") for number in (3, 0, 1, 17, 0, 1, 18, 0, 2))
    answer = connection.from_server(framed(b"\0\0\0\1\0\0\0\0\0\3" + ranges + bytes(4)), 2).to_client
    body = kwire.decode_response(b"".join(answer)[4:], 18, 2).body
    return [(each.api_key, each.min_version, each.max_version) for each in body.api_keys]


@pytest.mark.parametrize("begins", [handshake(2, 0, b"PLAIN"), handshake(2, 0, b"GSSAPI"), KERBEROS], ids=["PLAIN", "GSSAPI", "Kafka 0.9"])
@pytest.mark.parametrize(
    ("config", "tenant", "passes"),
    [
        ("", "", True),
        ("tenants", "", True),
        ("tenants", "acme", False),
        ("refusals", "", False),
        ("tenants, raw", "acme", True),
        ("refusals, raw", "", True),
        ("not raw", "", False),
    ],
)
def test_raw_tokens_begin_only_where_they_may(begins: bytes, config: str, tenant: str, passes: bool) -> None:
    connection = connected(config, tenant)
    moves = connection.from_client(begins, 1)
    assert b"".join(moves.to_server) == (begins if passes else b"")
    assert (connection.close_reason == "") is passes


@pytest.mark.parametrize(
    ("config", "tenant", "lowest"), [("", "", 0), ("tenants", "acme", 1), ("refusals", "", 1), ("tenants, raw", "acme", 0)]
)
def test_the_handshake_that_is_offered(config: str, tenant: str, lowest: int) -> None:
    assert offered(connected(config, tenant)) == [(3, 0, 1), (17, lowest, 1), (18, 0, 2)]


def test_a_handshake_of_version_1_passes() -> None:
    connection = connected("tenants", "acme")
    assert b"".join(connection.from_client(handshake(2, 1, b"PLAIN"), 1).to_server) == handshake(2, 1, b"PLAIN")
