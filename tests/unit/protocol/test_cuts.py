"""One chunk, any pieces, either twin, pickled in between: the same events and the same summary, whatever the bytes are."""

from __future__ import annotations

import pickle
from typing import Literal, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_bytes import framed, head
from kwire.protocol import Connection, DirectionDetector, Event, RequestCompleted
from kwire.protocol.events import ConnectionSummary
from kwire.protocol.tracking.connection import Connection as PureConnection

IDS = st.integers(0, 3)
REQUESTS = st.one_of(
    IDS.map(lambda number: framed(head(12, 0, number) + b"\0\2g1" + bytes(4) + b"\0\1m")),
    IDS.map(lambda number: framed(head(18, 0, number))),
    IDS.map(lambda number: framed(head(18, 4, number) + b"\0\4kgo\3v1\0")),
    IDS.map(
        lambda number: framed(head(0, 3, number) + b"\xff\xff\0\0" + bytes(4) + b"\0\0\0\1\0\1t\0\0\0\1" + bytes(4) + b"\xff\xff\xff\xff")
    ),
    IDS.map(lambda number: framed(head(3, 1, number) + b"\xff\xff\xff\xff")),
    IDS.map(lambda number: framed(head(12, 4, number, b"app-2") + b"\0\3g1" + bytes(4) + b"\2m\0\0")),
    st.tuples(IDS, st.integers(0, 1)).map(lambda it: framed(head(0, 9, it[0]) + b"\0\0\0" + bytes([it[1]]) + bytes(4) + b"\1\0")),
    IDS.map(lambda number: framed(head(17, 0, number) + b"\0\5PLAIN")),
    st.just(framed(b"\0alice\0pw")),
    st.just(framed(b"")),
    st.sampled_from(
        [bytes.fromhex("fffffffe"), b"PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n", b"GET / HTTP/1.1\r\n", b"\x16\x03\x01\0\x05\1\0\0\1\0"]
    ),
    st.binary(max_size=40).map(framed),
    st.binary(max_size=40),
)
RESPONSES = st.one_of(
    IDS.map(lambda number: framed(number.to_bytes(4, "big") + b"\0\0")),
    IDS.map(lambda number: framed(number.to_bytes(4, "big") + b"\0\0\0\0\0\1\0\x12\0\0\0\4")),
    IDS.map(lambda number: framed(number.to_bytes(4, "big") + b"\0\x23\0\0\0\1\0\x12\0\0\0\4")),
    IDS.map(lambda number: framed(number.to_bytes(4, "big") + b"\0\0\0\0" + b"\0\0\0\1" + b"\0\0\0\0")),
    st.just(framed(b"")),
    st.just(b"HTTP/1.1 400 Bad\r\n"),
    st.binary(max_size=40),
)


class Step(NamedTuple):
    """Bytes of a direction, of which `lost` are missing from `at` on; or the end of the direction."""

    direction: Literal["request", "response"]
    data: bytes
    at: int
    lost: int
    end: int  # 0 no, 1 FIN, 2 RST


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    drawn = []
    for _ in range(draw(st.integers(1, 12))):
        direction = draw(st.sampled_from(("request", "response")))
        frames = draw(st.lists(REQUESTS if direction == "request" else RESPONSES, min_size=1, max_size=3))
        data = b"".join(frames)
        lost = draw(st.one_of(st.just(0), st.just(0), st.integers(0, len(data))))
        at = draw(st.integers(0, len(data) - lost))
        drawn.append(Step(direction, data, at, lost, draw(st.sampled_from((0, 0, 0, 0, 0, 0, 1, 2)))))
    return drawn


def play(tracked: Connection | DirectionDetector, script: list[Step], sizes: list[int] | None) -> tuple[list[Event], ConnectionSummary]:
    """Feed a script; with `sizes` in pieces of these sizes, pickled after every third piece."""
    events: list[Event] = []
    pieces = 0

    def receive(direction: str, data: bytes, t: int) -> None:
        nonlocal tracked, pieces
        at = 0
        while at < len(data):
            size = len(data) if sizes is None else sizes[pieces % len(sizes)]
            pieces += 1
            chunk = data[at : at + size]
            at += size
            if isinstance(tracked, DirectionDetector):
                events.extend(tracked.receive(0 if direction == "request" else 1, chunk, t, t))
            elif direction == "request":
                events.extend(tracked.receive_request_bytes(chunk, t, t))
            else:
                events.extend(tracked.receive_response_bytes(memoryview(chunk), t, t))
            if sizes is not None and pieces % 3 == 0:
                tracked = pickle.loads(pickle.dumps(tracked))

    for t, step in enumerate(script):
        receive(step.direction, step.data[: step.at], t)
        if step.lost:
            if isinstance(tracked, DirectionDetector):
                events.extend(tracked.lost(0 if step.direction == "request" else 1, step.lost, t, t))
            else:
                events.extend(tracked.lost(step.direction, step.lost, t, t))
        receive(step.direction, step.data[step.at + step.lost :], t)
        if step.end:
            if isinstance(tracked, DirectionDetector):
                events.extend(tracked.closed(0 if step.direction == "request" else 1, step.end == 2, t, t))
            else:
                events.extend(tracked.closed(step.direction, step.end == 2, t, t))
    events.extend(tracked.finish(len(script)))
    return events, tracked.summary()


@settings(max_examples=min(70, settings.default.max_examples), deadline=None)
@given(steps(), st.booleans(), st.sampled_from((None, (), (0, 3))), st.lists(st.integers(1, 30), min_size=1, max_size=8))
def test_a_connection_does_not_see_the_pieces(
    script: list[Step], joined_late: bool, bodies: tuple[int, ...] | None, sizes: list[int]
) -> None:
    whole = play(Connection(joined_late, bodies=bodies), script, None)
    assert play(Connection(joined_late, bodies=bodies), script, sizes) == whole
    assert play(Connection(joined_late, bodies=bodies), script, [1]) == whole
    assert play(PureConnection(joined_late, bodies=bodies), script, sizes) == whole
    indexes = [event.request_index for event in whole[0] if isinstance(event, RequestCompleted) and event.state != "orphan_response"]
    assert sorted(indexes) == list(range(whole[1].requests))


@settings(max_examples=min(40, settings.default.max_examples), deadline=None)
@given(steps(), st.lists(st.integers(1, 30), min_size=1, max_size=8))
def test_a_conversation_does_not_see_the_pieces(script: list[Step], sizes: list[int]) -> None:
    assert play(DirectionDetector(40000, 9092), script, sizes) == play(DirectionDetector(40000, 9092), script, None)
