"""Which side is the server, and that finding out changes nothing in the rows."""

from __future__ import annotations

import pickle

import pytest

from kafka_bytes import heartbeat, ok
from kwire.protocol import DirectionDetector, Event, RequestCompleted
from kwire.protocol.tracking.direction_detection import MAX_UNDECIDED


def states(events: list[Event]) -> list[tuple[int, str]]:
    return [(event.request_index, event.state) for event in events if isinstance(event, RequestCompleted)]


@pytest.mark.parametrize("client", [0, 1])
def test_the_side_that_sent_the_syn_is_the_client(client: int) -> None:
    detector = DirectionDetector(9092, 9092, ports=[9092])
    detector.opened(client, 0)
    assert (detector.server_side, detector.decided_by) == (1 - client, "syn")
    events = detector.receive(client, heartbeat(1), 0) + detector.receive(1 - client, ok(1), 0)
    assert states(events) == [(0, "answered")]
    assert detector.summary().state == "open"


def test_a_given_port_tells_where_no_syn_was_seen() -> None:
    detector = DirectionDetector(19092, 40000, ports={19092})
    events = detector.receive(1, heartbeat(1), 0)
    assert (detector.server_side, detector.decided_by) == (0, "port")
    assert states(events + detector.receive(0, ok(1), 0)) == [(0, "answered")]
    assert detector.summary().state == "joined_late"


@pytest.mark.parametrize("server", [0, 1])
def test_a_response_that_answers_tells(server: int) -> None:
    detector = DirectionDetector(50000, 40000)
    events = detector.receive(1 - server, b"tail" + heartbeat(1), 0)
    assert detector.server_side is None
    assert events == []
    events = detector.receive(server, ok(1), 0)
    assert (detector.server_side, detector.decided_by) == (server, "response")
    assert states(events) == [(0, "answered")]


def test_whole_requests_tell_where_nothing_was_answered() -> None:
    detector = DirectionDetector(40000, 50000)
    detector.receive(0, heartbeat(1), 0)
    assert states(detector.finish(1)) == [(0, "unseen")]
    assert (detector.server_side, detector.decided_by) == (1, "requests")


def test_the_lower_port_is_the_last_resort() -> None:
    detector = DirectionDetector(50000, 9092)
    detector.receive(0, b"something else", 0)
    detector.finish(1)
    assert (detector.server_side, detector.decided_by) == (1, "lower_port")
    assert detector.summary().protocol == "unknown"


def test_waiting_for_a_decision_is_bounded() -> None:
    detector = DirectionDetector(50000, 9092)
    for _ in range(MAX_UNDECIDED // 65536 + 1):
        detector.receive(0, b"x" * 65536, 0)
    assert (detector.server_side, detector.decided_by) == (1, "lower_port")
    assert len(pickle.dumps(detector)) < 10_000


def test_pickled_while_undecided() -> None:
    detector = DirectionDetector(50000, 40000)
    detector.receive(0, heartbeat(1)[:9], 0)
    detector = pickle.loads(pickle.dumps(detector))
    detector.receive(0, heartbeat(1)[9:], 0)
    detector = pickle.loads(pickle.dumps(detector))
    assert states(detector.receive(1, ok(1), 0)) == [(0, "answered")]


def test_a_conversation_that_nobody_spoke_in() -> None:
    detector = DirectionDetector(50000, 9092)
    assert detector.finish(0) == []
    assert (detector.server_side, detector.summary().protocol) == (1, "silent")
