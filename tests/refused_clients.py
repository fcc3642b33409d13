"""Real clients whose application tries again at once after each error, for some seconds; each gives the last error."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import aiokafka
import confluent_kafka

from proxied_clients import ROOT, kafka
from quick_spark import java_program

SECONDS = 5
CLIENT_ID = "refused"
PROGRAMS = ROOT / "tests" / "integration" / "refused"


def java(address: str, topic: str) -> str:
    given = [topic, str(SECONDS), f"bootstrap.servers={address}", f"client.id={CLIENT_ID}"]
    done = java_program("RefusedProducer", given, 120)
    return done.stdout.strip().rpartition("\n")[2] or done.stderr


def confluent(address: str, topic: str) -> str:
    until, last = time.monotonic() + SECONDS, ""

    def note(error: Any, _: Any = None) -> None:
        nonlocal last
        last = str(error)

    while time.monotonic() < until:
        config = {"bootstrap.servers": address, "client.id": CLIENT_ID, "enable.idempotence": True, "error_cb": note}
        producer = confluent_kafka.Producer(config)
        try:
            while time.monotonic() < until:
                producer.produce(topic, b"record", callback=note)
                producer.flush(1)
        except confluent_kafka.KafkaException as error:
            last = str(error)
    return last


def kafka_python(address: str, topic: str) -> str:
    until, last = time.monotonic() + SECONDS, ""
    while time.monotonic() < until:
        try:
            with kafka.KafkaProducer(bootstrap_servers=address, client_id=CLIENT_ID) as producer:
                producer.send(topic, b"record").get(SECONDS)
        except kafka.errors.KafkaError as error:
            last = repr(error)
    return last


def aiokafka_client(address: str, topic: str) -> str:
    return asyncio.run(_aiokafka(address, topic))


async def _aiokafka(address: str, topic: str) -> str:
    until, last = time.monotonic() + SECONDS, ""
    while time.monotonic() < until:
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=address, client_id=CLIENT_ID, enable_idempotence=True)
        try:
            await producer.start()
            await producer.send_and_wait(topic, b"record")
        except aiokafka.errors.KafkaError as error:
            last = repr(error)
        finally:
            await producer.stop()
    return last


def program(library: str) -> Callable[[str, str], str]:
    def run(address: str, topic: str) -> str:
        sys.path[:0] = [str(ROOT / "tools" / "rehearsal")]
        from builds import BUILDS, have

        build = [each for each in BUILDS if each.library == library][-1]
        folder = have(build, ROOT / ".cache" / "refused-clients", PROGRAMS).resolve()
        start = ["node", str(PROGRAMS / "kafkajs.js")] if library == "kafkajs" else [str(folder / "client")]
        command = [*start, address, topic, str(SECONDS)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        return done.stdout.strip() or done.stderr

    return run


# with a part of the error that each gets
CLIENTS: dict[str, tuple[Callable[[str, str], str], str]] = {
    "java": (java, "TopicAuthorizationException"),
    "confluent": (confluent, "authorization failed"),
    "kafka-python": (kafka_python, "TopicAuthorizationFailedError"),
    "aiokafka": (aiokafka_client, "ClusterAuthorizationFailedError"),
    "sarama": (program("sarama"), "not authorized"),
    "kafka-go": (program("kafka-go"), "Unknown Topic Or Partition"),  # it asks for all topics, and none are shown
    "kafkajs": (program("kafkajs"), "Cluster authorization failed"),
}
