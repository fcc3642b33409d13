"""Requests and what came back, in the rows that each twin makes of hand-made packets: states, times, sizes, error codes, refusals.

Packet n comes 1,234,567 n nanoseconds after a round time, so that an exchange of neighbours takes 1,234 microseconds.
"""

from __future__ import annotations

from typing import Any

import pytest

from kafka_bytes import api_versions, framed, head, heartbeat, metadata, ok, produce
from kwire.capture.packet_columns import ACK, FIN, RST
from kwire.codec.impl import Twin
from kwire.protocol.tracking.pairing import MAX_WAITING
from made_packets import CLIENT, SERVER, opened
from read_by_twins import Tables, micros, refusals, rows, tables_of


def rules(tables: Tables) -> list[tuple[str, int | None]]:
    return [(row["rule"], row["request_index"]) for row in tables.get("violations", [])]


# times and sizes


def test_an_exchange_has_the_times_of_its_last_bytes_and_the_sizes_of_its_frames(twin: Twin) -> None:
    """A request in two packets, 4 and 5, its response in one, 6."""
    wire = opened()
    wire.send(CLIENT, heartbeat(1)[:9])
    wire.exchange(heartbeat(1)[9:], ok(1))
    (row,) = tables_of(twin, wire.packets)["requests"]
    assert (row["packet_number"], row["stream_offset"], row["request_bytes"], row["response_bytes"]) == (4, 0, 28, 10)
    assert (micros(row["request_time"]), micros(row["response_time"]), row["latency_us"]) == (6172, 7407, 1234)


def test_a_response_whose_last_byte_is_lost_has_no_time(twin: Twin) -> None:
    """8 of 10 bytes came. Then follows another exchange, whose times are known."""
    wire = opened()
    wire.exchange(heartbeat(1), ok(1)[:8])
    wire.send(SERVER, ok(1)[8:], lost=True)
    wire.exchange(heartbeat(2), ok(2))
    found = tables_of(twin, wire.packets)
    assert rows(found, "state", "body", "response_bytes", "latency_us", "error_code") == [
        ("answered", "decoded", 10, None, None),
        ("answered", "decoded", 10, 1234, 0),
    ]
    assert [micros(value) for value in rows(found, "response_time")] == [None, 8641]


def test_a_request_whose_last_byte_is_lost_has_no_time(twin: Twin) -> None:
    wire = opened()
    wire.send(CLIENT, heartbeat(1)[:20])
    wire.send(CLIENT, heartbeat(1)[20:], lost=True)
    wire.send(SERVER, ok(1))
    wire.exchange(heartbeat(2), ok(2))
    found = tables_of(twin, wire.packets)
    assert rows(found, "state", "body", "request_bytes", "latency_us") == [
        ("answered", "truncated", 28, None),
        ("answered", "decoded", 28, 1234),
    ]
    assert [micros(value) for value in rows(found, "request_time")] == [None, 7407]


@pytest.mark.parametrize(("kept", "time"), [(None, True), (20, True)])
def test_the_snap_length_takes_no_time_from_an_exchange(twin: Twin, kept: int | None, time: bool) -> None:
    wire = opened()
    wire.send(CLIENT, heartbeat(1), kept=kept)
    wire.send(SERVER, ok(1), kept=kept and 8)
    (row,) = tables_of(twin, wire.packets)["requests"]
    assert (row["latency_us"], micros(row["request_time"]), micros(row["response_time"])) == (1234, 4938, 6172)
    assert row["error_code"] == (None if kept else 0)


def test_a_loss_while_a_request_waits_makes_its_latency_unknown(twin: Twin) -> None:
    """Heartbeat 2 was answered out of sight, so the time of answer 1 may be that of a retransmission."""
    wire = opened()
    wire.send(CLIENT, heartbeat(1))
    wire.send(CLIENT, heartbeat(2)[:20])
    wire.send(CLIENT, heartbeat(2)[20:], lost=True)
    wire.exchange(heartbeat(3), ok(1) + ok(2) + ok(3))
    found = tables_of(twin, wire.packets)
    assert rows(found, "correlation_id", "latency_us") == [(1, None), (2, None), (3, 1234)]


