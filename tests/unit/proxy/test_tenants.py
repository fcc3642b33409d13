"""The rule of tenants on a connection without sockets, by bytes that were worked out by hand from Kafka's message definitions."""

from __future__ import annotations

from typing import Any

import pytest

import kwire
from kafka_bytes import framed_hex
from kwire import messages
from kwire.errors import EncodeError
from kwire.proxy import ProxiedConnection, RuleSet
from kwire.proxy.rules.addresses import AddressesRule
from kwire.proxy.rules.identity import IdentityRule
from kwire.proxy.rules.refusals import Condition, RefusalsRule
from kwire.proxy.rules.rule import Peer
from kwire.proxy.rules.tenant_memory import TenantMemory
from kwire.proxy.rules.tenants import TenantsRule
from proxied_frames import answered, asked

MIB = 1 << 20
OWN_ID, FOREIGN_ID = "11" * 16, "22" * 16


def connected(rule: TenantsRule | None = None) -> ProxiedConnection:
    rules = RuleSet([IdentityRule(), AddressesRule({1: ("p", 1)}), rule or TenantsRule("a.")], unknown="refuse")
    return ProxiedConnection(rules, Peer("10.0.0.9", 50_000, 1), max_frame=MIB, max_held=MIB)


def test_metadata() -> None:
    connection = connected()
    assert asked(connection, "0003 0001 00000007 ffff 00000001 0001 78") == framed_hex("0003 0001 00000007 ffff 00000001 0003 612e78")
    brokers = "00000001 00000001 {} ffff 00000001"  # node 1, its host and port, no rack; the controller
    mine, other = "0000 {} 00 00000000", "0000 0003 622e78 00 00000000"  # error, name, internal, no partitions
    found = answered(
        connection, "00000007" + brokers.format("0002 6231 00002384") + "00000002" + other + mine.format("0003 612e78")
    )  # fmt: skip
    assert found == framed_hex("00000007" + brokers.format("0001 70 00000001") + "00000001" + mine.format("0001 78"))


def test_a_name_gets_the_prefix_once_where_another_rule_looks_at_the_request() -> None:
    """ListOffsets up to version 5 has two messages in the catalog: its former name was ListOffset."""
    rules = RuleSet([IdentityRule(), RefusalsRule([Condition(client_id="none")]), TenantsRule("a.")])
    connection = ProxiedConnection(rules, Peer("10.0.0.9", 50_000, 1), max_frame=MIB, max_held=MIB)
    request = "0002 0001 00000007 ffff ffffffff 00000001 {} 00000001 00000000 fffffffffffffffe"
    for _ in range(2):  # the first request of a client is looked at, the second is not
        assert asked(connection, request.format("0001 78")) == framed_hex(request.format("0003 612e78"))


def test_groups_of_others_are_not_listed() -> None:
    """The group with the empty id is of clients without a tenant."""
    connection = connected()
    asked(connection, "0010 0000 00000007 ffff")
    consumer = (b"\0\x08consumer").hex()
    others = f"0001 67 {consumer} 0003 622e67 {consumer} 0000 {consumer}"
    found = answered(connection, f"00000007 0000 00000004 0003 612e67 {consumer} {others}")
    assert found == framed_hex(f"00000007 0000 00000001 0001 67 {consumer}")


@pytest.mark.parametrize("kind", ["00", "01"])
def test_coordinators_of_groups_and_transactions(kind: str) -> None:
    """From FindCoordinator 4 on the answer does not say what its keys are (KIP-699)."""
    connection = connected()
    request = "000a 0004 00000001 ffff 00 {} 02 {} 00"
    assert asked(connection, request.format(kind, "02 67")) == framed_hex(request.format(kind, "04 612e67"))
    found = answered(connection, "00000001 00 00000000 02 04 612e67 00000001 03 6231 00002384 0000 00 00 00")
    assert found == framed_hex("00000001 00 00000000 02 02 67 00000001 02 70 00000001 0000 00 00 00")


