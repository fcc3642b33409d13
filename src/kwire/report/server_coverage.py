"""Coverage by listener of each broker: late joins, one-way connections, gaps, cuts and unreadable bytes."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from kwire.report.amounts import bytes_of, count
from kwire.report.analysis_folder import AnalysisFolder, rows_of
from kwire.report.listings import Column, Listing

__all__ = ["read_server_coverage"]

_NUMBERS: Final = ("Node", "Connections", "Kafka", "Opaque bytes", "Joined late", "One way", "Gaps", "Bytes cut")
_SUMS: Final = ("connections", "kafka", "opaque", "late", "one_way", "gaps", "bytes_cut")


def read_server_coverage(folder: AnalysisFolder) -> Listing:
    sums: dict[tuple[str, int], dict[str, Any]] = defaultdict(lambda: {"node": None, **dict.fromkeys(_SUMS, 0)})
    for row in rows_of(folder.digest, "listeners"):
        found = sums[row["server_address"] or "?", row["server_port"] or 0]
        found["node"] = row["node_id"] if row["node_id"] is not None else found["node"]
        for name in _SUMS:
            found[name] += row[name] or 0
    rows = tuple(
        (
            f"{address}:{port}",
            "" if found["node"] is None else str(found["node"]),
            count(found["connections"]),
            count(found["kafka"]),
            bytes_of(found["opaque"]) if found["opaque"] else "none",
            count(found["late"]),
            count(found["one_way"]),
            count(found["gaps"]),
            bytes_of(found["bytes_cut"]) if found["bytes_cut"] else "none",
        )
        for (address, port), found in sorted(sums.items())
    )
    return Listing(
        id="server-list",
        title="By broker and listener",
        lead="Captured traffic per address that clients connected to.",
        columns=(Column("Listener"), *(Column(title, "number") for title in _NUMBERS)),
        rows=rows,
        nothing="No connection was seen.",
        noun="listeners",
    )
