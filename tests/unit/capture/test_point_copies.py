"""Which packets of two points are copies: rows by hand, and random losses of random segmentations."""

from __future__ import annotations

import random

import pytest

from kwire.capture.files import point_copies
from kwire.capture.files.point_copies import HOLD_NS, CopyFilter, PointRow
from kwire.capture.packet_columns import ACK, FIN, RST, SYN

KEY = b"\x04" + bytes(12)


def row(point: int, time_ns: int, seq: int, size: int, *, direction: int = 0, ack: int = 0, flags: int = ACK, key: bytes = KEY) -> PointRow:
    return PointRow(point, 1, time_ns, key, direction, seq, ack, flags, b"", 0, size, size, 0)


def given(*rows: PointRow) -> list[tuple[int, int, int]]:
    """(point, seq, size) of what is let through, in order."""
    copies = CopyFilter()
    found = [kept for each in rows for kept in copies.take(each)]
    found += copies.finish()
    return [(kept.point, kept.seq, kept.original) for kept in found]


def test_home_is_first_and_the_rest_are_copies() -> None:
    assert given(row(0, 0, 100, 10), row(1, 5, 100, 10), row(0, 9, 110, 10), row(1, 14, 110, 10)) == [(0, 100, 10), (0, 110, 10)]


def test_what_home_lost_comes_before_what_follows_it() -> None:
    assert given(row(0, 0, 100, 10), row(1, 5, 100, 10), row(1, 9, 110, 10), row(0, 12, 120, 10)) == [
        (0, 100, 10),
        (1, 110, 10),
        (0, 120, 10),
    ]


def test_what_home_lost_comes_before_its_acknowledgement() -> None:
    answer = row(0, 20, 500, 7, direction=1, ack=120)
    assert given(row(0, 0, 100, 10), row(1, 9, 110, 10), answer) == [(0, 100, 10), (1, 110, 10), (0, 500, 7)]


def test_a_hole_is_filled_at_once() -> None:
    assert given(row(0, 0, 100, 10), row(0, 3, 120, 10), row(1, 5, 110, 10), row(0, 6, 130, 1)) == [
        (0, 100, 10),
        (0, 120, 10),
        (1, 110, 10),
        (0, 130, 1),
    ]


def test_a_point_that_sees_first_waits_for_home() -> None:
    assert given(row(0, 0, 100, 10), row(1, 3, 110, 10), row(0, 5, 110, 10)) == [(0, 100, 10), (0, 110, 10)]


def test_where_home_stops_the_other_point_goes_on() -> None:
    late = row(1, HOLD_NS + 20, 120, 10)
    assert given(row(0, 0, 100, 10), row(1, 3, 110, 10), late) == [(0, 100, 10), (1, 110, 10), (1, 120, 10)]


def test_only_retransmissions_at_home_count() -> None:
    again = [row(point, time, 100, 10) for time, point in enumerate((0, 1, 0, 1, 1))]
    assert given(*again) == [(0, 100, 10), (0, 100, 10)]


def test_acknowledgements_of_other_points_are_dropped() -> None:
    assert given(row(0, 0, 100, 0), row(1, 1, 100, 0), row(0, 2, 100, 0)) == [(0, 100, 0), (0, 100, 0)]


def test_handshake_end_and_reset_come_once() -> None:
    opening = [row(0, 0, 99, 0, flags=SYN), row(1, 1, 99, 0, flags=SYN), row(1, 2, 499, 0, direction=1, flags=SYN | ACK, ack=100)]
    closing = [
        row(0, 5, 100, 3, flags=ACK | FIN, ack=500),
        row(1, 6, 100, 3, flags=ACK | FIN),
        row(1, 7, 104, 0, flags=RST),
        row(0, 8, 104, 0, flags=RST),
    ]
    assert given(*opening, *closing) == [(0, 99, 0), (1, 499, 0), (0, 100, 3), (0, 104, 0)]


def test_a_reset_that_home_lost_comes_from_the_other_point() -> None:
    assert given(row(0, 0, 100, 3), row(1, 7, 103, 0, flags=RST)) == [(0, 100, 3), (1, 103, 0)]


def test_the_same_ports_again_are_another_connection() -> None:
    first = [row(0, 0, 99, 0, flags=SYN), row(0, 1, 100, 5)]
    second = [row(1, 50, 7000, 0, flags=SYN), row(0, 51, 7000, 0, flags=SYN), row(1, 52, 7001, 5), row(0, 53, 7001, 5)]
    assert given(*first, *second) == [(0, 99, 0), (0, 100, 5), (1, 7000, 0), (1, 7001, 5)]


def test_sequence_numbers_wrap() -> None:
    start = 0xFFFFFFFB
    assert given(row(0, 0, start, 10), row(1, 1, start, 10), row(1, 2, 5, 10), row(0, 3, 15, 10)) == [
        (0, start, 10),
        (1, 5, 10),
        (0, 15, 10),
    ]


def test_what_is_known_of_silent_connections_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(point_copies, "_SWEEP_ROWS", 10)
    copies = CopyFilter()
    for number in range(100):
        list(copies.take(row(0, number * 100_000_000_000, 1, 1, key=b"\x04" + number.to_bytes(12, "big"))))
    assert len(copies._connections) < 20


@pytest.mark.parametrize("seed", range(20))
def test_every_byte_that_any_point_saw_comes(seed: int) -> None:
    """Each point cuts the stream in its own way and loses some of it; together they have all of it, and so has what is let through."""
    chance = random.Random(seed)
    size, rows, kept_by = 20_000, [], [set(), set()]  # type: ignore[var-annotated]
    for point in (0, 1):
        at = 0
        while at < size:
            length = min(chance.choice((1, 50, 700, 1448, 3000)), size - at)
            # bytes 1000 * k to 1000 * k + 999 are lost by one point at most
            lost = any((block // 1000 % 3) == point + 1 for block in range(at // 1000 * 1000, at + length, 1000)) and chance.random() < 0.5
            if not lost:
                rows.append(row(point, at * 1000 + 50 * point + chance.randrange(30), 0xFFFFF000 + at & 0xFFFFFFFF, length))
                kept_by[point].update(range(at, at + length))
            at += length
    rows.sort(key=lambda each: each.time_ns)
    found = given(*rows)
    bytes_found = {(seq - 0xFFFFF000 & 0xFFFFFFFF) + index for _point, seq, length in found for index in range(length)}
    assert bytes_found == kept_by[0] | kept_by[1]
    home = rows[0].point
    assert sum(1 for point, _seq, _size in found if point == home) == sum(1 for each in rows if each.point == home)
