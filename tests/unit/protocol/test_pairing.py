"""The two queues: what pairs with what, what is given up, and what they hold at most."""

from __future__ import annotations

import pickle

from kafka_bytes import framed, heartbeat
from kwire.protocol import Connection, Event, RequestCompleted
from kwire.protocol.tracking.pairing import MAX_HELD, MAX_HELD_BYTES, MAX_WAITING


def ok(correlation_id: int, tail: bytes = b"") -> bytes:
    return framed(correlation_id.to_bytes(4, "big") + b"\0\0" + tail)


def states(events: list[Event]) -> list[tuple[int, int | None, str]]:
    return [(event.request_index, event.correlation_id, event.state) for event in events if isinstance(event, RequestCompleted)]


def test_a_capture_of_requests_alone_does_not_pile_them_up() -> None:
    connection = Connection()
    events = connection.receive_request_bytes(b"".join(heartbeat(number) for number in range(MAX_WAITING + 3)), 0)
    assert states(events) == [(number, number, "unanswered") for number in range(3)]
    assert len(states(connection.finish(1))) == MAX_WAITING
    assert connection.summary().unanswered == MAX_WAITING + 3


def test_a_capture_of_responses_alone_does_not_pile_them_up() -> None:
    connection = Connection()
    events: list[Event] = []
    for number in range(MAX_HELD + 2):
        events += connection.receive_response_bytes(ok(number, bytes(3 * MAX_HELD_BYTES)), 0)
    assert states(events) == [(-1, 0, "orphan_response"), (-1, 1, "orphan_response")]
    assert len(pickle.dumps(connection)) < (MAX_HELD + 2) * MAX_HELD_BYTES


def test_a_response_after_a_gap_is_paired_by_id_and_passes_over_what_was_lost() -> None:
    connection = Connection()
    connection.receive_request_bytes(b"".join(heartbeat(number) for number in (5, 5, 6)), 0)
    events = connection.lost("response", len(ok(5)), 0)
    events += connection.receive_response_bytes(ok(6), 0)
    assert states(events) == [(0, 5, "unseen"), (1, 5, "unseen"), (2, 6, "answered")]


def test_without_a_gap_earlier_requests_go_on_waiting() -> None:
    connection = Connection()
    connection.receive_request_bytes(heartbeat(1) + heartbeat(2), 0)
    assert states(connection.receive_response_bytes(ok(2), 0)) == [(1, 2, "answered")]
    assert states(connection.finish(0)) == [(0, 1, "unanswered")]


def test_a_response_whose_id_was_lost_answers_the_first_request() -> None:
    connection = Connection()
    connection.receive_request_bytes(heartbeat(1) + heartbeat(2), 0)
    connection.receive_response_bytes(ok(1)[:6], 0)
    events = connection.lost("response", 4, 0) + connection.receive_response_bytes(ok(2), 0)
    assert states(events) == [(0, 1, "answered"), (1, 2, "answered")]
