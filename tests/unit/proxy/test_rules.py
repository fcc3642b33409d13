"""The rules of the proxy at work on a connection without sockets: what the broker gets and what the client gets."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import kwire
from kafka_bytes import framed
from kwire import messages
from kwire.errors import InputError
from kwire.protocol.relay import CALL, Held, RelayRule
from kwire.proxy import ProxiedConnection, RuleSet
from kwire.proxy.rules.addresses import AddressesRule
from kwire.proxy.rules.identity import IdentityRule
from kwire.proxy.rules.refusals import Condition
from kwire.proxy.rules.rehearsal import RehearsalMode, RehearsalRule
from kwire.proxy.rules.rejected_counts import Rejected
from kwire.proxy.rules.rule import ConnectionRule, Outcome, Peer, Rule, Watched
from kwire.proxy.rules.versions import VersionsRule

MIB = 1 << 20


def connected(*rules: Rule) -> ProxiedConnection:
    return ProxiedConnection(RuleSet([IdentityRule(), *rules]), Peer("10.0.0.9", 50_000, 1), max_frame=MIB, max_held=MIB)


def request(key: int, version: int, body: Any, number: int = 1, client_id: str = "shop") -> bytes:
    header = messages.RequestHeader(api_key=key, api_version=version, correlation_id=number, client_id=client_id)
    return framed(kwire.encode_request(header, body))


def response(key: int, version: int, body: Any, number: int = 1) -> bytes:
    return framed(kwire.encode_response(number, body, key, version))


def exchange(connection: ProxiedConnection, key: int, version: int, asked: Any, answered: Any, number: int = 1) -> Any:
    """One request and its answer through the proxy; the body that the client gets."""
    moves = connection.from_client(request(key, version, asked, number), 1)
    assert connection.close_reason == ""
    assert b"".join(moves.to_server)
    moves = connection.from_server(response(key, version, answered, number), 2)
    assert connection.close_reason == ""
    return kwire.decode_response(b"".join(moves.to_client)[4:], key, version).body


def software(name: str, version: str) -> Any:
    return messages.ApiVersionsRequest(client_software_name=name, client_software_version=version)


def ranges(*given: tuple[int, int, int], features: tuple[str, ...] = ()) -> Any:
    entry, feature = messages.ApiVersionsResponse.ApiVersion, messages.ApiVersionsResponse.SupportedFeatureKey
    return messages.ApiVersionsResponse(
        api_keys=[entry(api_key=key, min_version=low, max_version=high) for key, low, high in given],
        supported_features=[feature(name=name, min_version=0, max_version=2) for name in features],
    )


def advertised(body: Any) -> list[tuple[int, int, int]]:
    return [(each.api_key, each.min_version, each.max_version) for each in body.api_keys]


def test_versions_cuts_ranges_and_features_to_a_release() -> None:
    # Kafka 3.9 has Produce 0 to 11, Fetch 0 to 17 and no ShareFetch; group.version came with 4.0 (KIP-848).
    found = exchange(
        connected(VersionsRule("3.9")), 18, 4, software("x", "1"),
        ranges((0, 0, 13), (1, 4, 18), (78, 0, 1), features=("metadata.version", "group.version", "kraft.version")),
    )  # fmt: skip
    assert advertised(found) == [(0, 0, 11), (1, 4, 17)]
    assert [each.name for each in found.supported_features] == ["metadata.version", "kraft.version"]


def test_rehearsal_breaks_as_the_release_does() -> None:
    # Kafka 4.0 rejects OffsetCommit 0 and 1 (KIP-896) and says so in its ranges: 2 to 9.
    connection = connected(RehearsalRule("4.0.0", "break"))
    found = exchange(connection, 18, 3, software("x", "1"), ranges((0, 0, 11), (4, 0, 7), (8, 0, 9)))
    assert advertised(found) == [(0, 0, 11), (8, 2, 9)]  # LeaderAndIsr is gone; Produce is advertised from 0 (KAFKA-18659)
    moves = connection.from_client(request(8, 1, messages.OffsetCommitRequest(group_id="g", member_id="m")), 3)
    assert moves.to_server == []
    assert connection.close_reason == "Kafka 4.0.0 rejects OffsetCommit v1"
    assert (connection.closing_api, connection.peer.client_id) == ("OffsetCommit v1", "shop")


def other_broker(folder: Path) -> str:
    """Write the answer of a broker that has Produce 3 to 8, Metadata 0 to 7 and no transactions."""
    path = folder / "other.json"
    entries = [(0, 3, 8), (3, 0, 7), (18, 0, 2)]
    path.write_text(json.dumps({"apiKeys": [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, low, high in entries]}))
    return str(path)


def test_rehearsal_of_another_broker_caps_and_closes(tmp_path: Path) -> None:
    connection = connected(RehearsalRule(other_broker(tmp_path), "break"))
    found = exchange(connection, 18, 3, software("x", "1"), ranges((0, 0, 11), (3, 0, 12), (22, 0, 4)))
    assert advertised(found) == [(0, 3, 8), (3, 0, 7)]
    moves = connection.from_client(request(22, 1, messages.InitProducerIdRequest(transactional_id="t")), 3)
    assert moves.to_server == []
    assert connection.close_reason.endswith(" rejects InitProducerId v1")


def test_rehearsal_of_another_broker_counts_what_clients_cannot_avoid(tmp_path: Path) -> None:
    rule = RehearsalRule(other_broker(tmp_path), "count")
    connection = connected(rule)
    exchange(connection, 18, 3, software("x", "1"), ranges((3, 0, 12), (22, 0, 4)))
    exchange(connection, 3, 9, messages.MetadataRequest(), messages.MetadataResponse(), 4)  # with that broker it would send v7
    exchange(connection, 22, 1, messages.InitProducerIdRequest(), messages.InitProducerIdResponse(), 5)
    assert dict(rule.counts.read()[0]) == {Rejected("x", "1", "shop", "10.0.0.9", 22, 1): 1}


@pytest.mark.parametrize(("release", "mode", "passes"), [("4.0", "break", False), ("4.0", "count", True), ("3.9", "break", True)])
def test_rehearsal_breaks_gssapi_tokens_without_a_handshake(release: str, mode: RehearsalMode, passes: bool) -> None:
    """KAFKA-18339."""
    token = framed(bytes.fromhex("6082010206092a864886f71201020201"))
    connection = connected(RehearsalRule(release, mode))
    moves = connection.from_client(token, 1)
    assert b"".join(moves.to_server) == (token if passes else b"")
    assert ("SaslHandshake" in connection.close_reason) is not passes


def test_rehearsal_counts_and_lets_pass() -> None:
    rule = RehearsalRule("4.0.0", "count")
    connection = connected(rule)
    found = exchange(connection, 18, 3, software("sarama", "1.27.2"), ranges((8, 0, 9)))
    assert advertised(found) == [(8, 0, 9)]
    for number in (2, 3):
        exchange(connection, 8, 1, messages.OffsetCommitRequest(group_id="g", member_id="m"), messages.OffsetCommitResponse(), number)
    exchange(connection, 8, 2, messages.OffsetCommitRequest(group_id="g", member_id="m"), messages.OffsetCommitResponse(), 4)
    assert dict(rule.counts.read()[0]) == {Rejected("sarama", "1.27.2", "shop", "10.0.0.9", 8, 1): 2}


def test_a_principal_is_the_one_that_the_broker_accepted() -> None:
    """A client that sends a second login at once has the first one's principal until the broker accepts the second."""
    connection = connected()
    begins = request(17, 1, messages.SaslHandshakeRequest(mechanism="PLAIN"))
    tokens = [request(36, 1, messages.SaslAuthenticateRequest(auth_bytes=token)) for token in (b"\0alice\0secret", b"\0admin\0guess")]
    connection.from_client(begins + tokens[0] + begins + tokens[1], 1)
    connection.from_server(response(17, 1, messages.SaslHandshakeResponse(mechanisms=["PLAIN"])), 2)
    connection.from_server(response(36, 1, messages.SaslAuthenticateResponse()), 3)
    assert connection.peer.principal == "User:alice"


