"""Clients that `[[refusals]]` names: what the broker gets of them, and what they get."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

import kwire
from kafka_bytes import Frames, api_versions, framed, head, heartbeat, produce
from kwire import messages
from kwire.protocol.relay import HeldBudget
from kwire.proxy import ProxiedConnection, RuleSet
from kwire.proxy.rules.identity import IdentityRule
from kwire.proxy.rules.refusals import Condition, RefusalsRule
from kwire.proxy.rules.rule import Answer, Peer, Refusal
from kwire.schema import catalog

MIB = 1 << 20
PASS = {17, 18, 36}  # SaslHandshake, ApiVersions, SaslAuthenticate
# What KafkaApis answers without permission; CLUSTER_AUTHORIZATION_FAILED (31) to others.
TOPIC = """
    Produce Fetch ListOffsets Metadata CreateTopics DeleteTopics DeleteRecords OffsetForLeaderEpoch CreatePartitions DescribeProducers
    DescribeTopicPartitions
"""
GROUP = """
    OffsetCommit OffsetFetch FindCoordinator JoinGroup Heartbeat LeaveGroup SyncGroup DescribeGroups ListGroups DeleteGroups OffsetDelete
    ConsumerGroupHeartbeat ConsumerGroupDescribe ShareGroupHeartbeat ShareGroupDescribe ShareFetch ShareAcknowledge
    StreamsGroupHeartbeat StreamsGroupDescribe DescribeShareGroupOffsets AlterShareGroupOffsets DeleteShareGroupOffsets
    StreamsGroupTopologyDescriptionUpdate
"""
TRANSACTION = "AddPartitionsToTxn AddOffsetsToTxn EndTxn TxnOffsetCommit DescribeTransactions ListTransactions"
TOKEN = "CreateDelegationToken RenewDelegationToken ExpireDelegationToken DescribeDelegationToken"
ERRORS = {name: {error} for error, names in {29: TOPIC, 30: GROUP, 53: TRANSACTION, 65: TOKEN}.items() for name in names.split()}
ERRORS |= {"InitProducerId": {31, 53}, "FindCoordinator": {30, 53}}  # by what they ask for
ERRORS |= {name: {29, 30, 31} for name in ("DescribeConfigs", "AlterConfigs", "IncrementalAlterConfigs")}
# Their answers have no error code in some versions, or one for things that no request names.
CLOSED = {"AlterReplicaLogDirs", "DescribeLogDirs"}


@cache
def rule_set(*conditions: Condition) -> RuleSet:
    return RuleSet([IdentityRule(), RefusalsRule(conditions, {("", 1): ("proxy.example.com", 19_092)})])


def connected(*conditions: Condition, principal: str = "") -> ProxiedConnection:
    peer = Peer("10.0.0.9", 50_000, 1, principal=principal)
    return ProxiedConnection(rule_set(*conditions), peer, max_frame=MIB, max_held=MIB)


def passes(connection: ProxiedConnection, data: bytes) -> bool:
    """Whether a request reaches the broker; else it is answered after two seconds, or the connection is closed."""
    moves = connection.from_client(data, 1)
    sent = b"".join(moves.to_server)
    assert sent in (b"", data)
    assert moves.to_client == []
    assert bool(sent) + (connection.delayed is not None) == 1
    return bool(sent)


def closes(connection: ProxiedConnection) -> bool:
    assert connection.delayed is not None
    assert connection.delayed[1].delay == 2
    if isinstance(connection.delayed[1], Answer):
        return False
    moves = connection.settle_delayed(2)
    assert (moves.to_server, moves.to_client) == ([], [])
    return bool(connection.close_reason)


def answer(connection: ProxiedConnection, key: int, version: int) -> Any:
    assert not closes(connection)
    moves = connection.settle_delayed(2)
    assert moves.to_server == []
    assert connection.close_reason == ""
    return kwire.decode_response(b"".join(moves.to_client)[4:], key, version)


def codes(body: Any) -> Iterator[int]:
    """Error codes of a body that are not those of something else."""
    for name in type(body).slot_names:
        value = getattr(body, name)
        if name.endswith("error_code") and name != "topic_config_error_code":
            yield value
        elif isinstance(value, list):
            for each in value:
                if hasattr(type(each), "slot_names"):
                    yield from codes(each)


def test_nothing_of_a_refused_client_reaches_the_broker(vectors: Callable[[str], list[dict[str, Any]]]) -> None:
    """Each api and version, with frames of Kafka's own Java classes."""
    frames = Frames(vectors)
    closed, answered = set(), set()
    for api in frames.apis:
        if api[0] in PASS:
            continue
        name = (catalog().api_name(api[0]) or "").removesuffix("Request")
        for case in range(len(frames.bodies[(*api, "request")])):
            connection = connected(Condition(client_id="*"))
            asked = frames.frame(api, "request", case, 7)
            assert not passes(connection, framed(asked)), (name, api)
            if closes(connection):
                closed.add(name)
                continue
            found = answer(connection, *api)
            assert found.header.correlation_id == 7
            assert set(codes(found.body)) - {0} <= ERRORS.get(name, {31}), (name, api)
            assert any(codes(found.body)) or name == "Metadata", (name, api)
            fields = {field.attribute for field in catalog()[f"{name}Response"].fields if api[1] in field.versions}
            assert "throttle_time_ms" not in fields or found.body.throttle_time_ms == 1000
            answered.add(name)
    assert closed >= CLOSED
    assert len(answered) > 80


