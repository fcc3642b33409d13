"""Latency histograms: exact where they can be, close where they cannot, and the same however they are added up."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from kwire.analysis.latency_buckets import bucket_of, middle_of, quantiles, top_of


def buckets(*values: int) -> list[int]:
    return [int(bucket) for bucket in bucket_of(np.array(values, dtype=np.int64))]


def test_small_values_have_buckets_of_their_own() -> None:
    exact = np.arange(64)
    assert middle_of(bucket_of(exact)).tolist() == top_of(bucket_of(exact)).tolist() == exact.tolist()


def test_buckets_by_hand() -> None:
    # 64 has seven bits: one is shifted out, 32 buckets before it belong to that octave; 100 -> 32 + 50; 1000 has ten bits: 4 * 32 + 62
    assert buckets(63, 64, 65, 66, 100, 1000) == [63, 64, 64, 65, 82, 190]
    # bucket 190 holds 62 << 4 = 992 to 1007
    assert middle_of(np.array([64, 82, 190])).tolist() == [65, 101, 1000]
    assert top_of(np.array([64, 82, 190])).tolist() == [65, 101, 1007]


def test_buckets_rise_and_the_middle_is_near() -> None:
    values = sorted({int(1.01**power) for power in range(2500)})
    found = buckets(*values)
    assert found == sorted(found)
    middles = middle_of(np.array(found))
    assert all(abs(middle - value) <= value / 62 for value, middle in zip(values, middles.tolist(), strict=True))


def test_clocks_that_disagree_give_zero() -> None:
    assert buckets(-5) == [0]


@pytest.mark.parametrize("part", [0.01, 0.5, 0.9, 0.99, 1.0])
def test_a_quantile_is_that_of_the_sorted_values(part: float) -> None:
    values = sorted(random.Random(1).sample(range(64), 40))
    counts = Counter(buckets(*values))
    rank = max(1, -int(-part * len(values) // 1))
    found = sorted(counts)
    values_of, nothing = quantiles(np.zeros(len(found), np.int64), np.array(found), np.array([counts[bucket] for bucket in found]), 1, part)
    assert (values_of.tolist(), nothing.tolist()) == ([values[rank - 1]], [False])


def test_each_histogram_has_its_own_quantile() -> None:
    """Three latencies of 1, 2, 40; none; one of 7, twice."""
    numbers, found, counts = (np.array(column) for column in ((0, 0, 0, 2), (1, 2, 40, 7), (1, 1, 1, 2)))
    values, nothing = quantiles(numbers, found, counts, 3, 0.5)
    assert nothing.tolist() == [False, True, False]
    assert values[[0, 2]].tolist() == [2, 7]


def test_no_latency_has_no_quantile() -> None:
    nothing = np.empty(0, np.int64)
    assert quantiles(nothing, nothing, nothing, 2, 0.5)[1].tolist() == [True, True]
