"""Which side is the server, and that finding out changes nothing in the rows."""

from __future__ import annotations

import pickle

import pytest

from kwire.protocol import Conversation, Event, RequestCompleted
from kwire.protocol.roles import MAX_UNDECIDED


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def heartbeat(correlation_id: int) -> bytes:
    return framed(bytes.fromhex("000c0000") + correlation_id.to_bytes(4, "big") + b"\0\3app\0\1g" + bytes(4) + b"\0\1m")


def ok(correlation_id: int) -> bytes:
    return framed(correlation_id.to_bytes(4, "big") + b"\0\0")


def states(events: list[Event]) -> list[tuple[int, str]]:
    return [(event.request_index, event.state) for event in events if isinstance(event, RequestCompleted)]


@pytest.mark.parametrize("client", [0, 1])
def test_the_side_that_sent_the_syn_is_the_client(client: int) -> None:
    conversation = Conversation(9092, 9092, ports=[9092])
    conversation.opened(client, 0)
    assert (conversation.server_side, conversation.decided_by) == (1 - client, "syn")
    events = conversation.receive(client, heartbeat(1), 0) + conversation.receive(1 - client, ok(1), 0)
    assert states(events) == [(0, "answered")]
    assert conversation.summary().state == "open"


def test_a_given_port_tells_where_no_syn_was_seen() -> None:
    conversation = Conversation(19092, 40000, ports={19092})
    events = conversation.receive(1, heartbeat(1), 0)
    assert (conversation.server_side, conversation.decided_by) == (0, "port")
    assert states(events + conversation.receive(0, ok(1), 0)) == [(0, "answered")]
    assert conversation.summary().state == "joined_late"


@pytest.mark.parametrize("server", [0, 1])
def test_a_response_that_answers_tells(server: int) -> None:
    conversation = Conversation(50000, 40000)
    events = conversation.receive(1 - server, b"tail" + heartbeat(1), 0)
    assert conversation.server_side is None
    assert events == []
    events = conversation.receive(server, ok(1), 0)
    assert (conversation.server_side, conversation.decided_by) == (server, "response")
    assert states(events) == [(0, "answered")]


def test_whole_requests_tell_where_nothing_was_answered() -> None:
    conversation = Conversation(40000, 50000)
    conversation.receive(0, heartbeat(1), 0)
    assert states(conversation.finish(1)) == [(0, "unseen")]
    assert (conversation.server_side, conversation.decided_by) == (1, "requests")


def test_the_lower_port_is_the_last_resort() -> None:
    conversation = Conversation(50000, 9092)
    conversation.receive(0, b"something else", 0)
    conversation.finish(1)
    assert (conversation.server_side, conversation.decided_by) == (1, "lower_port")
    assert conversation.summary().protocol == "unknown"


def test_waiting_for_a_decision_is_bounded() -> None:
    conversation = Conversation(50000, 9092)
    for _ in range(MAX_UNDECIDED // 65536 + 1):
        conversation.receive(0, b"x" * 65536, 0)
    assert (conversation.server_side, conversation.decided_by) == (1, "lower_port")
    assert len(pickle.dumps(conversation)) < 10_000


def test_pickled_while_undecided() -> None:
    conversation = Conversation(50000, 40000)
    conversation.receive(0, heartbeat(1)[:9], 0)
    conversation = pickle.loads(pickle.dumps(conversation))
    conversation.receive(0, heartbeat(1)[9:], 0)
    conversation = pickle.loads(pickle.dumps(conversation))
    assert states(conversation.receive(1, ok(1), 0)) == [(0, "answered")]


def test_a_conversation_that_nobody_spoke_in() -> None:
    conversation = Conversation(50000, 9092)
    assert conversation.finish(0) == []
    assert (conversation.server_side, conversation.summary().protocol) == (1, "silent")
