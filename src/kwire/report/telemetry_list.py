"""List of clients that push metrics (KIP-714), with the connection and principal that identify their process."""

from __future__ import annotations

from typing import Final

from kwire.report.amounts import count, moment
from kwire.report.analysis_folder import AnalysisFolder, rows_of
from kwire.report.listings import Column, Listing

__all__ = ["read_telemetry"]

_IDS: Final = (Column("Client"), Column("Software"), Column("Instance", "whole"), Column("Address", "whole"), Column("Principal"))
_WHO: Final = ("client_id", "software", "client_instance_id")
_SHOWN: Final = 3  # addresses of one instance


def read_telemetry(folder: AnalysisFolder) -> Listing:
    told: dict[tuple[str, ...], list[str]] = {}
    for row in rows_of(folder.digest, "push_sources"):
        told.setdefault(tuple(row[name] for name in (*_WHO, "what")), []).append(row["value"])
    rows = []
    for row in rows_of(folder.digest, "pushes"):
        identity = tuple(row[name] for name in _WHO)
        sources = (_few(sorted(told.get((*identity, what), ()))) for what in ("address", "principal"))
        rows.append((*identity, *sources, count(row["metrics"]), count(row["points"]), moment(row["time"])))
    rows.sort(key=lambda row: row[: len(_WHO)])
    return Listing(
        id="telemetry-list",
        title="Client metrics",
        lead="Clients that push their own metrics through the brokers (KIP-714); address and port lead to the process that does.",
        columns=(*_IDS, Column("Metrics", "number"), Column("Points", "number"), Column("Last (UTC)", "time")),
        rows=tuple(rows),
        nothing="No client pushed metrics in these captures.",
        noun="clients",
    )


def _few(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
