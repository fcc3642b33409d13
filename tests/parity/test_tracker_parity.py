"""The compiled tracker says what the readable one says: event for event and in its summary, on captures and on made-up traffic."""

from __future__ import annotations

import gzip
import io
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.capture.carry import SeriesCarry
from kwire.capture.reader import finish_series, read_piece
from kwire.capture.tcp import TcpConnection
from kwire.codec.impl import load_twin
from kwire.protocol.events import RequestCompleted, ViolationFound
from kwire.protocol.tracking.connection import Connection as PureConnection
from kwire.protocol.tracking.pairing import MAX_WAITING, ORDINARY_TEXT

TESTS = Path(__file__).parents[1]
CAPTURES = [*sorted((TESTS / "captures" / "data").glob("*.pcap*.gz")), TESTS.parent / "examples" / "upgrade-fleet.pcap.gz"]
BODIES = st.sampled_from(((), (3,), (0, 12), None))


@pytest.fixture(scope="module")
def native() -> Callable[..., Any]:
    return load_twin("protocol", "tracker", "native").Connection


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def head(key: int, version: int, correlation_id: int) -> bytes:
    return key.to_bytes(2, "big") + version.to_bytes(2, "big") + correlation_id.to_bytes(4, "big") + b"\0\3app"


@st.composite
def exchanges(draw: st.DrawFn) -> list[tuple[bool, bytes]]:
    """Requests and what answers them, as a client with several in flight has it; now and then an answer that does not fit."""
    sent: list[int] = []
    made: list[tuple[bool, bytes]] = []
    for number in range(draw(st.integers(1, 25))):
        name = draw(st.sampled_from(("app", "app", "app", "app-2", "", "né", "x" * (ORDINARY_TEXT + 1))))
        kind = draw(st.integers(0, 9))
        text = name.encode()
        plain = number.to_bytes(4, "big") + len(text).to_bytes(2, "big") + text
        if kind < 5:
            made.append((True, framed(b"\0\x0c\0\0" + plain + b"\0\2g1" + bytes(4) + b"\0\1m")))
            sent.append(number)
        elif kind == 5:
            acks = draw(st.sampled_from((0, 1, 0xFFFF)))
            body = b"\0\3abc" + acks.to_bytes(2, "big") + bytes(4) + b"\0\0\0\0"
            made.append((True, framed(b"\0\0\0\3" + plain + body)))
            sent += [number] if acks else []
        elif kind == 6:
            made.append((True, framed(b"\0\x12\0\3" + plain + b"\0\4kgo\3v1\0")))
            sent.append(number)
        elif kind == 7:
            made.append((True, framed(head(5000, 1, number))))  # an api that nobody knows
            sent.append(number)
        else:
            made.append((True, framed(b"\0\1\0\x0c" + plain + bytes(1) + draw(st.binary(max_size=90)))))
            sent.append(number)
        while sent and draw(st.booleans()):
            fits = draw(st.integers(0, 12))
            number_of = sent.pop(0) if fits else 77
            made.append((False, framed(number_of.to_bytes(4, "big") + draw(st.binary(max_size=120)))))
    return made


@settings(deadline=None)
@given(exchanges(), BODIES, st.lists(st.integers(1, 200), min_size=1, max_size=6), st.integers(0, 3))
def test_any_exchanges_in_any_pieces(
    native: Callable[..., Any], made: list[tuple[bool, bytes]], bodies: tuple[int, ...] | None, sizes: list[int], lost: int
) -> None:
    twins = [native(bodies=bodies), PureConnection(bodies=bodies)]
    said: list[list[Any]] = [[], []]
    for index, twin in enumerate(twins):
        pieces = 0
        for at, (is_request, data) in enumerate(made):
            start = 0
            while start < len(data):
                size = sizes[pieces % len(sizes)]
                pieces += 1
                chunk, start = data[start : start + size], start + size
                if lost and pieces % 37 == 0:
                    said[index] += twin.lost("request" if is_request else "response", len(chunk), at)
                    continue
                said[index] += (twin.receive_request_bytes if is_request else twin.receive_response_bytes)(chunk, at * 1000, pieces)
            if at % 5 == 4:
                said[index].append(twin.summary())
            if at % 7 == 6:
                twin = pickle.loads(pickle.dumps(twin))
        said[index] += twin.finish(10**9)
        said[index].append(twin.summary())
    assert said[0] == said[1]


def same(native: list[Any], pure: list[Any]) -> bool:
    """Whether both say the same; a metric that is no number is not equal to itself, but looks the same."""
    return native == pure or repr(native) == repr(pure)