def test_metadata_names_the_listener_as_the_only_broker() -> None:
    """Java ignores an answer without brokers and asks again (`NetworkClient.handleCompletedMetadataResponse`)."""
    connection = connected(Condition(client_id="app"))
    topics = [messages.MetadataRequest.MetadataRequestTopic(name=name) for name in ("orders", "payments")]
    header = messages.RequestHeader(api_key=3, api_version=13, correlation_id=5, client_id="app")
    assert not passes(connection, framed(kwire.encode_request(header, messages.MetadataRequest(topics=topics))))
    found = answer(connection, 3, 13).body
    assert [(each.node_id, each.host, each.port) for each in found.brokers] == [(1, "proxy.example.com", 19_092)]
    assert [(each.name, each.error_code, each.partitions) for each in found.topics] == [("orders", 29, []), ("payments", 29, [])]
    assert (found.controller_id, found.error_code, found.throttle_time_ms) == (1, 0, 1000)


def test_configurations_have_the_error_of_their_resource() -> None:
    connection = connected(Condition(client_id="app"))
    resources = [messages.DescribeConfigsRequest.DescribeConfigsResource(resource_type=type, resource_name="x") for type in (2, 4, 32)]
    header = messages.RequestHeader(api_key=32, api_version=4, correlation_id=5, client_id="app")
    assert not passes(connection, framed(kwire.encode_request(header, messages.DescribeConfigsRequest(resources=resources))))
    assert [(each.resource_type, each.error_code) for each in answer(connection, 32, 4).body.results] == [(2, 29), (4, 31), (32, 30)]


def metadata_request(number: int, client_id: bytes = b"app") -> bytes:
    return framed(head(3, 1, number, client_id) + bytes(4))


def served(connection: ProxiedConnection, number: int, body: bytes) -> None:
    assert connection.from_server(framed(number.to_bytes(4, "big") + body), 2).to_client


def names_itself(connection: ProxiedConnection, number: int, name: bytes, version: int = 3) -> None:
    assert passes(connection, api_versions(number, version, name, b"1.0"))
    served(connection, number, b"\0\0" + (bytes(4) if version < 3 else b"\1" + bytes(5)))


@pytest.mark.parametrize("first", [metadata_request(1, b"old-1"), produce(1, 1, client_id=b"old-1"), heartbeat(1, b"old-1")])
def test_the_first_request_is_refused_without_apiversions(first: bytes) -> None:
    assert not passes(connected(Condition(client_id="old-*")), first)
    assert not passes(connected(Condition(software="")), first)
    assert passes(connected(Condition(client_id="new-*")), first)


def test_a_produce_without_acks_closes() -> None:
    """As brokers do, for there is no answer to say it (`KafkaApis.handleProduceRequest`)."""
    connection = connected(Condition(client_id="old-*"))
    assert not passes(connection, produce(1, 0, client_id=b"old-1"))
    assert closes(connection)


def test_a_refusal_stays() -> None:
    """Another name of the library, another client id."""
    connection = connected(Condition(software="sarama"), Condition(client_id="old-*"))
    names_itself(connection, 1, b"sarama")
    names_itself(connection, 2, b"librdkafka")
    assert not passes(connection, metadata_request(3, b"new"))
    other = connected(Condition(software="sarama"), Condition(client_id="old-*"))
    assert not passes(other, metadata_request(1, b"old-1"))
    answer(other, 3, 1)
    assert not passes(other, heartbeat(2, b"new"))


