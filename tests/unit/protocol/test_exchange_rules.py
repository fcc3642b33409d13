"""Rules of an exchange at their limits, in both twins, on hand-worked frames: each test is what kills a mutant of `tools/mutants/`."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from kafka_bytes import MS, api_versions, framed, handshake, head, heartbeat, metadata, ok, rows, rules, shaken, states
from kwire.protocol import ViolationFound
from kwire.protocol.tracking.pairing import MAX_HELD_BYTES, MAX_WAITING

# The first token of GSS-API names Kerberos by its object identifier (RFC 2743, 3.1).
KERBEROS = framed(bytes.fromhex("60 1f 06092a864886f712010202") + bytes(20))
NO_BORDER = b"\xff\xff\xff\xff"  # a frame length of -1


def test_a_second_name_is_in_force_behind_its_request(make: Callable[..., Any]) -> None:
    """The broker logs an ApiVersions request under the name that was in force before it (KIP-511), be it the second one."""
    connection = make()
    frames = api_versions(1, 3) + heartbeat(2) + api_versions(3, 3, b"foo") + heartbeat(4)
    connection.receive_request_bytes(frames, 0)
    assert [row.software_name for row in rows(connection.finish(MS))] == ["unknown", "kgo", "kgo", "foo"]


@pytest.mark.parametrize(("before", "mechanism"), [(b"", "GSSAPI"), (heartbeat(1), None)])
def test_only_the_first_frame_can_begin_kerberos(make: Callable[..., Any], before: bytes, mechanism: str | None) -> None:
    connection = make()
    connection.receive_request_bytes(before + KERBEROS, 0)
    assert connection.summary().sasl_mechanism == mechanism


@pytest.mark.parametrize(("answered_ms", "latency_us"), [(5, 0), (6, 1000), (4, None)])
def test_a_response_in_the_nanosecond_of_its_request_took_no_time(
    make: Callable[..., Any], answered_ms: int, latency_us: int | None
) -> None:
    """Two capture points may have the same time for both; a response before its request has no latency."""
    connection = make()
    connection.receive_request_bytes(heartbeat(1), 5 * MS)
    (row,) = rows(connection.receive_response_bytes(ok(1), answered_ms * MS))
    assert (row.latency_us, row.request_time, row.response_time) == (latency_us, 5 * MS, answered_ms * MS)


@pytest.mark.parametrize("lost", [0, 8])
def test_where_bytes_are_missing_api_versions_may_be_in_order(make: Callable[..., Any], lost: int) -> None:
    """What ended authentication may be among them. PLAIN has one token, so its end is known where nothing is missing."""
    connection = make()
    connection.receive_request_bytes(heartbeat(1)[: 28 - lost], 0)
    connection.lost("request", lost, 0, cut=True)
    connection.receive_response_bytes(ok(1), MS)
    connection.receive_request_bytes(handshake(2, 1, b"PLAIN"), 2 * MS)
    connection.receive_response_bytes(shaken(2), 3 * MS)
    assert rules(connection.receive_request_bytes(api_versions(3, 0), 4 * MS)) == ([] if lost else ["api_versions_out_of_order"])


@pytest.mark.parametrize(
    ("ranges", "advertised"),
    [
        ("00000001 0012 0000 0003", None),  # ApiVersions alone, as brokers refuse a version (KIP-511)
        ("00000002 0012 0000 0003 0003 0000 000c", {18: (0, 3), 3: (0, 12)}),
    ],
)
def test_a_refusal_that_lists_only_api_versions_advertises_nothing(
    make: Callable[..., Any], ranges: str, advertised: dict[int, tuple[int, int]] | None
) -> None:
    connection = make()
    connection.receive_request_bytes(api_versions(1, 3), 0)
    connection.receive_response_bytes(framed(bytes.fromhex("00000001 0023" + ranges)), MS)
    assert connection.summary().advertised == advertised


def test_of_a_server_token_without_request_only_the_id_is_kept(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(handshake(1, 1, b"PLAIN"), 0)
    connection.receive_response_bytes(shaken(1), 0)
    connection.receive_response_bytes(framed(b"\0\0\0\x4dhunter2-s3cret"), 0)
    assert b"hunter2" not in pickle.dumps(connection)
    (row,) = rows(connection.finish(MS))
    assert (row.correlation_id, row.state, row.response_bytes) == (77, "orphan_response", 22)


@pytest.mark.parametrize(("size", "is_whole"), [(MAX_HELD_BYTES - 1, True), (MAX_HELD_BYTES + 1, False)])
def test_of_a_held_response_so_many_bytes_are_kept(make: Callable[..., Any], size: int, is_whole: bool) -> None:
    """ApiVersions v0: 4 bytes of id, 2 of error code, 4 of count, 6 per range, and a few that trail: those are seen if all are kept."""
    count = (size - 10) // 6
    ranges = b"".join(key.to_bytes(2, "big") + bytes(4) for key in range(count))
    whole = b"\0\0\0\1\0\0" + count.to_bytes(4, "big") + ranges
    connection = make()
    assert connection.receive_response_bytes(framed(whole + bytes(size - len(whole))), 0) == []
    events = connection.receive_request_bytes(api_versions(1, 0), 0)
    assert states(events) == [(1, "answered")]
    assert len(whole) < size
    assert ("trailing_bytes" in rules(events)) is is_whole


def test_behind_a_lost_border_a_damaged_response_has_an_order(make: Callable[..., Any]) -> None:
    """The border of a frame of which bytes are missing was followed, so it is not doubted, and what it says of the order counts."""
    connection = make()
    connection.receive_request_bytes(heartbeat(4), 0)
    connection.receive_response_bytes(NO_BORDER + ok(4), 0)  # one proof of three
    connection.receive_request_bytes(heartbeat(5) + heartbeat(6), 0)
    assert states(connection.receive_response_bytes(ok(6), 0)) == [(6, "answered")]
    events = connection.receive_response_bytes(ok(5)[:9], 0) + connection.lost("response", 1, 0, cut=True)
    assert states(events) == [(5, "answered")]
    assert "response_out_of_order" in rules(events)


def test_a_response_that_was_passed_over_may_answer_a_request_whose_body_is_read(make: Callable[..., Any]) -> None:
    """Its first request is given up meanwhile, and the next with this id gets what was kept of it: the id, and no error code."""
    connection = make(bodies={12})
    connection.receive_request_bytes(metadata(7), 0)
    connection.receive_response_bytes(framed(b"\0\0\0\7" + bytes(100))[:60], 0)
    connection.receive_request_bytes(heartbeat(7) * MAX_WAITING, 0)
    (row,) = rows(connection.receive_response_bytes(bytes(48), MS))
    assert (row.api_key, row.state, row.error_code) == (12, "answered", None)
    assert not [event for event in connection.finish(MS) if isinstance(event, ViolationFound)]


def test_a_closed_direction_behind_a_proxy_header_alone(make: Callable[..., Any]) -> None:
    """A health check of a proxy: a header and the end."""
    connection = make(frames=True)
    header = b"PROXY TCP4 203.0.113.7 198.51.100.9 51234 9092\r\n"
    seen = connection.receive_request_bytes(header[:20], 0) + connection.receive_request_bytes(header[20:], 0)
    assert seen == []
    assert (connection.protocol, connection.summary().proxied_address) == ("proxy", "203.0.113.7:51234")
    (frame,) = [event for event in connection.receive_request_bytes(heartbeat(1), MS) if getattr(event, "kind", "") == "proxy"]
    assert (frame.stream_offset, frame.length) == (0, len(header))
    assert [(row.state, row.stream_offset) for row in rows(connection.finish(MS))] == [("unanswered", len(header))]


@pytest.mark.parametrize("pieces", [1, 2, 5])
def test_first_bytes_keep_the_time_and_packet_of_their_piece(make: Callable[..., Any], pieces: int) -> None:
    """`PROXY UNKNOWN`, then a frame, in pieces: the request has the packet of its first byte and the time of its last."""
    data = b"PROXY UNKNOWN\r\n" + heartbeat(3)
    cuts = [len(data) * number // pieces for number in range(pieces + 1)]
    first = next(number for number in range(pieces) if cuts[number + 1] > 15)
    connection = make()
    for number in range(pieces):
        connection.receive_request_bytes(data[cuts[number] : cuts[number + 1]], number * MS, 100 + number)
    (row,) = rows(connection.finish(99 * MS))
    assert (row.packet_number, row.request_time, row.stream_offset) == (100 + first, (pieces - 1) * MS, 15)


def test_undecided_first_bytes_survive_a_pickle(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(b"PROXY UNKNOWN\r\nGE", 0, 1)
    restored = pickle.loads(pickle.dumps(connection))
    restored.receive_request_bytes(b"T /", MS, 2)
    assert restored.protocol == "http"
    assert restored.summary().request_bytes == 20


def test_held_responses_survive_a_pickle(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_response_bytes(ok(8) + ok(9, 25), 0, 7)
    restored = pickle.loads(pickle.dumps(connection))
    events = restored.receive_request_bytes(heartbeat(9), MS)
    assert states(events) == [(8, "orphan_response"), (9, "answered")]
    orphan, _ = rows(events)
    assert (orphan.error_code, orphan.packet_number, orphan.response_bytes) == (None, 7, 10)


def test_api_versions_in_a_version_without_a_range_is_a_request(make: Callable[..., Any]) -> None:
    """A request of a version that no release has is read by its header alone (KIP-511: the broker answers in version 0)."""
    connection = make()
    connection.receive_request_bytes(framed(head(18, 99, 1) + b"\0rest"), 0)
    (row,) = rows(connection.finish(MS))
    assert (row.api_key, row.api_version, row.correlation_id) == (18, 99, 1)
