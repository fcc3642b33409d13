"""Principals of a tenant: only clients whose login the broker accepted under one of them are let through."""

from __future__ import annotations

import pytest

from kafka_bytes import framed_hex
from kwire.proxy import ProxiedConnection, RuleSet
from kwire.proxy.rules.identity import IdentityRule
from kwire.proxy.rules.principals import PrincipalsRule
from kwire.proxy.rules.rule import Peer
from kwire.proxy.rules.tenants import TenantsRule
from proxied_frames import answered, asked

MIB = 1 << 20


@pytest.fixture(scope="module")
def bound() -> RuleSet:
    return RuleSet([IdentityRule(), PrincipalsRule(["User:mallory"]), TenantsRule("a.")], unknown="refuse")


LOGIN = "0011 0001 00000001 ffff 0005 504c41494e", "00000001 0000 00000000"  # SaslHandshake v1 of PLAIN, and its answer
TOKEN = "0024 0000 00000002 ffff 0000000f 00 {} 00 736563726574"  # SaslAuthenticate v0
ALICE, MALLORY = "616c6963652020", "6d616c6c6f7279"
ACCEPTED = "00000002 0000 ffff 00000000"
NOT_LISTED = "00000002 003a 0020" + b"the proxy refuses this principal".hex() + "00000000"  # SASL_AUTHENTICATION_FAILED


def test_a_token_waits_for_the_answer_to_the_one_before(bound: RuleSet) -> None:
    """The broker's answer to the first would be taken for one to the second, which names somebody else."""
    connection = ProxiedConnection(bound, Peer("10.0.0.9", 50_000, 1), max_frame=MIB, max_held=MIB)
    asked(connection, LOGIN[0])
    answered(connection, LOGIN[1])
    moves = connection.from_client(framed_hex(TOKEN.format(ALICE)) + framed_hex(TOKEN.format(MALLORY)), 1)
    assert b"".join(moves.to_server) == framed_hex(TOKEN.format(ALICE))
    assert answered(connection, ACCEPTED) == framed_hex(NOT_LISTED)


def test_only_a_listed_principal_is_let_through(bound: RuleSet) -> None:
    connection = ProxiedConnection(bound, Peer("10.0.0.9", 50_000, 1), max_frame=MIB, max_held=MIB)
    asked(connection, LOGIN[0])
    answered(connection, LOGIN[1])
    asked(connection, TOKEN.format(MALLORY))
    assert answered(connection, ACCEPTED) == framed_hex(ACCEPTED)
    heartbeat = "000c 0000 00000003 ffff 0003 612e67 00000001 0001 6d"
    assert asked(connection, heartbeat.replace("0003 612e67", "0001 67")) == framed_hex(heartbeat)
    asked(connection, "0003 0001 00000004 ffff 00000000")

    other = ProxiedConnection(bound, Peer("10.0.0.9", 50_000, 1), max_frame=MIB, max_held=MIB)
    asked(other, LOGIN[0])
    answered(other, LOGIN[1])
    asked(other, TOKEN.format(ALICE))
    assert answered(other, ACCEPTED) == framed_hex(NOT_LISTED)
    assert other.from_client(framed_hex(heartbeat), 1).to_server == []
    other.settle_delayed(2)
    assert "is not one of the tenant's" in other.close_reason


@pytest.mark.parametrize(("principal", "served"), [("User:mallory", True), ("User:CN=mallory", False), ("", False)])
def test_certificates_have_principals_too(bound: RuleSet, principal: str, served: bool) -> None:
    connection = ProxiedConnection(bound, Peer("10.0.0.9", 50_000, 1, principal=principal), max_frame=MIB, max_held=MIB)
    assert bool(connection.from_client(framed_hex("0003 0001 00000004 ffff 00000000"), 1).to_server) == served
    assert (connection.delayed is None) == served
