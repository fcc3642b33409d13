"""Clients that send numbers one after the other and read them in a group at the same time, for as long as that takes."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiokafka
import confluent_kafka

from proxied_clients import kafka
from quick_spark import java_program

ROOT = Path(__file__).resolve().parents[1]
CLIENTS = ROOT / "tests" / "integration" / "clients" / "steady"
PAUSE = 0.003
AHEAD = 100  # records that wait at most: else all would be sent at once when a broker is back
SECONDS = 240


def value(number: int) -> bytes:
    return b"%-900d" % number


def _sent_and_read(
    count: int, send: Callable[[int], None], read: Callable[[float], None], flush: Callable[[], Any], found: list[int]
) -> None:
    for number in range(count):
        send(number)
        read(PAUSE)
    flush()
    until = time.monotonic() + SECONDS
    while len(set(found)) < count and time.monotonic() < until:
        read(0.5)


def confluent(address: str, topic: str, count: int, *, reads: str = "", **security: str) -> list[int]:
    """librdkafka: the numbers as they came, of `reads` if another topic is read."""
    given = {"bootstrap.servers": address, "log_level": 0, **{key.replace("_", "."): value for key, value in security.items()}}
    producer = confluent_kafka.Producer({**given, "enable.idempotence": True})
    consumer = confluent_kafka.Consumer({**given, "group.id": topic, "auto.offset.reset": "earliest", "isolation.level": "read_committed"})
    consumer.subscribe([reads or topic])
    found: list[int] = []

    def read(seconds: float) -> None:
        found.extend(int(each.value()) for each in consumer.consume(100, seconds) if each.error() is None)

    def flush() -> None:
        assert producer.flush(SECONDS) == 0

    def send(number: int) -> None:
        while len(producer) > AHEAD:
            producer.poll(PAUSE)  # takes what was delivered off the count
        producer.produce(topic, value(number))

    _sent_and_read(count, send, read, flush, found)
    consumer.close()
    return found


def kafka_python(address: str, topic: str, count: int, **security: Any) -> list[int]:
    logging.getLogger("kafka").setLevel(logging.CRITICAL)  # pytest keeps what is logged, and with its errors sockets that never connected
    given = {"bootstrap_servers": address, **security}
    producer = kafka.KafkaProducer(enable_idempotence=True, delivery_timeout_ms=SECONDS * 1000, **given)
    consumer = kafka.KafkaConsumer(topic, group_id=topic, auto_offset_reset="earliest", isolation_level="read_committed", **given)
    found: list[int] = []
    sent = []

    def read(seconds: float) -> None:
        time.sleep(PAUSE)
        for records in consumer.poll(int(seconds * 1000)).values():
            found.extend(int(each.value) for each in records)

    def flush() -> None:
        for each in sent:
            each.get(SECONDS)

    def send(number: int) -> None:
        if number > AHEAD:
            sent[-AHEAD].get(SECONDS)
        sent.append(producer.send(topic, value(number)))

    _sent_and_read(count, send, read, flush, found)
    producer.close()
    consumer.close()
    return found


def aiokafka_client(address: str, topic: str, count: int, **security: Any) -> list[int]:
    return asyncio.run(_aiokafka(address, topic, count, {"bootstrap_servers": address, **security}))


async def _aiokafka(address: str, topic: str, count: int, given: dict[str, Any]) -> list[int]:
    found: list[int] = []

    async def send() -> None:
        async with aiokafka.AIOKafkaProducer(enable_idempotence=True, request_timeout_ms=SECONDS * 1000, **given) as producer:
            sent = []
            for number in range(count):
                if number > AHEAD:
                    await sent[-AHEAD]
                sent.append(await producer.send(topic, value(number)))
                await asyncio.sleep(PAUSE)
            await asyncio.gather(*sent)

    reading = {"group_id": topic, "auto_offset_reset": "earliest", "isolation_level": "read_committed"}
    async with aiokafka.AIOKafkaConsumer(topic, **reading, **given) as consumer:
        sending = asyncio.ensure_future(send())
        until = time.monotonic() + SECONDS
        while len(set(found)) < count and time.monotonic() < until:
            for records in (await consumer.getmany(timeout_ms=500)).values():
                found += [int(each.value) for each in records]
        await sending
    return found


def program(library: str, address: str, topic: str, count: int, **variables: str) -> list[int]:
    """sarama, franz-go and kafkajs."""
    sys.path[:0] = [str(ROOT / "tools" / "rehearsal")]
    from builds import BUILDS, have

    build = [each for each in BUILDS if each.library == library][-1]
    folder = have(build, ROOT / ".cache" / "steady-clients", CLIENTS).resolve()
    start = ["node", str(CLIENTS / "kafkajs.js")] if library == "kafkajs" else [str(folder / "client")]
    command = [*start, address, topic, str(count)]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    return [int(each) for each in done.stdout.split()]


def java(kind: str, address: str, topic: str, count: int, **security: str) -> list[int]:
    """Kafka's own client; `kind` is `group` or `share`, for a share group."""
    given = {"bootstrap.servers": address, **security}
    done = java_program("SteadyClient", [kind, topic, str(count), *(f"{key}={value}" for key, value in given.items())], SECONDS)
    assert done.returncode == 0, done.stderr
    return [int(each) for each in done.stdout.split()]
