"""How a connection opens and ends, in both twins: first bytes that are not Kafka's, FIN and RST, what the end cuts off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_bytes import MS, api_versions, framed, handshake, head, heartbeat, metadata, ok, rows, rules, shaken, states
from kwire.protocol import ViolationFound
from kwire.protocol.events import FrameSeen


@pytest.mark.parametrize(
    ("late", "first", "protocol"),
    [
        (False, framed(bytes.fromhex("00030000") + b"user\0alice\0\0"), "postgres"),  # start-up, which reads as Metadata v0
        (False, framed(bytes.fromhex("04d2162f")), "postgres"),  # SSLRequest
        (False, bytes.fromhex("16030100 05 01 000001 00"), "tls"),
        (False, bytes.fromhex("16030400 05 01 000001 00"), "tls"),  # as a TLS 1.3 client may number its records
        (False, bytes.fromhex("16030500 05 01 000001 00"), "unknown"),
        (False, bytes.fromhex("15030300 02 0246"), "tls"),  # an alert of TLS 1.2, fatal
        (False, bytes.fromhex("15030300 13 00") + bytes(18), "tls"),  # encrypted, as its first byte may be
        (False, bytes.fromhex("16030300 13 00") + bytes(18), "unknown"),  # HelloRequest, which no connection begins with
        (False, bytes.fromhex("16030100 00 01 000001 00"), "unknown"),  # no record is empty
        (False, b"PROXY TCP4 ".ljust(107, b"1"), "unknown"),  # no line of version 1 is longer, its CR LF included
        (False, b"\r\n\r\n\0\r\nQUIT\n" + bytes.fromhex("31110000"), "unknown"),  # version 3
        (True, bytes.fromhex("1603030005") + b"hello", "tls"),  # a handshake record, and one of data
        (True, bytes.fromhex("1703030005") + b"hello", "tls"),
        (True, bytes.fromhex("1704030005") + b"hello", "unknown"),  # no record has another first number
    ],
)
def test_what_the_first_bytes_say(make: Callable[..., Any], late: bool, first: bytes, protocol: str) -> None:
    for size in (len(first), 1):
        connection = make(late)
        for at in range(0, len(first), size):
            connection.receive_request_bytes(first[at : at + size], 0)
        assert connection.summary().protocol == protocol


@pytest.mark.parametrize(
    ("first", "length"),
    [
        (b"PROXY TCP4 ".ljust(107, b"1"), 0x50524F58),
        (b"\r\n\r\n\0\r\nQUIT\n" + bytes.fromhex("3111000c"), 0x0D0A0D0A),  # version 3, with 12 bytes to come
        (b"*a\r\n$", 0x2A610D0A),  # Redis counts in digits,
        (b"*\r\n$", 0x2A0D0A24),  # of which there is one at least,
        (b"*1\r\n:", 0x2A310D0A),  # and sends bulk strings
    ],
)
def test_an_opening_that_turns_out_to_be_none_is_a_length_at_once(make: Callable[..., Any], first: bytes, length: int) -> None:
    """Until its last byte it may be that of a PROXY header or of Redis; with it, it can only be a frame, of more than 100 MiB."""
    connection = make()
    assert connection.receive_request_bytes(first[:-1], 0) == []
    assert connection.summary().bytes_opaque == 0
    (found,) = connection.receive_request_bytes(first[-1:], 0)
    assert found.rule == "frame_length_too_large"
    assert str(length) in found.explanation
    assert connection.summary().protocol == "unknown"
    assert connection.summary().bytes_opaque == len(first)


def test_where_frames_may_be_longest_one_may_begin_as_redis_does(make: Callable[..., Any]) -> None:
    """`*1 CR LF` is a length of 707,857,674; no bulk string follows, but api key 0."""
    connection = make(max_frame=(1 << 31) - 1)
    assert connection.receive_request_bytes(b"*1\r\n" + head(0, 3, 1), 0) == []
    assert rules(connection.finish(MS)) == ["frame_unfinished"]


def test_bytes_that_did_not_come_say_nothing(make: Callable[..., Any]) -> None:
    """4 bytes of a TLS record of 5, in a buffer where others lie behind them: the length of the record is not known."""
    connection = make(True)
    connection.receive_request_bytes(memoryview(b"\x17\3\3\0\0")[:4], 0)
    assert connection.summary().bytes_opaque == 0
    connection.receive_request_bytes(b"\5hello", 0)
    assert connection.summary().protocol == "tls"


def test_metadata_of_version_0_is_no_start_up_of_postgres(make: Callable[..., Any]) -> None:
    """Api 3, version 0 are the same bytes as PostgreSQL's protocol 3.0; a correlation id follows where a parameter's name would."""
    connection = make()
    connection.receive_request_bytes(framed(head(3, 0, 7) + bytes(4)), 0)
    assert connection.summary().protocol == "kafka"
    assert connection.summary().requests == 1


def test_who_closes_first_has_closed_it(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(heartbeat(1), 0)
    connection.closed("response", False, MS)
    assert states(connection.closed("request", False, 2 * MS)) == [(1, "unanswered")]
    assert (connection.summary().closed_by, connection.summary().state, connection.summary().unanswered) == ("server", "complete", 1)


@pytest.mark.parametrize("reset", [False, True])
def test_a_server_that_closes_is_heard(make: Callable[..., Any], reset: bool) -> None:
    """ApiVersions between handshake and token is out of order; it counts once the server is in the capture, be it by its end alone."""
    connection = make()
    assert rules(connection.receive_request_bytes(handshake(1, 1, b"PLAIN") + api_versions(2, 0), 0)) == []
    assert rules(connection.closed("response", reset, MS)) == ["api_versions_out_of_order"]


@pytest.mark.parametrize("direction", ["request", "response"])
def test_what_is_out_of_order_may_have_a_reason_in_bytes_that_are_missing(make: Callable[..., Any], direction: str) -> None:
    connection = make()
    connection.receive_request_bytes(handshake(1, 1, b"PLAIN") + api_versions(2, 0), 0)
    connection.lost(direction, 5, MS)
    assert rules(connection.closed("response", False, 2 * MS)) == []


def test_a_server_that_closes_on_a_token_has_refused_it(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(handshake(1, 0, b"PLAIN"), 0)
    connection.receive_response_bytes(shaken(1), 0)
    connection.receive_request_bytes(framed(b"\0alice\0pw"), 0)
    connection.closed("response", True, MS)
    assert connection.summary().auth_failures == 1


def explanation(events: list[Any]) -> str:
    (found,) = (event for event in events if isinstance(event, ViolationFound))
    assert found.rule == "frame_unfinished"
    return found.explanation


@pytest.mark.parametrize("bodies", [None, ()])
def test_a_frame_that_the_end_cuts_off_has_so_many_bytes(make: Callable[..., Any], bodies: tuple[int, ...] | None) -> None:
    """100 bytes of 1,021, of which a connection that passes bodies over keeps 17."""
    connection = make(bodies=bodies)
    connection.receive_request_bytes(framed(head(12, 0, 1) + b"\0\2g1" + bytes(1000))[:100], 0)
    said = explanation(connection.finish(MS))
    assert "100" in said
    assert "1021" in said


def test_a_frame_of_which_not_even_the_length_came(make: Callable[..., Any]) -> None:
    connection = make(frames=True)
    connection.receive_request_bytes(heartbeat(1) + b"\0\0", 0)
    events = connection.finish(MS)
    assert [(event.kind, event.length, event.stream_offset) for event in events if isinstance(event, FrameSeen)] == [("length", -1, 28)]
    assert rules(events) == ["frame_unfinished"]


def test_bytes_that_are_no_frame_are_counted(make: Callable[..., Any]) -> None:
    """30 bytes in which nothing is found, to the last one; 10 more before a gap."""
    connection = make(True)
    connection.receive_request_bytes(b"\xee" * 30, 0)
    connection.finish(MS)
    assert connection.summary().bytes_opaque == 30
    connection = make(True)
    connection.receive_request_bytes(b"\xee" * 10, 0)
    connection.lost("request", 5, 0)
    assert (connection.summary().bytes_opaque, connection.summary().bytes_lost, connection.summary().gaps) == (10, 5, 1)


def test_the_longest_frame_is_one(make: Callable[..., Any]) -> None:
    connection = make(max_frame=24)  # as long as a Heartbeat is
    assert rules(connection.receive_request_bytes(heartbeat(1) + framed(bytes(25)), 0)) == ["frame_length_too_large"]
    assert states(connection.receive_response_bytes(ok(1), 0)) == [(1, "answered")]


def test_bytes_that_are_one_frame_may_be_too_long(make: Callable[..., Any]) -> None:
    connection = make(max_frame=24)
    assert rules(connection.receive_request_bytes(heartbeat(1), 0)) == []
    assert rules(connection.receive_request_bytes(framed(bytes(25)), 0)) == ["frame_length_too_large"]


@pytest.mark.parametrize("frames", [1, 2, 3])
@pytest.mark.parametrize("together", [False, True])
def test_a_border_is_proven_by_three_frames(make: Callable[..., Any], frames: int, together: bool) -> None:
    """Behind a gap, be they in one piece or each in its own; then what makes no sense is the client's fault, and not the search's."""
    good = [heartbeat(number) for number in range(2, 2 + frames)]
    cut_body = framed(head(12, 0, 9) + b"\0\2g")  # a group id of two bytes, of which there is one
    for bad, rule in ((cut_body, "body_too_short"), (b"\xff\xff\xff\xff" + bytes(8), "frame_length_negative")):
        connection = make()
        connection.receive_request_bytes(heartbeat(1), 0)
        connection.lost("request", 7, MS)
        for piece in [b"".join(good)] if together else good:
            assert rules(connection.receive_request_bytes(piece, 2 * MS)) == []
        assert rules(connection.receive_request_bytes(bad, 3 * MS)) == [rule if frames == 3 else "frame_border_lost"]


def test_a_passed_over_body_of_another_request_is_kept(make: Callable[..., Any]) -> None:
    """Metadata is passed over, Heartbeat is read; its response comes first, in two pieces, and its error code lies in the second."""
    connection = make(bodies=(12,))
    connection.receive_request_bytes(metadata(1) + heartbeat(2), 0)
    connection.receive_response_bytes(ok(2, 27)[:8], MS)
    (row,) = rows(connection.receive_response_bytes(ok(2, 27)[8:], 2 * MS))
    assert (row.correlation_id, row.error_code, row.body) == (2, 27, "decoded")
