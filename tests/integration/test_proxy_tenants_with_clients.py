"""Two tenants of one broker with real clients: same names on both sides, at the same time, and neither sees anything of the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import confluent_kafka.admin
import pytest

from kwire.proxy.config import AddressesConfig
from kwire.schema import releases
from proxied_clients import ALL, RECORDS, SECONDS, confluent, java, kafka, kafka_python, program
from threaded_proxy import two_tenants

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

NEWEST = releases().newest.name
OLDER = releases().resolve("3.9").name


@pytest.fixture
def broker(kafka_broker: Callable[[str], Any]) -> Any:
    return kafka_broker(OLDER)


@pytest.mark.parametrize("large_answers", ["cap", "hold"])
@pytest.mark.parametrize("client", [confluent, kafka_python])
def test_the_same_names_at_the_same_time(broker: Any, client: Callable[..., list[bytes]], large_answers: Any, loop: Any) -> None:
    """Topic, group and transactional id are called alike; with `hold` librdkafka fetches by the ids of topics."""
    topic = f"orders-{large_answers}-{loop}-{client.__name__}"
    with (
        two_tenants(broker.plain, loop=loop, addresses=AddressesConfig(large_answers=large_answers)) as addresses,
        ThreadPoolExecutor(2) as pool,
    ):
        assert list(pool.map(lambda address: client(address, topic), addresses)) == [ALL, ALL]


def test_the_java_client(broker: Any) -> None:
    with two_tenants(broker.plain, addresses=AddressesConfig(large_answers="hold")) as addresses, ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda address: java(address, "orders-java"), addresses))
        for each, address in zip(found, addresses, strict=True):
            port, *rest = each.split()
            assert (port, int(rest[0])) == (address.rpartition(":")[2], RECORDS), each


@pytest.mark.parametrize("client", ["sarama", "kafka-go", "kafkajs"])
def test_the_same_names_in_go_and_javascript(broker: Any, client: str) -> None:
    with two_tenants(broker.plain) as addresses, ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda address: program(client, address, f"orders-{client}"), addresses)) == [ALL, ALL]


def test_groups_of_kip_848_with_the_same_names(kafka_broker: Callable[[str], Any]) -> None:
    """Kafka 4.4: ConsumerGroupHeartbeat, whose members are of one group at the broker only where the tenant is the same."""
    with (
        two_tenants(kafka_broker(NEWEST).plain, addresses=AddressesConfig(large_answers="hold")) as addresses,
        ThreadPoolExecutor(2) as pool,
    ):

        def librdkafka(address: str) -> list[bytes]:
            return confluent(address, "orders-848", group_protocol="consumer")

        assert list(pool.map(librdkafka, addresses)) == [ALL, ALL]
        found = list(pool.map(lambda address: java(address, "orders-848-java", **{"group.protocol": "consumer"}), addresses))
        for each, address in zip(found, addresses, strict=True):
            port, *rest = each.split()
            assert (port, int(rest[0])) == (address.rpartition(":")[2], RECORDS), each


def test_neither_sees_the_other(broker: Any) -> None:
    with two_tenants(broker.plain) as addresses:
        acme, globex, direct = (
            confluent_kafka.admin.AdminClient({"bootstrap.servers": each}) for each in (*addresses, broker.address)
        )  # fmt: skip

        def make(tenant: Any, topic: str) -> None:
            tenant.create_topics([confluent_kafka.admin.NewTopic(topic, 1, 1)])[topic].result(SECONDS)

        def topics(tenant: Any) -> set[str]:
            return set(tenant.list_topics(timeout=SECONDS).topics)

        others = topics(acme), topics(globex)  # of other tests with this broker
        make(acme, "orders-seen")
        make(acme, "only-acme")
        make(globex, "orders-seen")
        made, until = {"acme.orders-seen", "acme.only-acme", "globex-orders-seen"}, time.monotonic() + SECONDS
        while not made <= topics(direct):  # a broker hears of a new topic after the controller's answer
            assert time.monotonic() < until
            time.sleep(0.1)
        assert (topics(acme) - others[0], topics(globex) - others[1]) == ({"orders-seen", "only-acme"}, {"orders-seen"})
        with kafka.KafkaAdminClient(bootstrap_servers=addresses[1]) as other:
            assert set(other.list_topics()) - others[1] == {"orders-seen"}
        with pytest.raises(confluent_kafka.KafkaException, match="Topic 'orders-seen' already exists"):
            make(globex, "orders-seen")
        for stranger in ("acme.only-acme", "only-acme"):
            with pytest.raises(confluent_kafka.KafkaException, match="UNKNOWN_TOPIC_OR_PART"):
                globex.delete_topics([stranger])[stranger].result(SECONDS)
        producer = confluent_kafka.Producer({"bootstrap.servers": addresses[0]})
        producer.produce("orders-seen", b"of acme")
        assert producer.flush(SECONDS) == 0
        part = confluent_kafka.TopicPartition("orders-seen", 0)
        for address, watermarks in zip(addresses, ((0, 1), (0, 0)), strict=True):
            consumer = confluent_kafka.Consumer({"bootstrap.servers": address, "group.id": "readers"})
            assert consumer.get_watermark_offsets(part, SECONDS) == watermarks
            consumer.close()
        for tenant, kept in zip((acme, globex), others, strict=True):
            for future in tenant.delete_topics(list(topics(tenant) - kept)).values():
                future.result(SECONDS)
