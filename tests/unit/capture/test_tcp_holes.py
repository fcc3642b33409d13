"""What waits behind a hole, what of an overlap counts, and what a gap looks like: packets by hand, for both twins.

Sequence numbers count from the initial one: the first byte of a stream is 1, its position in the stream 0.
"""

from __future__ import annotations

from typing import Any

import pytest

from carried_state import carried
from kwire.capture import flow as flow_rules
from kwire.capture import tcp
from kwire.capture.flow import FRAGMENT_COST
from kwire.capture.packet_columns import ACK, FIN, RST, SYN, PacketColumns
from kwire.capture.tcp import REORDER_PACKETS, TcpConnection
from kwire.capture.trimming.located_bytes import LocatedBytes, Place
from tcp_wire import CLIENT, KEY, SERVER, WRAP, Recorder, Wire

pytestmark = pytest.mark.usefixtures("capture_twin")

MS = 1_000_000  # from packet to packet of a Wire


class Placed(Recorder):
    """Notes of lost ranges and ends of streams the time and the packet too."""

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        self.events.append(("lost", direction, count, cut, time_ns, packet))

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        self.events.append(("data", direction, data, time_ns, packet))

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        self.events.append(("closed", direction, reset, time_ns, packet))

    def stream_of(self, direction: int) -> list[int | None]:
        out: list[int | None] = []
        for event in self.events:
            if event[:2] == ("data", direction):
                out += event[2]
            elif event[:2] == ("lost", direction):
                out += [None] * event[2]
        return out


def opened(isn: tuple[int, int] = (5000, 9000)) -> Wire:
    """The SYN of the client alone, so that no acknowledgement ends a wait."""
    wire = Wire(isn)
    wire.heard = Placed()
    wire.send(CLIENT, 0, 0, SYN)
    wire.heard.events.clear()
    return wire


def put(wire: Wire, position: int, data: bytes = b"", original: int | None = None) -> None:
    wire.send(CLIENT, 1 + position, 0, 0, data, original=original)


def waiting(wire: Wire, direction: int = CLIENT) -> list[tuple[int, int, bytes | None]]:
    flow = wire.carry.live[KEY].flows[direction]
    held = sum(FRAGMENT_COST + len(piece.data or b"") for piece in flow.waiting)
    assert flow.waiting_bytes == held
    return [(piece.start, piece.end, piece.data) for piece in flow.waiting]


def test_pieces_wait_in_order_with_the_packet_that_brought_them() -> None:
    wire = opened()
    put(wire, 30, b"cc")
    put(wire, 10, b"aa")
    put(wire, 20, b"bb")
    put(wire, 5, b"00")
    assert waiting(wire) == [(5, 7, b"00"), (10, 12, b"aa"), (20, 22, b"bb"), (30, 32, b"cc")]
    pieces = wire.carry.live[KEY].flows[CLIENT].waiting
    assert [(piece.time_ns, piece.packet) for piece in pieces] == [(5 * MS, 5), (3 * MS, 3), (4 * MS, 4), (2 * MS, 2)]
    assert wire.heard.events == []


def test_many_pieces_in_any_order_of_arrival() -> None:
    for order in (range(200), range(199, -1, -1), [*range(100, 200), *range(100)], [n * 77 % 200 for n in range(200)]):
        wire = opened()
        for index in order:
            put(wire, 10 + 3 * index, bytes([index, index]))
        assert waiting(wire) == [(10 + 3 * index, 12 + 3 * index, bytes([index, index])) for index in range(200)]
        wire.carry.finish(wire.heard)
        assert wire.heard.stream_of(CLIENT) == [None] * 10 + [each for n in range(200) for each in (n, n, None)][:-1]


