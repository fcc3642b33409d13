"""A few connections of each client, as examples."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kwire.report.analysis_folder import AnalysisFolder, rows_of
from kwire.report.records import record

__all__ = ["SHOWN", "ClientConnection", "read_client_connections"]

SHOWN: Final = 3
"""Maximum number of connections shown per client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConnection:
    connection_id: str
    first_seen: datetime | None
    last_seen: datetime | None
    state: str


def read_client_connections(folder: AnalysisFolder) -> dict[str, tuple[ClientConnection, ...]]:
    found: dict[str, list[ClientConnection]] = defaultdict(list)
    for row in rows_of(folder.digest, "client_connections"):
        if len(found[row["client_key"]]) < SHOWN:
            found[row["client_key"]].append(record(ClientConnection, row))
    return {key: tuple(listed) for key, listed in found.items()}
