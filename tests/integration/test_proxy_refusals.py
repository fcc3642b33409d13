"""Refused clients in front of real brokers: nothing that they ask for is done, and none of them asks often."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kwire
from client_security import Security
from kwire import messages
from kwire.proxy.config import RefusalConfig, TapConfig
from kwire.schema import releases
from kwire.tables import read_series
from proxied_clients import kafka
from refused_clients import CLIENT_ID, CLIENTS
from threaded_proxy import address, proxied

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

NEWEST = releases().newest.name
REFUSALS = [RefusalConfig(client_id=CLIENT_ID)]
MOST = 5  # requests a second
TOPIC = "kept-from-refused-clients"


@pytest.fixture(scope="module")
def broker(kafka_broker: Callable[[str], Any]) -> Any:
    found = kafka_broker(NEWEST)
    with kafka.KafkaAdminClient(bootstrap_servers=found.address) as admin:
        admin.create_topics([kafka.admin.NewTopic(TOPIC, 1, 1)])
    return found


def ask(port: int, key: int, version: int, body: Any) -> Any:
    header = messages.RequestHeader(api_key=key, api_version=version, correlation_id=3, client_id=CLIENT_ID)
    frame = kwire.encode_request(header, body)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as wire, wire.makefile("rb") as answers:
        wire.sendall(struct.pack(">i", len(frame)) + frame)
        (size,) = struct.unpack(">i", answers.read(4))
        return kwire.decode_response(answers.read(size), key, version).body


def end_offset(broker: Any) -> int:
    partition = kafka.TopicPartition(TOPIC, 0)
    with kafka.KafkaConsumer(bootstrap_servers=broker.address) as consumer:
        return int(consumer.end_offsets([partition])[partition])


@pytest.mark.parametrize("loop", ["native", "asyncio"])
def test_a_refused_client_changes_nothing(broker: Any, loop: str) -> None:
    """Without ApiVersions or Metadata before, which real clients send first."""
    produce = messages.ProduceRequest
    partition = produce.PartitionProduceData(index=0, records=kwire.records.encode([kwire.records.RecordBatch([(None, b"record")])]))
    topic = produce.TopicProduceData(name=TOPIC, partition_data=[partition])
    sent = produce(acks=-1, timeout_ms=9000, topic_data=[topic])
    deletes = messages.DeleteTopicsRequest(topic_names=[TOPIC], timeout_ms=9000)
    before = end_offset(broker)
    with proxied(broker.plain, loop=loop, refusals=REFUSALS) as server:
        (port,) = server.ports
        (found,) = ask(port, 0, 9, sent).responses
        assert [(each.index, each.error_code) for each in found.partition_responses] == [(0, 29)]
        assert [(each.name, each.error_code) for each in ask(port, 20, 4, deletes).responses] == [(TOPIC, 29)]
    assert end_offset(broker) == before
    (found,) = ask(broker.plain, 0, 9, sent).responses  # the broker itself takes it
    assert [each.error_code for each in found.partition_responses] == [0]


@pytest.mark.parametrize("loop", ["native", "asyncio"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_refused_client_asks_rarely(broker: Any, client: str, loop: str, tmp_path: Path) -> None:
    run, error = CLIENTS[client]
    with proxied(broker.plain, loop=loop, refusals=REFUSALS, tap=TapConfig(file=str(tmp_path / "tap.pcapng"))) as server:
        begin = time.monotonic()
        found = run(address(server), TOPIC)
        seconds = time.monotonic() - begin
        ports = tuple(server.ports)
    assert error in found
    with read_series([str(tmp_path / "tap_00001.pcapng")], "x", ports) as series:
        assert 0 < series.table("requests").num_rows / seconds < MOST


@pytest.mark.parametrize("loop", ["native", "asyncio"])
@pytest.mark.parametrize(("mechanism", "password"), [("PLAIN", "secret"), ("SCRAM-SHA-256", "scrambled")])
def test_a_principal_is_refused_after_its_login(broker: Any, loop: str, mechanism: str, password: str) -> None:
    security = Security(mechanism=mechanism, user="alice", password=password).python()

    def partitions(principal: str) -> Any:
        with (
            proxied(broker.sasl, loop=loop, refusals=[RefusalConfig(principal=principal)]) as server,
            kafka.KafkaConsumer(bootstrap_servers=address(server), **security) as consumer,
        ):
            return consumer.partitions_for_topic(TOPIC)

    assert partitions("User:bob") == {0}
    assert not partitions("User:al*")
