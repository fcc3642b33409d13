"""Which response belongs to which request, in both twins, on hand-worked frames: ids that repeat, what is held or given up, tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_bytes import MS, framed, handshake, head, heartbeat, metadata, ok, played, produce, rows, rules, shaken, states
from kwire.protocol import ViolationFound
from kwire.protocol.events import FrameSeen
from kwire.protocol.tracking.pairing import MAX_HELD, MAX_WAITING_BYTES

NO_TOPICS = bytes(4) + b"\xff\xff\xff\xff" + bytes(4)  # Metadata v1: no brokers, controller -1, no topics


def answer(correlation_id: int, body: bytes) -> bytes:
    return framed(correlation_id.to_bytes(4, "big") + body)


def ended(connection: Any) -> list[Any]:
    """What is said when both sides have closed, the client first."""
    said: list[Any] = connection.closed("request", False, 90 * MS) + connection.closed("response", False, 90 * MS)
    return said


# A connection in which the last token of GSSAPI, which may get no answer, and a Metadata request wait.
GSSAPI = [
    ("asks", handshake(1, 0, b"GSSAPI")), ("answers", shaken(1)), ("asks", framed(b"\x60\x82" + bytes(30))),
    ("answers", framed(b"\x60\x10" + bytes(14))), ("asks", framed(b"\x05\x04" + bytes(28)) + metadata(9)),
]  # fmt: skip
# A Produce that snaplen cuts before its acks: it may want no answer.
CUT_PRODUCE = [("asks", produce(2, 1)[:18]), ("cut", "request", len(produce(2, 1)) - 18)]
LEAVES, CLOSES = ("closed", "request", False), ("closed", "response", False)
CONVERSATIONS: dict[str, tuple[list[Any], list[tuple[int, str]]]] = {
    # Two capture points may disagree on the order; what came before it and fits nothing has no request.
    "a response that comes before its request waits for it": (
        [("answers", ok(8) + ok(9)), ("asks", heartbeat(9))], [(8, "orphan_response"), (9, "answered")],
    ),
    "a response whose id is lost waits for the next request": (
        [("answers", ok(1)[:6]), ("cut", "response", 4), ("asks", heartbeat(5))], [(5, "answered")],
    ),
    "where packets are missing what is held is not that of a later request": (
        [("lost", "request", 28), ("answers", ok(5)), ("asks", heartbeat(5)), LEAVES, CLOSES],
        [(5, "orphan_response"), (5, "abandoned")],
    ),
    "what is held is an orphan once a later response is paired": (
        [("asks", heartbeat(1)), ("answers", ok(9)), ("answers", ok(1))], [(9, "orphan_response"), (1, "answered")],
    ),
    "an answer that comes twice": (
        [("asks", heartbeat(1)), ("answers", ok(1) + ok(1) + ok(7)), LEAVES, CLOSES],
        [(1, "answered"), (1, "orphan_response"), (7, "orphan_response")]
    ),
    # Others that are passed by still wait, for nothing was lost since: the server answers out of order.
    "a Produce that may be silent is given up when a later request is answered": (
        [("asks", heartbeat(1)), *CUT_PRODUCE, ("asks", heartbeat(3)), ("answers", ok(3)), ("answers", ok(1))],
        [(2, "unseen"), (3, "answered"), (1, "answered")],
    ),
    "a token that gets no answer waits no longer than the request behind it": (  # else it would have taken response 77
        [*GSSAPI, ("answers", answer(9, NO_TOPICS)), ("asks", heartbeat(10)), ("answers", ok(77)), ("answers", ok(10))],
        [(1, "answered"), (9, "answered"), (77, "orphan_response"), (10, "answered")],
    ),
    # No response to Metadata is as short; the token was answered, the request was not.
    "four bytes that look like an id are a token": (
        [*GSSAPI, ("answers", answer(9, b"")), LEAVES, CLOSES], [(1, "answered"), (9, "abandoned")],
    ),
    "a client that closes first has abandoned its request": ([("asks", heartbeat(1)), LEAVES, ("finish",)], [(1, "abandoned")]),
    "a server that closes first has not answered": ([("asks", heartbeat(1)), CLOSES, ("finish",)], [(1, "unanswered")]),
    "at the end of the capture a request is unanswered": ([("asks", heartbeat(1)), ("finish",)], [(1, "unanswered")]),
    # A consumer says goodbye while its Fetch waits: that is answered, and met by a RST. The broker logs both requests as answered.
    "a client that leaves and refuses what still comes abandons it": (
        [("asks", heartbeat(7) + heartbeat(8)), LEAVES, ("answers", ok(7)), ("closed", "request", True), ("finish",)],
        [(7, "answered"), (8, "abandoned")],
    ),
    "part of an answer to a client that left is no answer": (
        [("asks", heartbeat(7)), ("answers", ok(7)[:9]), ("closed", "request", True), ("finish",)], [(7, "abandoned")],
    ),
    # A RST, then the FINs of both: what was on its way may still come, until it is said that it is over.
    "behind a reset the end of both directions is not the end": (
        [("asks", heartbeat(1)), ("closed", "request", True), LEAVES, CLOSES, ("answers", ok(1)), ("finish",)], [(1, "answered")],
    ),
    # The request comes behind the gap, and what follows the gap cannot be read: its response may be in it.
    "while borders of responses are lost an answer may pass unseen": (
        [("asks", heartbeat(1)), ("answers", ok(1)), ("lost", "response", 100), ("asks", heartbeat(2)), ("answers", b"\xee" * 30), CLOSES,
         LEAVES],
        [(1, "answered"), (2, "unseen")],
    ),
    # The server ended within a frame: bytes are missing, so the response 9 before may be to a request that was not seen.
    "behind an unfinished response what is held is of no later request": (
        [("asks", heartbeat(1)), ("answers", ok(9) + ok(7)[:8]), CLOSES, ("asks", heartbeat(9))],
        [(9, "orphan_response"), (7, "orphan_response")],
    ),
    "an unfinished response without its id answers nothing": (
        [("asks", heartbeat(1)), ("answers", ok(1)[:6]), CLOSES, ("finish",)], [(1, "unanswered")],
    ),
    "an unfinished response with its id answers": (
        [("asks", heartbeat(1)), ("answers", ok(1)[:8]), CLOSES, ("finish",)], [(1, "answered")],
    ),
    "of a server whose beginning is not known an answer may be unseen": (
        [("asks", heartbeat(1)), ("begins_late", "response"), ("finish",)], [(1, "unseen")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_which_response_is_whose(make: Callable[..., Any], name: str) -> None:
    steps, expected = CONVERSATIONS[name]
    connection = make()
    said = played(connection, *steps)
    assert states(said) == expected
    if name == "an answer that comes twice":
        assert rules(said) == ["response_repeated", "response_unknown_correlation_id"]
    assert connection.summary().unanswered == sum(state == "unanswered" for _, state in expected)


def test_so_many_responses_are_held(make: Callable[..., Any]) -> None:
    connection = make()
    for number in range(MAX_HELD):
        assert connection.receive_response_bytes(ok(number), 0) == []
    assert states(connection.receive_response_bytes(ok(MAX_HELD), 0)) == [(0, "orphan_response")]


@pytest.mark.parametrize("direction", ["request", "response"])
def test_behind_missing_bytes_an_orphan_breaks_no_rule(make: Callable[..., Any], direction: str) -> None:
    connection = make()
    connection.receive_request_bytes(heartbeat(1) + heartbeat(2) + heartbeat(3), 0)
    connection.receive_response_bytes(ok(1), 0)
    connection.lost(direction, 10, 0)
    events = connection.receive_response_bytes(ok(3) + ok(9), 0) + connection.finish(MS)
    assert ((9, "orphan_response") in states(events)) is True
    assert rules(events) == []


@pytest.mark.parametrize("direction", ["request", "response"])
def test_where_an_orphan_lies_is_said_behind_missing_bytes_too(make: Callable[..., Any], direction: str) -> None:
    """Response 9 begins behind 20 bytes that came, and 10 that are missing if they are missing there; else its request may be."""
    connection = make(frames=True)
    connection.receive_request_bytes(heartbeat(1) + heartbeat(2) + heartbeat(3), 0)
    connection.receive_response_bytes(ok(1), 0)
    connection.lost(direction, 10, 0)
    events = connection.receive_response_bytes(ok(3) + ok(9), 0) + connection.finish(MS)
    found = [(event.kind, event.stream_offset, event.length) for event in events if isinstance(event, FrameSeen)]
    first = 10 if direction == "request" else 20
    assert found == [("response", first, 6), ("response", first + 10, 6)]


def later(events: list[Any]) -> list[str]:
    return [event.explanation for event in events if isinstance(event, ViolationFound) and event.rule == "response_out_of_order"]


def test_how_many_have_overtaken_a_request(make: Callable[..., Any]) -> None:
    """100 wait; the last is answered first, then the 70th, then the first, which 2 have overtaken by then."""
    connection = make()
    connection.receive_request_bytes(b"".join(map(heartbeat, range(1, 101))), 0)
    assert later(connection.receive_response_bytes(ok(100), 0)) == []
    (one,) = later(connection.receive_response_bytes(ok(70), 0))
    (two,) = later(connection.receive_response_bytes(ok(1), 0))
    assert " 1 " in one
    assert " 2 " in two


def test_a_request_that_thousands_have_overtaken(make: Callable[..., Any]) -> None:
    """The places in the order of sending are numbered again meanwhile."""
    connection = make(bodies=())
    connection.receive_request_bytes(heartbeat(1) + heartbeat(2), 0)
    for number in range(3, 17_003):
        connection.receive_request_bytes(heartbeat(number), 0)
        connection.receive_response_bytes(ok(number), 0)
    (said,) = later(connection.receive_response_bytes(ok(2), 0))
    assert "17000" in said.replace(",", "")


def test_equal_ids_behind_a_break_that_were_sent_behind_it_are_paired_in_order(make: Callable[..., Any]) -> None:
    """The first request may have lost its answer; those with id 0 were sent when the border of responses was known again."""
    connection = make()
    connection.receive_request_bytes(heartbeat(5) + heartbeat(6) + heartbeat(7), 0)
    connection.lost("response", 10, 0)
    assert states(connection.receive_response_bytes(ok(6), MS)) == [(5, "unseen"), (6, "answered")]
    connection.receive_request_bytes(metadata(0) + heartbeat(0), 2 * MS)
    events = connection.receive_response_bytes(answer(0, NO_TOPICS) + ok(0), 3 * MS)
    assert [(row.api_name, row.state) for row in rows(events) if row.correlation_id == 0] == [
        ("Metadata", "answered"), ("Heartbeat", "answered"),
    ]  # fmt: skip


@pytest.mark.parametrize("again", [False, True])
def test_an_id_that_was_just_answered_may_be_that_of_a_request_that_is_missing(make: Callable[..., Any], again: bool) -> None:
    """A client with one id for all. Its request is sent while the border of responses is lost; if then bytes are missing once more, the
    response may be that to another request."""
    connection = make()
    connection.receive_request_bytes(heartbeat(0), 0)
    connection.receive_response_bytes(ok(0), 0)
    connection.lost("response", 100, 0)
    connection.receive_request_bytes(heartbeat(0), MS)
    if again:
        connection.lost("request", 28, 2 * MS)
    events = connection.receive_response_bytes(ok(0), 3 * MS) + connection.finish(4 * MS)
    assert sorted(states(events)) == ([(0, "orphan_response"), (0, "unseen")] if again else [(0, "answered")])


def test_once_it_is_unclear_who_was_answered_what_waits_may_be_answered(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(heartbeat(0) + metadata(0), 0)
    connection.lost("response", 10, MS)
    connection.receive_response_bytes(ok(0), 2 * MS)
    connection.receive_request_bytes(heartbeat(9), 3 * MS)
    assert {state for number, state in states(ended(connection)) if number == 9} == {"unseen"}


def test_a_token_is_answered_by_an_empty_frame(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(handshake(1, 0, b"PLAIN"), 0)
    connection.receive_response_bytes(shaken(1), 0)
    connection.receive_request_bytes(framed(b"\0alice\0pw"), 0)
    assert connection.receive_response_bytes(framed(b""), 0) == []
    assert connection.summary().principal == "User:alice"


def test_a_token_has_no_id(make: Callable[..., Any]) -> None:
    """Handshake and token are sent at once; an answer with id 0 is neither's."""
    connection = make()
    connection.receive_request_bytes(handshake(1, 0, b"PLAIN") + framed(b"\0alice\0pw"), 0)
    connection.receive_response_bytes(answer(0, bytes(6)), MS)
    assert connection.summary().principal is None
    assert states(connection.receive_response_bytes(shaken(1), MS)) == [(0, "orphan_response"), (1, "answered")]


