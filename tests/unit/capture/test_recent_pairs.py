"""Pairs of endpoints that a stream forgets: none too early, none kept for ever, no number given twice."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.capture.dividing.pair_counts import PairCounts
from kwire.capture.dividing.recent_pairs import RecentPairs
from kwire.errors import InputError
from kwire.spark.source.stream_options import stream_options

IDLE = 100
A, B = b"a", b"b"


def test_a_pair_is_kept_for_the_idle_time_and_gone_after_twice_as_long() -> None:
    pairs = RecentPairs(IDLE)
    pairs.forget(0)
    assert (pairs.begin(A), pairs.begin(A)) == (0, 1)
    pairs.forget(IDLE)  # the generation of A is the earlier one now
    assert A in pairs
    pairs.begin(B)
    pairs.forget(2 * IDLE - 1)
    assert A in pairs
    pairs.forget(2 * IDLE)
    assert (A in pairs, B in pairs) == (False, True)
    pairs.forget(3 * IDLE)
    assert B not in pairs


def test_a_pair_that_was_forgotten_gets_a_number_that_no_connection_has() -> None:
    pairs = RecentPairs(IDLE)
    pairs.forget(0)
    assert [pairs.begin(A) for _ in range(3)] == [0, 1, 2]
    for time in (IDLE, 2 * IDLE):
        pairs.forget(time)
    assert pairs.begin(A) == 3
    assert pairs.begin(B) == 3  # it may have been forgotten too


def test_a_pair_that_is_used_is_not_forgotten() -> None:
    pairs = RecentPairs(IDLE)
    for number in range(10):
        pairs.forget(number * IDLE)
        assert pairs.begin(A) == number


def test_what_began_after_a_long_silence_is_kept() -> None:
    pairs = RecentPairs(IDLE)
    pairs.forget(0)
    pairs.begin(A)
    pairs.begin(B)  # long after A, in the same batch
    pairs.forget(50 * IDLE)
    assert B in pairs


def test_counts_from_before_the_option_was_given() -> None:
    known = PairCounts()
    assert [known.begin(A) for _ in range(2)] == [0, 1]
    pairs = RecentPairs(IDLE, known)
    assert pairs.begin(A) == 2


@given(st.lists(st.tuples(st.sampled_from([A, B, b"c"]), st.integers(0, 3 * IDLE)), max_size=60), st.integers(0, 60))
def test_no_number_is_given_twice_across_batches(steps: list[tuple[bytes, int]], cut: int) -> None:
    pairs, time, given_out = RecentPairs(IDLE), 0, set()
    for number, (key, later) in enumerate(steps):
        if number == cut:
            pairs = pickle.loads(pickle.dumps(pairs))
        time += later
        found = (key, pairs.begin(key))
        assert found not in given_out
        given_out.add(found)
        pairs.forget(time)


def test_a_state_is_bounded_by_what_two_idle_times_hold() -> None:
    """10 million short connections a day are 417,000 an hour; here 100 pairs in each idle time, for 50 of them."""
    pairs, sizes = RecentPairs(IDLE), []
    for hour in range(50):
        pairs.forget(hour * IDLE)
        for number in range(100):
            pairs.begin((hour * 100 + number).to_bytes(13, "big"))
        sizes.append(len(pickle.dumps(pairs)))
    assert max(sizes[10:]) <= 1.1 * min(sizes[10:])


def test_the_option() -> None:
    assert stream_options({}).pairs_forgotten_after is None
    assert stream_options({"pairsforgottenafter": "1 hour"}).pairs_forgotten_after == 3600
    with pytest.raises(InputError, match="is 60 seconds at least"):
        stream_options({"pairsforgottenafter": "5s"})
