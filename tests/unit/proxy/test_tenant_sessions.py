"""Fetch sessions of two tenants at a model of a broker: no sequence of frames gives a client the records of the other tenant."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import kwire
from kafka_bytes import framed
from kwire import messages
from kwire.proxy import ProxiedConnection, RuleSet
from kwire.proxy.rules.rule import Peer
from kwire.proxy.rules.tenants import TenantsRule

MIB = 1 << 20
FETCH, NAMES, IDS = 1, 12, 13  # the api, and its last version with names and its first with ids
TENANTS = ("a", "b")
ID_OF = {tenant: kwire.Uuid(bytes([number]) * 16) for number, tenant in enumerate(TENANTS, 1)}
OWNER = {ID_OF[tenant]: tenant for tenant in TENANTS} | {f"{tenant}.x": tenant for tenant in TENANTS}
SESSIONS = range(1, 5)  # a broker draws from 2,147,483,647 numbers; so few are given again and again
NOT_FOUND, BAD_EPOCH, BAD_ID = 70, 71, 106
REQUEST, RESPONSE = messages.FetchRequest, messages.FetchResponse


@dataclass
class Session:
    epoch: int
    topics: set[Any]
    has_ids: bool


class Broker:
    """Fetch sessions as `FetchManager` keeps them (KIP-227): whoever has number and epoch may use one."""

    def __init__(self) -> None:
        self.sessions: dict[int, Session] = {}

    def answer(self, frame: bytes) -> bytes:
        request = kwire.decode_request(frame)
        body, version = request.body, request.header.api_version
        asked = {each.topic_id if version >= IDS else each.topic for each in body.topics}
        session, error, topics = 0, 0, asked
        if body.session_epoch in (0, -1):
            self.sessions.pop(body.session_id, None)
            free = [each for each in SESSIONS if each not in self.sessions]
            if body.session_epoch == 0 and free:
                session = free[0]
                self.sessions[session] = Session(1, asked, version >= IDS)
        elif (found := self.sessions.get(body.session_id)) is None:
            error, topics = NOT_FOUND, set()
        elif found.epoch != body.session_epoch or found.has_ids != (version >= IDS):
            error, topics = BAD_EPOCH if found.epoch != body.session_epoch else BAD_ID, set()
        else:
            found.epoch += 1
            found.topics |= asked
            session, topics = body.session_id, found.topics
        partition = RESPONSE.PartitionData
        answers = [
            RESPONSE.FetchableTopicResponse(
                **{"topic_id" if version >= IDS else "topic": each}, partitions=[partition(records=f"records of {OWNER[each]}".encode())]
            )
            for each in topics
            if each in OWNER
        ]
        made = RESPONSE(error_code=error, session_id=session, responses=answers)
        return kwire.encode_response(request.header.correlation_id, made, FETCH, version)


@dataclass
class Client:
    tenant: str
    connection: ProxiedConnection
    asked: deque[bytes] = field(default_factory=deque)
    got: bytes = b""


@cache
def rules_of(tenant: str) -> RuleSet:
    made = TenantsRule(f"{tenant}.")
    made.memory.learn_ids([ID_OF[tenant]])
    return RuleSet([made], unknown="refuse")


def connected(tenant: str) -> Client:
    return Client(tenant, ProxiedConnection(rules_of(tenant), Peer("10.0.0.9", 50_000, 1), max_frame=MIB, max_held=MIB))


class Sessions(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.broker = Broker()
        self.clients = [connected(tenant) for tenant in TENANTS * 2]

    @rule(
        who=st.integers(0, 3), session=st.integers(0, SESSIONS[-1]), epoch=st.sampled_from([-1, 0, 0, 1, 1, 2, 3]),
        version=st.sampled_from([NAMES, IDS]), topics=st.sets(st.sampled_from(TENANTS)),
    )  # fmt: skip
    def fetch(self, who: int, session: int, epoch: int, version: int, topics: set[str]) -> None:
        """A request of any session and epoch; by id also for the other tenant's topic."""
        client = self.clients[who]
        names = [{"topic_id": ID_OF[each]} for each in sorted(topics)] if version >= IDS else [{"topic": "x"}] * bool(topics)
        wanted = [REQUEST.FetchTopic(**each, partitions=[REQUEST.FetchPartition()]) for each in names]
        header = messages.RequestHeader(api_key=FETCH, api_version=version, correlation_id=7, client_id="c")
        frame = kwire.encode_request(header, REQUEST(session_id=session, session_epoch=epoch, topics=wanted))
        moves = client.connection.from_client(framed(frame), 1)
        assert client.connection.close_reason == ""
        if moves.to_server:
            client.asked.append(b"".join(moves.to_server)[4:])
        client.got += b"".join(moves.to_client)

    @rule(who=st.integers(0, 3))
    def answer(self, who: int) -> None:
        """The broker answers the oldest request of a connection."""
        client = self.clients[who]
        if client.asked:
            moves = client.connection.from_server(framed(self.broker.answer(client.asked.popleft())), 2)
            assert client.connection.close_reason == ""
            client.got += b"".join(moves.to_client)

    @rule(session=st.sampled_from(SESSIONS))
    def put_all_topics_in(self, session: int) -> None:
        """A client without the proxy puts topics of both tenants into a session."""
        if (found := self.broker.sessions.get(session)) is not None:
            found.topics |= set(ID_OF.values()) if found.has_ids else {f"{tenant}.x" for tenant in TENANTS}

    @rule(who=st.integers(0, 3))
    def reconnect(self, who: int) -> None:
        self.clients[who].connection.over()
        self.clients[who] = connected(self.clients[who].tenant)

    @invariant()
    def no_records_of_the_other(self) -> None:
        for client in self.clients:
            others = [each for each in TENANTS if each != client.tenant]
            assert not any(f"records of {each}".encode() in client.got for each in others)


TestSessions = Sessions.TestCase
TestSessions.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_the_model_gives_records_and_the_rule_lets_own_ones_pass() -> None:
    machine = Sessions()
    for epoch, topics in ((0, {"a"}), (1, set()), (2, set())):
        machine.fetch(0, 1 if epoch else 0, epoch, IDS, topics)
        machine.answer(0)
    assert machine.clients[0].got.count(b"records of a") == 3
    machine.fetch(0, 0, -1, IDS, {"a"})
    machine.fetch(0, 1, 3, IDS, set())
    machine.put_all_topics_in(1)
    machine.answer(0)
    assert machine.clients[0].got.count(b"records of a") == 4
    machine.answer(0)
    assert machine.clients[0].got.count(b"records of a") == 4
    machine.fetch(1, 1, 4, IDS, set())
    assert not machine.clients[1].asked
    stolen = kwire.encode_request(
        messages.RequestHeader(api_key=FETCH, api_version=IDS, client_id="c"), REQUEST(session_id=1, session_epoch=4)
    )
    assert b"records of a" in machine.broker.answer(stolen)  # what the proxy does not let through
