"""Connections are found by their ids, whatever the ids that are asked for."""

from __future__ import annotations

import pyarrow as pa

from kwire.tables.connection_index import ConnectionIndex

INDEX = ConnectionIndex(pa.chunked_array([["a", "b"], ["c"]]))


def test_each_id_gives_its_row_as_often_as_it_is_asked_for() -> None:
    found = INDEX.rows_of(pa.array(["c", "a", "a", "b", "c"]))
    assert found.to_pylist() == [2, 0, 0, 1, 2]
    assert found.type == pa.int32()


def test_what_is_no_connection_has_no_row() -> None:
    assert INDEX.rows_of(pa.array([None, "x", "b", None])).to_pylist() == [None, None, 1, None]
    assert INDEX.rows_of(pa.array([], pa.string())).to_pylist() == []
    assert ConnectionIndex(pa.chunked_array([], pa.string())).rows_of(pa.array(["a"])).to_pylist() == [None]


def test_columns_of_chunks_are_one() -> None:
    assert INDEX.rows_of(pa.chunked_array([["b"], ["c", None]])).to_pylist() == [1, 2, None]


def test_an_answer_that_is_remembered_holds_for_the_same_memory_only() -> None:
    index = ConnectionIndex(pa.chunked_array([["a", "b", "c"]]))
    batch = pa.record_batch({"connection_id": ["b", "a"], "other": [1, 2]})
    index.remember(batch.column("connection_id"), pa.array([7, 8], pa.int32()))
    assert index.rows_of(batch.set_column(1, "other", pa.array([3, 4])).column("connection_id")).to_pylist() == [7, 8]
    assert index.rows_of(pa.array(["b", "a"])).to_pylist() == [1, 0]
    assert index.rows_of(batch.column("connection_id")).to_pylist() == [1, 0]
    index.remember(batch.column("connection_id"), pa.array([7, 8], pa.int32()))
    assert index.rows_of(batch.column("connection_id").slice(1)).to_pylist() == [0]
    assert index.rows_of(batch.column("connection_id").slice(0, 1)).to_pylist() == [1]
