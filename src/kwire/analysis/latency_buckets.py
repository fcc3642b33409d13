"""Log-linear latency buckets with integer counts, so that histograms of parts add up exactly.

Below 64 microseconds a bucket is one value; above, each power of two has 32 buckets, so the error of a quantile is below 1.6 %.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from kwire.analysis.columns import Ints

__all__ = ["bucket_of", "middle_of", "quantile_rows", "quantiles", "top_of"]

Bools = np.ndarray[Any, np.dtype[np.bool_]]

_STEPS: Final = 32
_EXACT_BITS: Final = 6  # values of so many bits have buckets of their own


def bucket_of(latency_us: Ints) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return the bucket of each latency, in microseconds; a negative one (from two clocks) counts as 0."""
    values = np.maximum(latency_us, 0)
    bits = np.frexp(values.astype(np.float64))[1]
    shift = np.maximum(bits - _EXACT_BITS, 0)
    buckets: np.ndarray[Any, np.dtype[np.int32]] = (shift * _STEPS + (values >> shift)).astype(np.int32)
    return buckets


def middle_of(buckets: Ints) -> Ints:
    shift = _shift_of(buckets)
    return ((buckets - shift * _STEPS) << shift) + ((1 << shift) >> 1)


def top_of(buckets: Ints) -> Ints:
    shift = _shift_of(buckets)
    return ((buckets - shift * _STEPS + 1) << shift) - 1


def _shift_of(buckets: Ints) -> Ints:
    return np.maximum(buckets // _STEPS - 1, 0)


def quantiles(numbers: Ints, buckets: Ints, counts: Ints, size: int, part: float) -> tuple[Ints, Bools]:
    """Return the quantile `part` of each histogram in microseconds, and which histograms are empty.

    Buckets are given with the number of their histogram, both ascending.
    """
    at, nothing = quantile_rows(numbers, counts, size, part)
    return (middle_of(buckets[at]) if len(buckets) else np.zeros(size, np.int64)), nothing


def quantile_rows(numbers: Ints, counts: Ints, size: int, part: float) -> tuple[Ints, Bools]:
    """Return the row of the bucket that contains a quantile of each histogram, and which histograms are empty."""
    totals = np.zeros(size, np.int64)
    np.add.at(totals, numbers, counts)
    rank = np.maximum(np.ceil(part * totals).astype(np.int64), 1)
    before = np.cumsum(totals) - totals
    at = np.searchsorted(np.cumsum(counts), before + rank)
    return np.minimum(at, len(counts) - 1), totals == 0