def test_times_that_are_known_on_both_sides_of_a_gap_make_no_latency(make: Callable[..., Any]) -> None:
    """The gap is in the requests, behind the one that is answered."""
    for bodies in (None, ()):
        connection = make(bodies=bodies)
        connection.receive_request_bytes(heartbeat(1), 0)
        connection.lost("request", 28, MS)
        (row,) = rows(connection.receive_response_bytes(ok(1), 2 * MS))
        assert (row.request_time, row.response_time, row.latency_us) == (0, 2 * MS, None)


def test_a_silent_produce_whose_end_is_lost_has_no_time(make: Callable[..., Any]) -> None:
    """Its acks stand before the loss; what it says of its topic has the time at which the loss was found."""
    request = produce(2, 0)
    connection = make()
    connection.receive_request_bytes(heartbeat(1) + request[:40], MS)
    events = connection.lost("request", len(request) - 40, 3 * MS)
    assert [(row.state, row.request_time, row.acks) for row in rows(events)] == [("no_response_expected", None, 0)]
    assert [(event.topic, event.partition) for each in events for event in getattr(each, "uses", ())] == [("t", 0)]


@pytest.mark.parametrize("bodies", [None, ()], ids=["read", "passed over"])
def test_acks_stand_behind_a_transactional_id_that_is_not_utf_8(make: Callable[..., Any], bodies: tuple[int, ...] | None) -> None:
    """Java's readers replace what is not UTF-8, so the broker acts on the acks behind it."""
    request = framed(head(0, 3, 1) + b"\0\2\xff\xfe" + b"\0\0" + bytes(4) + bytes(4))
    events = make(bodies=bodies).receive_request_bytes(heartbeat(0) + request, MS)
    assert [(row.state, row.acks) for row in rows(events)] == [("no_response_expected", 0)]


