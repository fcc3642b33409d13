"""Which client id stands in the rows of a client key.

Ids stay apart while a key has few of them, because one key may hold programs of different ages (`gateway-1` and `gateway-2` fold to one); a
client that makes up an id a run gets one row with the folded id.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from kwire.analysis.partials import Partial
from kwire.tables.client_keys import fold_client_id

__all__ = ["MAX_IDS", "ShownIds"]

# From so many ids on they are not names but numbers.
MAX_IDS: Final = 64


class ShownIds:
    """Gives the id to show: a client's own, or the folded one where its key has too many."""

    def __init__(self, partial: Partial) -> None:
        ids: dict[str, set[str | None]] = defaultdict(set)
        columns = ["client_key", "client_id"]
        # there is a row for each address of each of them
        identities = partial["identities"].select(columns).group_by(columns, use_threads=False).aggregate([]).to_pydict()
        for key, client_id in zip(identities["client_key"], identities["client_id"], strict=True):
            ids[key].add(client_id)
        self._folded = {key for key, found in ids.items() if len(found) > MAX_IDS}

    def __call__(self, key: str, client_id: str | None) -> str | None:
        return fold_client_id(client_id) if client_id and key in self._folded else client_id
