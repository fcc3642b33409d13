"""Real clients that send and read through TLS while the proxy and the broker are restarted: nothing is lost, doubled or out of order."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import confluent_kafka
import confluent_kafka.admin
import pytest
import trustme

import steady_clients
from client_security import Security, write_certificate
from kafka_broker import Broker, BrokerCertificate, start_broker
from kafka_jars import GROUP, fetch_with_dependencies
from kwire.schema import releases
from running_proxy import RunningProxy
from threaded_proxy import free_port

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.xdist_group("kafka")

CACHE = ROOT / ".cache" / "kafka-jars"
JAVA = ROOT / "tests" / "integration" / "java"
COPIERS = [(GROUP, each, "4.3.1") for each in ("kafka-streams", "connect-mirror", "connect-runtime")] + [
    ("org.slf4j", "slf4j-nop", "1.7.36")
]
SECONDS, RECORDS = 240, 3000
NEWEST = releases().newest.name


class Restarted:
    """A proxy with TLS on both sides, on the native loop and the same port each time."""

    def __init__(self, folder: Path, broker: int, authority: trustme.CA) -> None:
        ca = str(folder / "ca.pem")
        authority.cert_pem.write_to_path(ca)
        mine, client = (write_certificate(authority.issue_cert(name), folder / f"{name}.pem") for name in ("127.0.0.1", "client"))
        self._tables = f'tls = {{certificate = "{mine}", key = "{mine}", client_ca = "{ca}"}}\n'
        self._tables += f'upstream_tls = {{ca = "{ca}", certificate = "{client}", key = "{client}"}}\n'
        self._folder, self._broker, self._port = folder, broker, free_port()
        self.security = Security(ca=ca, certificate=client)
        self.address = f"127.0.0.1:{self._port}"
        self.begin()

    def begin(self) -> None:
        self.running = RunningProxy(self._folder, self._broker, 'loop = "native"', self._tables, self._port)

    def restart(self) -> None:
        self.running.stop()
        self.begin()

    def kill(self) -> None:
        self.running.process.kill()
        self.running.process.wait()
        self.begin()


@contextmanager
def restarted(folder: Path, broker: int, authority: trustme.CA) -> Iterator[Restarted]:
    proxy = Restarted(folder, broker, authority)
    try:
        yield proxy
    finally:
        proxy.running.stop()


class Log:
    """A new topic as the broker has it, asked past the proxy."""

    def __init__(self, broker: str, topic: str) -> None:
        self._given = {"bootstrap.servers": broker, "group.id": "unused", "enable.auto.commit": False, "isolation.level": "read_committed"}
        admin = confluent_kafka.admin.AdminClient(self._given)
        admin.create_topics([confluent_kafka.admin.NewTopic(topic, 1, 1)])[topic].result(SECONDS)
        self._partition = confluent_kafka.TopicPartition(topic, 0, 0)

    def end(self) -> int:
        """How many records are there; 0 if the broker does not say it, which has just begun."""
        consumer = confluent_kafka.Consumer({**self._given, "log_level": 0})
        try:
            return int(consumer.get_watermark_offsets(self._partition, SECONDS)[1])
        except confluent_kafka.KafkaException:
            return 0
        finally:
            consumer.close()

    def numbers(self) -> list[int]:
        consumer = confluent_kafka.Consumer({**self._given, "enable.partition.eof": True})
        consumer.assign([self._partition])
        found: list[int] = []
        while (message := consumer.poll(SECONDS)) is not None and message.error() is None:
            found.append(int(message.value()))
        consumer.close()
        return found


def while_it_works(work: Callable[[], list[int]], log: Log, count: int, *steps: Callable[[], None]) -> list[int]:
    """What a client read; after each further share of its records a step is taken, and all steps before its last record."""
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        for number, step in enumerate(steps, 1):
            until = time.monotonic() + SECONDS
            while (end := log.end()) < count * number // (len(steps) + 1):
                assert not working.done(), working.exception()
                assert time.monotonic() < until, f"{end} records are there"
                time.sleep(0.1)
            assert end < count, "the client has sent all before the last restart"
            step()
        return working.result(SECONDS)


def first_of_each(numbers: list[int]) -> list[int]:
    """Without what a member of a group reads again that had to join it again: since its last commit."""
    return list(dict.fromkeys(numbers))


def test_a_restart_under_a_client(kafka_broker: Callable[[str], Any], authority: trustme.CA, tmp_path: Path) -> None:
    """librdkafka, idempotent."""
    broker, count = kafka_broker(NEWEST), 1500
    with restarted(tmp_path, broker.tls, authority) as proxy:
        log = Log(broker.address, "restart")
        found = while_it_works(
            lambda: steady_clients.confluent(proxy.address, "restart", count, **proxy.security.confluent()), log, count, proxy.restart
        )
    assert log.numbers() == list(range(count))
    assert first_of_each(found) == list(range(count))


class Killed:
    """A broker of its own, which is killed and begun again with its ports and files."""

    def __init__(self, broker: Broker) -> None:
        self.started, self._process = broker, broker.process

    def restart(self) -> None:
        self.end()
        self._process = subprocess.Popen(self._process.args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture(scope="module")
def broker(broker_certificate: BrokerCertificate, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killed]:
    found = Killed(start_broker(NEWEST, tmp_path_factory.mktemp("killed"), CACHE, broker_certificate))
    yield found
    found.end()


CLIENTS: dict[str, Callable[[str, str, int, Security], list[int]]] = {
    "java": lambda where, topic, count, security: steady_clients.java("group", where, topic, count, **security.java()),
    "confluent": lambda where, topic, count, security: steady_clients.confluent(where, topic, count, **security.confluent()),
    "kafka-python": lambda where, topic, count, security: steady_clients.kafka_python(where, topic, count, **security.python()),
    "aiokafka": lambda where, topic, count, security: steady_clients.aiokafka_client(where, topic, count, **security.python()),
    "franz-go": lambda where, topic, count, security: steady_clients.program("franz-go", where, topic, count, **security.environment()),
    "sarama": lambda where, topic, count, security: steady_clients.program("sarama", where, topic, count, **security.environment()),
    "kafkajs": lambda where, topic, count, security: steady_clients.program("kafkajs", where, topic, count, **security.environment()),
}


@pytest.mark.matrix
@pytest.mark.parametrize("client", CLIENTS)
def test_restarts_of_both(broker: Killed, client: str, authority: trustme.CA, tmp_path: Path) -> None:
    """The producers are idempotent; the proxy is stopped in good order and killed, and the broker killed."""
    topic = f"restarts-{client}"
    with restarted(tmp_path, broker.started.tls, authority) as proxy:
        log = Log(broker.started.address, topic)
        steps = (proxy.restart, broker.restart, proxy.kill)
        found = while_it_works(lambda: CLIENTS[client](proxy.address, topic, RECORDS, proxy.security), log, RECORDS, *steps)
    assert log.numbers() == list(range(RECORDS))
    assert first_of_each(found) == list(range(RECORDS))


@pytest.mark.matrix
def test_a_share_group(broker: Killed, authority: trustme.CA, tmp_path: Path) -> None:
    """It promises no order, and may give again what it has no acknowledgement of."""
    with restarted(tmp_path, broker.started.tls, authority) as proxy:
        log = Log(broker.started.address, "shared")
        steps = (proxy.restart, broker.restart, proxy.kill)
        found = while_it_works(
            lambda: steady_clients.java("share", proxy.address, "shared", RECORDS, **proxy.security.java()), log, RECORDS, *steps
        )
    assert log.numbers() == list(range(RECORDS))
    assert set(found) == set(range(RECORDS))


MIRROR = """\
clusters = a, b
a->b.enabled = true
a->b.topics = mirrored
b->a.enabled = false
exactly.once.source.support = enabled
replication.factor = 1
offset-syncs.topic.replication.factor = 1
config.storage.replication.factor = 1
offset.storage.replication.factor = 1
status.storage.replication.factor = 1
emit.heartbeats.enabled = false
emit.checkpoints.enabled = false
sync.topic.configs.enabled = false
sync.topic.acls.enabled = false
"""


@contextmanager
def copying(folder: Path, *command: str) -> Iterator[None]:
    libs = fetch_with_dependencies("streams-and-mirror-4.3.1", COPIERS, CACHE).resolve()
    with (folder / "copier.log").open("wb") as log:
        running = subprocess.Popen(["java", "-XX:TieredStopAtLevel=1", "-Xmx256m", "-cp", f"{libs}/*", *command], stdout=log, stderr=log)
    try:
        yield
    finally:
        running.kill()
        running.wait()


@pytest.mark.matrix
@pytest.mark.parametrize("copier", ["streams", "mirror-maker"])
def test_exactly_once(broker: Killed, copier: str, authority: trustme.CA, tmp_path: Path) -> None:
    """Kafka Streams with exactly_once_v2, and MirrorMaker 2 with exactly-once support, from the cluster to itself."""
    topic, copy = {"streams": ("streamed", "copied"), "mirror-maker": ("mirrored", "a.mirrored")}[copier]
    with restarted(tmp_path, broker.started.tls, authority) as proxy:
        given = {"bootstrap.servers": proxy.address, **proxy.security.java()}
        log, copied = Log(broker.started.address, topic), Log(broker.started.address, copy)
        if copier == "streams":
            state = f"state.dir={tmp_path / 'state'}"
            command = [str(JAVA / "CopyStream.java"), topic, copy, state, *(f"{key}={value}" for key, value in given.items())]
        else:
            sides = "".join(f"{side}.{key} = {value}\n" for side in "ab" for key, value in given.items())
            (tmp_path / "mirror.properties").write_text(MIRROR + sides)
            command = ["org.apache.kafka.connect.mirror.MirrorMaker", str(tmp_path / "mirror.properties")]
        with copying(tmp_path, *command):
            steps = (proxy.restart, broker.restart, proxy.kill)
            found = while_it_works(
                lambda: steady_clients.confluent(proxy.address, topic, RECORDS, reads=copy, **proxy.security.confluent()),
                log, RECORDS, *steps,
            )  # fmt: skip
    assert log.numbers() == copied.numbers() == list(range(RECORDS))
    assert first_of_each(found) == list(range(RECORDS))
