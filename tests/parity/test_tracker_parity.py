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

from kafka_bytes import framed, head, heartbeat, ok, rows, rules
from kwire.capture.carry import SeriesCarry
from kwire.capture.packet_columns import ACK, SYN
from kwire.capture.reader import read_piece
from kwire.capture.tcp import TcpConnection
from kwire.codec.impl import load_twin
from kwire.protocol.events import RequestCompleted, ViolationFound
from kwire.protocol.tracking.connection import Connection as PureConnection
from kwire.protocol.tracking.pairing import MAX_WAITING
from made_packets import CLIENT, SERVER, Packets
from read_by_twins import check

TESTS = Path(__file__).parents[1]
CAPTURES = [*sorted((TESTS / "captures" / "data").glob("*.pcap*.gz")), TESTS.parent / "examples" / "upgrade-fleet.pcap.gz"]
NATIVE = load_twin("protocol", "tracker", "native").Connection
BODIES = pytest.mark.parametrize("bodies", [(), None], ids=["passed over", "read"])


def both_say(work: Callable[[Any], Any], **options: Any) -> Any:
    said = [work(make(**options)) for make in (NATIVE, PureConnection)]
    assert said[0] == said[1]
    return said[0]


class BothTwins:
    def __init__(self, bodies: tuple[int, ...] | None, make: tuple[Callable[..., Any], ...] = (NATIVE, PureConnection)) -> None:
        self.make, self.bodies = make, bodies
        self.twins: dict[tuple[bytes, int], tuple[int, list[Any]]] = {}
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

    def _equal(self, connection: TcpConnection, direction: int, call: Callable[[Any, str], list[Any]]) -> None:
        client, twins = self._of(connection)
        events = [call(twin, "request" if direction == client else "response") for twin in twins]
        # a metric that is no number is not equal to itself, but looks the same
        assert events[0] == events[-1] or repr(events[0]) == repr(events[-1])
        self.skipped += sum(isinstance(event, RequestCompleted) and event.body == "skipped" for event in events[0])

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        self._of(connection)

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        self._equal(connection, direction, lambda twin, side: getattr(twin, f"receive_{side}_bytes")(data, time_ns, packet))

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        self._equal(connection, direction, lambda twin, side: twin.lost(side, count, time_ns, packet, cut=cut))

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        self._equal(connection, direction, lambda twin, side: twin.closed(side, reset, time_ns, packet))

    def ended(self, connection: TcpConnection) -> None:
        self._equal(connection, 0, lambda twin, side: twin.finish(connection.last_ns))
        _, twins = self._of(connection)
        assert twins[0].summary() == twins[-1].summary()


def read(path: Path, sink: BothTwins) -> None:
    carry = SeriesCarry()
    read_piece(io.BytesIO(gzip.decompress(path.read_bytes())), carry, sink)
    carry.finish(sink)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name.split(".")[0])
@pytest.mark.parametrize("bodies", [(), (1, 3, 11), None], ids=["none", "some", "all"])
def test_captures(path: Path, bodies: tuple[int, ...] | None) -> None:
    sink = BothTwins(bodies)
    read(path, sink)
    assert sink.twins
    if path.name.startswith(("upgrade-fleet", "sasl", "groups", "topicids", "telemetry")):
        assert sink.skipped > 50 or bodies is None