def test_a_silent_produce_whose_end_is_lost_has_no_time(twin: Twin) -> None:
    """Its acks are 0 and stand before the loss: nothing will come back."""
    request = produce(1, 0)
    wire = opened()
    wire.send(CLIENT, request[:30])
    wire.send(CLIENT, request[30:], lost=True)
    wire.send(SERVER)
    wire.send(CLIENT, heartbeat(2))
    found = tables_of(twin, wire.packets)
    assert rows(found, "state", "acks", "body") == [("no_response_expected", 0, "truncated"), ("unanswered", None, "decoded")]
    assert [micros(value) for value in rows(found, "request_time")] == [None, 7407]


# states


@pytest.mark.parametrize(("first", "state"), [(CLIENT, "abandoned"), (SERVER, "unanswered")])
def test_what_waits_when_its_client_leaves_is_abandoned(twin: Twin, first: int, state: str) -> None:
    wire = opened()
    wire.exchange(heartbeat(1), ok(1))
    wire.send(CLIENT, heartbeat(2))
    wire.close(first)
    found = tables_of(twin, wire.packets)
    assert rows(found, "state") == ["answered", state]
    assert [found["counts"][0][name] for name in ("requests", "unanswered", "unseen")] == [2, int(first == SERVER), 0]


@pytest.mark.parametrize(("first", "state"), [(CLIENT, "abandoned"), (SERVER, "answered")])
def test_a_response_in_whose_middle_the_client_leaves_is_abandoned(twin: Twin, first: int, state: str) -> None:
    """A Heartbeat response of 10 bytes, of which 9 came: correlation id and half of the error code."""
    wire = opened()
    wire.send(CLIENT, heartbeat(1))
    if first == CLIENT:
        wire.send(CLIENT, flags=FIN | ACK)
    wire.send(SERVER, ok(1)[:9])
    wire.send(SERVER, flags=FIN | ACK)
    found = tables_of(twin, wire.packets)
    assert rows(found, "state", "response_bytes", "latency_us", "error_code") == [(state, 10, None, None)]
    assert rules(found) == [("frame_unfinished", None)]


def test_of_a_connection_without_its_server_no_answer_is_missing(twin: Twin) -> None:
    """The capture has one direction only: whether there were answers cannot be known."""
    wire = opened()
    wire.send(CLIENT, heartbeat(1))
    wire.send(CLIENT, produce(2, 0))
    wire.close()
    found = tables_of(twin, [packet for packet in wire.packets if packet.side == CLIENT])
    assert rows(found, "state") == ["unseen", "no_response_expected"]
    assert [found["counts"][0][name] for name in ("requests", "unanswered", "unseen", "one_way")] == [2, 0, 1, 1]


@pytest.mark.parametrize(("heard", "state"), [(False, "unseen"), (True, "unanswered")])
def test_more_requests_than_can_wait_are_unseen_while_the_server_is(twin: Twin, heard: bool, state: str) -> None:
    """The server's first response comes before or after the request that is one too many; it answers the first that is left."""
    wire = opened()
    wire.send(CLIENT, heartbeat(0))
    if heard:
        wire.send(SERVER, ok(0))
    for start in range(1, MAX_WAITING + 2, 512):
        wire.send(CLIENT, b"".join(heartbeat(number) for number in range(start, min(start + 512, MAX_WAITING + 2))))
    wire.send(SERVER, ok(MAX_WAITING + 1))
    found = tables_of(twin, wire.packets)
    states = dict(rows(found, "correlation_id", "state"))
    assert states[1] == state
    assert states[0] == ("answered" if heard else "unseen")
    assert states[2] == "unanswered"
    assert states[MAX_WAITING + 1] == "answered"


