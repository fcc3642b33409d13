"""How often pairs of endpoints were used, in memory and on disk (kwire.capture.dividing.pair_counts)."""

from __future__ import annotations

import pickle
import sqlite3
import struct
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.capture.dividing import pair_counts
from kwire.capture.dividing.pair_counts import PairCounts


def key_of(number: int) -> bytes:
    return bytes([4, 10, 0, 0, 1, 0x23, 0x84, 10]) + struct.pack(">I", number)[1:] + bytes([0x80, 1])


@pytest.fixture(params=[1, 3, 1000], ids=["all on disk", "some on disk", "none on disk"])
def recent(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(pair_counts, "RECENT_PAIRS", request.param)
    return int(request.param)


@pytest.mark.usefixtures("recent")
@given(st.lists(st.integers(0, 12)), st.integers(0, 40))
def test_counts_as_a_dictionary_would(numbers: list[int], cut: int) -> None:
    """Wherever they lie, and wherever the series is cut and gone on with."""
    counts, expected = PairCounts(), Counter[int]()
    for place, number in enumerate(numbers):
        if place == cut:
            counts = pickle.loads(pickle.dumps(counts))
        assert (key_of(number) in counts) == (number in expected)
        assert counts.begin(key_of(number)) == expected[number]
        expected[number] += 1
    assert list(counts) == [(key_of(number), count) for number, count in sorted(expected.items())]
    assert key_of(99) not in counts


@pytest.mark.usefixtures("recent")
def test_equal_whatever_lies_where() -> None:
    one, other = PairCounts(), PairCounts()
    for number in range(20):
        one.begin(key_of(number))
        other.begin(key_of(19 - number))
    assert one == other
    other.begin(key_of(3))
    assert one != other


def test_only_the_latest_pairs_are_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_counts, "RECENT_PAIRS", 100)
    counts = PairCounts()
    for number in range(2050):
        counts.begin(key_of(number % 2000))
        assert len(counts._recent) <= 100
    assert counts.begin(key_of(0)) == 2
    assert counts.begin(key_of(1999)) == 1
    assert sum(1 for _ in counts) == 2000


def test_a_state_takes_few_bytes_a_pair() -> None:
    """A run that can be gone on with writes them; their neighbours in order have most bytes in common."""
    counts = PairCounts()
    for number in range(20_000):
        counts.begin(key_of(number))
    assert len(pickle.dumps(counts)) < 20_000 * 8


def test_the_database_is_closed_with_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """sqlite3 of Python 3.13 warns of a connection that is only forgotten."""
    monkeypatch.setattr(pair_counts, "RECENT_PAIRS", 2)
    counts = PairCounts()
    for number in range(4):
        counts.begin(bytes([number]))
    disk = counts._disk
    assert disk is not None
    del counts
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        disk.execute("SELECT 1")


def test_all_recent_is_all_there_is_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The native twin begins connections in these counts: not where others are on disk, nor where changes are kept for a stream."""
    monkeypatch.setattr(pair_counts, "RECENT_PAIRS", 2)
    counts = PairCounts()
    assert counts.begin(key_of(1)) == 0
    found = counts.all_recent()
    assert found == {key_of(1): 1}
    found[key_of(2)] = 5
    assert counts.begin(key_of(2)) == 5
    counts.begin(key_of(3))
    assert counts.all_recent() is None
    kept = PairCounts()
    kept.keep_changes()
    assert kept.all_recent() is None
