"""What real clients do with a cluster: make a topic, send records, also in a transaction, read them in a group, ask about the cluster."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import confluent_kafka
import confluent_kafka.admin

from kwire.schema import releases

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it reads its schemas in a way that Python is giving up
    import kafka
    import kafka.admin

ROOT = Path(__file__).resolve().parents[1]
RECORDS = 1000
IN_TRANSACTION = 100
ALL = [f"record {number}".encode() for number in range(RECORDS + IN_TRANSACTION)]
SECONDS = 60


def confluent(address: str, topic: str, **security: str) -> list[bytes]:
    """librdkafka: the records that came back, in their order."""
    given = {"bootstrap.servers": address, **{key.replace("_", "."): value for key, value in security.items()}}
    admin = confluent_kafka.admin.AdminClient(given)
    admin.create_topics([confluent_kafka.admin.NewTopic(topic, 1, 1)])[topic].result(SECONDS)
    assert [f"{each.host}:{each.port}" for each in admin.list_topics(timeout=SECONDS).brokers.values()] == [address]
    producer = confluent_kafka.Producer(given)
    for value in ALL[:RECORDS]:
        producer.produce(topic, value)
    assert producer.flush(SECONDS) == 0
    transactional = confluent_kafka.Producer({**given, "transactional.id": topic})
    transactional.init_transactions(SECONDS)
    transactional.begin_transaction()
    for value in ALL[RECORDS:]:
        transactional.produce(topic, value)
    transactional.commit_transaction(SECONDS)
    reading = {"group.id": topic, "auto.offset.reset": "earliest", "isolation.level": "read_committed"}
    consumer = confluent_kafka.Consumer({**given, **reading})
    consumer.subscribe([topic])
    found: list[bytes] = []
    until = time.monotonic() + SECONDS
    while len(found) < len(ALL) and time.monotonic() < until:
        for message in consumer.consume(500, 0.5):
            assert message.error() is None, message.error()
            found.append(message.value())
    consumer.commit(asynchronous=False)
    consumer.close()
    assert topic in {each.group_id for each in admin.list_consumer_groups().result(SECONDS).valid}
    admin.delete_topics([topic])[topic].result(SECONDS)
    return found


def kafka_python(address: str, topic: str, *, shown: str | None = None, **security: Any) -> list[bytes]:
    """kafka-python: the records that came back, in their order; `shown` is the address that it gets for the broker, else its own."""
    given = {"bootstrap_servers": address, **security}
    with kafka.KafkaAdminClient(**given) as admin:
        admin.create_topics([kafka.admin.NewTopic(topic, 1, 1)])
        assert [f"{each['host']}:{each['port']}" for each in admin.describe_cluster()["brokers"]] == [shown or address]
        producer = kafka.KafkaProducer(**given)
        for value in ALL[:RECORDS]:
            producer.send(topic, value)
        producer.flush(SECONDS)
        producer.close()
        transactional = kafka.KafkaProducer(transactional_id=topic, **given)
        transactional.init_transactions()
        transactional.begin_transaction()
        for value in ALL[RECORDS:]:
            transactional.send(topic, value)
        transactional.commit_transaction()
        transactional.close()
        consumer = kafka.KafkaConsumer(
            topic,
            group_id=topic,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            consumer_timeout_ms=SECONDS * 1000,
            **given,
        )
        found = [consumed.value for _, consumed in zip(ALL, consumer, strict=False)]
        consumer.commit()
        consumer.close()
        admin.delete_topics([topic])
    return found


def java(address: str, topic: str, **security: str) -> str:
    """Kafka's own client: port of the only broker, records that came back in their order, offset that the group committed."""
    sys.path.insert(0, str(ROOT / "tools"))
    from kafka_jars import fetch_broker

    libs = fetch_broker(releases().newest.name, ROOT / ".cache" / "kafka-jars")
    given = {"bootstrap.servers": address, **security}
    source = ROOT / "tests" / "integration" / "java" / "ProduceConsume.java"
    command = ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{libs}/*", str(source), topic, str(RECORDS)]
    done = subprocess.run(
        [*command, *(f"{key}={value}" for key, value in given.items())], capture_output=True, text=True, timeout=180, check=False
    )
    return done.stdout.strip().splitlines()[-1] if done.returncode == 0 else done.stderr