def test_the_first_byte_seen_wins_among_those_that_wait() -> None:
    wire = opened()
    put(wire, 10, b"aaaa")
    put(wire, 8, b"bbbbbbbb")
    assert waiting(wire) == [(8, 10, b"bb"), (10, 14, b"aaaa"), (14, 16, b"bb")]
    put(wire, 8, b"cccccccc")  # nothing of it is new
    put(wire, 12, b"ddd")
    assert waiting(wire) == [(8, 10, b"bb"), (10, 14, b"aaaa"), (14, 16, b"bb")]
    flow = wire.carry.live[KEY].flows[CLIENT]
    assert (flow.retransmissions, flow.payload_packets, flow.bytes) == (2, 4, 0)
    put(wire, 4, b"xxxxyyyyyyyyyyyyyyyy")  # longer than all that waits
    assert waiting(wire) == [(4, 8, b"xxxx"), (8, 10, b"bb"), (10, 14, b"aaaa"), (14, 16, b"bb"), (16, 24, b"yyyyyyyy")]
    put(wire, 0, b"0123456789")
    assert [event[2] for event in wire.heard.events] == [b"0123", b"xxxx", b"bb", b"aaaa", b"bb", b"yyyyyyyy"]
    assert waiting(wire) == []


def test_bytes_that_came_beat_bytes_that_were_cut_while_both_wait() -> None:
    wire = opened()
    put(wire, 10, b"", 10)  # snaplen cut all ten
    assert waiting(wire) == [(10, 20, None)]
    put(wire, 13, b"bcd")
    assert waiting(wire) == [(10, 13, None), (13, 16, b"bcd"), (16, 20, None)]
    put(wire, 8, b"xxyz", 9)  # what comes, and what of it was cut
    assert waiting(wire) == [(8, 10, b"xx"), (10, 12, b"yz"), (12, 13, None), (13, 16, b"bcd"), (16, 20, None)]
    put(wire, 18, b"", 6)  # cut bytes beat nothing
    assert waiting(wire)[-2:] == [(16, 20, None), (20, 24, None)]
    put(wire, 16, b"tail")
    assert waiting(wire)[3:] == [(13, 16, b"bcd"), (16, 20, b"tail"), (20, 24, None)]
    wire.carry.finish(wire.heard)
    flow = wire.heard.events
    assert [event[:4] for event in flow[:-1]] == [
        ("lost", CLIENT, 8, False), ("data", CLIENT, b"xx", 4 * MS), ("data", CLIENT, b"yz", 4 * MS), ("lost", CLIENT, 1, True),
        ("data", CLIENT, b"bcd", 3 * MS), ("data", CLIENT, b"tail", 6 * MS), ("lost", CLIENT, 4, True),
    ]  # fmt: skip


def test_a_piece_beside_a_cut_one_leaves_it_as_it_is() -> None:
    wire = opened()
    put(wire, 10, b"", 5)
    put(wire, 15, b"behind")
    put(wire, 5, b"before"[:5])
    assert waiting(wire) == [(5, 10, b"befor"), (10, 15, None), (15, 21, b"behind")]


def test_cut_bytes_that_are_new_are_no_retransmission() -> None:
    wire = opened()
    put(wire, 10, b"", 5)
    put(wire, 10, b"", 9)
    flow = wire.carry.live[KEY].flows[CLIENT]
    assert (flow.retransmissions, waiting(wire)) == (0, [(10, 15, None), (15, 19, None)])


def test_a_segment_that_begins_before_the_stream_s_place_gives_only_its_end() -> None:
    wire = opened()
    put(wire, 0, b"0123")
    put(wire, 2, b"xxYZ")
    put(wire, 0, b"....", 9)  # all that was captured of it is old
    assert [event[:3] for event in wire.heard.events] == [
        ("data", CLIENT, b"0123"), ("data", CLIENT, b"YZ"), ("lost", CLIENT, 3),
    ]  # fmt: skip
    flow = wire.carry.live[KEY].flows[CLIENT]
    assert (flow.position, flow.bytes, flow.bytes_cut, flow.gaps, flow.retransmissions) == (9, 6, 3, 1, 0)


def test_a_segment_that_fills_a_part_of_the_hole_is_delivered_at_once() -> None:
    wire = opened()
    put(wire, 10, b"late")
    put(wire, 0, b"01234")
    assert [event[2] for event in wire.heard.events] == [b"01234"]
    assert waiting(wire) == [(10, 14, b"late")]
    put(wire, 5, b"56789")
    assert [event[2] for event in wire.heard.events] == [b"01234", b"56789", b"late"]


