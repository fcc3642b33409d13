"""What is not in the capture is neither counted nor blamed: states, times, names and violations behind missing bytes."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import kafka_bytes
from kafka_bytes import MS, framed, head, heartbeat, metadata, ok, produce, rows
from kwire.protocol import Connection, Event, ViolationFound
from kwire.protocol._pure.tracker import Connection as PureConnection
from kwire.protocol.events import TopicsUsed

INT = "big"


@pytest.fixture(params=["chosen", "pure"])
def connection(request: pytest.FixtureRequest) -> Any:
    return Connection() if request.param == "chosen" else PureConnection()


api_versions = partial(kafka_bytes.api_versions, name=b"java", software=b"3.9")


def rules(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.rule, event.severity) for event in events if isinstance(event, ViolationFound)]


@pytest.mark.parametrize(("kept", "state"), [(20, "unseen"), (21, "no_response_expected")])
def test_without_its_acks_a_produce_may_want_no_answer(connection: Any, kept: int, state: str) -> None:
    """4 bytes of length, 13 of header, 2 of the transactional id, then the 2 bytes of acks: snaplen cuts inside of them or behind them."""
    request = produce(4, 0, bytes(7))
    connection.receive_request_bytes(request[:kept], 0)
    events = connection.lost("request", len(request) - kept, 0, cut=True)
    events += connection.closed("response", False, MS) + connection.closed("request", False, MS) + connection.finish(MS)
    assert [(row.acks, row.state) for row in rows(events)] == [(None if state == "unseen" else 0, state)]


def test_a_time_whose_byte_is_lost_is_not_known(connection: Any) -> None:
    """The last two bytes of the response are lost, then those of a request: the frames are known, when they ended is not."""
    connection.receive_request_bytes(heartbeat(1), 0)
    connection.receive_response_bytes(ok(1)[:-2], MS)
    (first,) = rows(connection.lost("response", 2, 5 * MS))
    connection.receive_request_bytes(heartbeat(2)[:-2], 6 * MS)
    connection.lost("request", 2, 8 * MS)
    (second,) = rows(connection.receive_response_bytes(ok(2), 9 * MS))
    assert (first.state, first.request_time, first.response_time, first.latency_us) == ("answered", 0, None, None)
    assert (second.state, second.request_time, second.response_time, second.latency_us) == ("answered", None, 9 * MS, None)


def test_the_end_of_a_cut_frame_that_the_connection_ended_in_has_no_time(connection: Any) -> None:
    """9 of 10 bytes, the last of them cut by snaplen: no byte is lost, and the tenth never came."""
    connection.receive_request_bytes(heartbeat(1), 0)
    connection.receive_response_bytes(ok(1)[:8], MS)
    events = connection.lost("response", 1, MS, cut=True) + connection.closed("response", False, 2 * MS) + connection.finish(3 * MS)
    assert [(row.state, row.request_time, row.response_time, row.latency_us) for row in rows(events)] == [("answered", 0, None, None)]


def test_a_request_whose_header_is_cut_keeps_no_bytes(connection: Any) -> None:
    """600 client ids of 32,767 bytes, of which 30,000 came: 18 MB, more than the 16 MiB that waiting requests may keep."""
    begun = (12).to_bytes(2, INT) + bytes(2) + (7).to_bytes(4, INT) + b"\x7f\xff" + b"c" * 30_000
    for _ in range(600):
        assert rows(connection.receive_request_bytes((len(begun) + 2_800).to_bytes(4, INT) + begun, 0)) == []
        assert rows(connection.lost("request", 2_800, 0, cut=True)) == []
    assert len(rows(connection.finish(MS))) == 600


def test_bytes_that_snaplen_cut_inside_a_request_hide_no_other(connection: Any) -> None:
    """The cut ends with its frame, so the borders are known: a response with another id has no request."""
    connection.receive_request_bytes(heartbeat(1)[:20], 0)
    connection.lost("request", 8, 0, cut=True)
    connection.receive_request_bytes(heartbeat(2), 0)
    events = connection.receive_response_bytes(ok(1) + ok(2) + ok(9), MS) + connection.finish(2 * MS)
    assert rules(events) == [("response_unknown_correlation_id", "error")]


@pytest.mark.parametrize(("kept", "count", "first"), [(16, None, None), (21, 3, None), (24, 3, "ab"), (26, 3, "ab")])
def test_the_number_of_topics_stands_in_front_of_them(connection: Any, kept: int, count: int | None, first: str | None) -> None:
    """Behind 17 bytes of length and header: 4 bytes that say 3, and names of 2 + 2 bytes each. What was cut off still counts."""
    request = metadata(1, b"ab", b"cd", b"ef")
    kept += 1  # bytes of the frame with its length
    connection.receive_request_bytes(request[:kept], 0)
    connection.lost("request", len(request) - kept, 0, cut=True)
    (row,) = rows(connection.finish(1))
    assert (row.topic_count, row.first_topic) == (count, first)


def test_clients_with_one_id_for_all_requests_are_paired_around_what_was_lost(connection: Any) -> None:
    """pykafka numbers nothing: where its only open request loses its response, the next response is that to the next request."""
    connection.receive_request_bytes(heartbeat(0), 0)
    connection.lost("response", len(ok(0)), MS)
    connection.receive_request_bytes(metadata(0), 2 * MS)
    answer = framed(bytes(4) + bytes(4) + b"\xff\xff\xff\xff" + bytes(4))  # Metadata v1: no brokers, controller -1, no topics
    events = connection.receive_response_bytes(answer, 3 * MS)
    assert [(row.api_name, row.state, row.response_bytes) for row in rows(events)] == [
        ("Heartbeat", "unseen", None), ("Metadata", "answered", 20),
    ]  # fmt: skip
    assert rules(events) == []


def test_where_several_may_be_answered_none_is() -> None:
    connection = Connection()
    connection.receive_request_bytes(heartbeat(0) + metadata(0), 0)
    connection.lost("response", len(ok(0)), MS)
    events = connection.receive_response_bytes(ok(0), 2 * MS) + connection.finish(3 * MS)
    assert sorted((row.api_name or "", row.state) for row in rows(events)) == [
        ("", "orphan_response"), ("Heartbeat", "unseen"), ("Metadata", "unseen"),
    ]  # fmt: skip
    assert rules(events) == []


def test_api_versions_of_one_direction_is_no_fault(connection: Any) -> None:
    handshake = framed(head(17, 1, 1) + b"\0\5PLAIN")
    events = connection.receive_request_bytes(handshake + api_versions(2, 0), 0) + connection.closed("request", False, MS)
    assert rules(events + connection.finish(2 * MS)) == []


def test_few_violations_wait_for_the_server(connection: Any) -> None:
    """Of 20 ApiVersions within a SASL exchange the first 8 are kept for the server's answer: memory is bounded."""
    sent = framed(head(17, 1, 1) + b"\0\5PLAIN") + b"".join(api_versions(number, 0) for number in range(2, 22))
    assert rules(connection.receive_request_bytes(sent, 0)) == []
    events = connection.closed("response", False, MS)
    assert [event.request_index for event in events if isinstance(event, ViolationFound)] == list(range(1, 9))
    assert len(rows(events + connection.finish(2 * MS))) == 21