class BothTwins:
    """Gives what a capture holds to both twins, connection by connection."""

    def __init__(self, native: Callable[..., Any], bodies: tuple[int, ...] | None) -> None:
        self.make: tuple[Callable[..., Any], ...] = native, PureConnection
        self.bodies = bodies
        self.twins: dict[tuple[bytes, int], tuple[int, list[Any]]] = {}
        self.events = 0
        self.skipped = 0

    def _of(self, connection: TcpConnection) -> tuple[int, list[Any]]:
        key = connection.key, connection.n
        if key not in self.twins:
            client = connection.opened_by
            late = client is None
            if client is None:
                client = 0 if connection.a.port > connection.b.port else 1
            self.twins[key] = client, [make(late, bodies=self.bodies) for make in self.make]
        return self.twins[key]

    def _equal(self, events: list[list[Any]]) -> None:
        assert same(*events)
        self.events += len(events[0])
        self.skipped += sum(isinstance(event, RequestCompleted) and event.body == "skipped" for event in events[0])

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        self._of(connection)

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        client, twins = self._of(connection)
        name = "receive_request_bytes" if direction == client else "receive_response_bytes"
        self._equal([getattr(twin, name)(data, time_ns, packet) for twin in twins])

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        client, twins = self._of(connection)
        self._equal([twin.lost("request" if direction == client else "response", count, time_ns, packet, cut=cut) for twin in twins])

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        client, twins = self._of(connection)
        self._equal([twin.closed("request" if direction == client else "response", reset, time_ns, packet) for twin in twins])

    def ended(self, connection: TcpConnection) -> None:
        _, twins = self._of(connection)
        self._equal([twin.finish(connection.last_ns) for twin in twins])
        assert twins[0].summary() == twins[1].summary()


class OneTwin(BothTwins):
    """Gives it to the compiled twin alone."""

    def __init__(self, native: Callable[..., Any], bodies: tuple[int, ...] | None) -> None:
        super().__init__(native, bodies)
        self.make = (native,)

    def _equal(self, events: list[list[Any]]) -> None: ...

    def ended(self, connection: TcpConnection) -> None:
        _, twins = self._of(connection)
        twins[0].finish(connection.last_ns)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name.split(".")[0])
@pytest.mark.parametrize("bodies", [(), (1, 3, 11), None], ids=["none", "some", "all"])
def test_captures(native: Callable[..., Any], path: Path, bodies: tuple[int, ...] | None) -> None:
    sink = BothTwins(native, bodies)
    carry = SeriesCarry()
    read_piece(io.BytesIO(gzip.decompress(path.read_bytes())), carry, sink)
    finish_series(carry, sink)
    assert sink.twins
    if path.name.startswith(("upgrade-fleet", "sasl", "groups", "topicids", "telemetry")):
        assert sink.skipped > 50 or bodies is None