def test_a_segment_that_reaches_over_the_hole_yields_to_what_waits() -> None:
    wire = opened()
    put(wire, 3, b"AAA")
    put(wire, 0, b"bbbbbbbb")
    assert [event[2] for event in wire.heard.events] == [b"bbb", b"AAA", b"bb"]


def test_a_gap_has_the_time_and_packet_of_what_waited_behind_it() -> None:
    wire = Wire()
    wire.heard = Placed()
    wire.shake()
    wire.send(CLIENT, 11, 1, data=b"late")  # packet 4
    wire.send(CLIENT, 31, 1, data=b"later")
    wire.send(SERVER, 1, 36, data=b"answer")  # acknowledges both
    for _ in range(REORDER_PACKETS):
        wire.send(SERVER, 7, 36)
    assert wire.heard.events[1:] == [
        ("lost", CLIENT, 10, False, 4 * MS, 4), ("data", CLIENT, b"late", 4 * MS, 4), ("lost", CLIENT, 16, False, 5 * MS, 5),
        ("data", CLIENT, b"later", 5 * MS, 5), ("data", SERVER, b"answer", 6 * MS, 6),
    ]  # fmt: skip
    flow = wire.carry.live[KEY].flows[CLIENT]
    assert (flow.bytes_lost, flow.gaps, flow.bytes, flow.position) == (26, 2, 9, 35)


def test_a_gap_that_nothing_waited_behind_has_those_of_the_acknowledgement() -> None:
    wire = Wire()
    wire.heard = Placed()
    wire.shake()
    wire.send(SERVER, 1, 11, data=b"answer")  # packet 4
    wire.carry.finish(wire.heard)
    assert wire.heard.events[1:3] == [("lost", CLIENT, 10, False, 4 * MS, 4), ("data", SERVER, b"answer", 4 * MS, 4)]


def test_an_acknowledgement_lets_eight_packets_pass_and_no_ninth() -> None:
    wire = Wire()
    wire.shake()
    wire.send(SERVER, 1, 4, data=b"answer")
    for index in range(REORDER_PACKETS - 1):
        wire.send(SERVER, 7 + index, 4, data=b"r")
        assert len(wire.carry.live[KEY].held) == 2 + index
    assert wire.heard.short()[1:] == []
    wire.send(SERVER, 7 + REORDER_PACKETS - 1, 4, data=b"r")
    assert wire.heard.short()[1:3] == [("lost", 0, CLIENT, 3, False), ("data", 0, SERVER, b"answer")]
    assert wire.carry.live[KEY].held == []


def test_held_packets_keep_their_bytes_and_their_order() -> None:
    wire = Wire()
    wire.shake()
    wire.send(SERVER, 1, 4, data=b"ans")
    wire.send(SERVER, 4, 4, data=b"wer")
    first, second = wire.carry.live[KEY].held
    assert (first.payload, second.payload) == (b"ans", b"wer")
    assert (first.direction, first.seq, first.ack, first.flags, first.original, first.packet) == (SERVER, 5001, 9004, ACK, 3, 4)
    wire.carry = carried(wire.carry)
    wire.send(CLIENT, 1, 1, data=b"ask")
    assert wire.heard.short()[1:] == [("data", 0, CLIENT, b"ask"), ("data", 0, SERVER, b"ans"), ("data", 0, SERVER, b"wer")]


def test_only_packets_of_the_hole_pass_those_that_are_held() -> None:
    wire = Wire()
    wire.shake()
    wire.send(SERVER, 1, 4, data=b"answer")
    wire.send(SERVER, 7, 4, data=b"more")  # of the same side
    wire.send(CLIENT, 9, 7, data=b"next")  # of the other, but behind what is acknowledged
    assert wire.heard.short()[1:] == []
    wire.send(CLIENT, 1, 1, data=b"ask")
    wire.send(CLIENT, 4, 7, data=b"12345")
    assert wire.heard.short()[1:] == [
        ("data", 0, CLIENT, b"ask"), ("data", 0, SERVER, b"answer"), ("data", 0, SERVER, b"more"), ("data", 0, CLIENT, b"12345"),
        ("data", 0, CLIENT, b"next"),
    ]  # fmt: skip