SUBSCRIPTION = "0000 00000001 {} ffffffff"
ASSIGNMENT = "0000 00000001 {} 00000001 00000000 ffffffff"
CONSUMER = (b"\0\x08consumer").hex()


def sized(text: str) -> str:
    return len(bytes.fromhex(text)).to_bytes(4, "big").hex() + text


def test_the_type_of_a_group_is_remembered_for_what_does_not_say_it() -> None:
    """JoinGroup v0 answers and SyncGroup v0 do not say that a group is of consumers (KIP-559), while their bytes name topics."""
    connection = connected()
    join = "000b 0000 00000001 ffff {} 00001770 0000 " + CONSUMER + " 00000001 0005 72616e6765 {}"
    sent = asked(connection, join.format("0001 67", sized(SUBSCRIPTION.format("0001 78"))))
    assert sent == framed_hex(join.format("0003 612e67", sized(SUBSCRIPTION.format("0003 612e78"))))
    joined = "00000001 0000 00000001 0005 72616e6765 0001 6d 0001 6d 00000001 0001 6d {}"
    found = answered(connection, joined.format(sized(SUBSCRIPTION.format("0003 612e78"))))
    assert found == framed_hex(joined.format(sized(SUBSCRIPTION.format("0001 78"))))
    sync = "000e 0000 00000002 ffff {} 00000001 0001 6d 00000001 0001 6d {}"
    sent = asked(connection, sync.format("0001 67", sized(ASSIGNMENT.format("0001 78"))))
    assert sent == framed_hex(sync.format("0003 612e67", sized(ASSIGNMENT.format("0003 612e78"))))
    found = answered(connection, "00000002 0000" + sized(ASSIGNMENT.format("0003 612e78")))
    assert found == framed_hex("00000002 0000" + sized(ASSIGNMENT.format("0001 78")))


def test_assignments_of_an_unknown_type_close() -> None:
    connection = connected()
    sync = "000e 0000 00000002 ffff 0001 67 00000001 0001 6d 00000001 0001 6d" + sized(ASSIGNMENT.format("0001 78"))
    assert connection.from_client(framed_hex(sync), 1).to_server == []
    assert "unknown type" in connection.close_reason


SYNC_OF_G = "000e 0000 00000002 ffff 0001 67 00000001 0001 6d 00000001 0001 6d" + sized(ASSIGNMENT.format("0001 78"))


def test_the_type_is_known_on_a_connection_made_later() -> None:
    rule = TenantsRule("a.")
    first = connected(rule)
    for error in ("0019", "0000"):  # UNKNOWN_MEMBER_ID: nothing is learned of it
        with pytest.raises(EncodeError, match="unknown type"):
            rule.edit("request", 14, 0, rule.memory.type_of("g")).pieces(bytes.fromhex(SYNC_OF_G))
        asked(first, "000b 0000 00000001 ffff 0001 67 00001770 0000 " + CONSUMER + " 00000000")
        answered(first, f"00000001 {error} 00000001 0005 72616e6765 0001 6d 0001 6d 00000000")
    sync = "000e 0000 00000002 ffff {} 00000001 0001 6d 00000001 0001 6d {}"
    sent = asked(connected(rule), sync.format("0001 67", sized(ASSIGNMENT.format("0001 78"))))
    assert sent == framed_hex(sync.format("0003 612e67", sized(ASSIGNMENT.format("0003 612e78"))))


