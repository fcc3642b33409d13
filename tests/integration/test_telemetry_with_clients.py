"""The broker's side of KIP-714 with real clients: Kafka's own Java client and librdkafka push the metrics that they have."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from kwire.protocol.negotiation import NegotiatingBroker
from kwire.protocol.negotiation.outcomes import Send
from kwire.protocol.telemetry import MemoryReceiver, SubscriptionTable, TelemetryReceiver
from kwire.protocol.telemetry.labels import suspicious_labels
from kwire.protocol.telemetry.metric_catalog import unexpected_names
from kwire.protocol.telemetry.receivers import PushContext
from kwire.schema import releases
from listening_port import listening
from quick_spark import java_program

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]  # the jars are fetched once

ROOT = Path(__file__).resolve().parents[2]
NEWEST = releases().newest.name
PREFIX = "org.apache.kafka.producer."


class TelemetryBroker:
    """A port with a broker that has versions, metadata and telemetry, and nothing else."""

    def __init__(self) -> None:
        self.memory = MemoryReceiver()
        self.table = SubscriptionTable()
        self.role = TelemetryReceiver(self.table, [self.memory])
        self.codes: list[tuple[int, int]] = []
        self.lock = threading.Lock()
        self.address = ""

    def serve(self, connection: socket.socket) -> None:
        machine: NegotiatingBroker
        address, port = connection.getpeername()

        def telemetry(request: Any) -> Any:
            name, version = machine.software
            context = PushContext(
                connection=f"{address}:{port}", client_id=request.header.client_id, software_name=name, software_version=version,
                source_address=address, source_port=port, node_id=7,
            )  # fmt: skip
            with self.lock:
                answer = self.role.answer(request.body, context, time.time_ns())
                self.codes.append((request.header.api_key, answer.error_code))
            return answer

        def metadata(request: Any) -> Any:
            told = machine.codec.messages.MetadataResponse
            node = told.MetadataResponseBroker(node_id=7, host="127.0.0.1", port=int(self.address.rpartition(":")[2]))
            return told(brokers=[node], cluster_id="kwireTestsQmNUu0Mw9cVQ", controller_id=7, topics=[])

        ranges = {3: (0, 12), 18: (0, 4), **self.role.advertised()}
        machine = NegotiatingBroker(ranges, answers={3: metadata, 71: telemetry, 72: telemetry})
        try:
            while not machine.over and (data := connection.recv(65536)):
                outcomes = machine.receive(data, time.monotonic_ns())
                connection.sendall(b"".join(each.data for each in outcomes if isinstance(each, Send)))
        except OSError:
            pass  # the client went away

    def pushes(self) -> int:
        return len(self.memory.payloads)


@pytest.fixture
def broker() -> Iterator[TelemetryBroker]:
    made = TelemetryBroker()
    made.table.set("producers", {"metrics": PREFIX, "interval.ms": "300", "match": "client_id=pusher"})
    with listening(made.serve) as made.address:
        yield made


def until(true: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.requirement("K714-12", "K714-14", "K714-15", "K714-33", "K714-52", "K714-69", "K714-70", "K714-90", "K714-95")
def test_a_java_producer_pushes_its_metrics(broker: TelemetryBroker) -> None:
    settings = ["3000", f"bootstrap.servers={broker.address}", "client.id=pusher", "enable.idempotence=false"]
    done = java_program("PushMetrics", settings, 90)
    assert done.returncode == 0, done.stderr
    told = done.stdout.strip().splitlines()[-1]
    assert [code for _, code in broker.codes] == [0] * len(broker.codes)
    pushed = [payload for _, payload in broker.memory.payloads]
    assert len(pushed) >= 2
    assert {str(payload.instance_id) for payload in pushed} == {told}
    # The last push is sent if the client's network thread gets to it before it ends.
    assert not any(payload.terminating for payload in pushed[:-1])
    points = [point for each in broker.memory.points for point in each]
    names = {point["metric"] for point in points}
    assert {f"{PREFIX}connection.creation.total", f"{PREFIX}connection.creation.rate"} <= names
    assert all(name.startswith(PREFIX) for name in names)
    assert {point["temporality"] for point in points if point["type"] == "sum"} == {"delta"}
    resource = points[0]["resource"]
    assert (resource["client_software_name"], resource["client_software_version"]) == ("apache-kafka-java", NEWEST)
    assert (resource["client_instance_id"], resource["client_id"], resource["broker_id"]) == (told, "pusher", "7")
    assert suspicious_labels(points) == set()
    assert unexpected_names(names) == []


@pytest.mark.requirement("K714-12", "K714-14", "K714-19", "K714-47", "K714-104")
def test_librdkafka_pushes_its_metrics_and_follows_the_subscription(broker: TelemetryBroker) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": f"{broker.address}", "client.id": "pusher"})
    until(lambda: broker.pushes() >= 2)
    with broker.lock:
        broker.table.set("producers", {})  # nobody wants them any more
        before = broker.pushes()
    until(lambda: (72, 117) in broker.codes)
    until(lambda: broker.codes[-1] == (71, 0))
    time.sleep(0.7)
    assert broker.pushes() == before
    del producer
    points = [point for each in broker.memory.points for point in each]
    assert f"{PREFIX}connection.creation.total" in {point["metric"] for point in points}
    assert {point["resource"]["client_software_name"] for point in points} == {"confluent-kafka-python"}
    assert len({payload.instance_id for _, payload in broker.memory.payloads}) == 1
    assert unexpected_names({point["metric"] for point in points}) == []
