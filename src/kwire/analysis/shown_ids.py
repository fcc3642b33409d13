"""Client ids in the rows of a client key.

Ids stay separate while a key has few, because one key may hold programs of different versions (`gateway-1` and `gateway-2` have the same
key). A client with a new id per run gets one row with the folded id.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import aggregated, flat
from kwire.analysis.partials import Partial
from kwire.tables.client_keys import fold_client_id
from kwire.tables.schemas import TEXT

__all__ = ["MAX_IDS", "ShownIds"]

# From so many ids on they are not names but numbers.
MAX_IDS: Final = 64


class ShownIds:
    """Client ids for rows: a client's own, or the folded one if its key has too many."""

    def __init__(self, partial: Partial) -> None:
        ids = aggregated(partial["identities"], ["client_key", "client_id"])  # it has a row for each address of each of them
        counts = aggregated(ids, ["client_key"], [([], "count_all")])
        self._many = flat(counts.filter(pc.field("count_all") > MAX_IDS), "client_key")
        self._folded = frozenset(self._many.to_pylist())

    def __call__(self, key: str, client_id: str | None) -> str | None:
        return fold_client_id(client_id) if client_id and key in self._folded else client_id

    def column(self, table: pa.Table) -> Any:
        ids = flat(table, "client_id")
        if not self._folded:
            return ids
        found = ids.dictionary_encode()
        folded = pa.array([fold_client_id(client_id) for client_id in found.dictionary.to_pylist()], TEXT).take(found.indices)
        many: Any = pc.is_in(flat(table, "client_key"), value_set=self._many)
        return pc.if_else(many, folded, ids)
