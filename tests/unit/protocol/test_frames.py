"""The frame splitter against bytes worked by hand: borders, losses, impossible lengths, and what it keeps in memory."""

from __future__ import annotations

import tracemalloc

import pytest

from kafka_bytes import framed
from kwire.protocol.tracking.frames import MAX_FRAME, REJECT, Frame, FrameFault, FrameSplitter


class Marked:
    """A judge that believes a frame whose payload begins with `K`, to make the splitter's own work visible."""

    window = 5

    def find(self, data: bytes, start: int) -> int:
        return start if start + self.window <= len(data) else -1

    def judge(self, data: bytes, start: int) -> int:
        if data[start : start + 2] != b"\0\0" or data[start + 4 : start + 5] != b"K":
            return REJECT
        return 4 + int.from_bytes(data[start : start + 4], "big")

    def salvage(self, data: bytes, start: int, lost: int, at_border: bool) -> bool:
        return at_border and self.judge(data, start) > 0


JUDGE = Marked()


def feed(splitter: FrameSplitter, data: bytes, t: int = 0, packet: int = 0) -> list[Frame | FrameFault]:
    return list(splitter.feed(data, t, packet, JUDGE))


def test_frames_know_their_place_and_times() -> None:
    splitter = FrameSplitter()
    stream = framed(b"Kone") + framed(b"") + framed(b"Ktwo!")
    assert feed(splitter, stream[:6], 10, 1) == []
    first, empty = feed(splitter, stream[6:14], 20, 2)
    assert first == Frame(b"Kone", 4, 0, 1, 10, 20)
    assert empty == Frame(b"", 0, 8, 2, 20, 20)
    assert feed(splitter, stream[14:17], 30, 3) == []
    assert feed(splitter, stream[17:], 40, 4) == [Frame(b"Ktwo!", 5, 12, 2, 20, 40)]
    assert splitter.position == len(stream)


def test_a_loss_inside_a_frame_damages_that_frame_only() -> None:
    splitter = FrameSplitter()
    feed(splitter, framed(b"K" + bytes(19))[:10], 1, 1)
    assert list(splitter.lose(8, 2, JUDGE)) == []
    damaged, whole = feed(splitter, bytes(6) + framed(b"Knext"), 3, 3)
    assert damaged == Frame(b"K" + bytes(5), 20, 0, 1, 1, 3, damaged=True)
    assert whole == Frame(b"Knext", 5, 24, 3, 3, 3)
    assert not splitter.seeking


def test_a_loss_that_ends_with_the_frame_leaves_the_next_border_known() -> None:
    splitter = FrameSplitter()
    feed(splitter, framed(b"K" + bytes(9))[:8], 1)
    assert list(splitter.lose(6, 2, JUDGE)) == [Frame(b"K" + bytes(3), 10, 0, 0, 1, 2, damaged=True)]
    assert not splitter.seeking
    assert feed(splitter, framed(b"!"), 3) == [Frame(b"!", 1, 14, 0, 3, 3)]


@pytest.mark.parametrize("before", [0, 1, 3])
def test_a_loss_that_takes_a_length_leads_to_a_search(before: int) -> None:
    splitter = FrameSplitter()
    feed(splitter, framed(b"Klost")[:before])
    assert list(splitter.lose(20, 0, JUDGE)) == []
    assert splitter.seeking
    assert feed(splitter, b"tail of it" + framed(b"Kfound") + framed(b"then"), 5, 6) == [
        Frame(b"Kfound", 6, before + 30, 6, 5, 5),
        Frame(b"then", 4, before + 40, 6, 5, 5),
    ]
    assert splitter.bytes_opaque == before + 10


def test_a_frame_whose_beginning_is_found_and_whose_end_is_lost_is_damaged() -> None:
    splitter = FrameSplitter(seeking=True)
    assert feed(splitter, framed(b"K" + bytes(99))[:40], 1) == []
    assert list(splitter.lose(64, 2, JUDGE)) == [Frame(b"K" + bytes(35), 100, 0, 0, 1, 2, damaged=True)]
    assert not splitter.seeking


@pytest.mark.parametrize(
    ("prefix", "kind", "length"),
    [
        ("fffffffe", "negative", -2),
        ("80000000", "negative", -(1 << 31)),
        ("06400001", "too_large", MAX_FRAME + 1),
        ("7fffffff", "too_large", 2**31 - 1),
    ],
)
def test_impossible_lengths_are_faults_and_the_search_goes_on_behind_them(prefix: str, kind: str, length: int) -> None:
    splitter = FrameSplitter()
    fault, frame = feed(splitter, bytes.fromhex(prefix) + b"junk" + framed(b"Kgood"), 7, 8)
    assert isinstance(fault, FrameFault)
    assert (fault.kind, fault.length, fault.offset, fault.packet, fault.time) == (kind, length, 0, 8, 7)
    assert frame == Frame(b"Kgood", 5, 8, 8, 7, 7)


def test_the_end_of_a_direction_in_the_middle_of_a_frame() -> None:
    splitter = FrameSplitter()
    feed(splitter, framed(b"Kwhole") + framed(b"K" + bytes(30))[:9], 3, 4)
    assert list(splitter.end(9)) == [FrameFault("unfinished", 31, 9, 10, 4, 3, b"K" + bytes(4))]
    assert list(splitter.end(9)) == []


def test_a_claimed_length_reserves_nothing() -> None:
    splitter = FrameSplitter()
    tracemalloc.start()
    try:
        feed(splitter, MAX_FRAME.to_bytes(4, "big") + b"K" * 100)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * 1024


def test_the_largest_frame_is_a_parameter() -> None:
    splitter = FrameSplitter(max_frame=10)
    assert feed(splitter, framed(bytes(10)))[0].length == 10
    assert [fault.kind for fault in feed(splitter, framed(bytes(11))) if isinstance(fault, FrameFault)] == ["too_large"]


def test_no_payload_in_texts() -> None:
    frame = Frame(b"\0alice\0secret", 13, 0, 0, 0, 0)
    assert "secret" not in repr(frame)
