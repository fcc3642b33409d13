"""Log lines of the proxy: who was closed and why, as text and as JSON."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace
from typing import Any

import pytest

from kwire.cli.log_lines import JsonFormatter
from kwire.proxy.config import ListenerConfig, ProxyConfig
from kwire.proxy.rules.rule import Peer
from kwire.proxy.server import ProxyServer

PORT = ":19092"


@pytest.fixture
def server() -> ProxyServer:
    return ProxyServer(ProxyConfig(listeners=[ListenerConfig(listen=PORT, broker="kafka:9092", node_id=1)], loop="asyncio"))


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [json.loads(JsonFormatter().format(each)) for each in caplog.records]


def test_a_line_has_all_that_is_known_of_the_client(server: ProxyServer, caplog: pytest.LogCaptureFixture) -> None:
    slot: Any = SimpleNamespace(listener=PORT, left=lambda: None)
    peer = Peer("10.1.4.7", 51_234, 1, "shop", "sarama", "1.27.2", "User:alice", "acme")
    server.left(slot, peer, "rule", "Kafka 4.3.1 rejects OffsetCommit v1", "OffsetCommit v1")
    server.left(slot, Peer("10.1.4.8", 1, 1), "broker_unreachable", "the broker cannot be reached: Connection refused")
    assert caplog.messages == [
        "10.1.4.7:51234 (shop, sarama 1.27.2, User:alice, tenant acme) on :19092 to broker 1: closed: Kafka 4.3.1 rejects OffsetCommit v1",
        "10.1.4.8:1 on :19092 to broker 1: closed: the broker cannot be reached: Connection refused",
    ]
    first, second = lines(caplog)
    assert first.pop("time").endswith("+00:00")
    assert first == {
        "level": "warning", "message": caplog.messages[0], "listener": PORT, "client": "10.1.4.7:51234", "node_id": 1, "client_id": "shop",
        "software_name": "sarama", "software_version": "1.27.2", "principal": "User:alice", "tenant": "acme", "cause": "rule",
        "reason": "Kafka 4.3.1 rejects OffsetCommit v1", "api": "OffsetCommit v1",
    }  # fmt: skip
    assert second.keys() == {"time", "level", "message", "listener", "client", "node_id", "cause", "reason"}


def test_texts_that_clients_choose_are_cut(server: ProxyServer, caplog: pytest.LogCaptureFixture) -> None:
    slot: Any = SimpleNamespace(listener=PORT, left=lambda: None)
    long = "x" * 32_767
    server.left(slot, Peer("10.1.4.7", 1, -1, long, long, long, long), "rule", "refused")
    assert caplog.messages[0].endswith(" on :19092 to a broker: closed: refused")
    assert len(JsonFormatter().format(caplog.records[0])) < 3000


def test_lines_that_were_left_out_are_counted(server: ProxyServer, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(12):
        assert server.enter(ListenerConfig(listen=PORT, broker="kafka:9092", node_id=1), "10.0.0.1") is not None
    server.config = ProxyConfig(listeners=server.config.listeners, max_connections_of_address=12)
    for _ in range(12):
        assert server.enter(server.config.listeners[0], "10.0.0.1") is None
    server.quiet.flush(everything=True)
    first, second = lines(caplog)
    assert (first["cause"], first["client"], first["listener"], "more" in first) == ("too_many_of_address", "10.0.0.1", PORT, False)
    assert second["more"] == 10


def test_other_records_are_json_too() -> None:
    try:
        raise ValueError("\ud800")
    except ValueError as error:
        record = logging.LogRecord("kwire.proxy", logging.ERROR, "", 0, "a\n%s", ("b",), (ValueError, error, None))
    found = json.loads(JsonFormatter().format(record))
    assert (found["message"], found["level"]) == ("a\nb", "error")
    assert found["traceback"] == "ValueError: \ud800"
