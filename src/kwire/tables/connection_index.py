"""Look-up of connections by their ids, for batches of rows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import pyarrow as pa

__all__ = ["ConnectionIndex"]


class ConnectionIndex:
    """Index of connections by id; among equal ids, the last one wins.

    Ids are indexed once, at the first look-up. `pyarrow.compute.index_in` would scan all ids at each call, so the time of a series would
    grow with the square of its connections.
    """

    def __init__(self, ids: Any) -> None:
        self._ids = ids
        self._known: tuple[Any, Any] | None = None

    def rows_of(self, ids: Any) -> Any:
        """Return the row of each connection (int32), null if there is none."""
        ids = _in_one_piece(ids)
        if self._known is not None and _is_same(ids, self._known[0]):
            return self._known[1]
        named = ids.dictionary_encode()
        found = pa.array(map(self._row_of_id.get, named.dictionary.to_pylist()), pa.int32(), size=len(named.dictionary))
        rows = found.take(named.indices)
        self.remember(ids, rows)
        return rows

    @cached_property
    def _row_of_id(self) -> dict[str, int]:
        ids = self._ids.to_pylist()
        return dict(zip(ids, range(len(ids)), strict=True))

    def remember(self, ids: Any, rows: Any) -> None:
        """Cache the latest result, because a batch is looked up twice: to fill in keys, and to sum it up."""
        self._known = (ids, rows)


def _in_one_piece(texts: Any) -> Any:
    array = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    return array if array.type == pa.string() else array.cast(pa.string())


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two arrays share their memory; both are alive, so it cannot have been reused."""
    if one is other:
        return True
    if len(one) != len(other) or one.offset != other.offset or one.type != other.type:
        return False
    return [each and each.address for each in one.buffers()] == [each and each.address for each in other.buffers()]
