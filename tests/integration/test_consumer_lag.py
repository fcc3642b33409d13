"""examples/consumer_lag.py against a real broker: Spark's own Kafka source and `from_consumer_offsets` say what the admin client says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from kwire.schema import releases

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("kafka")]

ROOT = Path(__file__).parents[2]
# Spark's own Kafka source and what it wants beside Spark's jars, each the newest that is published for certain; Spark 4.3 runs them.
SOURCE = [
    ("org.apache.spark:spark-sql-kafka-0-10_2.13", "4.2.0"),
    ("org.apache.spark:spark-token-provider-kafka-0-10_2.13", "4.1.0-preview1"),
    ("kafka-clients", "3.9.2"),
    ("org.apache.commons:commons-pool2", "2.13.1"),
]
Lags = dict[tuple[str, str, int], tuple[int, int]]


def produce(brokers: str, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": brokers})
    for number in range(count):
        producer.produce(topic, b"x", partition=number % 2)
    assert producer.flush(30) == 0


def consume(brokers: str, group: str, topics: list[str], count: int, protocol: str) -> None:
    """Read so many records as a member of a group, and commit after each."""
    settings = {"bootstrap.servers": brokers, "group.id": group, "group.protocol": protocol, "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "enable.auto.commit": False})
    consumer.subscribe(topics)
    read = 0
    for _ in range(600):
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            consumer.commit(message, asynchronous=False)
            read += 1
        if read == count:
            break
    consumer.close()
    assert read == count


def lags_by_admin_client(brokers: str, groups: list[str]) -> Lags:
    admin = AdminClient({"bootstrap.servers": brokers})
    found: Lags = {}
    for group in groups:
        asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        committed = [each for each in asked[group].result().topic_partitions if each.offset >= 0]
        ends = admin.list_offsets({TopicPartition(each.topic, each.partition): OffsetSpec.latest() for each in committed})
        at = {(each.topic, each.partition): answer.result().offset for each, answer in ends.items()}
        for each in committed:
            found[group, each.topic, each.partition] = (each.offset, at[each.topic, each.partition])
    return found


def test_lag_of_each_group_and_topic(kafka_broker) -> None:
    brokers = kafka_broker(releases().newest.name).address
    admin = AdminClient({"bootstrap.servers": brokers})
    topics = ["lag-orders", "lag-payments"]
    for made in admin.create_topics([NewTopic(topic, 2, 1) for topic in topics]).values():
        made.result()
    for topic, count in zip(topics, (10, 7), strict=True):
        produce(brokers, topic, count)
    consume(brokers, "lag-classic", topics[:1], 6, "classic")
    consume(brokers, "lag-kip-848", topics, 17, "consumer")
    produce(brokers, "lag-payments", 3)
    consume(brokers, "lag-gone", topics[:1], 2, "classic")
    admin.delete_consumer_groups(["lag-gone"])["lag-gone"].result()  # leaves tombstones

    sys.path.insert(0, str(ROOT / "tools"))
    from kafka_jars import fetch

    jars = ",".join(map(str, fetch(SOURCE, ROOT / ".cache" / "kafka-jars").values()))
    arguments = f"--master local[2] --driver-java-options -XX:TieredStopAtLevel=1 --jars {jars} pyspark-shell"
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": arguments}
    command = [sys.executable, str(ROOT / "examples" / "consumer_lag.py"), brokers]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    rows = [row for row in rows if row["group"].startswith("lag-")]  # other tests have groups too
    found = {(row["group"], row["topic"], row["partition"]): (row["committed"], row["end"]) for row in rows}

    truth = lags_by_admin_client(brokers, ["lag-classic", "lag-kip-848"])
    assert found == truth
    assert sum(end - committed for committed, end in truth.values()) == 4 + 3
    assert all(row["lag"] == row["end"] - row["committed"] for row in rows)
