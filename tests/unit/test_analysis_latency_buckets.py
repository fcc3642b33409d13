"""Latency histograms: exact where they can be, close where they cannot, and the same however they are added up."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from kwire.analysis.latency_buckets import bucket_of, middle_of, quantile


def buckets(*values: int) -> list[int]:
    return [int(bucket) for bucket in bucket_of(np.array(values, dtype=np.int64))]


def test_small_values_have_buckets_of_their_own() -> None:
    assert [middle_of(bucket) for bucket in buckets(*range(64))] == list(range(64))


def test_buckets_by_hand() -> None:
    # 64 has seven bits: one is shifted out, 32 buckets before it belong to that octave; 100 -> 32 + 50; 1000 has ten bits: 4 * 32 + 62
    assert buckets(63, 64, 65, 66, 100, 1000) == [63, 64, 64, 65, 82, 190]
    assert [middle_of(bucket) for bucket in (64, 82, 190)] == [65, 101, 1000]


def test_buckets_rise_and_the_middle_is_near() -> None:
    values = sorted({int(1.01**power) for power in range(2500)})
    found = buckets(*values)
    assert found == sorted(found)
    assert all(abs(middle_of(bucket) - value) <= value / 62 for value, bucket in zip(values, found, strict=True))


def test_clocks_that_disagree_give_zero() -> None:
    assert buckets(-5) == [0]


@pytest.mark.parametrize("part", [0.01, 0.5, 0.9, 0.99, 1.0])
def test_a_quantile_is_that_of_the_sorted_values(part: float) -> None:
    values = sorted(random.Random(1).sample(range(64), 40))
    counts = Counter(buckets(*values))
    rank = max(1, -int(-part * len(values) // 1))
    assert quantile(sorted(counts), [counts[bucket] for bucket in sorted(counts)], part) == values[rank - 1]


def test_no_latency_has_no_quantile() -> None:
    assert quantile([], [], 0.5) is None
