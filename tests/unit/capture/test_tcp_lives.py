"""When TCP connections begin and end: reused ports, resets, leftovers, what nobody answers, and what is none of a connection."""

from __future__ import annotations

from typing import Any

import pytest

from carried_state import carried
from kwire.capture import impl
from kwire.capture.carry import HELD_NS, LINGER_NS, UNANSWERED_NS, is_of_share
from kwire.capture.packet_columns import ACK, FIN, RST, SWEEP_BITS, SYN
from kwire.capture.tcp import TcpConnection
from tcp_wire import CLIENT, KEY, SERVER, Recorder, Wire

pytestmark = pytest.mark.usefixtures("capture_twin")


def test_a_syn_with_a_new_isn_begins_the_next_connection() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 0, 0, SYN)  # the same SYN again
    wire.send(CLIENT, 1, 1, data=b"one")
    wire.isn = (77, 123_456)
    wire.shake()
    wire.send(CLIENT, 1, 1, data=b"two")
    assert wire.heard.short() == [
        ("opened", 0, CLIENT), ("data", 0, CLIENT, b"one"), ("ended", 0), ("opened", 1, CLIENT), ("data", 1, CLIENT, b"two"),
    ]  # fmt: skip


def test_a_syn_answer_that_was_captured_first_belongs_to_its_syn() -> None:
    wire = Wire()
    wire.send(SERVER, 0, 1, SYN | ACK)
    wire.send(CLIENT, 0, 0, SYN)
    wire.send(CLIENT, 1, 1, data=b"ask")
    assert wire.heard.short() == [("opened", 0, CLIENT), ("data", 0, CLIENT, b"ask")]


def test_a_refused_connection() -> None:
    for order in ((0, 1), (1, 0)):
        wire = Wire()
        packets = ((CLIENT, 0, 0, SYN), (SERVER, -9000, 1, RST | ACK))
        for index in order:
            wire.send(*packets[index])
        assert len(wire.carry.live) == 1
        assert wire.carry.live[KEY].refused
        assert ("closed", 0, SERVER, True) in wire.finish()
    wire = Wire()
    wire.shake()
    assert not wire.carry.live[KEY].refused


@pytest.mark.parametrize(
    "between",
    [
        [(SERVER, 0, 1, SYN | ACK, b"")],
        [(CLIENT, 1, 1, ACK, b"ask")],  # behind a SYN-ACK that the capture lacks
        [(CLIENT, 1, 1, FIN | ACK, b"")],
    ],
)
def test_a_reset_behind_the_beginning_of_a_connection_is_no_refusal(between: list[tuple[int, int, int, int, bytes]]) -> None:
    wire = Wire()
    wire.send(CLIENT, 0, 0, SYN)
    for packet in between:
        wire.send(*packet)
    wire.send(SERVER, 1, 1, RST)
    assert wire.carry.live[KEY].closed_ns == 3_000_000
    assert not wire.carry.live[KEY].refused


def test_a_connection_was_over_when_the_first_reset_came() -> None:
    """The FINs of both come behind it, at 5 and 6 ms."""
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 1, 1, RST | ACK)
    wire.send(CLIENT, 1, 1, FIN | ACK)
    wire.send(SERVER, 1, 2, FIN | ACK)
    assert wire.carry.live[KEY].closed_ns == 4_000_000
    assert all(flow.finished for flow in wire.carry.live[KEY].flows)


def test_a_reset_closes_and_gives_up_holes() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 5, 1, data=b"part")
    wire.send(SERVER, 1, 1, RST | ACK)
    wire.send(SERVER, 1, 1, RST)
    wire.send(CLIENT, 9, 1, data=b"on its way")
    assert wire.heard.short()[1:] == [
        ("lost", 0, CLIENT, 4, False), ("data", 0, CLIENT, b"part"), ("closed", 0, SERVER, True), ("data", 0, CLIENT, b"on its way"),
    ]  # fmt: skip


def test_a_reset_that_overtook_its_data_waits_for_it() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 5, 1, RST | ACK)
    wire.send(CLIENT, 1, 1, data=b"last")
    assert wire.heard.short()[1:] == [("data", 0, CLIENT, b"last"), ("closed", 0, CLIENT, True)]


def test_a_fin_that_overtook_its_data_waits_for_it() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 5, 1, FIN | ACK)
    wire.send(CLIENT, 1, 1, data=b"last")
    assert wire.heard.short()[1:] == [("data", 0, CLIENT, b"last"), ("closed", 0, CLIENT, False)]


