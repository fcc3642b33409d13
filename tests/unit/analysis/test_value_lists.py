"""Lists of different values, worked out by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kwire.analysis.value_lists import lists_of
from kwire.tables.schemas import INTS, TEXTS


def test_values_are_sorted_and_different_and_nulls_left_out() -> None:
    numbers = np.array([2, 0, 2, 0, 2, 3])
    values = pa.array(["b", "x", "a", None, "b", None])
    found = lists_of(numbers, values, 4, TEXTS)
    assert found.type == TEXTS
    assert found.to_pylist() == [["x"], [], ["a", "b"], []]


def test_integers_are_sorted_as_such() -> None:
    assert lists_of(np.zeros(3, np.int64), pa.array([10, 9, 10], pa.int32()), 1, INTS).to_pylist() == [[9, 10]]


def test_nothing_gives_empty_lists() -> None:
    assert lists_of(np.empty(0, np.int64), pa.array([], pa.string()), 2, TEXTS).to_pylist() == [[], []]
