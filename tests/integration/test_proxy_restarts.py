"""Real clients that send and read through TLS while the proxy and the broker are restarted: nothing is lost, doubled or out of order."""

from __future__ import annotations

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
from kwire.schema import releases
from running_proxy import RunningProxy
from threaded_proxy import free_port

pytestmark = pytest.mark.xdist_group("kafka")

SECONDS = 240
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
        consumer = confluent_kafka.Consumer(self._given)
        try:
            return int(consumer.get_watermark_offsets(self._partition, 30)[1])
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
            while log.end() < count * number // (len(steps) + 1):
                assert not working.done(), working.exception()
                assert time.monotonic() < until, f"{log.end()} records are there"
                time.sleep(0.1)
            step()
        assert log.end() < count, "the client had sent all before the last restart"
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
