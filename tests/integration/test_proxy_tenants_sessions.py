"""Fetch sessions of a tenant are of no use to another one, on a real broker and both loops, whatever the version and the epoch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from asking_port import Port
from kwire import messages
from kwire.codec import records
from kwire.proxy.config import AddressesConfig
from kwire.schema import releases
from threaded_proxy import two_tenants

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

NEWEST = releases().newest
FETCH, METADATA = 1, 3
SESSION_ID_NOT_FOUND = 70
SECRET, OWN = b"a secret of globex", b"a record of acme"
VERSIONS = [version for version in releases().newest.accepts(FETCH) if version >= 7]
Asking = Callable[..., Any]


@pytest.fixture(scope="module")
def broker(kafka_broker: Callable[[str], Any], coordinated: Callable[[int, str], AbstractContextManager[Asking]]) -> Iterator[Any]:
    found = kafka_broker(NEWEST.name)
    create, produce = messages.CreateTopicsRequest, messages.ProduceRequest
    with coordinated(found.plain, "g") as ask:
        for topic, text in (("acme.sessions", OWN), ("globex-sessions", SECRET)):
            made = ask(create(topics=[create.CreatableTopic(name=topic, num_partitions=1, replication_factor=1)], timeout_ms=30_000))
            assert made.topics[0].error_code in (0, 36)
            batch = records.encode(records.RecordBatch([(None, text, time.time_ns() // 1_000_000)]))
            data = produce.TopicProduceData(name=topic, partition_data=[produce.PartitionProduceData(records=batch)])
            while ask(produce(acks=-1, timeout_ms=30_000, topic_data=[data]), 12).responses[0].partition_responses[0].error_code:
                pass  # a broker hears of a new topic after the controller's answer
        yield found


@pytest.fixture(params=["asyncio", "native"])
def ports(request: pytest.FixtureRequest, broker: Any) -> Iterator[tuple[Port, Port]]:
    more = {"loop": request.param, "addresses": AddressesConfig(large_answers="hold")}
    with two_tenants(broker.plain, **more) as (one, other), Port(one) as first, Port(other) as second:
        yield first, second


def topic_id(port: Port, name: str) -> Any:
    asked = messages.MetadataRequest(topics=[messages.MetadataRequest.MetadataRequestTopic(name=name)])
    return port.ask(asked, METADATA, 12).topics[0].topic_id


def fetch(port: Port, version: int, session: int, epoch: int, topic: dict[str, Any] | None = None) -> Any:
    """Asks for a topic from its beginning; without one for what the session has."""
    kind = messages.FetchRequest
    topics = [] if topic is None else [kind.FetchTopic(**topic, partitions=[kind.FetchPartition(partition_max_bytes=1 << 20)])]
    return port.ask(kind(session_id=session, session_epoch=epoch, max_wait_ms=10, topics=topics), FETCH, version)


def found_records(answer: Any) -> bytes:
    return b"".join(bytes(part.records or b"") for topic in answer.responses for part in topic.partitions)


@pytest.mark.parametrize("version", VERSIONS)
def test_sessions_of_another_tenant_are_not_found(broker: Any, ports: tuple[Port, Port], version: int) -> None:
    acme, globex = ports
    names = [{"topic": "sessions"} if version < 13 else {"topic_id": topic_id(port, "sessions")} for port in ports]
    direct = Port(f"127.0.0.1:{broker.plain}")
    stolen = fetch(globex, version, 0, 0, names[1])
    assert SECRET in found_records(stolen)
    assert stolen.session_id
    own = fetch(acme, version, 0, 0, names[0])
    assert OWN in found_records(own)
    for epoch in (-1, 0, 1, 2, 3, 2**31 - 1, -(2**31)):
        for topic in (None, names[0]):
            answer = fetch(acme, version, stolen.session_id, epoch, topic)
            assert (answer.error_code, answer.session_id, answer.responses) == (SESSION_ID_NOT_FOUND, 0, [])
    assert fetch(acme, version, stolen.session_id ^ 1, 1).error_code == SESSION_ID_NOT_FOUND  # nor does a wrong number differ
    # the session is still there, its next epoch is 1, and the number alone is enough for a client without the proxy
    reset = {"topic": "globex-sessions"} if version < 13 else names[1]
    assert SECRET in found_records(fetch(direct, version, stolen.session_id, 1, reset))
    assert fetch(acme, version, own.session_id, 1).session_id == own.session_id
    assert OWN in found_records(fetch(acme, version, own.session_id, 2, names[0]))
    # a connection that was made later has no session
    acme.close()
    assert fetch(acme, version, own.session_id, 3).error_code == SESSION_ID_NOT_FOUND
    direct.close()