def test_of_a_direction_whose_syn_is_missing_the_first_bytes_may_be_missing(connection: Any) -> None:
    """The rest of a long response comes first: nothing in it is a frame."""
    connection.receive_request_bytes(heartbeat(1), 0)
    connection.begins_late("response")
    events = connection.receive_response_bytes(bytes(64) + ok(1), MS)
    assert [(row.correlation_id, row.state) for row in rows(events)] == [(1, "answered")]
    assert rules(events) == []


def test_what_a_cut_request_wrote_is_not_zero(connection: Any) -> None:
    """Snaplen cuts inside the records of the only partition: the topic is known, what was written is not."""
    request = produce(4, 0, bytes(7))
    kept = len(request) - 3
    connection.receive_request_bytes(request[:kept], 0)
    events = connection.lost("request", len(request) - kept, 0, cut=True)
    (use,) = (use for event in events if isinstance(event, TopicsUsed) for use in event.uses)
    assert (use.topic, use.partition, use.unseen) == ("t", 0, True)


def test_what_a_lost_response_brought_is_not_zero() -> None:
    """Fetch v4 of partition 3 of `t`; its response is lost, so it may have had records. An answer that never came had none."""
    body = b"\xff\xff\xff\xff" + bytes(12) + b"\0" + b"\0\0\0\1" + b"\0\1t" + b"\0\0\0\1" + b"\0\0\0\3" + bytes(12)
    for lost, unseen in ((40, True), (0, False)):
        connection = Connection()
        connection.receive_request_bytes(framed(head(1, 4, 9) + body), 0)
        events = connection.lost("response", lost, MS) + connection.closed("response", False, MS) + connection.closed("request", False, MS)
        (use,) = (use for event in events if isinstance(event, TopicsUsed) for use in event.uses)
        assert (use.topic, use.partition, use.unseen) == ("t", 3, unseen)
