"""Principals bound to a tenant, on a real broker and both loops: no other client gets anything but ApiVersions and SASL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import confluent_kafka.admin
import pytest

from asking_port import Port
from kwire import messages
from kwire.proxy.config import TenantConfig
from kwire.schema import releases
from proxied_clients import SECONDS
from threaded_proxy import address, proxied

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

NEWEST = releases().newest.name
METADATA, HANDSHAKE, API_VERSIONS, AUTHENTICATE = 3, 17, 18, 36
ALICE = messages.SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret")
PLAIN = messages.SaslHandshakeRequest(mechanism="PLAIN")
SASL_AUTHENTICATION_FAILED = 58


@contextmanager
def port_of(broker_port: int, principals: list[str], loop: str) -> Iterator[Port]:
    tenants = {"acme": TenantConfig(prefix="acme.", principals=principals)}
    with proxied(broker_port, tenant="acme", tenants=tenants, loop=loop) as server, Port(address(server)) as port:
        yield port


@pytest.fixture
def broker(kafka_broker: Callable[[str], Any]) -> Any:
    return kafka_broker(NEWEST)


def test_a_listed_principal_is_served(broker: Any, loop: str) -> None:
    with port_of(broker.sasl, ["User:bob", "User:alice"], loop) as port:
        assert port.ask(messages.ApiVersionsRequest(), API_VERSIONS, 0).error_code == 0
        assert port.ask(PLAIN, HANDSHAKE, 1).error_code == 0
        assert port.ask(ALICE, AUTHENTICATE, 1).error_code == 0
        for _ in range(2):
            assert port.ask(messages.MetadataRequest(topics=[]), METADATA, 4).brokers


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_clients_get_a_clear_error(broker: Any, loop: str, mechanism: str) -> None:
    password = "secret" if mechanism == "PLAIN" else "scrambled"
    sasl = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism, "sasl.username": "alice", "sasl.password": password}
    for principals, served in ((["User:alice"], True), (["User:bob"], False)):
        with port_of(broker.sasl, principals, loop) as port:
            errors: list[str] = []
            client = confluent_kafka.admin.AdminClient(
                {"bootstrap.servers": port.address, "error_cb": lambda error, errors=errors: errors.append(str(error)), **sasl}
            )
            if served:
                assert client.list_topics(timeout=SECONDS).brokers
            else:
                with pytest.raises(confluent_kafka.KafkaException):
                    client.list_topics(timeout=3)
                client.poll(1)
                assert any("the proxy refuses this principal" in each for each in errors), errors


def test_another_principal_gets_nothing(broker: Any, loop: str) -> None:
    with port_of(broker.sasl, ["User:bob"], loop) as port:
        assert port.ask(PLAIN, HANDSHAKE, 1).error_code == 0
        assert port.ask(ALICE, AUTHENTICATE, 1).error_code == SASL_AUTHENTICATION_FAILED
        assert port.ask(messages.MetadataRequest(topics=None), METADATA, 4) is None


def test_nobody_without_a_principal_gets_anything(broker: Any, loop: str) -> None:
    """A broker that does not authenticate would serve them, and refuses SASL."""
    with port_of(broker.plain, ["User:alice"], loop) as port:
        assert port.ask(messages.ApiVersionsRequest(), API_VERSIONS, 0).error_code == 0
        assert port.ask(messages.MetadataRequest(topics=None), METADATA, 4) is None
        port.ask(PLAIN, HANDSHAKE, 1)
        port.ask(ALICE, AUTHENTICATE, 1)
        assert port.ask(messages.MetadataRequest(topics=None), METADATA, 4) is None