def test_a_name_that_comes_later_counts() -> None:
    """ApiVersions version 0 has no name, and a broker of Kafka 2.3 has a client fall back to it."""
    connection = connected(Condition(software=""), Condition(software="kgo", client_id="none such"))
    names_itself(connection, 1, b"", version=0)
    names_itself(connection, 2, b"kgo")
    assert passes(connection, metadata_request(3))
    served(connection, 3, bytes(8))
    names_itself(connection, 4, b"kgo")
    assert passes(connection, heartbeat(5, b"other"))  # looked at again, after ApiVersions
    served(connection, 5, bytes(2))
    assert not passes(connection, metadata_request(6, b"none such"))


def test_requests_of_others_pass_without_being_kept() -> None:
    connection = connected(Condition(client_id="old-*"))
    assert passes(connection, metadata_request(1))
    served(connection, 1, bytes(8))
    sent = produce(2, 1, bytes(1000))
    moves = connection.from_client(sent[:500], 1)
    assert b"".join(moves.to_server) == sent[:500]
    assert connection.relay.kept == 0


def test_unknown_apis_do_not_pass() -> None:
    """They are answered with error 35, as a broker answers an ApiVersions that it does not know (KIP-511)."""
    connection = connected(Condition(client_id="old-*"))
    for data in (framed(head(999, 0, 1, b"old-1")), framed(head(18, 31, 2, b"old-1"))):
        moves = connection.from_client(data, 1)
        assert moves.to_server == []
        assert b"".join(moves.to_client)[8:10] == b"\0\x23"


def test_behind_a_refused_request_all_waits_and_keeps_its_order() -> None:
    connection = connected(Condition(client_id="old-*"))
    moves = connection.from_client(heartbeat(1, b"old-1") + api_versions(2, 0) + heartbeat(3, b"x"), 1)
    assert (moves.to_server, moves.to_client) == ([], [])
    assert not connection.relay.reads_client
    moves = connection.settle_delayed(2)
    assert b"".join(moves.to_server) == api_versions(2, 0)
    assert [int.from_bytes(b"".join(moves.to_client)[4:8], "big")] == [1]
    served(connection, 2, b"\0\0" + bytes(4))
    assert answer(connection, 12, 0).header.correlation_id == 3


def logs_in(connection: ProxiedConnection, mechanism: str, token: bytes) -> None:
    header = messages.RequestHeader(api_key=17, api_version=1, correlation_id=1, client_id="app")
    assert passes(connection, framed(kwire.encode_request(header, messages.SaslHandshakeRequest(mechanism=mechanism))))
    served(connection, 1, b"\0\0" + bytes(4))
    header = messages.RequestHeader(api_key=36, api_version=0, correlation_id=2, client_id="app")
    assert passes(connection, framed(kwire.encode_request(header, messages.SaslAuthenticateRequest(auth_bytes=token))))
    served(connection, 2, b"\0\0\xff\xff" + bytes(4))


@pytest.mark.parametrize(
    ("mechanism", "token", "certificate", "outcome"),
    [
        ("PLAIN", b"\0bob\0x", "", "passes"),
        ("PLAIN", b"\0alice\0x", "", "refused"),
        ("PLAIN", b"\0alice\0x", "User:CN=bob", "refused"),
        ("GSSAPI", b"\x60\x01", "", "closed"),
        ("GSSAPI", b"\x60\x01", "User:CN=bob", "closed"),  # the broker sees the Kerberos principal, not the certificate's
        ("OAUTHBEARER", b"n,,\1auth=Bearer opaque\1\1", "", "closed"),
    ],
)
def test_a_condition_on_the_principal_holds_or_the_client_is_closed(mechanism: str, token: bytes, certificate: str, outcome: str) -> None:
    connection = connected(Condition(principal="User:alice"), principal=certificate)
    logs_in(connection, mechanism, token)
    assert passes(connection, metadata_request(3)) is (outcome == "passes")
    assert outcome == "passes" or closes(connection) is (outcome == "closed")
    other = connected(Condition(client_id="none such"), principal=certificate)
    logs_in(other, mechanism, token)
    assert passes(other, metadata_request(3))


@pytest.mark.parametrize(("limit", "closes"), [(127, True), (128, False)])
def test_objects_of_a_refused_request_count_in_the_budget(limit: int, closes: bool) -> None:
    """64 bytes of objects for each byte of the request, and as many for the answer."""
    data = framed(head(3, 1, 1) + bytes(4))
    budget = HeldBudget(limit * (len(data) - 4))
    rules = RuleSet([RefusalsRule([Condition(client_id="app")], budget=budget)])
    connection = ProxiedConnection(rules, Peer("10.0.0.9", 50_000, 1), max_frame=MIB, max_held=MIB)
    connection.from_client(data, 1)
    assert connection.delayed is not None
    assert isinstance(connection.delayed[1], Refusal) == closes
    assert budget.used == 0
