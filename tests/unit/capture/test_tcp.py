"""TCP reassembly against models: whatever the order of the packets, the streams are those that were sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carried_state import carried
from kwire.capture import tcp
from kwire.capture.carry import LINGER_NS
from kwire.capture.packet_columns import ACK, FIN, RST, SYN
from kwire.capture.tcp import REORDER_PACKETS
from tcp_wire import CLIENT, KEY, SERVER, WRAP, Recorder, Wire

pytestmark = pytest.mark.usefixtures("capture_twin")


def test_a_whole_connection() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 1, 1, data=b"ask")
    wire.send(SERVER, 1, 4, data=b"answer")
    wire.send(CLIENT, 4, 7, ACK | FIN)
    wire.send(SERVER, 7, 5, ACK | FIN)
    wire.send(CLIENT, 5, 8)
    assert wire.finish() == [
        ("opened", 0, CLIENT), ("data", 0, CLIENT, b"ask"), ("data", 0, SERVER, b"answer"), ("closed", 0, CLIENT, False),
        ("closed", 0, SERVER, False), ("ended", 0),
    ]  # fmt: skip


pieces = st.lists(st.integers(1, 40), min_size=1, max_size=25)


@settings(deadline=None)
@given(sizes=pieces, isn=st.sampled_from([0, 5000, WRAP - 1, WRAP - 100, (WRAP >> 1) - 30]), random=st.randoms(use_true_random=False))
def test_any_order_gives_the_stream(sizes: list[int], isn: int, random: Any) -> None:
    """Segments in any order, repeated or overlapping: without acknowledgements nothing of a stream is given up."""
    whole = bytes(random.randrange(256) for _ in range(sum(sizes)))
    segments, at = [], 0
    for size in sizes:
        for _ in range(random.choice((1, 1, 2))):
            start, end = max(0, at - random.choice((0, 0, 3))), min(len(whole), at + size + random.choice((0, 0, 5)))
            segments.append((start, whole[start:end]))
        at += size
    random.shuffle(segments)
    wire = Wire((isn, 0))
    wire.send(SERVER, 0, 0, SYN)
    for start, data in segments:
        wire.send(SERVER, 1 + start, 0, 0, data)
    wire.finish()
    assert wire.heard.stream(SERVER) == list(whole)


@settings(deadline=None)
@given(
    packets=st.lists(st.tuples(st.integers(0, 120), st.integers(1, 40), st.integers(0, 40), st.integers(0, 255)), min_size=1, max_size=30),
    isn=st.sampled_from([7, WRAP - 60]),
)
def test_first_byte_seen_wins_and_cut_bytes_yield(packets: list[tuple[int, int, int, int]], isn: int) -> None:
    """Against a model that works byte by byte: overlaps with other content, snaplen cuts, holes until the end."""
    wire = Wire((isn, 0))
    wire.send(SERVER, 0, 0, SYN)
    seen: dict[int, int | None] = {}
    delivered = 0
    for start, original, captured, fill in packets:
        data = bytes((fill + index) % 256 for index in range(min(captured, original)))
        wire.send(SERVER, 1 + start, 0, 0, data, original=original)
        for index in range(original):
            position = start + index
            value = data[index] if index < len(data) else None
            if position >= delivered and (position not in seen or (seen[position] is None and value is not None)):
                seen[position] = value
        while delivered in seen:
            delivered += 1
    wire.finish()
    assert wire.heard.stream(SERVER) == [seen.get(position) for position in range(max(seen) + 1)]


@settings(deadline=None)
@given(
    turns=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=15),
    swaps=st.lists(st.booleans(), min_size=80, max_size=80),
    doubles=st.lists(st.booleans(), min_size=80, max_size=80),
)
def test_swapped_neighbours_make_no_gap_and_no_answer_before_its_question(
    turns: list[tuple[int, int]], swaps: list[bool], doubles: list[bool]
) -> None:
    sent: list[tuple[int, int, int, int, bytes]] = [(CLIENT, 0, 0, SYN, b""), (SERVER, 0, 1, SYN | ACK, b""), (CLIENT, 1, 1, ACK, b"")]
    asked = answered = 1
    for ask, answer in turns:
        sent.append((CLIENT, asked, answered, ACK, b"q" * ask))
        asked += ask
        sent.append((SERVER, answered, asked, ACK, b"r" * answer))
        answered += answer
    index = 0
    while index + 1 < len(sent):
        if swaps[index % 80]:
            sent[index], sent[index + 1] = sent[index + 1], sent[index]
            index += 1
        index += 1
    wire = Wire()
    for index, packet in enumerate(sent):
        for _ in range(2 if doubles[index % 80] else 1):
            wire.send(*packet, mark=index)
    events = wire.finish()
    assert not [event for event in events if event[0] == "lost"]
    assert b"".join(event[3] for event in events if event[0] == "data" and event[2] == CLIENT) == b"q" * (asked - 1)
    asks = answers = 0
    needed = [(sum(turn[0] for turn in turns[: number + 1]), sum(turn[1] for turn in turns[:number])) for number in range(len(turns))]
    for event in events:
        if event[0] == "data" and event[2] == CLIENT:
            asks += len(event[3])
        elif event[0] == "data":
            assert all(asks >= ask for ask, before in needed if answers + len(event[3]) > before)
            answers += len(event[3])
    assert sum(flow.retransmissions for flow in wire.carry.live.values() for flow in flow.flows) == 0


packet = st.tuples(
    st.sampled_from([CLIENT, SERVER]),
    st.integers(0, 90),
    st.integers(0, 90),
    st.sampled_from([ACK, ACK, ACK, 0, SYN, SYN | ACK, FIN | ACK, RST, RST | ACK, SYN | FIN | RST | ACK]),
    st.integers(0, 20),
    st.integers(0, 20),
    st.sampled_from([5000, 5000, 5000, 77]),
    st.sampled_from([0, 0, 0, LINGER_NS + 1]),
)


@settings(deadline=None)
@given(packets=st.lists(packet, max_size=40))
def test_whatever_comes_the_books_balance_and_the_carry_may_be_cut_anywhere(packets: list[tuple[int, ...]]) -> None:
    """Packets that no real stack would send; in the second run the carry goes through its state before each of them."""
    runs = []
    for is_carried in (False, True):
        wire = Wire()
        for direction, seq, ack, flags, original, captured, isn, pause in packets:
            if is_carried:
                wire.carry = carried(wire.carry)
            wire.isn = (isn, isn)
            wire.time_ns += pause
            wire.send(direction, seq, ack, flags, bytes(min(original, captured)), original=original)
        left = list(wire.carry.live.values())
        wire.finish()
        for connection in left:
            assert not connection.held
            for direction, flow in enumerate(connection.flows):
                stream = wire.heard.stream(direction, connection.n)
                assert len(stream) == flow.position == flow.bytes + flow.bytes_cut + flow.bytes_lost
                assert (flow.waiting, flow.waiting_bytes) == ([], 0)
        opened = [event[1] for event in wire.heard.events if event[0] == "opened"]
        assert opened == [event[1] for event in wire.heard.events if event[0] == "ended"] == list(range(len(opened)))
        runs.append(wire.heard.events)
    assert runs[0] == runs[1]


def test_an_acknowledged_hole_is_a_gap_after_the_reorder_window() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 1, 1, data=b"first")
    wire.send(SERVER, 1, 6, data=b"one")
    wire.send(CLIENT, 16, 4, data=b"third")  # the ten bytes before were lost by the capture
    wire.send(SERVER, 4, 21, data=b"two")
    assert wire.heard.short()[-1] == ("data", 0, SERVER, b"one")
    for _ in range(REORDER_PACKETS):
        wire.send(CLIENT, 21, 7)
    assert wire.heard.short()[3:] == [("lost", 0, CLIENT, 10, False), ("data", 0, CLIENT, b"third"), ("data", 0, SERVER, b"two")]


def test_what_comes_within_the_window_fills_the_hole() -> None:
    wire = Wire()
    wire.shake()
    wire.send(SERVER, 1, 4, data=b"answer")
    for _ in range(REORDER_PACKETS - 1):
        wire.send(SERVER, 7, 4)
    wire.send(CLIENT, 1, 1, data=b"ask")
    assert wire.heard.short()[1:] == [("data", 0, CLIENT, b"ask"), ("data", 0, SERVER, b"answer")]


def test_a_lost_last_segment_is_a_gap_too() -> None:
    wire = Wire()
    wire.shake()
    wire.send(SERVER, 1, 40, data=b"answer")
    assert wire.finish()[1:] == [("lost", 0, CLIENT, 39, False), ("data", 0, SERVER, b"answer"), ("ended", 0)]


def test_a_lost_fin_is_no_gap_and_came_before_the_fin_that_acknowledges_it() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 1, 1, data=b"ask")
    wire.send(SERVER, 1, 5, ACK | FIN)  # acknowledges a FIN that was not captured
    closed = [("closed", 0, CLIENT, False), ("closed", 0, SERVER, False)]
    assert wire.finish()[1:] == [("data", 0, CLIENT, b"ask"), *closed, ("ended", 0)]


def test_a_hole_without_acknowledgement_waits_for_the_named_number_of_bytes(monkeypatch: Any) -> None:
    monkeypatch.setattr(tcp, "MAX_WAITING_BYTES", 2000)
    wire = Wire()
    wire.send(CLIENT, 0, 0, SYN)
    for index in range(1, 7):  # each counts 256 bytes more than it holds
        assert [event for event in wire.heard.events if event[0] != "opened"] == []
        wire.send(CLIENT, 1 + 100 * index, 0, 0, bytes(100))
    assert wire.heard.stream(CLIENT) == [None] * 100 + [0] * 600


def test_a_hole_stays_in_the_carry_between_files_and_ends_with_the_series() -> None:
    wire = Wire()
    wire.send(CLIENT, 0, 0, SYN)
    wire.send(CLIENT, 11, 0, 0, b"late")
    wire.carry = carried(wire.carry)
    assert wire.heard.short() == [("opened", 0, CLIENT)]
    again = carried(wire.carry)
    wire.send(CLIENT, 1, 0, 0, b"0123456789")
    assert wire.heard.stream(CLIENT) == list(b"0123456789late")
    heard = Recorder()
    again.finish(heard)
    assert heard.short() == [("lost", 0, CLIENT, 10, False), ("data", 0, CLIENT, b"late"), ("ended", 0)]


def test_snaplen_cuts_are_delivered_as_they_pass_and_a_retransmission_changes_nothing() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 1, 1, data=b"he", original=5)
    wire.send(CLIENT, 6, 1, data=b"wo", original=5)
    wire.send(CLIENT, 1, 1, data=b"hello")
    assert wire.heard.short()[1:] == [
        ("data", 0, CLIENT, b"he"), ("lost", 0, CLIENT, 3, True), ("data", 0, CLIENT, b"wo"), ("lost", 0, CLIENT, 3, True),
    ]  # fmt: skip
    flow = wire.carry.live[KEY].flows[CLIENT]
    assert (flow.bytes, flow.bytes_cut, flow.bytes_lost, flow.gaps, flow.retransmissions) == (4, 6, 0, 2, 1)


def test_keepalive_probes_and_copies_are_no_retransmissions() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 1, 1, data=b"ask", mark=77)
    wire.send(CLIENT, 1, 1, data=b"ask", mark=77)  # the same packet, seen twice by tcpdump -i any
    wire.send(CLIENT, 3, 1)
    wire.send(CLIENT, 3, 1, data=b"\x00")
    wire.send(SERVER, 1, 4)
    wire.send(CLIENT, 1, 1, data=b"ask")
    flow = wire.carry.live[KEY].flows[CLIENT]
    assert (flow.duplicates, flow.retransmissions, flow.bytes) == (1, 1, 3)
    assert wire.heard.stream(CLIENT) == list(b"ask")


def test_a_join_in_the_middle_skips_the_beginning() -> None:
    wire = Wire()
    wire.send(SERVER, 1000, 500)
    wire.send(CLIENT, 499, 1000, data=b"\x00")  # a keepalive probe
    wire.send(SERVER, 1000, 500)
    wire.send(CLIENT, 500, 1000, data=b"ask")
    wire.send(SERVER, 1000, 503, data=b"answer")
    assert wire.heard.short() == [("opened", 0, None), ("data", 0, CLIENT, b"ask"), ("data", 0, SERVER, b"answer")]
    assert all(flow.gaps == 0 for flow in wire.carry.live[KEY].flows)