@pytest.mark.parametrize("bodies", [(), (1, 3, 11), None], ids=["none", "some", "all"])
def test_few_frames_are_left_to_python(native: Callable[..., Any], bodies: tuple[int, ...] | None) -> None:
    """Else both twins would agree for want of a second one. The connections of this capture are the longest ones."""
    left: list[str] = []

    def called(frame: Any, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name in ("request", "_answered", "_orphan") and code.co_filename.endswith("exchange.py"):
            left.append(code.co_name)

    sink = OneTwin(native, bodies)
    carry = SeriesCarry()
    data = gzip.decompress((TESTS / "captures" / "data" / "groups.pcapng.gz").read_bytes())
    sys.setprofile(called)
    try:
        read_piece(io.BytesIO(data), carry, sink)
        finish_series(carry, sink)
    finally:
        sys.setprofile(None)
    summaries = [twins[0].summary() for _, twins in sink.twins.values()]
    frames = sum(each.request_frames + each.response_frames for each in summaries)
    openings = sum((each.request_frames > 0) + (each.response_frames > 0) for each in summaries)
    assert frames > 1000
    assert 0 < len(left) < openings + frames // 50


@pytest.mark.parametrize("bodies", [(), None], ids=["passed over", "read"])
def test_a_flood_of_requests_is_given_up_alike(native: Callable[..., Any], bodies: tuple[int, ...] | None) -> None:
    first, *flood = (framed(head(12, 0, number) + b"\0\2g1" + bytes(4) + b"\0\1m") for number in range(MAX_WAITING + 5))
    said = [
        twin.receive_request_bytes(first, 1) + twin.receive_request_bytes(b"".join(flood), 1) + twin.finish(2)
        for twin in (native(bodies=bodies), PureConnection(bodies=bodies))
    ]
    assert said[0] == said[1]
    assert sum(isinstance(event, RequestCompleted) for event in said[0]) == MAX_WAITING + 5


@pytest.mark.parametrize("bodies", [(), None], ids=["passed over", "read"])
@pytest.mark.parametrize("length", [b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\x09"])
def test_lengths_that_cannot_be(native: Callable[..., Any], length: bytes, bodies: tuple[int, ...] | None) -> None:
    good = framed(head(12, 0, 1) + b"\0\2g1" + bytes(4) + b"\0\1m")
    said = [
        twin.receive_request_bytes(good, 1) + twin.receive_request_bytes(good + length + good, 1) + twin.finish(2)
        for twin in (native(bodies=bodies), PureConnection(bodies=bodies))
    ]
    assert said[0] == said[1]
    assert any(isinstance(event, ViolationFound) for event in said[0])


def test_what_is_no_buffer_is_refused(native: Callable[..., Any]) -> None:
    with pytest.raises(TypeError):
        native(bodies=()).receive_request_bytes("text", 1)


@pytest.mark.parametrize("bodies", [(), None], ids=["passed over", "read"])
def test_times_of_64_bits_are_taken(native: Callable[..., Any], bodies: tuple[int, ...] | None) -> None:
    good = framed(head(12, 0, 1) + b"\0\2g1" + bytes(4) + b"\0\1m")
    answer = framed(b"\0\0\0\1\0\0")
    said = []
    for twin in (native(bodies=bodies), PureConnection(bodies=bodies)):
        events = twin.receive_request_bytes(good, 1) + twin.receive_response_bytes(answer, 2)
        events += twin.receive_request_bytes(good, -(2**62)) + twin.receive_response_bytes(answer, 2**63 - 1)
        said.append((events, twin.summary()))
    assert said[0] == said[1]
    with pytest.raises(OverflowError):
        native(bodies=bodies).receive_request_bytes(good, 2**70)


def metadata_exchanges(count: int) -> list[tuple[bool, bytes]]:
    """Metadata v1 exchanges, whose answers name a broker: what they teach is said by Python code."""
    made: list[tuple[bool, bytes]] = []
    for number in range(count):
        made.append((True, framed(head(3, 1, number) + b"\xff\xff\xff\xff")))
        broker = (7).to_bytes(4, "big") + b"\0\4host" + (9092).to_bytes(4, "big") + b"\xff\xff"
        made.append((False, framed(number.to_bytes(4, "big") + b"\0\0\0\1" + broker + (7).to_bytes(4, "big") + bytes(4))))
    return made


def test_what_runs_meanwhile_cannot_come_back(native: Callable[..., Any]) -> None:
    """While Python code is called out of a frame, another thread may run: it may use other connections, and is refused this one."""
    connection, other = native(), native()
    for is_request, data in metadata_exchanges(1):
        for each in (connection, other):
            (each.receive_request_bytes if is_request else each.receive_response_bytes)(data, 1)
    refused: list[str] = []
    between = iter(metadata_exchanges(100)[2:])

    def meanwhile(frame: Any, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name in ("nodes_of", "observe"):
            sys.setprofile(None)
            for call in (connection.summary, lambda: connection.receive_request_bytes(b"\0", 1), lambda: pickle.dumps(connection)):
                with pytest.raises(RuntimeError, match="two threads use a connection at once") as found:
                    call()
                refused.append(str(found.value))
            is_request, data = next(between)
            (other.receive_request_bytes if is_request else other.receive_response_bytes)(data, 2)
            sys.setprofile(meanwhile)

    said = []
    sys.setprofile(meanwhile)
    try:
        for is_request, data in metadata_exchanges(4)[2:]:
            said += (connection.receive_request_bytes if is_request else connection.receive_response_bytes)(data, 3)
    finally:
        sys.setprofile(None)
    alone = PureConnection()
    expected = [
        event
        for number, (is_request, data) in enumerate(metadata_exchanges(4))
        for event in (alone.receive_request_bytes if is_request else alone.receive_response_bytes)(data, 1 if number < 2 else 3)
    ]
    assert len(refused) >= 9
    assert said == expected[-6:]


@pytest.mark.parametrize("cut", [1, 2, 3, 4])
@pytest.mark.parametrize("torn", [None, 12])
@pytest.mark.parametrize("kind", ["whole", "client id beyond the frame", "behind a length that cannot be"])
def test_a_row_has_the_packet_of_its_first_byte(native: Callable[..., Any], kind: str, torn: int | None, cut: int) -> None:
    """The length of the second request is split between packets, behind a first one that Python reads or borders that were sought."""
    first, second = (framed(head(12, 0, number) + b"\0\2g1" + bytes(4) + b"\0\1m") for number in (1, 2))
    if kind == "client id beyond the frame":
        first = first[:12] + b"\x7f\x06" + first[14:]
    elif kind != "whole":
        first = framed(head(12, 0, 0) + b"\0\2g1" + bytes(4) + b"\0\1m") + b"\x7f\xff\xff\xff\0\0" + first
    begun = first + second[:cut]
    said = []
    for twin in (native(), PureConnection()):
        events = twin.receive_request_bytes(begun[:torn], 10, 7) if torn else []
        events += twin.receive_request_bytes(begun[torn or 0 :], 10, 8)
        events += twin.receive_request_bytes(second[cut : cut + 1], 20, 9) + twin.receive_request_bytes(second[cut + 1 :], 30, 10)
        said.append(events + twin.finish(50))
    assert said[0] == said[1]
    rows = {event.correlation_id: event.packet_number for event in said[0] if isinstance(event, RequestCompleted)}
    assert rows[2] == 8
