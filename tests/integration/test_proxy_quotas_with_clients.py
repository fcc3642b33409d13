"""Quotas with real clients and a real broker: clients learn the time to wait, and lose nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import confluent_kafka
import pytest

from kwire.proxy.config import QuotaConfig
from kwire.schema import releases
from proxied_clients import kafka
from threaded_proxy import address, proxied

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

NEWEST = releases().newest.name
QUOTAS = [QuotaConfig(client_id="batch*", request_bytes=100_000, response_bytes=100_000)]
TOPIC = "throttled"
VALUES = [b"%4d" % number + bytes(20_000) for number in range(20)]  # four times the amount of a second


@pytest.fixture(scope="module")
def broker(kafka_broker: Callable[[str], Any]) -> Any:
    found = kafka_broker(NEWEST)
    with kafka.KafkaAdminClient(bootstrap_servers=found.address) as admin:
        admin.create_topics([kafka.admin.NewTopic(TOPIC, 1, 1)])
    return found


@pytest.mark.parametrize("loop", ["native", "asyncio"])
def test_clients_learn_the_time_to_wait(broker: Any, loop: str) -> None:
    with proxied(broker.plain, loop=loop, quotas=QUOTAS) as server:
        waits: list[float] = []
        called = {"throttle_cb": lambda event: waits.append(event.throttle_time)}
        producer = confluent_kafka.Producer({"bootstrap.servers": address(server), "client.id": "batch-1", "linger.ms": 0, **called})
        partition = kafka.TopicPartition(TOPIC, 0)
        with kafka.KafkaConsumer(bootstrap_servers=broker.address) as direct:
            begin = direct.end_offsets([partition])[partition]
        for value in VALUES:
            producer.produce(TOPIC, value)
            producer.flush(60)
        assert producer.flush(60) == 0
        del producer
        assert max(waits) > 0
        consumer = kafka.KafkaConsumer(bootstrap_servers=address(server), client_id="batch-2", consumer_timeout_ms=30_000)
        consumer.assign([partition])
        consumer.seek(partition, begin)
        assert [next(consumer).value for _ in VALUES] == VALUES
        measured = consumer.metrics()
        consumer.close()
        throttled = {name: value for group in measured.values() for name, value in group.items() if "throttle-time-max" in name}
        assert max(throttled.values()) > 0