def test_a_fin_that_was_not_captured_gives_up_what_waits_before_it() -> None:
    """The acknowledgement is one ahead of the bytes: a FIN, or a byte if others wait behind the hole."""
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 2, 1, data=b"behind one byte")
    wire.send(SERVER, 1, 2, data=b"ok")
    assert wire.finish()[1:4] == [("lost", 0, CLIENT, 1, False), ("data", 0, CLIENT, b"behind one byte"), ("data", 0, SERVER, b"ok")]


def test_one_byte_that_is_acknowledged_and_has_nothing_behind_it_is_no_gap() -> None:
    """It is the FIN, be it that the client closes later; two bytes are lost, and nothing says that one of them was the FIN."""
    for ahead, flags in ((1, ACK), (2, ACK), (2, FIN | ACK)):
        wire = Wire()
        wire.shake()
        wire.send(CLIENT, 1, 1, data=b"ask")
        wire.send(SERVER, 1, 4 + ahead, flags, b"answer")
        closed = [("closed", 0, SERVER, False)] if flags & FIN else []
        lost = [("lost", 0, CLIENT, 2, False)] if ahead == 2 else []
        assert wire.finish()[1:] == [("data", 0, CLIENT, b"ask"), *lost, ("data", 0, SERVER, b"answer"), *closed, ("ended", 0)]


def test_a_reset_one_byte_ahead_lost_that_byte() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 2, 1, RST | ACK)
    assert wire.finish()[1:] == [("lost", 0, CLIENT, 1, False), ("closed", 0, CLIENT, True), ("ended", 0)]


def test_a_gap_ends_at_the_fin() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 11, 1, FIN | ACK)  # ten bytes before it are missing
    wire.send(SERVER, 1, 12, data=b"bye")  # acknowledges the FIN too, which is no byte
    for _ in range(REORDER_PACKETS):
        wire.send(SERVER, 4, 12)
    assert wire.heard.short()[1:] == [("lost", 0, CLIENT, 10, False), ("closed", 0, CLIENT, False), ("data", 0, SERVER, b"bye")]
    flow = wire.carry.live[KEY].flows[CLIENT]
    assert (flow.bytes_lost, flow.fin_at, flow.finished, flow.next) == (10, 10, True, 9012)
    assert wire.carry.live[KEY].held == []


def test_the_end_of_the_series_gives_up_holes_before_a_fin() -> None:
    wire = opened()
    wire.send(CLIENT, 11, 0, FIN)
    put(wire, 2, b"part")
    wire.carry.finish(wire.heard)
    assert [event[:4] for event in wire.heard.events] == [
        ("lost", CLIENT, 2, False), ("data", CLIENT, b"part", 3 * MS), ("lost", CLIENT, 4, False), ("closed", CLIENT, False, 3 * MS),
        ("ended", 0),
    ]  # fmt: skip


def test_what_comes_behind_a_fin_is_not_delivered() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 1, 1, FIN | ACK, b"last")
    wire.send(CLIENT, 6, 1, data=b"impossible")
    wire.send(CLIENT, 1, 1, FIN | ACK, b"last")  # again, and a FIN that says another place
    wire.send(CLIENT, 9, 1, FIN | ACK)
    flow = wire.carry.live[KEY].flows[CLIENT]
    assert (flow.fin_at, flow.next, flow.retransmissions, flow.waiting) == (4, 9006, 2, [])
    assert wire.heard.short()[1:] == [("data", 0, CLIENT, b"last"), ("closed", 0, CLIENT, False)]


def test_a_connection_is_closed_by_its_second_fin() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 1, 1, FIN | ACK)
    assert wire.carry.live[KEY].closed_ns is None
    wire.send(SERVER, 1, 2, FIN | ACK)
    wire.send(CLIENT, 2, 2)
    assert wire.carry.live[KEY].closed_ns == 5 * MS
    assert wire.carry.live[KEY].held == []


def test_a_fin_in_the_middle_of_a_late_join_is_the_end_of_nothing() -> None:
    wire = Wire()
    wire.send(SERVER, 1000, 500)
    wire.send(CLIENT, 450, 1000, FIN | ACK)  # an acknowledgement said that 500 is next, but no byte of the client was seen
    assert wire.heard.short() == [("opened", 0, None), ("closed", 0, CLIENT, False)]
    flow = wire.carry.live[KEY].flows[CLIENT]
    assert (flow.position, flow.fin_at, flow.finished, flow.next) == (0, 0, True, 9451)


