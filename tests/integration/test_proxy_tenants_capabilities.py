"""Numbers that stand for a client without its name: those of one tenant are of no use to another one, on a real broker and both loops."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from asking_port import Port
from kwire import messages
from kwire.codec import records
from kwire.schema import releases
from threaded_proxy import TENANTS, two_tenants

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

PRODUCE, JOIN, HEARTBEAT, LEAVE, SYNC, INIT, ADD, ADD_OFFSETS, END, COMMIT, DESCRIBE = 0, 11, 12, 13, 14, 22, 24, 25, 26, 28, 65
UNKNOWN_MEMBER_ID, INVALID_PRODUCER_ID_MAPPING, TRANSACTIONAL_ID_NOT_FOUND = 25, 49, 105
COORDINATOR_ERRORS = (14, 15, 16)
TRANSACTION, GROUP, TOPIC = "transfer", "readers", "ledger"
Asking = Callable[..., Any]


@pytest.fixture(params=[("4.4", "asyncio"), ("4.4", "native"), ("3.9", "native")], ids="-".join)
def ports(
    request: pytest.FixtureRequest,
    kafka_broker: Callable[[str], Any],
    coordinated: Callable[[int, str], AbstractContextManager[Asking]],
) -> Iterator[list[Port]]:
    broker = kafka_broker(releases().resolve(request.param[0]).name)
    create = messages.CreateTopicsRequest
    with coordinated(broker.plain, "g") as ask:
        topics = [create.CreatableTopic(name=f"{each.prefix}{TOPIC}", num_partitions=1, replication_factor=1) for each in TENANTS.values()]
        assert {each.error_code for each in ask(create(topics=topics, timeout_ms=30_000)).topics} <= {0, 36}
    with two_tenants(broker.plain, loop=request.param[1]) as (one, other), Port(one) as first, Port(other) as second:
        yield [first, second]


def begun(port: Port, **given: int) -> Any:
    until = time.monotonic() + 60
    while True:
        port.ask(messages.FindCoordinatorRequest(key=TRANSACTION, key_type=1), 10, 2)
        found = port.ask(messages.InitProducerIdRequest(transactional_id=TRANSACTION, transaction_timeout_ms=60_000, **given), INIT, 4)
        if found.error_code not in COORDINATOR_ERRORS:
            return found
        assert time.monotonic() < until, found
        time.sleep(0.2)


def steps(producer: Any) -> Iterator[tuple[Any, int, int]]:
    """Requests of a transaction, with api and version, by the producer id and epoch of another tenant."""
    who = {"producer_id": producer.producer_id, "producer_epoch": producer.producer_epoch}
    add = messages.AddPartitionsToTxnRequest
    topic = add.AddPartitionsToTxnTopic(name=TOPIC, partitions=[0])
    named = {"v3_and_below_transactional_id": TRANSACTION, "v3_and_below_topics": [topic]}
    yield add(**named, **{f"v3_and_below_{key}": value for key, value in who.items()}), ADD, 3
    yield messages.AddOffsetsToTxnRequest(transactional_id=TRANSACTION, group_id=GROUP, **who), ADD_OFFSETS, 3
    yield messages.EndTxnRequest(transactional_id=TRANSACTION, committed=False, **who), END, 3


def test_a_transaction_is_not_reached_by_its_producer_id(ports: list[Port]) -> None:
    acme, globex = ports
    producer = begun(globex)
    assert producer.error_code == 0
    add, *_, end = steps(producer)
    assert globex.ask(*add).results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code == 0
    # acme names the transaction as globex does; the broker knows acme's by another name, if at all
    for body, key, version in steps(producer):
        answer = acme.ask(body, key, version)
        topics = getattr(answer, "results_by_topic_v3_and_below", None)
        error = topics[0].results_by_partition[0].partition_error_code if topics else answer.error_code
        assert error == INVALID_PRODUCER_ID_MAPPING, answer
    found = acme.ask(messages.DescribeTransactionsRequest(transactional_ids=[TRANSACTION]), DESCRIBE, 0)
    assert [each.error_code for each in found.transaction_states] == [TRANSACTIONAL_ID_NOT_FOUND]
    commit = messages.TxnOffsetCommitRequest
    topic = commit.TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[commit.TxnOffsetCommitRequestPartition(committed_offset=7)])
    stolen = commit(transactional_id=TRANSACTION, group_id=GROUP, producer_id=producer.producer_id, producer_epoch=32_000, topics=[topic])
    answer = acme.ask(stolen, COMMIT, 3)
    assert answer.topics[0].partitions[0].error_code == INVALID_PRODUCER_ID_MAPPING
    # globex goes on as if nothing had been
    batch = records.RecordBatch(
        [(None, b"x", time.time_ns() // 1_000_000)], producer_id=producer.producer_id, producer_epoch=producer.producer_epoch,
        base_sequence=0, is_transactional=True,
    )  # fmt: skip
    kind = messages.ProduceRequest
    data = kind.TopicProduceData(name=TOPIC, partition_data=[kind.PartitionProduceData(records=records.encode(batch))])
    sent = globex.ask(kind(transactional_id=TRANSACTION, acks=-1, timeout_ms=30_000, topic_data=[data]), PRODUCE, 9)
    assert sent.responses[0].partition_responses[0].error_code == 0
    assert globex.ask(*end).error_code == 0


def test_a_member_id_is_of_no_use_in_another_group_of_the_name(ports: list[Port]) -> None:
    acme, globex = ports
    join = {"group_id": GROUP, "protocol_type": "consumer", "session_timeout_ms": 30_000, "rebalance_timeout_ms": 30_000}
    protocol = messages.JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=bytes.fromhex("0000 00000000 ffffffff"))
    member = globex.ask(messages.JoinGroupRequest(protocols=[protocol], **join), JOIN, 3)
    assert member.error_code == 0
    who = {"group_id": GROUP, "generation_id": member.generation_id, "member_id": member.member_id}
    assert acme.ask(messages.HeartbeatRequest(**who), HEARTBEAT, 3).error_code == UNKNOWN_MEMBER_ID
    assert acme.ask(messages.LeaveGroupRequest(group_id=GROUP, member_id=member.member_id), LEAVE, 2).error_code == UNKNOWN_MEMBER_ID
    taken = messages.JoinGroupRequest(protocols=[protocol], member_id=member.member_id, **join)
    assert acme.ask(taken, JOIN, 3).error_code == UNKNOWN_MEMBER_ID
    assert globex.ask(messages.HeartbeatRequest(**who), HEARTBEAT, 3).error_code in (0, 27)
    assert globex.ask(messages.LeaveGroupRequest(group_id=GROUP, member_id=member.member_id), LEAVE, 2).error_code == 0