def metadata(topics: tuple[str, ...] = ()) -> Any:
    broker, topic = messages.MetadataResponse.MetadataResponseBroker, messages.MetadataResponse.MetadataResponseTopic
    return messages.MetadataResponse(
        brokers=[broker(node_id=1, host="10.0.0.1", port=9092), broker(node_id=2, host="10.0.0.2", port=9092)],
        topics=[topic(name=name, partitions=[messages.MetadataResponse.MetadataResponsePartition(leader_id=1)]) for name in topics],
    )


def test_a_broker_without_a_listener_is_named() -> None:
    connection = connected(AddressesRule({1: ("proxy", 19_001)}))
    connection.from_client(request(3, 12, messages.MetadataRequest(topics=None)), 1)
    assert connection.from_server(response(3, 12, metadata()), 2).close is not None
    assert connection.close_reason == (
        "a rule could not edit Metadata v12 responses: it names broker 2 at 10.0.0.2:9092, which has no listener: add [[listeners]] with "
        'node_id = 2, or unknown_node = "keep" under [addresses] (MetadataResponse v12)'
    )
    assert connection.closing_api == "Metadata v12"


def test_addresses_are_those_of_the_listeners() -> None:
    connection = connected(AddressesRule({1: ("proxy", 19_001), 2: ("proxy", 19_002)}))
    found = exchange(connection, 3, 12, messages.MetadataRequest(topics=None), metadata())
    assert [(each.node_id, each.host, each.port) for each in found.brokers] == [(1, "proxy", 19_001), (2, "proxy", 19_002)]
    found = exchange(
        connection,
        10,
        2,
        messages.FindCoordinatorRequest(key="g"),
        messages.FindCoordinatorResponse(node_id=2, host="10.0.0.2", port=9092),
        2,
    )
    assert (found.host, found.port) == ("proxy", 19_002)


