"""What real clients do with a cluster: make a topic, send records, also in a transaction, read them in a group, ask about the cluster."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import aiokafka
import aiokafka.admin
import confluent_kafka
import confluent_kafka.admin

from quick_spark import java_program

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it reads its schemas in a way that Python is giving up
    import kafka
    import kafka.admin

ROOT = Path(__file__).resolve().parents[1]
CLIENTS = ROOT / "tests" / "integration" / "clients"
RECORDS = 1000
IN_TRANSACTION = 100
SECONDS = 60


def values(records: int = RECORDS) -> list[bytes]:
    return [f"record {number}".encode() for number in range(records + IN_TRANSACTION)]


ALL = values()


def confluent(address: str, topic: str, *, records: int = RECORDS, **security: str) -> list[bytes]:
    """librdkafka: the records that came back, in their order."""
    given = {"bootstrap.servers": address, **{key.replace("_", "."): value for key, value in security.items()}}
    admin = confluent_kafka.admin.AdminClient(given)
    admin.create_topics([confluent_kafka.admin.NewTopic(topic, 1, 1)])[topic].result(SECONDS)
    assert [f"{each.host}:{each.port}" for each in admin.list_topics(timeout=SECONDS).brokers.values()] == [address]
    producer = confluent_kafka.Producer({**given, "queue.buffering.max.messages": 1_000_000})
    sent = values(records)
    for value in sent[:records]:
        producer.produce(topic, value)
    assert producer.flush(SECONDS) == 0
    transactional = confluent_kafka.Producer({**given, "transactional.id": topic})
    transactional.init_transactions(SECONDS)
    transactional.begin_transaction()
    for value in sent[records:]:
        transactional.produce(topic, value)
    transactional.commit_transaction(SECONDS)
    reading = {"group.id": topic, "auto.offset.reset": "earliest", "isolation.level": "read_committed"}
    consumer = confluent_kafka.Consumer({**given, **reading})
    consumer.subscribe([topic])
    found: list[bytes] = []
    until = time.monotonic() + SECONDS
    while len(found) < len(sent) and time.monotonic() < until:
        for message in consumer.consume(500, 0.5):
            assert message.error() is None, message.error()
            found.append(message.value())
    consumer.commit(asynchronous=False)
    consumer.close()
    assert topic in {each.group_id for each in admin.list_consumer_groups().result(SECONDS).valid}
    admin.delete_topics([topic])[topic].result(SECONDS)
    return found


def kafka_python(address: str, topic: str, *, records: int = RECORDS, shown: str | None = None, **security: Any) -> list[bytes]:
    """kafka-python: the records that came back, in their order; `shown` is the address that it gets for the broker, else its own."""
    given = {"bootstrap_servers": address, **security}
    with kafka.KafkaAdminClient(**given) as admin:
        admin.create_topics([kafka.admin.NewTopic(topic, 1, 1)])
        assert [f"{each['host']}:{each['port']}" for each in admin.describe_cluster()["brokers"]] == [shown or address]
        producer = kafka.KafkaProducer(**given)
        sent = values(records)
        for value in sent[:records]:
            producer.send(topic, value)
        producer.flush(SECONDS)
        producer.close()
        transactional = kafka.KafkaProducer(transactional_id=topic, **given)
        transactional.init_transactions()
        transactional.begin_transaction()
        for value in sent[records:]:
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
        found = [consumed.value for _, consumed in zip(sent, consumer, strict=False)]
        consumer.commit()
        consumer.close()
        admin.delete_topics([topic])
    return found


def aiokafka_client(address: str, topic: str, *, records: int = RECORDS, **security: Any) -> list[bytes]:
    return asyncio.run(_aiokafka(address, topic, records, security))


async def _aiokafka(address: str, topic: str, records: int, security: dict[str, Any]) -> list[bytes]:
    given = {"bootstrap_servers": address, **security}
    admin = aiokafka.admin.AIOKafkaAdminClient(**given)
    await admin.start()
    await admin.create_topics([aiokafka.admin.NewTopic(topic, 1, 1)])
    assert [f"{each['host']}:{each['port']}" for each in (await admin.describe_cluster())["brokers"]] == [address]
    sent = values(records)
    async with aiokafka.AIOKafkaProducer(**given) as producer:
        for first in range(0, records, 1000):
            waiting = [await producer.send(topic, value) for value in sent[first : min(first + 1000, records)]]
            await asyncio.gather(*waiting)
    async with aiokafka.AIOKafkaProducer(transactional_id=topic, **given) as producer, producer.transaction():
        for value in sent[records:]:
            await producer.send(topic, value)
    found: list[bytes] = []
    reading = {"group_id": topic, "auto_offset_reset": "earliest", "isolation_level": "read_committed"}
    async with aiokafka.AIOKafkaConsumer(topic, **reading, **given) as consumer:
        until = time.monotonic() + SECONDS
        while len(found) < len(sent) and time.monotonic() < until:
            for came in (await consumer.getmany(timeout_ms=500)).values():
                found += [each.value for each in came]
        await consumer.commit()
    assert topic in {each[0] for each in await admin.list_consumer_groups()}
    await admin.delete_topics([topic])
    await admin.close()
    return found


def program(library: str, address: str, topic: str, *, records: int = RECORDS, **variables: str) -> list[bytes]:
    """sarama, kafka-go and kafkajs: all records when all came back, in their order; else what went wrong."""
    sys.path[:0] = [str(ROOT / "tools" / "rehearsal")]
    from builds import BUILDS, have

    build = [each for each in BUILDS if each.library == library][-1]
    folder = have(build, ROOT / ".cache" / "proxied-clients", CLIENTS).resolve()
    start = ["node", str(CLIENTS / "kafkajs.js")] if library == "kafkajs" else [str(folder / "client")]
    command = [*start, address, topic, str(records), str(IN_TRANSACTION)]
    given = {**os.environ, **variables}
    done = subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        return [done.stderr.encode()]
    found = json.loads(done.stdout.splitlines()[-1])
    expected = {"brokers": [address], "came": records + IN_TRANSACTION, "in_order": True}
    return values(records) if found == expected else [done.stdout.encode()]


def java(address: str, topic: str, *, records: int = RECORDS, **security: str) -> str:
    """Kafka's own client: port of the only broker, records that came back in their order, offset that the group committed."""
    given = {"bootstrap.servers": address, **security}
    done = java_program("ProduceConsume", [topic, str(records), *(f"{key}={value}" for key, value in given.items())], 180)
    return done.stdout.strip().splitlines()[-1] if done.returncode == 0 else done.stderr