def joining(correlation_id: int, size: int) -> bytes:
    """JoinGroup v0 with so many bytes of metadata, and 54 around them: group, session timeout, member, protocol type, one protocol."""
    body = b"\0\1g" + bytes(4) + b"\0\0" + b"\0\x08consumer" + b"\0\0\0\1" + b"\0\5range" + framed(bytes(size))
    return framed(head(11, 0, correlation_id) + body)


JOINED = b"\0\0" + bytes(4) + b"\0\5range" + b"\0\1m" + b"\0\1m" + bytes(4)  # no error, generation 0, protocol, leader, member


def test_requests_that_wait_keep_so_many_bytes(make: Callable[..., Any]) -> None:
    """Of a JoinGroup the frame is kept, without its length: four of a quarter of the bytes fit, with a fifth the first is given up."""
    around = len(joining(1, 0)) - 4
    quarter = MAX_WAITING_BYTES // 4
    connection = make()
    said = [states(connection.receive_request_bytes(joining(number, quarter - around), 0)) for number in range(4)]
    assert said == [[], [], [], []]
    assert states(connection.receive_request_bytes(joining(4, quarter - around), 0)) == [(0, "unanswered")]
    assert states(connection.receive_request_bytes(joining(5, 1), 0)) == [(1, "unanswered")]


def test_an_answer_makes_room_for_requests(make: Callable[..., Any]) -> None:
    around = len(joining(1, 0)) - 4
    connection = make()
    for number in range(9):
        assert states(connection.receive_request_bytes(joining(number, MAX_WAITING_BYTES // 4 - around), 0)) == []
        assert states(connection.receive_response_bytes(answer(number, JOINED), 0)) == [(number, "answered")]


def test_the_latest_request_waits_however_large_it_is(make: Callable[..., Any]) -> None:
    connection = make()
    assert states(connection.receive_request_bytes(heartbeat(1), 0)) == []
    assert states(connection.receive_request_bytes(joining(2, MAX_WAITING_BYTES), 0)) == [(1, "unanswered")]
    assert states(connection.receive_response_bytes(answer(2, JOINED), 0)) == [(2, "answered")]
