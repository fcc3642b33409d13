"""Both twins cut TLS records alike: whole ones, lengths that lie, floods of alerts, records that are cut off, and losses anywhere."""

from __future__ import annotations

import random
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kwire.capture._native.tls_records import RecordStream as NativeStream

from kwire.capture.tls.records import MOST_BODY, RecordStream

KINDS = st.sampled_from([20, 21, 22, 23, 23, 23, 24])
RECORD = st.builds(
    lambda kind, minor, body: bytes([kind, 3, minor]) + len(body).to_bytes(2, "big") + body,
    KINDS, st.integers(0, 4), st.binary(min_size=0, max_size=60),
)  # fmt: skip
# a length that the body does not have, a header that is none, and bytes that only look like a header
DAMAGED = st.one_of(
    st.builds(
        lambda kind, size, body: bytes([kind, 3, 3]) + size.to_bytes(2, "big") + body,
        KINDS, st.integers(0, 65535), st.binary(max_size=30),
    ),
    st.binary(min_size=1, max_size=20),
    st.just(b"\x15\3\3\0\2\1\x28" * 40),
    st.just(b"\x17\3\3" * 30),
)  # fmt: skip
STEP = st.one_of(
    st.tuples(st.just("bytes"), RECORD), st.tuples(st.just("bytes"), RECORD), st.tuples(st.just("bytes"), DAMAGED),
    st.tuples(st.just("lose"), st.integers(1, 200), st.booleans()), st.tuples(st.just("late")), st.tuples(st.just("state")),
    st.tuples(st.just("give up")),
)  # fmt: skip


def accepts(kind: int, version: int, body: bytes, lost: int) -> bool:
    """Knows about half of all bodies as records: what a cipher says of a candidate."""
    return zlib.crc32(body) % 2 == 0


class Both:
    """The twins side by side; each step has to give the same, and leave the same state."""

    def __init__(self) -> None:
        self.streams: list[Any] = [RecordStream(), NativeStream()]
        self.clock = 0

    def take(self, data: bytes) -> list[Any]:
        self.clock += 1
        made = [stream.records(accepts) if stream.take(data, self.clock, self.clock) else [] for stream in self.streams]
        assert made[0] == made[1]
        return self.same(made[0])

    def lose(self, count: int, cut: bool) -> None:
        self.clock += 1
        made = [stream.lose(count, self.clock, self.clock, cut) for stream in self.streams]
        assert made[0] == made[1]
        self.same([])

    def same(self, made: list[Any]) -> list[Any]:
        states = [stream.state() for stream in self.streams]
        assert states[0] == states[1]
        return made


@settings(max_examples=300, deadline=None)
@given(st.lists(STEP, max_size=25), st.integers(1, 80))
def test_twins_agree_on_anything(steps: list[Any], size: int) -> None:
    both = Both()
    for what, *rest in steps:
        if what == "bytes":
            for at in range(0, len(rest[0]), size):
                both.take(rest[0][at : at + size])
        elif what == "lose":
            both.lose(*rest)
        elif what == "late":
            for stream in both.streams:
                stream.seeking = True
        elif what == "give up":
            for stream in both.streams:
                stream.give_up()
            both.same([])
        else:
            # a state of one backend makes the other, too
            states = [stream.state() for stream in both.streams]
            both.streams = [RecordStream(states[1]), NativeStream(states[0])]


@pytest.mark.parametrize("make", [RecordStream, NativeStream])
def test_what_is_no_record_ends_a_direction(make: Any) -> None:
    """RFC 8446, 5.1 and 5.2: a type from 20 to 24, and at most 2^14 + 256 bytes; RFC 5246 allows 2^14 + 2048."""
    for header in (b"\x19\3\3\0\1", b"\x17\2\3\0\1", b"\x17\3\3" + (MOST_BODY + 1).to_bytes(2, "big")):
        stream = make()
        assert stream.take(header + b"x", 1, 1)
        assert stream.records(accepts) == []
        assert (stream.ended, stream.opaque) == (True, 6)
        assert not stream.take(b"more", 2, 2)
        assert stream.opaque == 10


@pytest.mark.parametrize("make", [RecordStream, NativeStream])
def test_a_record_knows_when_its_first_and_last_byte_came(make: Any) -> None:
    stream = make()
    assert not stream.take(b"\x17\3\3\0\6ab", 10, 1)
    assert not stream.take(b"cd", 20, 2)
    assert stream.take(b"ef\x15", 30, 3)
    (record,) = stream.records(accepts)
    assert (record.body, record.first, record.last, record.first_bytes) == (b"abcdef", (10, 1), (30, 3), 2)


@pytest.mark.parametrize("make", [RecordStream, NativeStream])
def test_a_search_holds_a_bounded_number_of_bytes(make: Any) -> None:
    """What looks like headers without end, none of them a record: 4 records' worth of bytes wait at most."""
    stream, rnd = make(), random.Random(1)
    stream.lose(10, 1, 1, False)
    for number in range(200):
        if stream.take(b"\x17\3\3\x40\0" * 200 + rnd.randbytes(500), number, number):
            stream.records(lambda *_: False)
        assert len(stream.state().buffer) <= 4 * MOST_BODY
    assert stream.opaque > 200_000
