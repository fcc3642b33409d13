"""`[telemetry]` of the proxy: who is answered, and how much of it is stored."""

from __future__ import annotations

import gzip
import json
from typing import Any

import kwire
from kwire import messages
from kwire.protocol.telemetry.otlp import encode_metrics
from kwire.proxy import ProxiedConnection, RuleSet
from kwire.proxy.config import ProxyConfig, TelemetryConfig
from kwire.proxy.configured_rules import configured_rules
from kwire.proxy.rules.rule import Peer

MIB = 1 << 20
MS = 1_000_000
INTERVAL = 1000
THROTTLING_QUOTA_EXCEEDED, TELEMETRY_TOO_LARGE = 89, 118  # org.apache.kafka.common.protocol.Errors


class Client:
    """One client behind a proxy that plays the broker, too."""

    def __init__(self, max_pushed: int = MIB) -> None:
        self.stored: list[bytes] = []
        config = ProxyConfig(telemetry=TelemetryConfig(file="x", interval_ms=INTERVAL, max_pushed=max_pushed))
        rules = RuleSet(configured_rules(config, self.stored.append))
        self.connection = ProxiedConnection(rules, Peer("10.0.0.9", 50_000, 1), max_frame=MIB, max_held=MIB)
        self.number = 0

    def send(self, key: int, version: int, body: Any, t: int = 0) -> bytes:
        """What the client gets at once."""
        self.number += 1
        header = messages.RequestHeader(api_key=key, api_version=version, correlation_id=self.number, client_id="shop")
        frame = kwire.encode_request(header, body)
        return b"".join(self.connection.from_client(len(frame).to_bytes(4, "big") + frame, t).to_client)

    def broker(self, key: int, version: int, body: Any, number: int = 0) -> bytes:
        frame = kwire.encode_response(number or self.number, body, key, version)
        return b"".join(self.connection.from_server(len(frame).to_bytes(4, "big") + frame, 0).to_client)

    def served(self) -> Client:
        self.send(3, 12, messages.MetadataRequest(topics=None))
        self.broker(3, 12, messages.MetadataResponse())
        return self

    def ask(self, t: int = 0) -> Any:
        return kwire.decode_response(self.send(71, 0, messages.GetTelemetrySubscriptionsRequest(), t)[4:], 71, 0).body

    def push(self, asked: Any, metrics: bytes, t: int = 0, **more: Any) -> int:
        body = messages.PushTelemetryRequest(
            client_instance_id=asked.client_instance_id, subscription_id=asked.subscription_id, metrics=metrics, **more
        )
        code: int = kwire.decode_response(self.send(72, 0, body, t)[4:], 72, 0).body.error_code
        return code


def points(count: int, label: str = "") -> bytes:
    return encode_metrics([{"metric": "m", "type": "gauge", "value": 1, "resource": {"label": label}} for _ in range(count)])


def test_a_client_that_the_broker_serves_is_answered() -> None:
    client = Client().served()
    client.send(18, 0, messages.ApiVersionsRequest())
    entry = messages.ApiVersionsResponse.ApiVersion(api_key=3, max_version=12)
    offered = kwire.decode_response(client.broker(18, 0, messages.ApiVersionsResponse(api_keys=[entry]))[4:], 18, 0).body.api_keys
    assert [(each.api_key, each.min_version, each.max_version) for each in offered] == [(3, 0, 12), (71, 0, 0), (72, 0, 0)]
    asked = client.ask()
    assert (asked.error_code, asked.push_interval_ms) == (0, INTERVAL)
    assert client.push(asked, points(2)) == 0
    assert [json.loads(line)["metric"] for line in b"".join(client.stored).splitlines()] == ["m", "m"]


