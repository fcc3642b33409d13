"""Texts of rows in columns: each has its own bytes, whatever its length and whatever lies beside it."""

from __future__ import annotations

from kwire.tables.row_sink import RowSink
from kwire.tables.schemas import CONNECTIONS

PLACE = CONNECTIONS.names.index("client_id")


def column_of(texts: list[str | None]) -> list[str | None]:
    """The client ids of connections, through the rows that this build keeps."""
    sink = RowSink("series", frozenset())
    add = sink.rows.add_connection
    for text in texts:
        row: list[str | None] = [None] * len(CONNECTIONS.names)
        row[PLACE] = text
        add(row)
    return [each for batch in sink.take("connections", whole=True) for each in batch.column(PLACE).to_pylist()]


def test_texts_of_every_length_keep_their_bytes() -> None:
    # around 32 bytes, up to which a text is copied at once; the last ones have no room behind them
    texts: list[str | None] = [chr(97 + size % 26) * size for size in (0, 1, 31, 32, 33, 64, 2, 30, 100, 5)]
    assert column_of(texts) == texts
    assert column_of(texts[::-1]) == texts[::-1]


def test_nulls_and_repeated_texts_stand_between_others() -> None:
    texts = [None, "a" * 40, None, None, "b", "a" * 40, "", "ü" * 16, None, "b", None]
    assert column_of(texts) == texts


def test_one_short_text_alone() -> None:
    assert column_of(["x"]) == ["x"]
    assert column_of([None]) == [None]
    assert column_of([""]) == [""]
