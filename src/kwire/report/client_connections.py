"""A few connections of each client, as examples; the table `connections` has them all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.report.analysis_folder import AnalysisFolder

__all__ = ["SHOWN", "ClientConnection", "read_client_connections"]

SHOWN: Final = 3
"""Connections of a client that are shown."""
_COLUMNS: Final = ("client_key", "connection_id", "first_seen", "last_seen", "state")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConnection:
    """One connection; `state` as in the table."""

    connection_id: str
    first_seen: datetime | None
    last_seen: datetime | None
    state: str


def read_client_connections(folder: AnalysisFolder, keys: Iterable[str]) -> dict[str, tuple[ClientConnection, ...]]:
    """The first connections of each client, in the order of the table; rows of clients that have enough are passed over.

    Args:
        folder: the analysis.
        keys: clients to look for.
    """
    found: dict[str, list[ClientConnection]] = defaultdict(list)
    open_keys = dict.fromkeys(keys)
    for batch in folder.scan("connections", _COLUMNS):
        if not open_keys:
            break
        for row in batch.filter(pc.is_in(batch["client_key"], value_set=pa.array(list(open_keys), pa.string()))).to_pylist():
            key = row["client_key"]
            if len(found[key]) < SHOWN:
                found[key].append(
                    ClientConnection(
                        connection_id=row["connection_id"] or "",
                        first_seen=row["first_seen"],
                        last_seen=row["last_seen"],
                        state=row["state"] or "",
                    )
                )
            else:
                open_keys.pop(key, None)
    return {key: tuple(listed) for key, listed in found.items()}