def test_a_response_to_nothing_is_a_row_of_its_own_that_no_file_counts(twin: Twin) -> None:
    wire = opened()
    wire.send(SERVER, ok(9))
    wire.exchange(heartbeat(1), ok(1))
    wire.send(SERVER, ok(1))
    found = tables_of(twin, wire.packets)
    columns = "state", "request_index", "correlation_id", "response_bytes", "packet_number", "stream_offset"
    assert rows(found, *columns) == [
        ("orphan_response", None, 9, 10, 4, 0),
        ("answered", 0, 1, 10, 5, 0),
        ("orphan_response", None, 1, 10, 7, 20),
    ]
    assert [micros(value) for value in rows(found, "response_time")] == [4938, 7407, 8641]
    assert found["counts"][0]["requests"] == 1
    # what came first is held for a request whose packets come late; once others are there it is known that there is none
    assert sorted(rules(found)) == [("response_repeated", None), ("response_unknown_correlation_id", None)]


def test_of_responses_behind_a_loss_it_is_not_said_that_nothing_asked_for_them(twin: Twin) -> None:
    """The request may be lost, or the response whose place it took."""
    for side in (CLIENT, SERVER):
        wire = opened()
        wire.exchange(heartbeat(1), ok(1))
        if side == CLIENT:
            wire.send(CLIENT, heartbeat(2), lost=True)
            wire.send(SERVER, ok(2))
            wire.exchange(heartbeat(3), ok(3))
        else:
            wire.send(CLIENT, heartbeat(2) + heartbeat(3))
            wire.send(SERVER, ok(2), lost=True)
            wire.send(SERVER, ok(3))
            wire.send(SERVER, ok(7))
        found = tables_of(twin, wire.packets)
        orphans = [row for row in found["requests"] if row["state"] == "orphan_response"]
        found_at = [(row["request_index"], row["correlation_id"], row["response_bytes"]) for row in orphans]
        assert found_at == [(None, 2 if side == CLIENT else 7, 10)]
        assert [micros(row["response_time"]) for row in orphans] == [7407 if side == CLIENT else 9876]
        assert rules(found) == []


@pytest.mark.parametrize("behind_a_loss", [False, True])
def test_an_orphan_whose_end_is_lost_has_no_time(twin: Twin, behind_a_loss: bool) -> None:
    wire = opened()
    if behind_a_loss:
        wire.send(CLIENT, heartbeat(9), lost=True)
    wire.send(SERVER, ok(9)[:9])
    wire.send(SERVER, ok(9)[9:], lost=True)
    wire.exchange(heartbeat(7), ok(8))
    found = tables_of(twin, wire.packets)
    orphans = [row for row in found["requests"] if row["state"] == "orphan_response"]
    found_at = [(row["correlation_id"], row["response_bytes"], micros(row["response_time"])) for row in orphans]
    assert found_at == [(9, 10, None), (8, 10, 7407)]


# error codes and refusals


def test_a_version_that_the_server_does_not_have_is_a_refusal(twin: Twin) -> None:
    """Error 35 is UNSUPPORTED_VERSION; the first request of each api and version is the one that is named."""
    wire = opened()
    for number in (1, 2):
        wire.exchange(heartbeat(number), ok(number, 35))
    found = tables_of(twin, wire.packets)
    assert rows(found, "error_code", "error_name") == [(35, "UNSUPPORTED_VERSION")] * 2
    assert refusals(found) == [(0, 12, 0, "unsupported_version")]


def test_api_versions_is_refused_once_a_connection_and_that_is_no_refusal_of_an_api(twin: Twin) -> None:
    """KIP-511: the answer to a version that is too new has the form of version 0, and the client asks again."""
    wire = opened()
    for number in (1, 2):
        wire.exchange(api_versions(number, 3), framed(number.to_bytes(4, "big") + b"\0\x23" + b"\0\0\0\1\0\x12\0\0\0\3"))
    wire.exchange(heartbeat(3), ok(3))
    found = tables_of(twin, wire.packets)
    assert rows(found, "error_code") == [35, 35, 0]
    assert rules(found) == [("api_versions_refused", 0)]
    assert refusals(found) == []
    assert found["fact advertised"] == []


