"""Connections in the rows that each twin makes of hand-made packets: how they begin and end, which end is the server, what was not seen."""

from __future__ import annotations

import pytest

from kafka_bytes import api_versions, framed, heartbeat, ok, produce
from kwire.capture.packet_columns import ACK, FIN, RST, SYN
from kwire.codec.impl import Twin
from made_packets import CLIENT, SERVER, Packet, Wire, opened
from read_by_twins import Tables, connection, refusals, rows, tables_of


def rules(tables: Tables) -> list[str]:
    return [row["rule"] for row in tables.get("violations", [])]


def only(packets: list[Packet], side: int) -> list[Packet]:
    return [packet for packet in packets if packet.side == side]


# beginnings


def test_a_connection_without_the_servers_syn_begins_late_on_that_side(twin: Twin) -> None:
    """SYN-ACK and the first 6 bytes of the first response are missing: where a response begins has to be found."""
    wire = Wire()
    wire.send(CLIENT, flags=SYN)
    wire.send(SERVER, flags=SYN | ACK, lost=True)
    wire.send(CLIENT, heartbeat(1) + heartbeat(2))
    wire.send(SERVER, ok(1)[:6], lost=True)
    wire.send(SERVER, ok(1)[6:] + ok(2))
    found = tables_of(twin, wire.packets)
    assert rows(found, "correlation_id", "state") == [(1, "unseen"), (2, "answered")]
    assert rules(found) == []


@pytest.mark.parametrize("ports", [(), (9092,)])
def test_a_late_join_may_begin_inside_a_request(twin: Twin, ports: tuple[int, ...]) -> None:
    """Of its 28 bytes 19 are there, which are opaque, and so are the 10 of its response, for the request was not seen."""
    wire = Wire()
    wire.exchange(heartbeat(1)[9:] + heartbeat(2), ok(1) + ok(2))
    wire.exchange(heartbeat(3), ok(3))
    found = tables_of(twin, wire.packets, ports)
    assert rows(found, "correlation_id", "state")[-2:] == [(2, "answered"), (3, "answered")]
    assert connection(found, "state", "identity_source", "software_name", "server_port") == ["joined_late", "not_observed", None, 9092]
    assert [found["counts"][0][name] for name in ("joined_late", "bytes_opaque")] == [1, 29]
    assert rules(found) == []


def test_where_both_ports_are_kafkas_the_bytes_say_which_end_is_the_server(twin: Twin) -> None:
    """A broker at 9092 asks one at 40000; of the connection's beginning nothing is there."""
    wire = Wire()
    wire.send(SERVER, heartbeat(1) + heartbeat(2))
    wire.send(CLIENT, ok(1) + ok(2))
    found = tables_of(twin, wire.packets, (9092, 40000))
    assert connection(found, "server_port", "client_port") == [40000, 9092]
    assert rows(found, "state") == ["answered", "answered"]


def test_a_frame_begins_in_the_packet_of_its_first_byte(twin: Twin) -> None:
    """The length of the first one comes in two packets, 4 and 5; the second one begins in packet 6, which ends the first."""
    wire = opened()
    wire.send(CLIENT, heartbeat(1)[:2])
    wire.send(CLIENT, heartbeat(1)[2:4])
    wire.send(CLIENT, heartbeat(1)[4:] + heartbeat(2)[:2])
    wire.exchange(heartbeat(2)[2:], ok(1) + ok(2))
    found = tables_of(twin, wire.packets)
    assert rows(found, "packet_number", "stream_offset", "latency_us") == [(4, 0, 2469), (6, 28, 1234)]


@pytest.mark.parametrize("first", [7000, 0xF0000000])
def test_a_keepalive_probe_is_no_byte_of_a_direction_whose_beginning_is_missing(twin: Twin, first: int) -> None:
    """RFC 1122, 4.2.3.6: one byte before what the other side has acknowledged; the acknowledgements are all that is known of it."""
    wire = Wire(first=(first, 9000))
    wire.send(CLIENT, flags=SYN)
    wire.send(SERVER, flags=SYN | ACK, lost=True)
    wire.send(CLIENT)
    wire.send(CLIENT, heartbeat(1))
    wire.numbers[SERVER] -= 1
    wire.send(SERVER, b"\0")
    wire.send(SERVER, ok(1))
    found = tables_of(twin, wire.packets)
    assert rows(found, "state") == ["answered"]
    assert connection(found, "response_bytes", "gaps", "retransmissions") == [10, 0, 0]
    assert found["counts"][0]["bytes_opaque"] == 0


# ends


