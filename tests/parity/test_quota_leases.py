"""A client with quotas gets the same bytes and waits from a relay that takes leases as from one that asks the rule for each frame."""

from __future__ import annotations

import random
from typing import Any

import pytest

import kwire
from kafka_bytes import framed
from kwire import messages
from kwire.codec.impl import load_twin
from kwire.protocol.relay.lease import Lease
from kwire.protocol.relay.relay import Relay
from kwire.proxy import ProxiedConnection, RuleSet, connection
from kwire.proxy.config import QuotaConfig
from kwire.proxy.rules import quotas
from kwire.proxy.rules.identity import IdentityRule
from kwire.proxy.rules.rule import Peer

STEPS = 300


def steps_of(seed: int) -> list[Any]:
    """Run one client; return what it sees. Time passes only where the client waits."""
    chance, now = random.Random(seed), [1000.0]
    tables = [
        QuotaConfig(client_id="a*", requests=chance.choice([50, 500]), request_bytes=chance.choice([None, 60_000])),
        QuotaConfig(response_bytes=chance.choice([40_000, 400_000])),
    ]
    rule = quotas.QuotasRule(tables, lambda: now[0])
    found = ProxiedConnection(RuleSet([IdentityRule(), rule]), Peer("10.0.0.9", 1, 1), max_frame=1 << 20, max_held=1 << 20)
    seen: list[Any] = []
    for number in range(STEPS):
        body = messages.HeartbeatRequest(group_id="g" * chance.randint(0, 300), generation_id=1, member_id="m")
        client_id = chance.choice(["a1"] * 30 + ["a2", "b", None])
        header = messages.RequestHeader(api_key=12, api_version=1, correlation_id=number, client_id=client_id)
        moves = found.from_client(framed(kwire.encode_request(header, body)), 1)
        while found.delayed is not None:
            now[0] += found.delayed[1].delay
            seen.append(round(found.delayed[1].delay, 6))
            moves = found.settle_delayed(1)
        seen.append(b"".join(moves.to_server))
        answer = framed(number.to_bytes(4, "big") + bytes(6))
        seen.append(b"".join(found.from_server(answer, 2).to_client))
    found.over()
    return [*seen, rule.read()]


@pytest.mark.parametrize("seed", range(20))
def test_leases_change_nothing_that_a_client_sees(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    native = load_twin("protocol", "relay", "native")
    runs = []
    for relay, lease in ((native.Relay, native.Lease), (Relay, Lease)):
        monkeypatch.setattr(connection, "Relay", relay)
        monkeypatch.setattr(quotas, "Lease", lease)
        runs.append(steps_of(seed))
    assert runs[0] == runs[1]
