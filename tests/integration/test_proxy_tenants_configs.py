"""Configurations that a tenant alters and describes, on real brokers and both loops: every type of resource by every kind of name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from asking_port import Port
from kwire import messages
from kwire.proxy.config import TenantConfig
from kwire.schema import catalog, releases
from threaded_proxy import address, proxied

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

NEWEST = releases().newest
OLDER = releases().resolve("3.9")
PREFIX, OTHER = "acme.", "globex-orders"
TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32  # ConfigResource.Type
TYPES = (-128, -1, 0, 1, TOPIC, 3, BROKER, 5, BROKER_LOGGER, CLIENT_METRICS, GROUP, 64, 127)
NAMES = ("", "*", "1", "orders", PREFIX + "orders", OTHER)
# A configuration that each type may have, and a value that no broker starts with.
ENTRIES = {
    TOPIC: ("flush.ms", "7001"),
    BROKER_LOGGER: ("kafka.server.KafkaApis", "ERROR"),
    CLIENT_METRICS: ("interval.ms", "7001"),
    GROUP: ("consumer.session.timeout.ms", "50001"),
}
OF_BROKERS = ("log.flush.interval.ms", "7001")
DESCRIBE, ALTER, INCREMENTAL = 32, 33, 44
Asking = Callable[..., Any]
Coordinated = Callable[[int, str], AbstractContextManager[Asking]]


def altered(kind: int, name: str) -> tuple[Any, Any]:
    key, value = ENTRIES.get(kind, OF_BROKERS)
    whole, parts = messages.AlterConfigsRequest, messages.IncrementalAlterConfigsRequest
    resource: dict[str, Any] = {"resource_type": kind, "resource_name": name}
    return (
        whole(resources=[whole.AlterConfigsResource(**resource, configs=[whole.AlterableConfig(name=key, value=value)])]),
        parts(resources=[parts.AlterConfigsResource(**resource, configs=[parts.AlterableConfig(name=key, value=value)])]),
    )


def described(kind: int, name: str, version: int = 1) -> Any:
    request = messages.DescribeConfigsRequest
    resource = request.DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
    return request(resources=[resource], include_synonyms=version > 0)


@contextmanager
def tenant_of(broker: Any, loop: str) -> Iterator[Port]:
    tenants = {"acme": TenantConfig(prefix=PREFIX)}
    with proxied(broker.plain, tenant="acme", tenants=tenants, loop=loop) as server, Port(address(server)) as port:
        yield port


def state_of_others(ask: Asking) -> dict[tuple[int, str], Any]:
    """All configurations that are no tenant's or another one's, read without the proxy."""
    resources = [(BROKER, ""), (BROKER, "1"), (BROKER_LOGGER, "1"), (TOPIC, OTHER)]
    resources += [(kind, name) for kind in (CLIENT_METRICS, GROUP) for name in NAMES if name and not (kind == GROUP and PREFIX in name)]
    found = {}
    for kind, name in resources:
        (result,) = ask(described(kind, name)).results
        found[kind, name] = result.error_code, {each.name: (each.value, each.config_source) for each in result.configs}
    return found


def of_topic(ask: Asking, topic: str) -> str | None:
    (result,) = ask(described(TOPIC, topic)).results
    return next((each.value for each in result.configs if each.name == "flush.ms"), None)


@pytest.fixture(params=[OLDER, NEWEST], ids=lambda release: release.minor)
def broker(request: pytest.FixtureRequest, kafka_broker: Callable[[str], Any], coordinated: Coordinated) -> Any:
    found = kafka_broker(request.param.name)
    create = messages.CreateTopicsRequest
    with coordinated(found.plain, "g") as ask:
        topics = [create.CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in (PREFIX + "orders", OTHER)]
        assert {each.error_code for each in ask(create(topics=topics, timeout_ms=30_000)).topics} <= {0, 36}
        yield found, request.param, ask


def test_only_own_topics_and_groups_are_altered(broker: Any, loop: str) -> None:
    running, release, ask = broker
    before = state_of_others(ask)
    assert before[BROKER, "1"][1]
    with tenant_of(running, loop) as port:
        for kind in TYPES:
            for name in NAMES:
                for key, body in zip((ALTER, INCREMENTAL), altered(kind, name), strict=True):
                    for version in catalog().request(key).valid_versions:
                        answer = port.ask(body, key, version)
                        if kind not in (TOPIC, GROUP):
                            assert answer is None, (key, version, kind, name)
                        elif version in release.accepts(key):
                            assert [each.resource_name for each in answer.responses] == [name], (key, version, kind, name)
    assert state_of_others(ask) == before
    assert of_topic(ask, PREFIX + "orders") == "7001"


def test_only_own_topics_and_groups_and_no_addresses_are_described(broker: Any, loop: str) -> None:
    running, release, ask = broker
    (direct,) = ask(described(BROKER, "1")).results
    secret = {"listeners", "advertised.listeners", "controller.quorum.voters", "log.dirs", "log.dir"}
    assert secret <= {each.name for each in direct.configs}
    places = {each.value for each in direct.configs if each.name in secret and each.value}
    described_brokers = 0
    with tenant_of(running, loop) as port:
        for kind in TYPES:
            for name in NAMES:
                for version in catalog().request(DESCRIBE).valid_versions:
                    answer = port.ask(described(kind, name, version), DESCRIBE, version)
                    if kind not in (TOPIC, BROKER, GROUP):
                        assert answer is None, (version, kind, name)
                    if version not in release.accepts(DESCRIBE) or answer is None:
                        continue
                    (result,) = answer.results
                    assert (result.resource_type, result.resource_name) == (kind, name)
                    names = {each.name for each in result.configs} | {same.name for each in result.configs for same in each.synonyms}
                    assert not names & secret
                    assert not [each for each in names if each.startswith("controller.quorum.")]
                    assert not [place for place in places if place in str([each.value for each in result.configs])]
                    if kind == TOPIC and result.configs:
                        assert name == "orders"
                    described_brokers += kind == BROKER and "log.retention.hours" in names
    assert described_brokers >= 4
