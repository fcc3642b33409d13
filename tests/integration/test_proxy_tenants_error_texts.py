"""Texts of errors under `tenants`, as Kafka 4.4 writes them: none says the prefix of a topic, a group or a transactional id."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from kwire import messages
from kwire.codec import records
from kwire.proxy.config import TenantConfig
from kwire.schema import releases
from threaded_proxy import proxied

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

NEWEST = releases().newest.name
PREFIX = "acme."
TOPIC = 2  # a kind of resource
Asking = Callable[..., Any]
Coordinated = Callable[[int, str], AbstractContextManager[Asking]]


def create(topic: str, *, partitions: int = 1, **configs: str) -> Any:
    kind = messages.CreateTopicsRequest
    made = [kind.CreatableTopicConfig(name=name.replace("_", "."), value=value) for name, value in configs.items()]
    return kind(topics=[kind.CreatableTopic(name=topic, num_partitions=partitions, replication_factor=1, configs=made)], timeout_ms=30_000)


def alter(topic: str, name: str, value: str) -> Any:
    kind = messages.IncrementalAlterConfigsRequest
    config = kind.AlterableConfig(name=name, config_operation=0, value=value)
    return kind(resources=[kind.AlterConfigsResource(resource_type=TOPIC, resource_name=topic, configs=[config])])


def produce(topic: str) -> Any:
    kind = messages.ProduceRequest
    batch = records.encode(records.RecordBatch([(None, b"a record without a key", 1_700_000_000_000)]))
    return kind(
        acks=-1,
        timeout_ms=30_000,
        topic_data=[kind.TopicProduceData(name=topic, partition_data=[kind.PartitionProduceData(records=batch)])],
    )


def heartbeat(group: str) -> Any:
    return messages.ConsumerGroupHeartbeatRequest(group_id=group, member_id="m" * 22, member_epoch=5)


# What is asked for a name, and the version; each is refused with a text that quotes the name.
REFUSED: dict[str, tuple[Callable[[str], Any], int | None]] = {
    "a topic that is there": (lambda name: create(name + "made"), None),
    "a topic like another": (lambda name: create(name + "of_two"), None),
    "a topic of a name that cannot be": (lambda name: create(name + "a/b"), None),
    "a topic of a long name": (lambda name: create(name + "x" * 250), None),
    "a configuration of no topic": (lambda name: alter(name + "none", "retention.ms", "1"), None),
    "a record without a key": (lambda name: produce(name + "compacted"), 12),
    "a group that is not there": (lambda name: messages.DescribeGroupsRequest(groups=[name + "none"]), None),
    "a consumer group that is not there": (lambda name: messages.ConsumerGroupDescribeRequest(group_ids=[name + "none"]), None),
    "a member that is not there": (lambda name: heartbeat(name + "none"), None),
}


def sentences(value: Any) -> Iterator[str]:
    """The texts of errors: nothing else in these messages has blanks."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from sentences(each)
    elif isinstance(value, str) and " " in value:
        yield value


def as_json(body: Any) -> Any:
    if isinstance(body, list):
        return [as_json(each) for each in body]
    slots = getattr(type(body), "layout", None)
    return body if slots is None else {slot.attribute: as_json(getattr(body, slot.attribute)) for slot in slots.slots}


@pytest.fixture(scope="module")
def said(kafka_broker: Callable[[str], Any], coordinated: Coordinated) -> dict[str, list[str]]:
    """What the broker says without a proxy, of names with the prefix."""
    with coordinated(kafka_broker(NEWEST).plain, "g") as ask:
        for topic in (create(PREFIX + "made"), create(PREFIX + "of.two"), create(PREFIX + "compacted", cleanup_policy="compact")):
            (found,) = ask(topic).topics
            assert found.error_code in (0, 36), found
        return {what: list(sentences(as_json(ask(make(PREFIX), version)))) for what, (make, version) in REFUSED.items()}


@pytest.mark.parametrize("error_texts", ["strip", "blank"])
def test_no_text_says_the_prefix(
    kafka_broker: Callable[[str], Any], coordinated: Coordinated, said: dict[str, list[str]], loop: Any, error_texts: Any
) -> None:
    """`strip` leaves what the broker would say of the tenant's own names, `blank` nothing."""
    broker = kafka_broker(NEWEST).plain
    tenants = {"acme": TenantConfig(prefix=PREFIX, error_texts=error_texts)}
    with proxied(broker, tenant="acme", tenants=tenants, loop=loop) as server, coordinated(server.ports[0], "g") as ask:
        for what, (make, version) in REFUSED.items():
            assert any(PREFIX in text for text in said[what]), (what, said[what])
            body = as_json(ask(make(""), version))
            assert PREFIX not in str(body), what
            expected = [text.replace(PREFIX, "") for text in said[what]] if error_texts == "strip" else []
            assert list(sentences(body)) == expected, what