def learn(connection: ProxiedConnection) -> None:
    """Metadata v12 with a topic of the tenant and one of somebody else."""
    topic = messages.MetadataResponse.MetadataResponseTopic
    topics = [
        topic(name="a.x", topic_id=kwire.Uuid(bytes.fromhex(OWN_ID))),
        topic(name="b.x", topic_id=kwire.Uuid(bytes.fromhex(FOREIGN_ID))),
    ]
    connection.from_client(framed_hex("0003 000c 00000009 ffff 00 00 01 00 00"), 1)
    answer = kwire.encode_response(9, messages.MetadataResponse(topics=topics), 3, 12)
    moves = connection.from_server(len(answer).to_bytes(4, "big") + answer, 2)
    found = kwire.decode_response(b"".join(moves.to_client)[4:], 3, 12).body
    assert [(each.name, bytes(each.topic_id).hex()) for each in found.topics] == [("x", OWN_ID)]


# replica, wait, least, most, isolation, session, epoch, then topics: id, one partition
FETCH = "0001 000d 0000000a ffff 00 ffffffff 000001f4 00000001 03200000 00 00000000 ffffffff 02 {} 01 00 01 01 00"


def test_fetches_by_id_are_confined_to_the_tenants_topics() -> None:
    """From Fetch 13 on a topic is named by its id (KIP-516), which no prefix protects."""
    connection = connected()
    learn(connection)
    request = framed_hex(FETCH.format(OWN_ID))
    assert b"".join(connection.from_client(request, 3).to_server) == request
    answered(connection, "0000000a 00 00000000 0000 00000000 01 00")
    moves = connection.from_client(framed_hex(FETCH.format(FOREIGN_ID)), 4)
    assert moves.to_server == []
    # no throttle, error 106 (FETCH_SESSION_TOPIC_ID_ERROR), no session, no topics
    assert b"".join(moves.to_client) == framed_hex("0000000a 00 00000000 006a 00000000 01 00")
    assert connection.close_reason == ""


def test_an_answer_to_a_fetch_in_a_session_is_checked_too() -> None:
    connection = connected()
    learn(connection)
    begin = FETCH.replace("ffffffff 02", "00000000 02")
    asked(connection, begin.format(OWN_ID))
    answered(connection, "0000000a 00 00000000 0000 00000005 01 00")
    in_session = FETCH.replace("00000000 ffffffff 02", "00000005 00000001 02")
    asked(connection, in_session.format(OWN_ID))
    topic = "{} 02 00000000 0000 0000000000000001 0000000000000001 0000000000000000 00 ffffffff 03 7878 00 00"
    own, foreign = topic.format(OWN_ID), topic.format(FOREIGN_ID)
    assert answered(connection, f"0000000a 00 00000000 0000 00000005 02 {own} 00") == framed_hex(
        f"0000000a 00 00000000 0000 00000005 02 {own} 00"
    )
    asked(connection, in_session.format(OWN_ID))
    # error 106, as for a request with such an id
    refused = framed_hex("0000000a 00 00000000 006a 00000000 01 00")
    assert answered(connection, f"0000000a 00 00000000 0000 00000005 03 {own} {foreign} 00") == refused
    asked(connection, begin.format(OWN_ID))
    assert answered(connection, f"0000000a 00 00000000 0000 00000006 03 {own} {foreign} 00") == refused


