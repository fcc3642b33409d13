"""What a connection keeps is bounded, whatever a hostile peer sends; the bounds are those of docs/how-to/proxy-tracking.md."""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_bytes import framed, head, heartbeat
from kwire.protocol.events import RequestCompleted
from kwire.protocol.tracking.identity import MOST_CLIENT_ID_TEXT, MOST_CLIENT_IDS
from kwire.protocol.tracking.pairing import MAX_HELD, MAX_HELD_BYTES, MAX_WAITING, MAX_WAITING_BYTES

MIB = 1 << 20


def kept_after(connection: Any, pieces: Iterator[tuple[bool, bytes]]) -> int:
    """Bytes that are allocated more than before once all pieces were taken and their events forgotten."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for at, (is_request, data) in enumerate(pieces):
            (connection.receive_request_bytes if is_request else connection.receive_response_bytes)(data, at, at)
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def opened(make: Callable[..., Any], **options: Any) -> Any:
    connection = make(**options)
    connection.receive_request_bytes(heartbeat(0), 0)
    connection.receive_response_bytes(framed(bytes(6)), 1)
    return connection


def test_requests_that_nobody_answers(make: Callable[..., Any]) -> None:
    connection = opened(make, bodies=())
    kept = kept_after(connection, ((True, heartbeat(number)) for number in range(MAX_WAITING + 500)))
    assert connection.summary().unanswered == 500
    assert kept < MAX_WAITING * 1024


@pytest.mark.parametrize("bodies", [(), None], ids=["passed over", "read"])
def test_requests_with_endless_client_ids_that_nobody_answers(make: Callable[..., Any], bodies: tuple[int, ...] | None) -> None:
    connection = opened(make, bodies=bodies)
    ids = (b"%d" % number + bytes([97]) * 32_000 for number in range(1000))
    kept = kept_after(connection, ((True, heartbeat(1, client_id)) for client_id in ids))
    assert kept < MAX_WAITING_BYTES + MOST_CLIENT_ID_TEXT + MIB
    assert len(connection.finish(9)) < 1000  # some were given up for the room that they took


def test_joins_with_much_metadata_that_nobody_answers(make: Callable[..., Any]) -> None:
    metadata = bytes(MIB)
    join = b"\0\2g1" + bytes(4) + b"\0\0\0\x08consumer" + b"\0\0\0\1\0\5range" + len(metadata).to_bytes(4, "big") + metadata
    connection = opened(make)
    kept = kept_after(connection, ((True, framed(head(11, 0, number) + join)) for number in range(3 * MAX_WAITING_BYTES // MIB)))
    assert kept < MAX_WAITING_BYTES + 2 * MIB
    rows = [event for event in connection.finish(9) if isinstance(event, RequestCompleted)]
    assert 0 < len(rows) <= MAX_WAITING_BYTES // MIB


def test_churn_of_correlation_ids(make: Callable[..., Any]) -> None:
    """Answers to requests that were never sent, with bodies that could be long."""
    connection = opened(make, bodies=())
    answers = ((False, framed(number.to_bytes(4, "big") + bytes(200_000))) for number in range(1000, 1000 + 3 * MAX_HELD))
    assert kept_after(connection, answers) < MAX_HELD * (MAX_HELD_BYTES + 1024) + MIB


def test_many_answered_requests_leave_nothing(make: Callable[..., Any]) -> None:
    connection = opened(make, bodies=())
    for number in range(300):
        connection.receive_request_bytes(heartbeat(number), 1)
        connection.receive_response_bytes(framed(number.to_bytes(4, "big") + b"\0\0"), 2)
    pieces = [(True, heartbeat(7)), (False, framed(b"\0\0\0\7\0\0"))] * 1500
    assert kept_after(connection, iter(pieces)) < 2048
    assert len(pickle.dumps(connection)) < 4096


def test_client_ids_without_end(make: Callable[..., Any]) -> None:
    connection = opened(make, bodies=())
    pieces = []
    for number in range(5 * MOST_CLIENT_IDS):
        pieces += [(True, heartbeat(7, b"%0200d" % number)), (False, framed(b"\0\0\0\7\0\0"))]
    assert kept_after(connection, iter(pieces)) < MOST_CLIENT_ID_TEXT + MOST_CLIENT_IDS * 256
    assert connection.summary().client_id == "app"


def test_a_long_frame_that_is_passed_over_is_not_kept(make: Callable[..., Any]) -> None:
    size = 8 * MIB
    connection = opened(make, bodies=())
    fetch = head(1, 4, 9)
    frame = (len(fetch) + size).to_bytes(4, "big") + fetch
    pieces = [(True, frame), *[(True, bytes(MIB // 16))] * (size * 16 // MIB)]
    pieces += [(False, (size + 4).to_bytes(4, "big") + b"\0\0\0\x09"), *[(False, bytes(MIB // 16))] * (size * 16 // MIB)]
    for cut in (len(pieces) // 4, 3 * len(pieces) // 4, len(pieces)):
        connection = opened(make, bodies=())
        assert kept_after(connection, iter(pieces[:cut])) < 64 * 1024
    (row,) = [event for event in opened_and_played(make, pieces) if isinstance(event, RequestCompleted)]
    assert (row.state, row.body, row.request_bytes, row.response_bytes) == ("answered", "skipped", len(frame) + size, size + 8)


def opened_and_played(make: Callable[..., Any], pieces: list[tuple[bool, bytes]]) -> list[Any]:
    connection = opened(make, bodies=())
    return [
        event
        for is_request, data in pieces
        for event in (connection.receive_request_bytes if is_request else connection.receive_response_bytes)(data, 5)
    ]


def test_a_frame_in_single_bytes_keeps_its_bytes_alone(make: Callable[..., Any]) -> None:
    """Every piece has its packet and its time, of which the first and the last count."""
    connection = opened(make, max_frame=MIB)
    frame = framed(head(3, 1, 1) + (2**17).to_bytes(4, "big") + bytes(2**18))
    assert kept_after(connection, ((True, frame[at : at + 1]) for at in range(15_000))) < 60_000


def test_a_claimed_length_reserves_nothing(make: Callable[..., Any]) -> None:
    connection = opened(make)
    assert kept_after(connection, iter([(True, (99 * MIB).to_bytes(4, "big") + b"\0\3\0\1" + bytes(4) + b"\0\0")])) < 4096


def test_what_an_idle_connection_takes(make: Callable[..., Any]) -> None:
    """As docs/how-to/proxy-tracking.md states it."""
    tracemalloc.start()
    try:
        make(bodies=())
        before = tracemalloc.get_traced_memory()[0]
        kept = [make(bodies=()) for _ in range(100)]
        idle = (tracemalloc.get_traced_memory()[0] - before) / len(kept)
        for connection in kept:
            connection.receive_request_bytes(heartbeat(0), 0)
            connection.receive_response_bytes(framed(bytes(6)), 1)
            for number in range(5):
                connection.receive_request_bytes(heartbeat(number), 0)
        busy = (tracemalloc.get_traced_memory()[0] - before) / len(kept)
    finally:
        tracemalloc.stop()
    assert idle < 6 * 1024
    assert busy < 10 * 1024
