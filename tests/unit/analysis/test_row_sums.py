"""Rows are numbered as they would be as Python tuples, whatever the columns hold."""

from __future__ import annotations

from itertools import count
from typing import Any

import pyarrow as pa
import pytest

from kwire.analysis.row_sums import codes_of

LEAST, GREATEST = -(2**63), 2**63 - 1
COLUMNS: dict[str, Any] = {
    "small": pa.array([3, 3, 4, 3, None, None], pa.int32()),
    "narrow": pa.array([-128, 127, -128, -128, 0, 0], pa.int8()),
    "hours": pa.array([0, 3_600_000_000, 0, 0, 7_200_000_000, 7_200_000_000]),
    "texts": pa.array(["a", None, "a", "a", "", ""]),
    "dictionaries": pa.array(["a", None, "a", "b", "", ""]).dictionary_encode().cast(pa.string()),
    "all that there is": pa.array([LEAST, GREATEST, LEAST, LEAST, 0, 0]),
    "the greatest": pa.array([GREATEST, GREATEST - 1, GREATEST, GREATEST, None, None]),
    "nothing": pa.nulls(6, pa.int64()),
}
CHOSEN = [
    ["small"], ["texts"], ["nothing"], ["all that there is"], ["small", "texts"], ["hours", "narrow", "small", "dictionaries"],
    ["all that there is", "all that there is"], ["the greatest", "all that there is", "hours", "texts"], ["nothing", "the greatest"],
    ["hours"] * 4, [*COLUMNS], [*COLUMNS][::-1],
]  # fmt: skip


@pytest.mark.parametrize("names", CHOSEN, ids="+".join)
def test_rows_that_are_equal_have_one_number(names: list[str]) -> None:
    columns = [COLUMNS[name] for name in names]
    rows = list(zip(*(column.to_pylist() for column in columns), strict=True))
    numbers: dict[tuple[object, ...], int] = {}
    following = count()
    wanted = [numbers[row] if row in numbers else numbers.setdefault(row, next(following)) for row in rows]
    found, first = codes_of(*columns)
    assert found.tolist() == wanted
    assert first.tolist() == [rows.index(row) for row in numbers]


def test_no_rows_have_no_numbers() -> None:
    found, first = codes_of(pa.array([], pa.int64()), pa.array([], pa.string()))
    assert found.tolist() == first.tolist() == []