def test_a_broker_without_listener_closes_or_stays() -> None:
    connection = connected(AddressesRule({1: ("proxy", 19_001)}))
    connection.from_client(request(3, 12, messages.MetadataRequest(topics=None)), 1)
    moves = connection.from_server(response(3, 12, metadata()), 2)
    assert moves.to_client == []
    assert connection.close_reason != ""
    connection = connected(AddressesRule({1: ("proxy", 19_001)}, unknown_node="keep"))
    found = exchange(connection, 3, 12, messages.MetadataRequest(topics=None), metadata())
    assert [each.host for each in found.brokers] == ["proxy", "10.0.0.2"]


@pytest.mark.parametrize(("choice", "fetch", "produce", "level"), [("cap", 15, 9, 1), ("hold", 17, 12, 2)])
def test_large_answers_are_capped_or_held(choice: Any, fetch: int, produce: int, level: int) -> None:
    # With transaction.version 2 a Java producer sends no AddPartitionsToTxn: Produce from 12 on adds partitions (KIP-890). Behind the
    # cap it sends Produce 9, and a 4.4 broker answers INVALID_TXN_STATE "Partition was not added to the transaction".
    answer = ranges((0, 0, 12), (1, 0, 17))
    final = messages.ApiVersionsResponse.FinalizedFeatureKey
    answer.finalized_features = [
        final(name="transaction.version", min_version_level=1, max_version_level=2),
        final(name="group.version", min_version_level=1, max_version_level=1),
    ]
    found = exchange(connected(AddressesRule({1: ("proxy", 19_001)}, large_answers=choice)), 18, 4, software("x", "1"), answer)
    assert advertised(found) == [(0, 0, produce), (1, 0, fetch)]
    levels = [(each.name, each.min_version_level, each.max_version_level) for each in found.finalized_features]
    assert levels == [("transaction.version", 1, level), ("group.version", 1, 1)]


def test_held_fetches_name_the_listener_too() -> None:
    endpoint = messages.FetchResponse.NodeEndpoint
    connection = connected(AddressesRule({2: ("proxy", 19_002)}, large_answers="hold"))
    answer = messages.FetchResponse(node_endpoints=[endpoint(node_id=2, host="10.0.0.2", port=9092)])
    found = exchange(connection, 1, 17, messages.FetchRequest(), answer)
    assert [(each.host, each.port) for each in found.node_endpoints] == [("proxy", 19_002)]


def test_a_client_that_sends_bytes_behind_a_request_is_kept() -> None:
    # librdkafka 2.16's Metadata has three bytes too many, which Kafka passes over
    connection = connected(AddressesRule({1: ("proxy", 19_001)}))
    asked = request(3, 12, messages.MetadataRequest(topics=None))
    longer = framed(asked[4:] + b"\0\0\0")
    assert b"".join(connection.from_client(longer, 1).to_server) == longer


@pytest.mark.parametrize(
    ("condition", "peer", "holds"),
    [
        (Condition(software="sarama"), Peer("a", 1, 1, software_name="sarama"), True),
        (Condition(software="sarama"), Peer("a", 1, 1, software_name="librdkafka"), False),
        (Condition(software=""), Peer("a", 1, 1), True),
        (Condition(software="sarama", version="<1.30"), Peer("a", 1, 1, software_name="sarama", software_version="1.27.2"), True),
        (Condition(software="sarama", version="<1.30"), Peer("a", 1, 1, software_name="sarama", software_version="v1.30.0"), False),
        (Condition(software="*", version="<2.1"), Peer("a", 1, 1, software_name="x"), False),
        (Condition(software="*", version="=2.1"), Peer("a", 1, 1, software_name="x", software_version="2.1.1"), True),
        (Condition(software="*", version=">2.1"), Peer("a", 1, 1, software_name="x", software_version="9" * 4301), False),
        (Condition(client_id="batch-*", address="10.*"), Peer("10.0.0.1", 1, 1, client_id="batch-7"), True),
        (Condition(client_id="batch-*", address="11.*"), Peer("10.0.0.1", 1, 1, client_id="batch-7"), False),
        (Condition(principal="User:x"), Peer("10.0.0.1", 1, 1, principal="User:x"), True),
    ],
)  # fmt: skip
def test_conditions(condition: Condition, peer: Peer, holds: bool) -> None:
    assert condition.holds(peer) is holds