def test_leftovers_of_a_closed_connection_open_nothing_and_payload_does() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 1, 1, RST | ACK)
    wire.time_ns += LINGER_NS + 10
    wire.send(SERVER, 1, 1)
    wire.send(CLIENT, 1, 1, RST)
    assert wire.carry.strays == 2
    wire.send(CLIENT, 300, 400, data=b"no SYN was seen")
    assert wire.heard.short()[1:] == [
        ("closed", 0, CLIENT, True), ("ended", 0), ("opened", 1, None), ("data", 1, CLIENT, b"no SYN was seen"),
    ]  # fmt: skip


def test_a_syn_that_nobody_answers_is_forgotten_by_a_sweep(monkeypatch: Any) -> None:
    wire = Wire()
    wire.send(CLIENT, 0, 0, SYN)
    wire.time_ns += UNANSWERED_NS - 10_000_000
    wire.send(CLIENT, 0, 0, SYN)
    wire.send(CLIENT, 0, 0, SYN)
    assert wire.heard.short() == [("opened", 0, CLIENT)]
    wire.key = KEY[:-1] + b"\x51"
    wire.time_ns += UNANSWERED_NS
    wire.shake()
    assert wire.heard.short() == [("opened", 0, CLIENT), ("opened", 0, CLIENT), ("ended", 0)]
    assert list(wire.carry.live) == [wire.key]


def test_a_sweep_looks_only_at_connections_that_may_end_without_a_packet() -> None:
    """A million open connections cost nothing, however often the time of the capture jumps."""
    wire = Wire()
    for port in range(5):
        wire.key = KEY[:-1] + bytes((port,))
        wire.shake()
    assert len(wire.carry.watched) == 5  # a SYN was alone for a moment
    wire.time_ns += 1 << SWEEP_BITS
    wire.send(CLIENT, 1, 1, data=b"later")
    assert wire.carry.watched == {}
    wire.send(CLIENT, 6, 1, RST | ACK)
    assert list(wire.carry.watched) == [wire.key]
    wire.time_ns += LINGER_NS + (1 << SWEEP_BITS)
    wire.key = KEY[:-1] + b"\0"
    wire.send(CLIENT, 1, 1, data=b"much later")
    assert (len(wire.carry.live), wire.carry.watched) == (4, {})


def test_segments_far_outside_the_window_are_strays() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 1 << 31, 1, data=b"from another life")
    wire.send(SERVER, 1, 1 << 31, data=b"with an impossible acknowledgement")
    assert wire.heard.short()[1:] == [("data", 0, SERVER, b"with an impossible acknowledgement")]
    assert wire.carry.live[KEY].flows[CLIENT].strays == 1


def test_an_ignored_connection_is_followed_in_silence() -> None:
    class Deaf(Recorder):
        def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
            connection.ignored = True

    wire = Wire()
    wire.heard = Deaf()
    wire.shake()
    wire.send(CLIENT, 5, 1, data=b"part")
    wire.send(CLIENT, 1, 1, data=b"four")
    wire.send(CLIENT, 9, 1, FIN | ACK)
    assert wire.heard.short() == []
    assert wire.carry.live[KEY].flows[CLIENT].bytes == 8


def test_endpoints() -> None:
    wire = Wire()
    wire.shake()
    wire.key = six = b"\x06" + bytes(15) + b"\x01\x00\x05" + bytes(15) + b"\x02\x00\x06"
    wire.shake()
    assert [(each.a, each.b) for each in wire.carry.connections()] == [
        (("10.0.0.1", 9092), ("10.0.0.2", 50000)), (("::1", 5), ("::2", 6)),
    ]  # fmt: skip
    assert [each.key for each in wire.carry.connections()] == [KEY, six]


def test_a_sweep_gives_up_what_a_silent_connection_holds() -> None:
    wire = Wire()
    wire.time_ns = 1 << SWEEP_BITS
    wire.shake()
    wire.send(SERVER, 1, 4, data=b"answer")
    other = KEY[:-1] + b"\x51"
    wire.key = other
    wire.time_ns += HELD_NS - 10_000_000
    wire.shake()  # a sweep comes, but the connection has not been silent for long enough
    assert list(wire.carry.watched) == [KEY, other]  # what it holds, and the SYN that came with the sweep
    wire.time_ns += 1 << SWEEP_BITS
    wire.send(CLIENT, 1, 1)
    assert wire.heard.short() == [
        ("opened", 0, CLIENT), ("opened", 0, CLIENT), ("lost", 0, CLIENT, 3, False), ("data", 0, SERVER, b"answer"),
    ]  # fmt: skip
    assert list(wire.carry.watched) == []


