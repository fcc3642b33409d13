"""Clients that send numbered records one after the other and read them in a group at the same time, for as long as that takes."""

from __future__ import annotations

import time

import confluent_kafka

PAUSE = 0.003
SECONDS = 240


def value(number: int) -> bytes:
    return b"%-900d" % number


def confluent(address: str, topic: str, count: int, **security: str) -> list[int]:
    """librdkafka: the numbers as they came."""
    given = {"bootstrap.servers": address, "log_level": 0, **{key.replace("_", "."): value for key, value in security.items()}}
    producer = confluent_kafka.Producer({**given, "enable.idempotence": True})
    consumer = confluent_kafka.Consumer({**given, "group.id": topic, "auto.offset.reset": "earliest", "isolation.level": "read_committed"})
    consumer.subscribe([topic])
    found: list[int] = []

    def read(seconds: float) -> None:
        found.extend(int(each.value()) for each in consumer.consume(100, seconds) if each.error() is None)

    for number in range(count):
        producer.produce(topic, value(number))
        read(PAUSE)
    assert producer.flush(SECONDS) == 0
    until = time.monotonic() + SECONDS
    while len(set(found)) < count and time.monotonic() < until:
        read(0.5)
    consumer.close()
    return found