@pytest.mark.parametrize(
    ("flags", "state", "closed_by"),
    [
        ([], "open", None),
        ([(CLIENT, FIN)], "open", "client"),
        ([(SERVER, FIN)], "open", "server"),
        ([(CLIENT, FIN), (SERVER, FIN)], "complete", "client"),
        ([(SERVER, FIN), (CLIENT, FIN)], "complete", "server"),
        ([(CLIENT, RST)], "reset", "client"),
        ([(CLIENT, FIN), (SERVER, RST)], "reset", "client"),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_how_a_connection_ended(twin: Twin, flags: list[tuple[int, int]], state: str, closed_by: str | None, late: bool) -> None:
    """Of one that the capture joined late that comes first."""
    wire = Wire() if late else opened()
    wire.exchange(heartbeat(1), ok(1))
    for side, flag in flags:
        wire.send(side, flags=flag | ACK)
    assert connection(tables_of(twin, wire.packets), "state", "closed_by") == ["joined_late" if late else state, closed_by]


def test_what_is_lost_of_a_direction_that_is_not_there_is_no_gap(twin: Twin) -> None:
    """The client's acknowledgements say that the server sent 10 bytes twice; a gap of the client's own counts."""
    wire = opened()
    wire.exchange(heartbeat(1), ok(1))
    wire.send(CLIENT, heartbeat(2), lost=True)
    wire.send(SERVER, ok(2))
    wire.send(CLIENT, heartbeat(3))
    wire.close()
    assert connection(tables_of(twin, only(wire.packets, CLIENT)), "gaps", "request_frames", "response_frames") == [1, 2, 0]
    whole = tables_of(twin, wire.packets)
    assert connection(whole, "gaps", "request_frames", "response_frames") == [1, 2, 2]
    assert [whole["counts"][0][name] for name in ("one_way", "bytes_lost")] == [0, 28]
    # its SYN-ACK says where the client's bytes begin, so what it acknowledges of them was sent
    servers = tables_of(twin, only(wire.packets, SERVER), (9092,))
    assert connection(servers, "gaps", "request_frames", "response_frames") == [0, 0, 2]
    assert [servers["counts"][0][name] for name in ("one_way", "bytes_lost")] == [1, 0]


# what the server refused


def test_a_silent_request_behind_one_that_was_answered_may_be_what_the_server_hung_up_on(twin: Twin) -> None:
    """The answer is to the request before it, so it says nothing of this one."""
    wire = opened()
    wire.exchange(heartbeat(1) + produce(2, 0), ok(1))
    wire.close(SERVER)
    assert refusals(tables_of(twin, wire.packets)) == [(1, 0, 3, "disconnected")]


def test_an_orphan_was_not_refused(twin: Twin) -> None:
    """It is a response: no request that the server could have hung up on, and no answer to one either."""
    for silent, expected in ((b"", []), (produce(2, 0), [(1, 0, 3, "disconnected")])):
        wire = opened()
        wire.exchange(heartbeat(1) + silent, ok(1) + ok(9))
        wire.close(SERVER)
        found = tables_of(twin, wire.packets)
        assert [state for state in rows(found, "state") if state != "no_response_expected"] == ["answered", "orphan_response"]
        assert refusals(found) == expected
        assert [found["counts"][0][name] for name in ("requests", "unanswered", "unseen")] == [1 + bool(silent), 0, 0]


def test_api_versions_that_is_refused_out_of_order_is_no_refusal_of_an_api(twin: Twin) -> None:
    wire = opened()
    wire.exchange(api_versions(1, 3) + heartbeat(2) + heartbeat(3), ok(2, 35))
    wire.send(SERVER, framed(b"\0\0\0\1" + b"\0\x23" + b"\0\0\0\1\0\x12\0\0\0\3"))
    wire.send(SERVER, ok(3))
    found = tables_of(twin, wire.packets)
    assert rows(found, "error_code") == [35, 35, 0]
    assert sorted(rules(found)) == ["api_versions_refused", "response_out_of_order"]
    assert refusals(found) == [(1, 12, 0, "unsupported_version")]


# borders that are searched for


def test_what_stands_before_a_frame_whose_end_is_lost_is_opaque(twin: Twin) -> None:
    """12 bytes of another frame, then 20 of the 28 of a request; the loss ends where that request ends."""
    wire = Wire()
    wire.send(CLIENT, b"\xff" * 12 + heartbeat(1)[:20])
    wire.send(CLIENT, heartbeat(1)[20:], lost=True)
    wire.exchange(heartbeat(2) + heartbeat(3), ok(2) + ok(3))
    found = tables_of(twin, wire.packets, (9092,))
    assert rows(found, "correlation_id", "body") == [(1, "truncated"), (2, "decoded"), (3, "decoded")]
    assert rows(found, "state") == ["unseen", "answered", "answered"]
    assert found["counts"][0]["bytes_opaque"] == 12


def test_a_response_is_searched_for_among_the_first_requests_that_wait(twin: Twin) -> None:
    """256 ids; that of the 257th request says nothing where nothing else does, so its response is found by the one behind it."""
    for position, found_at in ((256, 0), (257, 10)):
        wire = opened()
        for start in range(0, 300, 50):
            wire.send(CLIENT, b"".join(heartbeat(1000 + number) for number in range(start, start + 50)))
        wire.send(SERVER, ok(1000)[:2])
        wire.send(SERVER, ok(1000)[2:], lost=True)
        wire.send(SERVER, ok(1000 + position - 1) + ok(1001))
        found = tables_of(twin, wire.packets)
        assert found["counts"][0]["bytes_opaque"] == 2 + found_at
        assert dict(rows(found, "correlation_id", "state"))[1000 + position - 1] == ("answered" if position == 256 else "unseen")