def test_an_answer_by_id_outside_a_session_is_not_kept() -> None:
    """A broker answers what the request asked for, and that was checked."""
    connection = connected()
    learn(connection)
    asked(connection, FETCH.format(OWN_ID))
    records = bytes(MIB // 2)
    # no throttle, no error, no session, one topic with one partition; the records' length and one in an unsigned varint
    head = bytes.fromhex(f"0000000a 00 00000000 0000 00000000 02 {OWN_ID} 02 00000000 0000 {'0000000000000001' * 3} 00 ffffffff 818020")
    frame = head + records + bytes(3)
    frame = len(frame).to_bytes(4, "big") + frame
    got = b""
    for start in range(0, len(frame), 65536):
        moves = connection.from_server(frame[start : start + 65536], 2)
        assert connection.relay.kept == 0
        got += b"".join(moves.to_client)
    assert got == frame
    assert connection.relay.owed == 0


def test_an_answer_by_name_loses_the_prefix_without_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = connected()
    begin_session(connection, "00000005")
    monkeypatch.setattr(kwire, "decode_response", None)
    for session, epoch in (("00000000", ALONE), ("00000005", NEXT)):
        asked(connection, SESSION.format(session, epoch))
        # throttle, no error, session, topics: name, no partitions
        answer = f"0000000b 00000000 0000 {session} {{}} 00000000"
        found = answered(connection, answer.format("00000002 0003 622e78 00000000 0003 612e78"))
        assert found == framed_hex(answer.format("00000001 0001 78"))


# Fetch v7: replica, wait, least, most, isolation, session, epoch, no topics, no forgotten ones
SESSION = "0001 0007 0000000b ffff ffffffff 000001f4 00000001 03200000 00 {} {} 00000000 00000000"
# throttle, error 70 (FETCH_SESSION_ID_NOT_FOUND), no session, no topics
NO_SESSION = "0000000b 00000000 0046 00000000 00000000"
ALONE, NEW, NEXT, END = "ffffffff", "00000000", "00000001", "ffffffff"  # epochs (KIP-227)


def begin_session(connection: ProxiedConnection, session: str) -> None:
    asked(connection, SESSION.format("00000000", NEW))
    answered(connection, f"0000000b 00000000 0000 {session} 00000000")


@pytest.mark.parametrize("epoch", [NEW, NEXT, END, "00000007", "7fffffff", "80000000"])
def test_a_fetch_session_of_another_connection_is_unknown(epoch: str) -> None:
    """Also one of another connection of the tenant: what a client may do hangs on no number that it can guess."""
    rule = TenantsRule("a.")
    begin_session(connected(rule), "00000005")
    connection = connected(rule)
    begin_session(connection, "00000006")
    moves = connection.from_client(framed_hex(SESSION.format("00000005", epoch)), 1)
    assert (moves.to_server, b"".join(moves.to_client), connection.close_reason) == ([], framed_hex(NO_SESSION), "")
    assert asked(connection, SESSION.format("00000006", NEXT)) == framed_hex(SESSION.format("00000006", NEXT))


@pytest.mark.parametrize("epoch", [NEW, END])
def test_a_fetch_session_is_forgotten_with_the_request_that_ends_it(epoch: str) -> None:
    """The broker may give its number to somebody else; answers to requests before it do not bring it back."""
    connection = connected()
    begin_session(connection, "00000005")
    asked(connection, SESSION.format("00000005", NEXT))
    asked(connection, SESSION.format("00000005", epoch))
    answered(connection, "0000000b 00000000 0000 00000005 00000000")
    moves = connection.from_client(framed_hex(SESSION.format("00000005", NEXT)), 1)
    assert moves.to_server == []
    answer = f"0000000b 00000000 0000 {'00000009' if epoch == NEW else '00000000'} 00000000"
    assert answered(connection, answer) == framed_hex(answer) + framed_hex(NO_SESSION)
    if epoch == NEW:
        asked(connection, SESSION.format("00000009", NEXT))


@pytest.mark.parametrize("version", [0, 4, 6, 7, 12, 14, 15, 18])
def test_a_fetch_of_a_replica_closes(version: int) -> None:
    """It reads above the high watermark, moves it, and its session ends those of clients (`FetchSessionCache.tryEvict`)."""
    for node_id in (-1, 0, 2):
        state = messages.FetchRequest.ReplicaState(replica_id=node_id if version >= 15 else -1)
        body = messages.FetchRequest(replica_id=node_id if version < 15 else -1, replica_state=state)
        header = messages.RequestHeader(api_key=1, api_version=version, correlation_id=7, client_id="c")
        frame = kwire.encode_request(header, body)
        connection = connected()
        passed = connection.from_client(len(frame).to_bytes(4, "big") + frame, 1).to_server
        assert bool(passed) == (connection.close_reason == "") == (node_id < 0)


def test_a_connection_has_a_hundred_fetch_sessions() -> None:
    connection = connected()
    for number in range(1, 102):
        begin_session(connection, f"{number:08x}")
    asked(connection, SESSION.format("00000002", NEXT))
    answered(connection, "0000000b 00000000 0000 00000002 00000000")
    assert connection.from_client(framed_hex(SESSION.format("00000001", NEXT)), 1).to_server == []


def test_the_memory_of_a_tenant_is_bounded_in_bytes() -> None:
    memory = TenantMemory(100_000)
    for number in range(100):
        memory.learn_type("g" * 30_000 + str(number), "consumer")
        memory.learn_ids([kwire.Uuid(number.to_bytes(16, "big"))])
    known = [number for number in range(100) if memory.type_of("g" * 30_000 + str(number))]
    assert known == [97, 98, 99]
    for number in range(1, 10_000):
        memory.learn_ids([kwire.Uuid(number.to_bytes(16, "big"))] * 2)
    ids = [number for number in range(1, 10_000) if memory.owns([kwire.Uuid(number.to_bytes(16, "big"))])]
    assert ids[-1] == 9_999
    assert 300 < len(ids) < 600
    assert memory.type_of("g" * 30_000 + "99") is None


def test_ids_in_answers_with_an_error_are_not_learned() -> None:
    connection = connected()
    asked(connection, "0003 000c 00000009 ffff 00 00 01 00 00")
    # throttle, no brokers, cluster, controller, topics: error 3, name, id, internal, no partitions, operations
    topic = f"0003 04 612e78 {OWN_ID} 00 01 80000000 00"
    answered(connection, f"00000009 00 00000000 01 00 00000001 02 {topic} 00")
    assert connection.from_client(framed_hex(FETCH.format(OWN_ID)), 1).to_server == []


def test_produces_by_id_are_confined_too() -> None:
    connection = connected()
    learn(connection)
    produce = "0000 000d 0000000b ffff 00 00 {} 00007530 02 {} 02 00000003 01 00 00 00"
    request = framed_hex(produce.format("ffff", OWN_ID))
    assert b"".join(connection.from_client(request, 3).to_server) == request
    answered(connection, "0000000b 00 01 00000000 00")
    moves = connection.from_client(framed_hex(produce.format("ffff", FOREIGN_ID)), 4)
    # one topic by its id, partition 3: error 100 (UNKNOWN_TOPIC_ID), offset and time -1, log start -1, no errors, no message
    wanted = f"0000000b 00 02 {FOREIGN_ID} 02 00000003 0064 ffffffffffffffff ffffffffffffffff ffffffffffffffff 01 00 00 00 00000000 00"
    assert (moves.to_server, b"".join(moves.to_client)) == ([], framed_hex(wanted))
    connection.from_client(framed_hex(produce.format("0000", FOREIGN_ID)), 5)
    assert "not the tenant's" in connection.close_reason  # with acks 0 nothing can be said


def test_other_requests_by_id_close() -> None:
    connection = connected()
    learn(connection)
    delete = "0014 0006 0000000c ffff 00 02 00 {} 00 000003e8 00"
    assert asked(connection, delete.format(OWN_ID)) == framed_hex(delete.format(OWN_ID))
    connection.from_client(framed_hex(delete.format(FOREIGN_ID)), 2)
    assert "not the tenant's" in connection.close_reason


@pytest.mark.parametrize(
    "text",
    [
        "001e 0001 00000001 ffff 00000000",  # CreateAcls
        "0031 0000 00000001 ffff 00000000 00",  # AlterClientQuotas
        "0037 0001 00000001 ffff 00 01 00",  # DescribeQuorum
        "0044 0001 00000007 ffff 00 02 67 02 6d 00000000 00 00 00000001 00 02 2e 00 00 00",  # ConsumerGroupHeartbeat v1: a pattern
        "002c 0000 00000007 ffff 00000001 04 0001 31 00000000 00",  # IncrementalAlterConfigs of a broker
        "002c 0000 00000007 ffff 00000001 04 0000 00000000 00",  # of all brokers
        "0021 0000 00000007 ffff 00000001 10 0001 2a 00000000 00",  # AlterConfigs of the client metrics `*`
    ],
)
def test_what_reaches_the_whole_cluster_closes(text: str) -> None:
    connection = connected()
    assert connection.from_client(framed_hex(text), 1).to_server == []
    assert connection.close_reason


@pytest.mark.parametrize("pattern", ["00", "01"])
def test_a_group_of_kip_848_without_a_pattern(pattern: str) -> None:
    """ConsumerGroupHeartbeat v1, which librdkafka asks for; its pattern is null, or empty (KIP-848: no subscription to one)."""
    connection = connected()
    request = "0044 0001 00000007 ffff 00 {} 02 6d 00000000 00 00 00000001 02 {} " + pattern + " 00 00 00"
    assert asked(connection, request.format("02 67", "02 78")) == framed_hex(request.format("04 612e67", "04 612e78"))
    answer = "00000007 00 00000000 0000 00 02 6d 00000001 00001388 ff 00"
    assert answered(connection, answer) == framed_hex(answer)


def test_api_versions_offers_what_a_tenant_may_use() -> None:
    connection = connected()
    asked(connection, "0012 0000 00000001 ffff")
    # Produce 0-13, CreateAcls, ConsumerGroupHeartbeat 0-1, ListTransactions 0-2
    found = answered(connection, "00000001 0000 00000004 0000 0000 000d 001e 0000 0003 0044 0000 0001 0042 0000 0002")
    assert found == framed_hex("00000001 0000 00000003 0000 0000 0009 0044 0000 0001 0042 0000 0001")


@pytest.mark.parametrize(("texts", "text"), [("strip", b"Topic 'x' already exists."), ("blank", b"")])
def test_error_texts_do_not_say_the_prefix(texts: Any, text: bytes) -> None:
    connection = connected(TenantsRule("a.", error_texts=texts))
    create = "0013 0001 00000001 ffff 00000001 {} 00000001 0001 00000000 00000000 000003e8 00"
    assert asked(connection, create.format("0001 78")) == framed_hex(create.format("0003 612e78"))
    said = b"Topic 'a.x' already exists."
    found = answered(connection, "00000001 00000001 0003 612e78 0024" + len(said).to_bytes(2, "big").hex() + said.hex())
    assert found == framed_hex("00000001 00000001 0001 78 0024" + len(text).to_bytes(2, "big").hex() + text.hex())


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ("000b 0000 00000007 ffff 0005 67", "JoinGroup v0 request: "),  # JoinGroup: a group id of 5 bytes, of which one comes
        ("000e 0005 00000007 ffff 00 02 67 00000001 02 6d 01 09 61", "SyncGroup v5 request: "),  # SyncGroup: a type of 8 bytes
        ("0000 000d 00000007 ffff 00 00 ffff 000003e8 02 1111", "Produce v13 request: "),  # Produce: a topic id of 2 bytes
    ],
)
def test_a_body_that_cannot_be_read_closes_with_its_reason(request_: str, reason: str) -> None:
    connection = connected()
    moves = connection.from_client(framed_hex(request_), 1)
    assert (moves.to_server, moves.to_client) == ([], [])
    assert connection.close_reason.startswith(reason)


def test_an_answer_that_cannot_be_read_closes_with_its_reason() -> None:
    connection = connected()
    asked(connection, "0003 000c 00000007 ffff 00 00 01 00 00")
    assert connection.from_server(framed_hex("00000007 00 00000000 01 00 00000001 02 0000 05 61"), 2).to_client == []  # a name of 4 bytes
    assert connection.close_reason.startswith("Metadata v12 response: ")