def test_a_late_join_follows_acknowledgements_until_the_first_byte() -> None:
    wire = Wire()
    wire.send(SERVER, 1000, 500)
    wire.send(SERVER, 1000, 520)
    wire.send(SERVER, 1000, 510)  # out of order
    assert wire.carry.live[KEY].flows[CLIENT].next == 9520
    assert wire.carry.live[KEY].held == []
    wire.send(CLIENT, 519, 1000, data=b"\x00")  # a keepalive probe
    assert not wire.carry.live[KEY].flows[CLIENT].anchored
    wire.send(CLIENT, 400, 1000, data=b"where it begins for us")
    flow = wire.carry.live[KEY].flows[CLIENT]
    assert (flow.anchored, flow.position, flow.gaps, flow.isn, flow.start) == (True, 22, 0, None, 9400)


def test_the_first_byte_of_a_late_join_begins_the_stream_where_an_acknowledgement_expects_it() -> None:
    """Behind it a hole is a hole: 4 bytes are missing before `more`."""
    wire = Wire()
    wire.send(CLIENT, 500, 1000, data=b"ask")
    wire.send(SERVER, 1000, 503, data=b"answer")
    wire.send(SERVER, 1010, 503, data=b"more")
    assert wire.finish()[1:] == [
        ("data", 0, CLIENT, b"ask"), ("data", 0, SERVER, b"answer"), ("lost", 0, SERVER, 4, False), ("data", 0, SERVER, b"more"),
        ("ended", 0),
    ]  # fmt: skip


def test_an_opened_stream_has_the_bytes_that_came_with_its_syn() -> None:
    """TCP Fast Open (RFC 7413)."""
    wire = Wire()
    wire.send(CLIENT, 0, 0, SYN, b"ask")
    wire.send(SERVER, 0, 4, SYN | ACK)
    wire.send(CLIENT, 4, 1, data=b"more")
    assert wire.heard.short()[1:] == [("data", 0, CLIENT, b"ask"), ("data", 0, CLIENT, b"more")]
    assert wire.carry.live[KEY].flows[CLIENT].isn == 9000


def test_a_syn_again_in_the_middle_begins_nothing() -> None:
    wire = Wire()
    wire.shake()
    wire.send(CLIENT, 1, 1, data=b"one")
    wire.send(CLIENT, 0, 0, SYN)
    wire.send(SERVER, 0, 1, SYN | ACK)
    wire.send(CLIENT, 4, 1, data=b"two")
    wire.send(SERVER, 1, 7, data=b"ok")
    assert wire.heard.short()[1:] == [("data", 0, CLIENT, b"one"), ("data", 0, CLIENT, b"two"), ("data", 0, SERVER, b"ok")]
    flow = wire.carry.live[KEY].flows[CLIENT]
    assert (flow.position, flow.next, flow.isn) == (6, 9007, 9000)


def test_a_syn_answer_alone_tells_both_beginnings_and_who_opened() -> None:
    wire = Wire()
    wire.send(SERVER, 0, 1, SYN | ACK)
    connection = wire.carry.live[KEY]
    assert (connection.opened_by, connection.answered) == (CLIENT, True)
    assert [(flow.isn, flow.next, flow.anchored) for flow in connection.flows] == [(5000, 5001, True), (9000, 9001, True)]
    wire.send(CLIENT, 4, 1, data=b"three bytes are missing")
    assert waiting(wire) == [(3, 26, b"three bytes are missing")]


def test_sequence_numbers_wrap() -> None:
    wire = opened((7, WRAP - 4))
    put(wire, 8, b"89")
    put(wire, 2, b"234567")
    assert waiting(wire) == [(2, 8, b"234567"), (8, 10, b"89")]
    put(wire, 0, b"01")
    flow = wire.carry.live[KEY].flows[CLIENT]
    assert (wire.heard.stream_of(CLIENT), flow.next, flow.position, flow.start) == (list(b"0123456789"), 7, 10, WRAP - 3)


