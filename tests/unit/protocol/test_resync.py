"""Finding borders again: what is believed, what is not, and how much work it may be."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_bytes import framed, head
from kwire.protocol import Connection, RequestCompleted
from kwire.protocol.tracking import frames as frames_module
from kwire.protocol.tracking.frames import Frame, FrameSplitter
from kwire.protocol.tracking.resync import RequestJudge


def heartbeat(correlation_id: int) -> bytes:
    return framed(head(12, 0, correlation_id) + b"\0\1g" + bytes(4) + b"\0\1m")


def produce(correlation_id: int, records: bytes) -> bytes:
    body = b"\xff\xff\0\1" + bytes(4) + b"\0\0\0\1\0\1t\0\0\0\1" + bytes(4) + framed(records)
    return framed(head(0, 3, correlation_id) + body)


def found(data: bytes, step: int = 1 << 20) -> list[int]:
    splitter, judge = FrameSplitter(seeking=True), RequestJudge()
    offsets = []
    for at in range(0, len(data), step):
        offsets += [frame.offset for frame in splitter.feed(data[at : at + step], 0, 0, judge) if isinstance(frame, Frame)]
    return offsets


@pytest.mark.parametrize("step", [1 << 20, 100, 1])
@pytest.mark.parametrize("tail", [b"", b"x", produce(1, b"r" * 300)[50:], bytes(64), bytes.fromhex("000003ff 0003 0001 00000001 0004")])
def test_the_first_whole_request_is_found_behind_any_tail(tail: bytes, step: int) -> None:
    data = tail + heartbeat(1) + produce(2, b"records") + heartbeat(3)
    assert found(data, step) == [len(tail), len(tail) + len(heartbeat(1)), len(data) - len(heartbeat(3))]


@pytest.mark.parametrize(
    "data",
    [
        framed(head(12, 0, 1) + b"\0\1g" + bytes(4) + b"\0\1mx"),  # a byte too many
        framed(head(12, 0, 1) + b"\0\1g" + bytes(4) + b"\0\2m"),  # a byte too few
        framed(head(12, 9, 1) + b"\0\1g" + bytes(4) + b"\0\1m"),  # a version that no release has
        framed(head(120, 0, 1)),  # an api that no release has
        framed(head(18, 0, 1, b"\xff\xfe")),  # a client id that is not UTF-8
        b"\0" * 500,
    ],
)
def test_what_does_not_read_to_its_last_byte_is_not_believed(data: bytes) -> None:
    assert found(data) == []


@pytest.mark.parametrize("step", [1 << 20, 1])
@pytest.mark.parametrize("client_id", [b"rdkafka", b"x" * 45, b"x" * 49, b"x" * 55, b"x" * 300])
def test_api_versions_of_old_librdkafka_is_found(client_id: bytes, step: int) -> None:
    """Up to 1.0 it writes an array of no api keys behind the header: rdkafka_request.c, rd_kafka_ApiVersionRequest."""
    request = framed(head(18, 0, 1, client_id) + bytes(4))
    assert found(b"tail" + request + heartbeat(2), step) == [4, 4 + len(request)]
    for other in (bytes(3), bytes(5), b"\0\0\0\1", b"\xff\xff\xff\xff"):
        assert found(b"tail" + framed(head(18, 0, 1, client_id) + other), step) == []


def test_a_late_join_begins_with_api_versions_of_old_librdkafka() -> None:
    connection = Connection(joined_late=True)
    events = connection.receive_request_bytes(b"tail" + framed(head(18, 0, 1, b"rdkafka") + bytes(4)), 1)
    events += connection.receive_response_bytes(framed(b"\0\0\0\1" + bytes(6)), 2)
    rows = [event for event in events if isinstance(event, RequestCompleted)]
    assert [(row.api_key, row.api_version, row.client_id, row.state) for row in rows] == [(18, 0, "rdkafka", "answered")]


@pytest.mark.parametrize("step", [1 << 20, 1448])
def test_a_long_frame_is_believed_by_its_beginning(step: int) -> None:
    data = b"tail" + produce(1, b"r" * 200_000) + heartbeat(2)
    assert found(data, step) == [4, len(data) - len(heartbeat(2))]


def test_a_long_frame_with_a_long_client_id() -> None:
    body = b"\xff\xff\0\1" + bytes(4) + b"\0\0\0\1\0\1t\0\0\0\1" + bytes(4) + framed(b"r" * 100_000)
    named, nameless = (b"tail" + framed(head(0, 3, 1, client_id) + body) for client_id in (b"c" * 900, b"\x01\x02"))
    for step in (1000, 1 << 20):
        assert found(named + heartbeat(2), step) == [4, len(named)]
        # for long nothing but a length and an odd name speaks for it, so it is not believed, not even when it is there as a whole
        assert found(nameless + heartbeat(2), step) == [len(nameless)]


def test_made_up_candidates_cost_bounded_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames_module, "MAX_CANDIDATES", 50)
    asked = 0
    judge_of = RequestJudge.judge

    def counted(self: Any, data: bytes, start: int) -> int:
        nonlocal asked
        asked += 1
        return judge_of(self, data, start)

    monkeypatch.setattr(RequestJudge, "judge", counted)
    assert found(bytes.fromhex("0000000c 0003 0001 00000001 0004") * 1000 + heartbeat(1)) == []
    assert asked == 50


def test_a_response_is_believed_when_it_answers_a_waiting_request() -> None:
    connection = Connection()
    connection.receive_request_bytes(framed(head(18, 4, 7) + b"\0\2a\2b\0") + heartbeat(8), 0)
    connection.lost("response", 11, 0)
    refusal = framed((7).to_bytes(4, "big") + bytes.fromhex("0023 00000001 0012 0000 0003"))
    not_asked = framed((9).to_bytes(4, "big") + b"\0\0")
    events = connection.receive_response_bytes(b"tail" + not_asked + refusal + framed((8).to_bytes(4, "big") + b"\0\0"), 0)
    assert [(row.correlation_id, row.state, row.error_code) for row in events if isinstance(row, RequestCompleted)] == [
        (7, "answered", 35), (8, "answered", 0),
    ]  # fmt: skip