def test_sweeps_end_connections_in_the_order_in_which_they_began() -> None:
    wire = Wire()
    keys = [KEY[:-1] + bytes((port,)) for port in range(4)]
    for key in keys:
        wire.key = key
        wire.shake()
    for key in (keys[2], keys[0], keys[3], keys[1]):
        wire.key = key
        wire.send(CLIENT, 1, 1, RST | ACK)
    wire.time_ns += LINGER_NS + (1 << SWEEP_BITS)
    wire.key = KEY
    ended: list[bytes] = []
    wire.heard.ended = lambda connection: ended.append(connection.key)  # type: ignore[method-assign]
    wire.send(CLIENT, 0, 0, SYN)
    assert ended == keys


def test_a_closed_connection_lingers_for_a_minute_and_no_longer() -> None:
    for late_ns, opened in ((0, 1), (1, 2)):
        wire = Wire()
        wire.shake()
        wire.send(CLIENT, 1, 1, RST | ACK)
        wire.time_ns += LINGER_NS - 1_000_000 + late_ns
        wire.send(CLIENT, 1, 1, data=b"bytes")
        assert len([event for event in wire.heard.events if event[0] == "opened"]) == opened


def test_a_syn_that_its_data_overtook_belongs_to_them() -> None:
    wire = Wire()
    wire.send(CLIENT, 1, 1, data=b"ask")
    wire.send(CLIENT, 0, 0, SYN)
    wire.send(CLIENT, 4, 1, data=b"more")
    assert wire.finish() == [("opened", 0, None), ("data", 0, CLIENT, b"ask"), ("data", 0, CLIENT, b"more"), ("ended", 0)]
    wire = Wire()
    wire.send(CLIENT, 1, 1, FIN | ACK, data=b"ask")  # the FIN has a number of its own
    wire.send(CLIENT, 0, 0, SYN)
    assert wire.finish() == [("opened", 0, None), ("data", 0, CLIENT, b"ask"), ("closed", 0, CLIENT, False), ("ended", 0)]
    wire = Wire()
    wire.send(CLIENT, 1, 1, data=b"ask")
    wire.send(CLIENT, -1, 0, SYN)  # of another stream
    assert ("opened", 1, CLIENT) in wire.finish()


def test_a_server_may_answer_a_repeated_syn_with_another_number() -> None:
    """Without memory of its first answer, as behind SYN cookies."""
    wire = Wire()
    wire.send(CLIENT, 0, 0, SYN)
    wire.send(SERVER, 0, 1, SYN | ACK)
    wire.isn = (7777, 9000)
    wire.send(SERVER, 0, 1, SYN | ACK)
    assert wire.heard.short() == [("opened", 0, CLIENT)]


def test_where_bytes_wait_the_first_number_of_their_stream_counts() -> None:
    """Ten bytes are missing before `world` when the server answers the SYN once more, with another number; then they come."""
    wire = Wire()
    wire.shake()
    wire.send(SERVER, 11, 1, data=b"world")
    wire.send(SERVER, 100, 1, SYN | ACK)
    wire.send(SERVER, 1, 1, data=b"0123456789")
    assert wire.heard.short()[1:] == [("data", 0, SERVER, b"0123456789"), ("data", 0, SERVER, b"world")]


def test_only_payload_or_a_syn_begins_a_connection_of_ports_that_were_in_use() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 1, 1, RST | ACK)
    wire.key = KEY[:-1] + b"\x51"
    wire.time_ns += LINGER_NS + (2 << SWEEP_BITS)
    wire.shake()  # the sweep forgets the first
    wire.key = KEY
    wire.send(CLIENT, 2, 1)
    wire.send(CLIENT, 2, 1, RST, data=b"why")
    assert (wire.carry.strays, list(wire.carry.live)) == (2, [KEY[:-1] + b"\x51"])
    wire.send(CLIENT, 2, 1, data=b"here")
    assert wire.heard.events[-2:] == [("opened", 1, None), ("data", 1, CLIENT, b"here", wire.time_ns)]


def test_a_simultaneous_open_is_answered() -> None:
    """Two SYNs that cross (RFC 9293, 3.5), and data at once: not forgotten as a SYN that nobody answers."""
    wire = Wire()
    wire.send(CLIENT, 0, 0, SYN)
    wire.send(SERVER, 0, 0, SYN)
    assert not wire.carry.live[KEY].answered
    wire.send(CLIENT, 1, 1, data=b"ask")
    assert wire.carry.live[KEY].answered


