"""The tracker on hand-worked bytes: pairing, identity in force, what rows hold, losses, late joins, the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_bytes import MS, api_versions, framed, head, heartbeat, ok, rows, rules
from kwire.protocol import BrokerNode, BrokersLearned, RequestCompleted, VersionsLearned, ViolationFound
from kwire.protocol.events import GroupStep

INT = "big"


def produce(correlation_id: int, acks: int, topic: bytes = b"orders") -> bytes:
    """Produce v3 with one topic, one partition and null records."""
    body = b"\xff\xff" + acks.to_bytes(2, INT, signed=True) + bytes(4) + b"\0\0\0\1" + len(topic).to_bytes(2, INT) + topic
    return framed(head(0, 3, correlation_id) + body + b"\0\0\0\1" + bytes(4) + b"\xff\xff\xff\xff")


def answer(correlation_id: int, body: bytes) -> bytes:
    return framed(correlation_id.to_bytes(4, INT, signed=True) + body)


RANGES = bytes.fromhex("0000 00000002 0003 0000 000c 0012 0000 0004")
REFUSED = bytes.fromhex("0023 00000001 0012 0000 0004")


def test_a_request_and_its_response_make_a_row(make: Callable[..., Any]) -> None:
    connection = make()
    request = heartbeat(7)
    assert connection.receive_request_bytes(request[:10], 1 * MS, 3)[1:] == []
    connection.receive_request_bytes(request[10:], 2 * MS, 4)
    row, step = connection.receive_response_bytes(answer(7, b"\0\x1b"), 5 * MS, 9)
    assert isinstance(step, GroupStep)
    assert (step.kind, step.group_id, step.error_code) == ("heartbeat_error", "g1", 27)
    assert row == RequestCompleted(
        request_index=0, api_key=12, api_name="Heartbeat", api_version=0, header_version=1, correlation_id=7, client_id="app",
        client_instance_id=None, software_name="unknown", software_version="unknown", principal=None, request_time=2 * MS,
        response_time=5 * MS, latency_us=3000, request_bytes=28, response_bytes=10, error_code=27, throttle_time_ms=None, acks=None,
        first_topic=None, topic_count=None, group_id="g1", transactional_id=None, state="answered", body="decoded", packet_number=3,
        stream_offset=0,
    )  # fmt: skip


def test_produce_without_acks_waits_for_nothing(make: Callable[..., Any]) -> None:
    connection = make()
    events = connection.receive_request_bytes(produce(1, 0) + api_versions(2), 0)
    (sent,) = rows(events)
    assert (sent.state, sent.acks, sent.first_topic, sent.topic_count, sent.response_time) == ("no_response_expected", 0, "orders", 1, None)
    (answered,) = rows(connection.receive_response_bytes(answer(2, RANGES), MS))
    assert (answered.request_index, answered.api_name) == (1, "ApiVersions")


@pytest.mark.requirement("K511-19")
def test_api_versions_refused_in_version_0_form_then_lower(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(api_versions(0, 5, b"apache-kafka-java", b"4.4.0"), 0)
    events = connection.receive_response_bytes(answer(0, REFUSED), MS)
    assert VersionsLearned(0, MS, {18: (0, 4)}, 35, True) in events
    assert [(row.api_version, row.error_code, row.software_name, row.software_version) for row in rows(events)] == [
        (5, 35, "unknown", "unknown")
    ]
    assert {event.severity for event in events if isinstance(event, ViolationFound)} <= {"info"}
    connection.receive_request_bytes(api_versions(1, 4, b"apache-kafka-java", b"4.4.0"), 0)
    body = bytes.fromhex("0000 02 0003 0000 000c 00 00000000 00")
    events = connection.receive_response_bytes(answer(1, body), 2 * MS)
    assert VersionsLearned(1, 2 * MS, {3: (0, 12)}, 0, True) in events
    assert [(row.api_version, row.software_name) for row in rows(events)] == [(4, "unknown")]
    assert connection.summary().software_name == "apache-kafka-java"


def test_ranges_of_a_cut_api_versions_response_are_read_as_far_as_they_go(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(api_versions(1), 0)
    whole = answer(1, RANGES)
    connection.receive_response_bytes(whole[:22], 0)
    events = connection.lost("response", len(whole) - 22, MS, cut=True)
    assert VersionsLearned(0, MS, {3: (0, 12)}, 0, False) in events
    (row,) = rows(events)
    assert (row.state, row.body, row.response_bytes, row.latency_us) == ("answered", "decoded", len(whole), 1000)


def test_not_sent_differs_from_not_observed(make: Callable[..., Any]) -> None:
    silent = make()
    silent.receive_request_bytes(heartbeat(1), 0)
    assert (silent.summary().software_name, silent.summary().identity_source) == ("unknown", "not_sent")
    late = make(joined_late=True)
    late.receive_request_bytes(heartbeat(1), 0)
    assert (late.summary().software_name, late.summary().identity_source) == (None, "not_observed")
    late.receive_request_bytes(api_versions(2), 0)
    assert (late.summary().software_name, late.summary().identity_source) == ("unknown", "not_sent")
    gap = make()
    gap.lost("request", 40, 0)
    gap.receive_request_bytes(heartbeat(1), 0)
    assert (gap.summary().software_name, gap.summary().identity_source) == (None, "not_observed")


def test_a_request_that_snaplen_cut_keeps_its_header_and_what_was_read(make: Callable[..., Any]) -> None:
    connection = make()
    request = produce(4, -1)
    connection.receive_request_bytes(request[:31], 0)
    connection.lost("request", len(request) - 31, 0, cut=True)
    connection.receive_request_bytes(heartbeat(5), 0)
    partial = (
        bytes.fromhex("00000001 0006") + b"orders" + bytes.fromhex("00000001 00000000 0006 ffffffffffffffff ffffffffffffffff 00000000")
    )
    events = connection.receive_response_bytes(answer(4, partial) + ok(5), MS)
    first, second = rows(events)
    assert (first.api_name, first.client_id, first.acks, first.body, first.request_bytes) == (
        "Produce",
        "app",
        -1,
        "truncated",
        len(request),
    )
    assert (first.state, first.error_code, second.state, second.body) == ("answered", 6, "answered", "decoded")


def test_an_answer_that_the_end_cuts_off_is_an_answer_without_a_latency(make: Callable[..., Any]) -> None:
    """A client that resets while a Fetch response is on its way: the broker has sent and logged it."""
    connection = make()
    connection.receive_request_bytes(heartbeat(7) + heartbeat(8), 0)
    connection.receive_response_bytes(ok(7)[:9], MS)
    events = connection.closed("response", True, 2 * MS) + connection.finish(3 * MS)
    assert rules(events) == ["frame_unfinished"]
    assert [(row.correlation_id, row.state, row.response_time, row.latency_us) for row in rows(events)] == [
        (7, "answered", None, None), (8, "unanswered", None, None),
    ]  # fmt: skip


def test_behind_a_reset_bytes_may_still_come(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(heartbeat(1) + heartbeat(2)[:9], 0)
    assert connection.closed("request", True, MS) == []
    assert [row.state for row in rows(connection.receive_response_bytes(ok(1), 2 * MS))] == ["answered"]
    assert rules(connection.finish(3 * MS)) == ["frame_unfinished"]
    assert (connection.summary().state, connection.summary().closed_by) == ("reset", "client")


def test_nodes_of_the_cluster(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(framed(head(3, 2, 1) + b"\xff\xff\xff\xff"), 0)
    node = bytes.fromhex("00000003") + b"\0\2b3" + (9092).to_bytes(4, INT) + b"\0\1r"
    body = b"\0\0\0\1" + node + b"\0\4clus" + bytes.fromhex("00000003") + b"\0\0\0\0"
    events = connection.receive_response_bytes(answer(1, body), MS)
    assert BrokersLearned(0, MS, "Metadata", [BrokerNode(3, "b3", 9092, "r")], "clus", 3) in events
    assert rows(events)[0].topic_count is None  # null topics: all of them


def test_an_http_answer_to_a_kafka_client(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(api_versions(1), 0)
    events = connection.receive_response_bytes(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", 0)
    assert rules(events) == ["response_not_kafka"]
    assert [row.state for row in rows(connection.finish(1))] == ["unanswered"]
    assert connection.summary().protocol == "kafka"


def test_requests_behind_an_http_answer_fare_as_the_one_before(make: Callable[..., Any]) -> None:
    """The border of responses is sought there, but none was lost: no response can have passed unseen."""
    connection = make()
    connection.receive_request_bytes(api_versions(1), 0)
    connection.receive_response_bytes(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", 0)
    connection.receive_request_bytes(api_versions(2) + api_versions(3), 0)
    assert [(row.correlation_id, row.state) for row in rows(connection.finish(1))] == [(each, "unanswered") for each in (1, 2, 3)]


def test_instance_id_of_a_telemetry_client(make: Callable[..., Any]) -> None:
    connection = make()
    uuid = bytes.fromhex("00112233445566778899aabbccddeeff")
    get = framed(head(71, 0, 1) + b"\0" + bytes(16) + b"\0")
    push = framed(head(72, 0, 2) + b"\0" + uuid + bytes(4) + b"\0\0\1\0")
    connection.receive_request_bytes(get, 0)
    body = b"\0" + bytes(6) + uuid + bytes(4) + b"\1" + bytes(8) + b"\0\1\0"
    events = connection.receive_response_bytes(answer(1, body), 0)
    connection.receive_request_bytes(push, 0)
    events += connection.receive_response_bytes(answer(2, b"\0" + bytes(6) + b"\0"), 0)
    assert [row.client_instance_id for row in rows(events)] == [None, "ABEiM0RVZneImaq7zN3u_w"]