def test_a_name_that_may_come_is_waited_for() -> None:
    assert not Condition(software="").holds(Peer("a", 1, 1), is_named=False)
    assert Condition(software="sarama").holds(Peer("a", 1, 1, software_name="sarama"), is_named=False)
    assert Condition(address="10.*").holds(Peer("10.0.0.1", 1, 1), is_named=False)


def test_conditions_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="would refuse all clients"):
        Condition()
    with pytest.raises(InputError, match="operator and a version"):
        Condition(software="x", version="2.1")


def test_rules_act_in_their_order_on_one_answer() -> None:
    # the cap takes Fetch to 17, addresses to 15: both hold
    connection = connected(VersionsRule("3.9"), AddressesRule({1: ("proxy", 19_001)}))
    found = exchange(connection, 18, 3, software("x", "1"), ranges((0, 0, 13), (1, 4, 18)))
    assert advertised(found) == [(0, 0, 9), (1, 4, 15)]


class _Watching(ConnectionRule):
    """Looks at the answers to requests of the client `watched`, behind all edits, and calls for all where `calls`."""

    name = "watching"

    def __init__(self, calls: bool) -> None:
        self.calls = calls
        self.seen: list[tuple[str, int, str]] = []

    def relay_rules(self) -> list[RelayRule]:
        return [RelayRule("request", 3, (1,), CALL)] + [RelayRule("response", 3, (1,), CALL)] * self.calls

    def connected(self, peer: Peer) -> ConnectionRule:
        return self

    def request(self, held: Held, frame: bytes) -> Outcome:
        watched = kwire.peek_header(frame).client_id == "watched"
        return Watched(frame, lambda held, frame: self.see("watched", held, frame)) if watched else None

    def response(self, held: Held, frame: bytes) -> None:
        self.see("called", held, frame)

    def see(self, how: str, held: Held, frame: bytes) -> None:
        host = kwire.decode_response(frame, 3, held.api_version).body.brokers[0].host
        self.seen.append((how, held.correlation_id, host))


@pytest.mark.parametrize("calls", [False, True])
def test_answers_that_a_rule_asked_for_are_looked_at_behind_all_edits(calls: bool) -> None:
    watching = _Watching(calls)
    connection = connected(watching, AddressesRule({1: ("proxy", 9), 2: ("proxy", 10)}))
    for number, client_id in enumerate(("other", "watched", "other", "watched"), 1):
        assert connection.from_client(request(3, 1, messages.MetadataRequest(topics=None), number, client_id), 1).to_server
    for number in range(1, 5):
        moves = connection.from_server(response(3, 1, metadata(), number), 2)
        assert kwire.decode_response(b"".join(moves.to_client)[4:], 3, 1).body.brokers[0].host == "proxy"
    called = [("called", number, "10.0.0.1") for number in range(1, 5)] if calls else []
    watched = [("watched", number, "proxy") for number in (2, 4)]
    assert sorted(watching.seen) == called + watched
    assert connection.close_reason == ""


def test_an_answer_that_no_rule_can_read_closes() -> None:
    connection = connected(VersionsRule("3.9"))
    connection.from_client(request(18, 3, software("x", "1")), 1)
    moves = connection.from_server(framed(bytes.fromhex("00000001 0000 7f")), 2)
    assert moves.to_client == []
    assert connection.close_reason.startswith("a rule could not edit ApiVersions v3 responses: the bytes end before the value does ")


def test_a_rule_at_work_does_not_stop_other_connections() -> None:
    """Connections of several threads share the rules, and no lock of all of them is held while a rule reads a frame."""
    stuck: list[bool] = []
    asked = request(18, 0, messages.ApiVersionsRequest())

    class Slow(ConnectionRule):
        def __init__(self, peer: Peer) -> None:
            self._peer = peer

        def request(self, held: Held, frame: bytes) -> None:
            if self._peer.port == 1:
                thread = threading.Thread(target=connections[1].from_client, args=(asked, 1), daemon=True)
                thread.start()
                thread.join(10)
                stuck.append(thread.is_alive())

    class SlowRule:
        name = "slow"

        def relay_rules(self) -> list[RelayRule]:
            return [RelayRule("request", 18, None, CALL)]

        def connected(self, peer: Peer) -> ConnectionRule:
            return Slow(peer)

    rules = RuleSet([SlowRule()])
    connections = [ProxiedConnection(rules, Peer("10.0.0.9", port, 1), max_frame=MIB, max_held=MIB) for port in (1, 2)]
    connections[0].from_client(asked, 1)
    assert stuck == [False]
