"""Finds connections by their ids, for batches of rows that name them."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

__all__ = ["ConnectionIndex"]

_ROW: Final = pa.int32()


class ConnectionIndex:
    """Gives the row of a connection by its id.

    The ids are gone through once, when it is made; a look-up then costs what the rows cost that ask. `pyarrow.compute.index_in` goes
    through all ids at each call, and so the time of a series grew with the square of its connections.
    """

    def __init__(self, ids: Any) -> None:
        """Args: ids: of the connections, in the order of their rows."""
        names = ids.to_pylist()
        self._row: dict[str, int] = dict(zip(names, range(len(names)), strict=True))

    def rows_of(self, ids: Any) -> Any:
        """Give the row of each connection, int32; null where there is none.

        Args:
            ids: array of connection ids, a connection as often as it likes.
        """
        if isinstance(ids, pa.ChunkedArray):
            ids = ids.combine_chunks()
        named = ids.dictionary_encode()
        return pa.array(map(self._row.get, named.dictionary.to_pylist()), _ROW, size=len(named.dictionary)).take(named.indices)