def test_a_client_that_only_negotiated_is_put_off() -> None:
    """ApiVersions and SASL come before authentication (KIP-35, KIP-152)."""
    client = Client()
    other = Client().served().ask()
    assert client.ask().error_code == THROTTLING_QUOTA_EXCEEDED
    client.send(18, 3, messages.ApiVersionsRequest(client_software_name="x", client_software_version="1"))
    client.broker(18, 3, messages.ApiVersionsResponse())
    assert client.ask().error_code == THROTTLING_QUOTA_EXCEEDED
    client.send(17, 1, messages.SaslHandshakeRequest(mechanism="PLAIN"))
    client.broker(17, 1, messages.SaslHandshakeResponse(mechanisms=["PLAIN"]))
    client.send(36, 2, messages.SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong"))
    client.broker(36, 2, messages.SaslAuthenticateResponse(error_code=58))
    assert client.push(other, points(1), terminating=True) == THROTTLING_QUOTA_EXCEEDED
    assert client.stored == []


def test_a_client_that_logged_in_is_answered() -> None:
    client = Client()
    client.send(17, 1, messages.SaslHandshakeRequest(mechanism="PLAIN"))
    client.broker(17, 1, messages.SaslHandshakeResponse(mechanisms=["PLAIN"]))
    client.send(36, 2, messages.SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"))
    client.broker(36, 2, messages.SaslAuthenticateResponse())
    assert client.push(client.ask(), points(1)) == 0


def test_a_question_right_behind_the_first_request_is_answered_behind_it() -> None:
    """Java sends Metadata and GetTelemetrySubscriptions in one turn of its loop (`NetworkClient.poll`)."""
    client = Client()
    client.send(3, 12, messages.MetadataRequest(topics=None))
    assert client.send(71, 0, messages.GetTelemetrySubscriptionsRequest()) == b""
    pushed = messages.PushTelemetryRequest(client_instance_id=b"x" * 16, metrics=points(1), terminating=True)
    assert client.send(72, 0, pushed) == b""
    got = client.broker(3, 12, messages.MetadataResponse(), 1)
    found = []
    while got:
        size = int.from_bytes(got[:4], "big")
        found.append(got[4 : 4 + size])
        got = got[4 + size :]
    assert kwire.decode_response(found[1], 71, 0).body.error_code == 0
    assert kwire.decode_response(found[2], 72, 0).body.error_code == THROTTLING_QUOTA_EXCEEDED  # nothing is stored on trust
    assert client.stored == []


def test_bytes_of_a_connection_in_an_interval() -> None:
    """New instance ids, and last pushes, do not wait for an interval of their own."""
    client = Client(100_000).served()
    first, second, third = client.ask(), client.ask(), client.ask()
    metrics = points(200)  # lines of some 230 bytes: two such pushes are too many
    assert client.push(first, metrics, 0) == 0
    stored = len(b"".join(client.stored))
    assert stored < 100_000 < 2 * stored + 3 * len(metrics)
    assert client.push(second, metrics, 1) == THROTTLING_QUOTA_EXCEEDED
    for t in range(2, 20):
        assert client.push(third, metrics, t, terminating=True) == THROTTLING_QUOTA_EXCEEDED
    assert client.push(third, points(1), INTERVAL * MS - 1, terminating=True) == THROTTLING_QUOTA_EXCEEDED
    assert len(b"".join(client.stored)) == stored
    assert client.push(third, metrics, INTERVAL * MS, terminating=True) == 0


def test_lines_that_repeat_a_long_label_count() -> None:
    metrics = points(1000, "x" * 10_000)
    assert len(metrics) < 50_000  # as lines 10 MB
    client = Client(MIB).served()
    assert client.push(client.ask(), metrics) == THROTTLING_QUOTA_EXCEEDED
    assert client.stored == []


def test_small_pushes_that_become_large() -> None:
    client = Client(MIB).served()
    bomb = gzip.compress(points(1, "x" * (8 * MIB)))
    assert len(bomb) < 20_000
    assert client.push(client.ask(), bomb, compression_type=1) == TELEMETRY_TOO_LARGE
    assert client.push(client.ask(), points(20_000)) == TELEMETRY_TOO_LARGE  # no room for so many lines
    assert client.stored == []