def test_a_syn_answer_of_the_side_that_opened_leaves_who_opened() -> None:
    """A simultaneous open, the SYN of the other side not captured: both sides answer a SYN (RFC 9293, 3.5)."""
    wire = Wire()
    wire.send(CLIENT, 0, 0, SYN)
    wire.send(CLIENT, 0, 1, SYN | ACK)
    assert wire.carry.live[KEY].opened_by == CLIENT


def test_a_reset_out_of_any_window_ends_nothing() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 1 << 31, 1, RST | ACK)
    connection = wire.carry.live[KEY]
    assert (connection.closed_ns, connection.flows[CLIENT].strays) == (None, 1)
    wire.send(CLIENT, 1, 1, RST | ACK)
    wire.send(SERVER, 1, 1, RST)  # again, from the other side
    assert (wire.carry.live[KEY].closed_ns, wire.finish()[1:]) == (5_000_000, [("closed", 0, CLIENT, True), ("ended", 0)])


def test_a_reset_that_its_receiver_ignored_ends_nothing() -> None:
    """RFC 9293, 3.10.7.4: a RST outside the receive window is dropped. Here it is 60,000 bytes ahead, and both sides go on."""
    wire = Wire()
    wire.shake()
    wire.send(SERVER, 60_001, 1, RST)
    wire.send(CLIENT, 1, 1, data=b"ask")
    wire.send(SERVER, 1, 4, data=b"answer")
    wire.send(CLIENT, 4, 7, FIN | ACK)
    wire.send(SERVER, 7, 5, FIN | ACK)
    assert wire.carry.live[KEY].flows[SERVER].strays == 1
    assert wire.heard.short()[1:] == [
        ("data", 0, CLIENT, b"ask"), ("data", 0, SERVER, b"answer"), ("closed", 0, CLIENT, False), ("closed", 0, SERVER, False),
    ]  # fmt: skip


def test_a_reset_whose_data_was_lost_still_ends_the_connection() -> None:
    """What the other side had on its way before it received the RST does not say that it ignored it."""
    wire = Wire()
    wire.shake()
    wire.send(SERVER, 60_001, 1, RST)
    wire.send(CLIENT, 1, 1, data=b"on its way")
    assert wire.finish()[1:] == [
        ("lost", 0, SERVER, 60_000, False), ("closed", 0, SERVER, True), ("data", 0, CLIENT, b"on its way"), ("ended", 0),
    ]  # fmt: skip


def test_an_ignored_connection_stays_ignored_in_a_state() -> None:
    class Deaf(Recorder):
        def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
            connection.ignored = True

    wire = Wire()
    wire.heard = Deaf()
    wire.shake()
    wire.carry = carried(wire.carry)
    wire.send(CLIENT, 5, 1, data=b"a hole before it")
    wire.send(SERVER, 1, 30, data=b"and an answer")
    assert wire.finish() == [("ended", 0)]


def test_a_reset_does_not_pass_what_is_held() -> None:
    wire = Wire()
    wire.shake()
    wire.send(SERVER, 1, 4, data=b"answer")  # to three bytes that were not seen
    wire.send(CLIENT, 1, 1, RST | ACK)
    assert wire.heard.short() == [("opened", 0, CLIENT)]
    assert wire.finish()[1:] == [("lost", 0, CLIENT, 3, False), ("data", 0, SERVER, b"answer"), ("closed", 0, CLIENT, True), ("ended", 0)]


def test_a_share_knows_its_own_connections_and_sweeps_at_the_packets_of_all() -> None:
    mine = is_of_share(KEY, (0, 2))
    other = next(key for key in (KEY[:-1] + bytes((port,)) for port in range(99)) if is_of_share(key, (0, 2)) != mine)
    wire = Wire()
    wire.carry = impl.series_carry((0 if mine else 1, 2))
    wire.shake()
    wire.send(CLIENT, 1, 1, RST | ACK)
    wire.key = other
    wire.shake()
    assert list(wire.carry.live) == [KEY]
    wire.time_ns += LINGER_NS + (1 << SWEEP_BITS)
    wire.send(CLIENT, 1, 1, data=b"time goes by")
    assert wire.heard.short() == [("opened", 0, CLIENT), ("closed", 0, CLIENT, True), ("ended", 0)]
    assert (wire.carry.packets, wire.carry.latest_ns) == (8, wire.time_ns)
