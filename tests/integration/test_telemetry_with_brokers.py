"""The client's side of KIP-714 against real brokers of the newest release and of 3.9, whose plug-in writes down what it gets."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from kwire.protocol.negotiation import NegotiatingClient
from kwire.protocol.negotiation.outcomes import Agreed, Answered, Outcome, Over, Send
from kwire.protocol.telemetry import MetricStore, TelemetryClient, decode_metrics
from kwire.protocol.telemetry.client_outcomes import Accepted, Subscribed
from kwire.protocol.telemetry.subscriptions import CLIENT_METRICS, Wanted, subscription_id_of
from kwire.schema import releases

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

CREATED = "org.apache.kafka.producer.connection.creation.total"


class Wire:
    def __init__(self, port: int) -> None:
        self.machine = NegotiatingClient(client_id="kwire-telemetry")
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self._run(self.machine.connected(time.monotonic_ns()), Agreed)

    def _run(self, outcomes: list[Outcome], until: type) -> Any:
        while not (found := [each for each in outcomes if isinstance(each, until)]):
            assert not any(isinstance(each, Over) for each in outcomes), outcomes
            self.socket.sendall(b"".join(each.data for each in outcomes if isinstance(each, Send)))
            outcomes = self.machine.receive(self.socket.recv(65536), time.monotonic_ns())
        return found[0]

    def ask(self, body: Any) -> Any:
        return self._run([self.machine.send(body, time.monotonic_ns())], Answered).response.body


def subscribe(wire: Wire, name: str, **properties: str) -> None:
    messages = wire.machine.codec.messages
    request = messages.IncrementalAlterConfigsRequest
    configs = [request.AlterableConfig(name=key.replace("_", "."), config_operation=0, value=value) for key, value in properties.items()]
    resource = request.AlterConfigsResource(resource_type=CLIENT_METRICS, resource_name=name, configs=configs)
    (answer,) = wire.ask(request(resources=[resource])).responses
    assert answer.error_code == 0, answer.error_message


@pytest.mark.requirement("K714-14", "K714-15", "K714-19", "K714-22", "K714-25", "K714-27", "K714-46", "K714-59")
@pytest.mark.parametrize("release", [releases().newest.name, releases().resolve("3.9").name])
def test_a_broker_takes_what_the_client_pushes(kafka_broker: Callable[[str], Any], release: str) -> None:
    broker = kafka_broker(release)
    store = MetricStore({"client_rack": "r1"})
    store.add(CREATED, 2)
    client = TelemetryClient(store, client_id="kwire-telemetry")
    wire = Wire(broker.plain)
    said: list[Any] = []

    def turn() -> None:
        time.sleep(max(0, ((client.due or 0) - time.time_ns()) / 1e9))
        body = client.next_request(time.time_ns())
        if body is not None:
            said.extend(client.receive(wire.ask(body), time.time_ns()))

    with closing(wire.socket):
        subscribe(wire, "kwire", metrics=CREATED, interval_ms="300", match="client_id=kwire-telemetry")
        end = time.monotonic() + 30
        while not any(isinstance(each, Subscribed) and not each.wanted.nothing for each in said):
            assert time.monotonic() < end
            client = TelemetryClient(store, client_id="kwire-telemetry")  # the broker learns of subscriptions a moment later
            turn()
        told = said[-1]
        assert told.subscription_id == subscription_id_of(Wanted((CREATED,), 300), client.instance_id)
        assert (told.temporality, told.compression_type, told.max_bytes) == ("delta", 4, 1 << 20)
        turn()
        store.add(CREATED, 3)
        turn()
        client.close()
        turn()
    assert said[-3:] == [Accepted(terminating=False)] * 2 + [Accepted(terminating=True)]
    lines = [line.split(" ") for line in (broker.folder / "pushed.txt").read_text().splitlines()]
    mine = [(ended, bytes.fromhex(data)) for instance, ended, data in lines if instance == str(client.instance_id)]
    assert [ended for ended, _ in mine] == ["false", "false", "true"]
    points = [decode_metrics(data, 0)[0] for _, data in mine]
    assert [(point["metric"], point["value"], point["resource"]) for point in points] == [
        (CREATED, value, {"client_rack": "r1"}) for value in (2, 3, 0)
    ]
