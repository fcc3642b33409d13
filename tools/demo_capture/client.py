"""One application of the demo: python client.py BOOTSTRAP CLIENT_ID SECONDS produce|consume TOPIC GROUP LIBRARY"""

from __future__ import annotations

import asyncio
import sys
import time

bootstrap, client_id, seconds, mode, topic, group, library = sys.argv[1:8]
until = time.monotonic() + int(seconds)
PAUSE, WAIT_MS = 1.5, 3000


def confluent() -> None:
    from confluent_kafka import Consumer, Producer

    config = {"bootstrap.servers": bootstrap, "client.id": client_id}
    if mode == "produce":
        producer = Producer(config)
        while time.monotonic() < until:
            producer.produce(topic, b"." * 60, b"key")
            producer.flush(5)
            time.sleep(PAUSE)
        return
    consumer = Consumer({**config, "group.id": group, "auto.offset.reset": "earliest", "fetch.wait.max.ms": WAIT_MS})
    consumer.subscribe([topic])
    while time.monotonic() < until:
        consumer.poll(1)
    consumer.close()


def kafka_python() -> None:
    from kafka import KafkaConsumer, KafkaProducer

    if mode == "produce":
        producer = KafkaProducer(bootstrap_servers=bootstrap, client_id=client_id)
        while time.monotonic() < until:
            producer.send(topic, b"." * 60, b"key")
            producer.flush()
            time.sleep(PAUSE)
        producer.close()
        return
    consumer = KafkaConsumer(
        topic, bootstrap_servers=bootstrap, client_id=client_id, group_id=group, auto_offset_reset="earliest", fetch_max_wait_ms=WAIT_MS,
        consumer_timeout_ms=1000,
    )  # fmt: skip
    while time.monotonic() < until:
        for _ in consumer:
            if time.monotonic() > until:
                break
    consumer.close()


async def aiokafka() -> None:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    if mode == "produce":
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, client_id=client_id)
        await producer.start()
        while time.monotonic() < until:
            await producer.send_and_wait(topic, b"." * 60, b"key")
            await asyncio.sleep(PAUSE)
        await producer.stop()
        return
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=bootstrap, client_id=client_id, group_id=group, auto_offset_reset="earliest", fetch_max_wait_ms=WAIT_MS
    )
    await consumer.start()
    while time.monotonic() < until:
        await consumer.getmany(timeout_ms=1000)
    await consumer.stop()


if library == "aiokafka":
    asyncio.run(aiokafka())
else:
    {"confluent": confluent, "kafka-python": kafka_python}[library]()