@pytest.mark.parametrize(("answered", "expected"), [(0, [(0, 12, 0, "disconnected")]), (1, [(1, 12, 0, "disconnected")]), (2, [])])
def test_the_request_that_the_server_hung_up_on(twin: Twin, answered: int, expected: list[Any]) -> None:
    """The first that waits when the server ends the connection, once none behind it was answered."""
    wire = opened()
    wire.exchange(heartbeat(1) + heartbeat(2), b"".join(ok(number) for number in range(1, answered + 1)))
    wire.close(SERVER)
    assert refusals(tables_of(twin, wire.packets)) == expected


def test_a_request_that_may_have_been_answered_out_of_sight_was_not_refused(twin: Twin) -> None:
    wire = opened()
    wire.send(CLIENT, heartbeat(1) + heartbeat(2))
    wire.send(SERVER, ok(1) + ok(2), lost=True)
    wire.send(SERVER, flags=FIN | ACK)
    found = tables_of(twin, wire.packets)
    assert rows(found, "state") == ["unseen", "unseen"]
    assert refusals(found) == []


def test_an_answer_behind_it_shows_that_a_request_was_not_refused_before_it(twin: Twin) -> None:
    """Of more than can wait the first are given up; what is answered later is behind them."""
    wire = opened()
    for start in range(0, MAX_WAITING + 1, 17):
        wire.send(CLIENT, b"".join(heartbeat(number) for number in range(start, start + 17)))
    wire.send(SERVER, b"".join(ok(number) for number in range(1, MAX_WAITING + 1)))
    wire.close(SERVER)
    found = tables_of(twin, wire.packets)
    assert rows(found, "state").count("answered") == MAX_WAITING
    assert refusals(found) == []


def test_requests_of_an_unheard_server_are_not_refused(twin: Twin) -> None:
    wire = opened()
    wire.send(CLIENT, heartbeat(1))
    wire.close(SERVER)
    found = tables_of(twin, [packet for packet in wire.packets if packet.side == CLIENT])
    assert rows(found, "state") == ["unseen"]
    assert refusals(found) == []


def test_a_server_that_resets_the_connection_refuses_what_waits(twin: Twin) -> None:
    wire = opened()
    wire.send(CLIENT, metadata(1, b"t"))
    wire.send(SERVER, flags=RST | ACK)
    found = tables_of(twin, wire.packets)
    assert refusals(found) == [(0, 3, 1, "disconnected")]
    assert [(row["state"], row["closed_by"]) for row in found["connections"]] == [("reset", "server")]


def test_of_several_error_codes_the_first_that_is_not_0_counts(twin: Twin) -> None:
    """OffsetCommit v0 answers a partition at a time: partitions 0, 1 and 2 of topic `t` with 0, 27 and 25."""
    request = framed(head(8, 0, 1) + b"\0\1g" + bytes(4))
    partitions = b"".join(number.to_bytes(4, "big") + code.to_bytes(2, "big") for number, code in enumerate((0, 27, 25)))
    wire = opened()
    wire.exchange(request, framed(b"\0\0\0\1" + b"\0\0\0\1\0\1t\0\0\0\3" + partitions))
    found = tables_of(twin, wire.packets)
    assert rows(found, "error_code", "error_name") == [(27, "REBALANCE_IN_PROGRESS")]


