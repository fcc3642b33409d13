"""Quotas of the proxy: which clients share one, the time to wait in responses, and requests that wait.

A bucket holds the amount of one second. Its debt over the rate is the time to wait, as in KIP-124 and KIP-219.
"""

from __future__ import annotations

from typing import Any

import kwire
from kafka_bytes import framed
from kwire import messages
from kwire.protocol.relay import PASS
from kwire.proxy import ProxiedConnection, RuleSet
from kwire.proxy.config import QuotaConfig
from kwire.proxy.rules.identity import IdentityRule
from kwire.proxy.rules.quotas import QuotasRule
from kwire.proxy.rules.rule import Peer

MIB = 1 << 20
HEARTBEAT = messages.HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def quotas(*tables: QuotaConfig) -> tuple[QuotasRule, Clock]:
    clock = Clock()
    return QuotasRule(tables, clock), clock


def connected(rule: QuotasRule, tenant: str = "") -> ProxiedConnection:
    return ProxiedConnection(RuleSet([IdentityRule(), rule]), Peer("10.0.0.9", 1, 1, tenant=tenant), max_frame=MIB, max_held=MIB)


def asked(connection: ProxiedConnection, client_id: str = "shop", body: Any = HEARTBEAT, key: int = 12, version: int = 1) -> int:
    """Send a request; return the number of bytes that go to the broker."""
    header = messages.RequestHeader(api_key=key, api_version=version, correlation_id=1, client_id=client_id)
    moves = connection.from_client(framed(kwire.encode_request(header, body)), 1)
    assert connection.close_reason == ""
    return sum(map(len, moves.to_server))


def throttled(connection: ProxiedConnection, own: int = 0) -> int:
    """Answer a Heartbeat v1, with a time to wait that the broker gives; return the time that the client gets."""
    body = messages.HeartbeatResponse(throttle_time_ms=own)
    found = b"".join(connection.from_server(framed(kwire.encode_response(1, body, 12, 1)), 2).to_client)
    assert connection.close_reason == ""
    return int(kwire.decode_response(found[4:], 12, 1).body.throttle_time_ms)


def test_requests_beyond_the_quota_tell_the_client_to_wait_and_wait() -> None:
    rule, clock = quotas(QuotaConfig(requests=2))
    connection = connected(rule)
    for expected in (0, 0, 500):  # three requests at once: a debt of one, at two a second
        assert asked(connection)
        assert throttled(connection) == expected
    clock.now += 0.2
    assert asked(connection) == 0
    assert connection.delayed is not None
    assert round(connection.delayed[1].delay, 6) == 0.3
    moves = connection.settle_delayed(2)
    assert moves.to_server
    assert throttled(connection, own=2000) == 2000  # the broker's time is longer
    assert rule.read() == {"": 2}
    clock.now += 60
    assert asked(connection)
    assert throttled(connection) == 0


def test_bytes_of_both_directions() -> None:
    """The request has 26 bytes with its length, its answer 14: see the sums."""
    rule, clock = quotas(QuotaConfig(request_bytes=10, response_bytes=7))
    connection = connected(rule)
    assert asked(connection) == 4 + 8 + 2 + 4 + 2 + 1 + 4 + 2 + 1
    assert throttled(connection) == 1800  # (28 - 10) / 10 s; (14 - 7) / 7 s is shorter
    clock.now += 100
    assert asked(connection, "s" * 200) == 0 or connection.delayed is None
    assert throttled(connection) == 10_000  # at most


def test_each_client_id_of_a_pattern_has_its_own_quota_and_a_tenant_shares_one() -> None:
    rule, _ = quotas(QuotaConfig(client_id="batch-*", requests=1), QuotaConfig(tenant="acme", requests=3))
    one, same, other = (connected(rule) for _ in range(3))
    for connection, client_id, expected in ((one, "batch-1", 0), (other, "batch-2", 0), (same, "batch-1", 1000)):
        assert asked(connection, client_id)
        assert throttled(connection) == expected
    shared = [connected(rule, "acme") for _ in range(4)]
    for connection, expected in zip(shared, (0, 0, 0, 333), strict=True):
        assert asked(connection)
        assert throttled(connection) == expected
    assert rule.read() == {"": 1, "acme": 1}


def test_clients_without_a_quota_are_streamed_after_their_first_request() -> None:
    rule, _ = quotas(QuotaConfig(client_id="batch-*", requests=1))
    connection = connected(rule)
    assert connection.relay.plan.action("request", 12, 1) != PASS
    for _ in range(3):
        assert asked(connection)
        assert throttled(connection) == 0
    assert connection.relay.plan.action("request", 12, 1) == PASS
    assert rule.connected(Peer("10.0.0.9", 1, 1)) is not None
    assert quotas(QuotaConfig(tenant="acme", requests=1))[0].connected(Peer("10.0.0.9", 1, 1)) is None


def test_a_produce_without_an_answer_makes_the_next_request_wait() -> None:
    rule, _ = quotas(QuotaConfig(request_bytes=10))
    connection = connected(rule)
    for sent in (True, False):
        assert bool(asked(connection, body=messages.ProduceRequest(acks=0), key=0, version=9)) == sent
    assert connection.delayed is not None
    assert connection.settle_delayed(2).to_server
    assert connection.relay.is_idle


def test_an_api_without_the_field_is_not_changed() -> None:
    """Heartbeat v0 has no throttle_time_ms: the client is only not read."""
    rule, _ = quotas(QuotaConfig(requests=1))
    connection = connected(rule)
    for _ in range(2):
        assert asked(connection, version=0)
        answer = bytes.fromhex("00000006 00000001 0000")
        assert b"".join(connection.from_server(answer, 2).to_client) == answer
    assert asked(connection, version=0) == 0
    assert connection.delayed is not None


def test_a_client_far_below_its_quota_waits_from_the_first_request_beyond_it() -> None:
    """Leases do not change the sum: of 1,000 requests a second, the 1,001st owes one."""
    rule, clock = quotas(QuotaConfig(client_id="shop", requests=1000), QuotaConfig(request_bytes=MIB, response_bytes=MIB))
    connection, other = connected(rule), connected(rule)
    assert [throttled(connection) for _ in range(1001) if asked(connection)] == [0] * 1000 + [1]
    clock.now += 1
    assert [throttled(other) for _ in range(500) if asked(other)] == [0] * 500
    connection.over()
    other.over()
    buckets = rule.buckets(Peer("10.0.0.9", 1, 1), "shop")
    assert [round(each.left[2]) for each in buckets] == [499, 0]


def test_the_rest_of_a_lease_comes_back_with_the_end_of_the_connection() -> None:
    rule, _ = quotas(QuotaConfig(requests=1000))
    connection = connected(rule)
    for _ in range(3):
        assert asked(connection)
        assert throttled(connection) == 0
    connection.over()
    (bucket,) = rule.buckets(Peer("10.0.0.9", 1, 1), "shop")
    assert bucket.left[2] == 997
