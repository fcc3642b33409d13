"""Both twins find rows by texts, and texts by rows (kwire.tables.connection_index), whatever the arrays."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.codec.impl import load_twin
from kwire.tables.connection_index import PlainTextRows

NATIVE = load_twin("tables", "text_rows", "native")
# The native table has "unknown" in it from the beginning, so it must not be found where nothing has it.
TEXTS = st.sampled_from(["a", "b", "", "unknown", "10.0.0.1:9092-10.0.0.2:50000-0", "é"])
ARRAYS = st.lists(st.none() | TEXTS, max_size=20)


def array(values: list[Any], kind: pa.DataType, cut: int) -> Any:
    return pa.array(values, kind).slice(min(cut, len(values)))


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=20), ARRAYS, st.integers(0, 3), st.integers(0, 3))
def test_rows_of_texts(texts: list[str], asked: list[str | None], cut: int, other_cut: int) -> None:
    known, wanted = array(texts, pa.string(), cut), array(asked, pa.string(), other_cut)
    native = NATIVE.TextRows(known).rows_of(wanted)
    native.validate(full=True)
    assert native.equals(PlainTextRows(known).rows_of(wanted))


@settings(deadline=None)
@given(st.lists(st.none() | TEXTS, min_size=1, max_size=20), st.data(), st.integers(0, 3))
def test_texts_at_rows(texts: list[str | None], data: st.DataObject, cut: int) -> None:
    rows = array(data.draw(st.lists(st.none() | st.integers(0, len(texts) - 1), max_size=20)), pa.int32(), cut)
    native = NATIVE.texts_at(pa.array(texts, pa.string()), rows)
    native.validate(full=True)
    assert native.to_pylist() == [None if row is None else texts[row] for row in rows.to_pylist()]


@pytest.mark.parametrize("kind", ["native", "pure"])
def test_of_equal_texts_the_last_counts(kind: str) -> None:
    rows = (NATIVE.TextRows if kind == "native" else PlainTextRows)(pa.array(["a", "unknown", "a"]))
    assert rows.rows_of(pa.array(["a", "unknown", None, "b"])).to_pylist() == [2, 1, None, None]


def test_arrays_that_lie_are_refused() -> None:
    offsets = pa.py_buffer(bytes([0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]))  # the second text ends before it begins
    backwards = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"ab")])
    with pytest.raises(ValueError, match="buffer"):
        NATIVE.TextRows(backwards)
    with pytest.raises(TypeError):
        NATIVE.TextRows(pa.array([1]))
    for row in (1, -1):
        with pytest.raises(IndexError):
            NATIVE.texts_at(pa.array(["a"]), pa.array([row], pa.int32()))