def test_more_than_the_named_bytes_never_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp, "MAX_WAITING_BYTES", 3 * (FRAGMENT_COST + 10))
    wire = opened()
    for index in (1, 3, 5):
        put(wire, 20 * index, bytes([index]) * 10)
    assert wire.heard.events == []  # as much as may wait
    put(wire, 140, b"x")
    assert [event[:3] for event in wire.heard.events] == [("lost", CLIENT, 20), ("data", CLIENT, bytes([1]) * 10)]
    assert waiting(wire) == [(60, 70, bytes([3]) * 10), (100, 110, bytes([5]) * 10), (140, 141, b"x")]


def test_cut_bytes_cost_their_place_only() -> None:
    wire = opened()
    put(wire, 1, b"", 1 << 20)
    assert wire.carry.live[KEY].flows[CLIENT].waiting_bytes == FRAGMENT_COST


def test_one_of_the_last_four_packets_again_is_a_copy() -> None:
    wire = Wire()
    wire.shake()
    for index in range(6):
        wire.send(CLIENT, 1 + index, 1, data=b"x", mark=100 + index)
    wire.send(CLIENT, 3, 1, data=b"x", mark=102)  # the fourth latest
    wire.send(CLIENT, 1, 1, data=b"xx", mark=100)  # too long ago
    flow = wire.carry.live[KEY].flows[CLIENT]
    assert (flow.recent, flow.duplicates, flow.retransmissions) == ([9103 - 9000, 104, 105, 100], 1, 1)


def test_an_acknowledgement_out_of_any_window_waits_for_nothing() -> None:
    wire = Wire()
    wire.shake()
    wire.send(SERVER, 1, 1 + flow_rules.WINDOW, data=b"far")
    wire.send(SERVER, 4, flow_rules.WINDOW, data=b"inside")  # the farthest that counts
    assert wire.heard.short()[1:] == [("data", 0, SERVER, b"far")]
    assert [segment.payload for segment in wire.carry.live[KEY].held] == [b"inside"]
    wire.send(CLIENT, 1 + flow_rules.WINDOW, 1, data=b"stray")
    assert wire.carry.live[KEY].flows[CLIENT].strays == 0  # it waits with the one that is held


def test_a_late_packet_does_not_set_the_clock_back() -> None:
    wire = Wire()
    wire.shake()
    wire.time_ns -= 3 * MS
    wire.send(CLIENT, 1, 1, data=b"a")  # at 1 ms
    wire.send(CLIENT, 2, 1, FIN | ACK)  # at 2 ms
    connection = wire.carry.live[KEY]
    assert (connection.first_ns, connection.last_ns) == (MS, 3 * MS)


def test_parts_of_a_chunk_that_knows_its_place_know_theirs() -> None:
    """Trimming changes bytes in the packets that brought them: what waits, or is held, keeps its place."""
    heard = Recorder()
    found: list[tuple[bytes, Place]] = []

    def data(connection: TcpConnection, direction: int, data: Any, time_ns: int, packet: int) -> None:
        found.append((bytes(data), data.place))

    heard.data = data  # type: ignore[method-assign]
    wire = Wire()
    chunk = LocatedBytes.of(b"..answer..cdefgh..abxx..", Place(3, 100))
    rows = [  # direction, seq, ack, flags, offset, size
        (CLIENT, 0, 0, SYN, 0, 0), (SERVER, 0, 1, SYN | ACK, 0, 0), (SERVER, 1, 9, ACK, 2, 6), (CLIENT, 3, 1, ACK, 10, 6),
        (CLIENT, 1, 1, ACK, 18, 4),
    ]  # fmt: skip
    columns = PacketColumns(keys=[KEY])
    for number, (direction, seq, ack, flags, offset, size) in enumerate(rows, 1):
        values = number, number, 0, direction, wire.isn[direction] + seq, wire.isn[1 - direction] + ack, flags, offset, size, size, number
        names = ("number", "time_ns", "key", "direction", "seq", "ack", "flags", "offset", "captured", "original", "signature")
        for name, value in zip(names, values, strict=True):
            getattr(columns, name).append(value)
    wire.carry.take(chunk, columns, heard)
    wire.carry.finish(heard)
    assert found == [(b"ab", Place(3, 118)), (b"cdefgh", Place(3, 110)), (b"answer", Place(3, 102))]
