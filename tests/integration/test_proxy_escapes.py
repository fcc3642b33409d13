"""A client of one tenant that does not keep to the protocol reaches nothing of another one, on a real broker and both loops."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

import kwire
from kafka_bytes import framed, handshake, metadata
from kwire import messages
from kwire.proxy.config import TenantConfig
from kwire.schema import releases
from threaded_proxy import address, proxied

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

NEWEST = releases().newest.name
PREFIX = "acme."
FOREIGN = b"globex.invoices"
PLAIN_TOKEN = b"\0alice\0secret"


def request(key: int, version: int, body: Any, number: int) -> bytes:
    header = messages.RequestHeader(api_key=key, api_version=version, correlation_id=number, client_id="c")
    return framed(kwire.encode_request(header, body))


def delete(number: int) -> bytes:
    return request(20, 4, messages.DeleteTopicsRequest(topic_names=[FOREIGN.decode()], timeout_ms=30_000), number)


def every_topic(number: int) -> bytes:
    """Metadata v1 of all topics: an array that is null."""
    return metadata(number)[:-4] + b"\xff\xff\xff\xff"


class Wire:
    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._got = b""

    def send(self, data: bytes) -> None:
        self._end.sendall(data)

    def frame(self) -> bytes:
        while len(self._got) < 4 or len(self._got) < 4 + int.from_bytes(self._got[:4], "big"):
            try:
                data = self._end.recv(65536)
            except ConnectionError:
                data = b""
            if not data:
                return b""
            self._got += data
        size = 4 + int.from_bytes(self._got[:4], "big")
        found, self._got = self._got[4:size], self._got[size:]
        return found

    def log_in(self) -> None:
        self.send(handshake(1, 1, b"PLAIN"))
        assert self.frame()[4:6] == b"\0\0"
        self.send(request(36, 1, messages.SaslAuthenticateRequest(auth_bytes=PLAIN_TOKEN), 2))
        assert self.frame()[4:6] == b"\0\0"


@contextmanager
def wired(port: int) -> Iterator[Wire]:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as end:
        yield Wire(end)


@pytest.fixture(scope="module")
def broker(kafka_broker: Callable[[str], Any]) -> Iterator[Any]:
    found = kafka_broker(NEWEST)
    topic = messages.CreateTopicsRequest.CreatableTopic(name=FOREIGN.decode(), num_partitions=1, replication_factor=1)
    with wired(found.plain) as wire:
        wire.send(request(19, 4, messages.CreateTopicsRequest(topics=[topic], timeout_ms=30_000), 1))
        assert FOREIGN in wire.frame()
        yield found
        wire.send(delete(2))
        assert wire.frame()


@contextmanager
def tenant(broker_port: int, loop: Any, raw_sasl_tokens: bool | None) -> Iterator[int]:
    tenants = {"acme": TenantConfig(prefix=PREFIX)}
    with proxied(broker_port, tenant="acme", tenants=tenants, loop=loop, raw_sasl_tokens=raw_sasl_tokens) as server:
        yield int(address(server).rpartition(":")[2])


def is_there(broker: Any) -> bool:
    with wired(broker.plain) as wire:
        wire.send(every_topic(1))
        return FOREIGN in wire.frame()


@pytest.mark.parametrize("raw_sasl_tokens", [None, True])
@pytest.mark.parametrize("logs_in", [False, True])
def test_no_request_hides_behind_a_handshake(broker: Any, raw_sasl_tokens: bool | None, loop: Any, logs_in: bool) -> None:
    """The broker answers SaslHandshake v0 with error 34, without and behind a login, and serves the next frame as a request."""
    with tenant(broker.sasl if logs_in else broker.plain, loop, raw_sasl_tokens) as port:
        for waits in ("one write", "two writes", "answer"):
            for mechanism in (b"PLAIN", b"SCRAM-SHA-256"):
                for hidden in (every_topic(4), delete(4)):
                    with wired(port) as wire:
                        if logs_in:
                            wire.log_in()
                        wire.send(handshake(3, 0, mechanism) + (hidden if waits == "one write" else b""))
                        answers = [wire.frame()] if waits == "answer" else []
                        assert answers[:1] == [] or raw_sasl_tokens is None or answers[0][:6] == b"\0\0\0\3\0\x22"
                        with suppress(ConnectionError):
                            wire.send(hidden if waits != "one write" else b"")
                        while len(answers) < 2:
                            answers.append(wire.frame())
                        assert hidden == delete(4) or FOREIGN not in b"".join(answers)  # DeleteTopics is answered with the name
    assert is_there(broker)


def test_a_tenant_may_log_in_with_raw_tokens_where_the_configuration_says_so(broker: Any, loop: Any) -> None:
    """Behind the login the rules hold as ever: handshake, token and request in one write."""
    with tenant(broker.sasl, loop, True) as port, wired(port) as wire:
        wire.send(handshake(1, 0, b"PLAIN") + framed(PLAIN_TOKEN) + every_topic(2))
        assert wire.frame()[:6] == b"\0\0\0\1\0\0"
        assert wire.frame() == b""  # the broker's token
        listed = wire.frame()
        assert listed[:4] == b"\0\0\0\2"
        assert FOREIGN not in listed
        wire.send(handshake(3, 0, b"PLAIN") + every_topic(4))
        assert FOREIGN not in wire.frame() + wire.frame()