def test_a_failure_inside_a_response_counts_where_the_whole_has_none(twin: Twin) -> None:
    """Fetch v7: throttle time, error code, session; partition 0 of `a` is well, partition 1 of `a` and 0 of `b` are not."""
    partition = b"%b" + bytes(24) + bytes(4) + b"\xff\xff\xff\xff"
    ends = [number.to_bytes(4, "big") + partition.replace(b"%b", code.to_bytes(2, "big")) for number, code in ((0, 0), (1, 6), (0, 3))]
    topics = b"\0\0\0\2" + b"\0\1a\0\0\0\2" + ends[0] + ends[1] + b"\0\1b\0\0\0\1" + ends[2]
    request = bytes(17) + b"\xff\xff\xff\xff" * 3 + bytes(4)
    wire = opened()
    for number, top in enumerate((b"\0\0", b"\0\x47"), 1):
        wire.send(CLIENT, framed(head(1, 7, number) + b"\xff\xff\xff\xff" + request))
        wire.send(SERVER, framed(number.to_bytes(4, "big") + bytes(4) + top + bytes(4) + topics))
    found = tables_of(twin, wire.packets)
    assert rows(found, "error_code", "error_name") == [(6, "NOT_LEADER_OR_FOLLOWER"), (71, "INVALID_FETCH_SESSION_EPOCH")]


def test_of_a_cut_response_a_code_counts_if_no_unseen_byte_can_change_it(twin: Twin) -> None:
    """OffsetCommit v0 to partitions that failed, and that did not before the cut; Heartbeat v1 has its throttle time first, then its code.

    Of LeaveGroup v3, a member that left before the cut says nothing of the next one; a code of the whole does.
    """
    wire = opened()
    for number, code in ((1, b"\0\x1b"), (2, b"\0\0")):
        wire.send(CLIENT, framed(head(8, 0, number) + b"\0\1g" + bytes(4)))
        partitions = b"\0\0\0\0" + code + b"\0\0\0\1\0\x1b"
        wire.send(SERVER, framed(number.to_bytes(4, "big") + b"\0\0\0\1\0\1t\0\0\0\2" + partitions), kept=29)
    for number, kept in ((3, 14), (4, 12), (5, 11)):
        wire.send(CLIENT, framed(head(12, 1, number) + b"\0\2g1" + bytes(4) + b"\0\1m"))
        wire.send(SERVER, framed(number.to_bytes(4, "big") + b"\0\0\0\7\0\x1b"), kept=kept)
    for number, code in ((6, b"\0\0"), (7, b"\0\x10")):
        wire.send(CLIENT, framed(head(13, 3, number) + b"\0\1g" + bytes(4)))
        member = b"\0\1m\xff\xff\0\0"
        wire.send(SERVER, framed(number.to_bytes(4, "big") + bytes(4) + code + b"\0\0\0\2" + member * 2), kept=25)
    found = tables_of(twin, wire.packets)
    expected = [(27, None), (None, None), (27, 7), (None, 7), (None, None), (None, 0), (16, 0)]
    assert rows(found, "error_code", "throttle_time_ms") == expected


@pytest.mark.parametrize("code", [2, 76, 87])
def test_a_broker_that_refuses_a_batch_says_so(twin: Twin, code: int) -> None:
    """CORRUPT_MESSAGE, UNSUPPORTED_COMPRESSION_TYPE, INVALID_RECORD; Produce v3: partition 0 of `t`, base offset, log append time."""
    wire = opened()
    wire.send(CLIENT, produce(1, 1))
    answer = b"\0\0\0\1\0\1t\0\0\0\1" + bytes(4) + code.to_bytes(2, "big") + bytes(16) + bytes(4)
    wire.send(SERVER, framed(b"\0\0\0\1" + answer))
    found = tables_of(twin, wire.packets)
    assert rows(found, "error_code") == [code]
    assert rules(found) == [("batch_refused", 0)]


def test_a_correlation_id_below_0_is_legal_and_rare(twin: Twin) -> None:
    wire = opened()
    wire.exchange(heartbeat(-7), ok(-7))
    found = tables_of(twin, wire.packets)
    assert rows(found, "correlation_id", "state") == [(-7, "answered")]
    assert rules(found) == [("correlation_id_negative", 0)]