@pytest.mark.parametrize("bodies", [(), (1, 3, 11), None], ids=["none", "some", "all"])
def test_few_frames_are_left_to_python(bodies: tuple[int, ...] | None) -> None:
    """Else both twins would agree for want of a second one. The connections of this capture are the longest ones."""
    left: list[str] = []

    def called(frame: Any, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name in ("request", "_answered", "_orphan") and code.co_filename.endswith("exchange.py"):
            left.append(code.co_name)

    sink = BothTwins(bodies, (NATIVE,))
    sys.setprofile(called)
    try:
        read(TESTS / "captures" / "data" / "groups.pcapng.gz", sink)
    finally:
        sys.setprofile(None)
    summaries = [twins[0].summary() for _, twins in sink.twins.values()]
    frames = sum(each.request_frames + each.response_frames for each in summaries)
    openings = sum((each.request_frames > 0) + (each.response_frames > 0) for each in summaries)
    assert frames > 1000
    assert 0 < len(left) < openings + frames // 50


@BODIES
def test_a_flood_of_requests_is_given_up_alike(bodies: tuple[int, ...] | None) -> None:
    first, *flood = (heartbeat(number) for number in range(MAX_WAITING + 5))
    said = both_say(
        lambda twin: twin.receive_request_bytes(first, 1) + twin.receive_request_bytes(b"".join(flood), 1) + twin.finish(2), bodies=bodies
    )
    assert len(rows(said)) == MAX_WAITING + 5


@BODIES
@pytest.mark.parametrize("length", [b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\x09"])
def test_lengths_that_cannot_be(length: bytes, bodies: tuple[int, ...] | None) -> None:
    good = heartbeat(1)
    said = both_say(
        lambda twin: twin.receive_request_bytes(good, 1) + twin.receive_request_bytes(good + length + good, 1) + twin.finish(2),
        bodies=bodies,
    )
    assert rules(said)


def test_what_is_no_buffer_is_refused() -> None:
    with pytest.raises(TypeError):
        NATIVE(bodies=()).receive_request_bytes("text", 1)


@BODIES
def test_times_of_64_bits_are_taken(bodies: tuple[int, ...] | None) -> None:
    good, answer = heartbeat(1), ok(1)

    def work(twin: Any) -> Any:
        events = twin.receive_request_bytes(good, 1) + twin.receive_response_bytes(answer, 2)
        events += twin.receive_request_bytes(good, -(2**62)) + twin.receive_response_bytes(answer, 2**63 - 1)
        return events, twin.summary()

    both_say(work, bodies=bodies)
    with pytest.raises(OverflowError):
        NATIVE(bodies=bodies).receive_request_bytes(good, 2**70)


HEAD = "00000007 0003 617070"
GROUP_STATE = "0006 537461626c65"
PLAIN_METADATA = "0003 0001" + HEAD + "00000000"
# Strings that are not UTF-8, in a field that a row needs or one that is stepped over: request, response; what is wrong in which
BAD_TEXT = {
    "Metadata v1: a broker's host": (PLAIN_METADATA, "00000007 00000001 00000001 0003 c328ff 00002384 ffff 00000001 00000000", "response"),
    "Metadata v1: a broker's rack": (PLAIN_METADATA, "00000007 00000001 00000001 0001 68 00002384 0002 c080 00000001 00000000", "response"),
    "Metadata v1: a topic's name": ("0003 0001" + HEAD + "00000002 0001 61 0002 edff", "00000007 00000000 ffffffff 00000000", "request"),
    "DescribeGroups v0: a member's host": (
        "000f 0000" + HEAD + "00000001 0001 67",
        "00000007 00000001 0000 0001 67" + GROUP_STATE + "0001 63 0001 72 00000001 0001 6d 0001 63 0001 ff 00000000 00000000",
        "response",
    ),
    "Heartbeat v0: the member": ("000c 0000" + HEAD + "0001 67 00000000 0002 c328", "00000007 0000", "request"),
    "all is UTF-8": (PLAIN_METADATA, "00000007 00000001 00000001 0002 c3a9 00002384 ffff 00000001 00000000", ""),
}  # fmt: skip


@pytest.mark.parametrize("bodies", [None, (3, 12, 15), "tables"], ids=["all bodies", "some", "tables"])
@pytest.mark.parametrize("name", BAD_TEXT)
def test_text_that_is_not_utf8_is_told_once_a_body(name: str, bodies: Any) -> None:
    request, response = (framed(bytes.fromhex(each)) for each in BAD_TEXT[name][:2])
    direction = BAD_TEXT[name][2]
    if bodies == "tables":
        played: Packets = [(CLIENT, SYN, b""), (SERVER, SYN | ACK, b""), *[(CLIENT, ACK, request), (SERVER, ACK, response)] * 3]
        broken = check(lambda one: one.play([played])).get("violations", [])
        found = [(row["rule"], row["explanation"]) for row in broken]
    else:
        said = both_say(
            lambda twin: [
                e for at in range(3) for e in twin.receive_request_bytes(request, at) + twin.receive_response_bytes(response, at)
            ],
            bodies=bodies,
        )
        found = [(event.rule, event.explanation) for event in said if isinstance(event, ViolationFound)]
    assert [rule for rule, _ in found] == ["string_not_utf8"] * (3 if direction else 0)
    assert all(direction in explanation for _, explanation in found)


def metadata_exchanges(count: int) -> list[tuple[bool, bytes]]:
    """Metadata v1 exchanges, whose answers name a broker: what they teach is said by Python code."""
    made: list[tuple[bool, bytes]] = []
    for number in range(count):
        made.append((True, framed(head(3, 1, number) + b"\xff\xff\xff\xff")))
        broker = (7).to_bytes(4, "big") + b"\0\4host" + (9092).to_bytes(4, "big") + b"\xff\xff"
        made.append((False, framed(number.to_bytes(4, "big") + b"\0\0\0\1" + broker + (7).to_bytes(4, "big") + bytes(4))))
    return made


def test_what_runs_meanwhile_cannot_come_back() -> None:
    """While Python code is called out of a frame, another thread may run: it may use other connections, and is refused this one."""
    connection, other = NATIVE(), NATIVE()
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
def test_a_row_has_the_packet_of_its_first_byte(kind: str, torn: int | None, cut: int) -> None:
    """The length of the second request is split between packets, behind a first one that Python reads or borders that were sought."""
    first, second = heartbeat(1), heartbeat(2)
    if kind == "client id beyond the frame":
        first = first[:12] + b"\x7f\x06" + first[14:]
    elif kind != "whole":
        first = heartbeat(0) + b"\x7f\xff\xff\xff\0\0" + first
    begun = first + second[:cut]

    def work(twin: Any) -> Any:
        events = twin.receive_request_bytes(begun[:torn], 10, 7) if torn else []
        events += twin.receive_request_bytes(begun[torn or 0 :], 10, 8)
        events += twin.receive_request_bytes(second[cut : cut + 1], 20, 9) + twin.receive_request_bytes(second[cut + 1 :], 30, 10)
        return events + twin.finish(50)

    assert {row.correlation_id: row.packet_number for row in rows(both_say(work))}[2] == 8
