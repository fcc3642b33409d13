"""Who pushes metrics (KIP-714), as a list: client instances with the connection and principal that lead to their process."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import pyarrow.compute as pc

from kwire.report.amounts import count, moment
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.listings import Column, Listing

__all__ = ["read_telemetry"]

_COLUMNS: Final = (
    "client_id", "software_name", "software_version", "client_instance_id", "connection_id", "principal", "metric", "time",
)  # fmt: skip
_SHOWN: Final = 3  # addresses of one instance


def read_telemetry(folder: AnalysisFolder) -> Listing:
    """List the instances that pushed, by client id."""
    clients: dict[tuple[str, str, str], dict[str, Any]] = defaultdict(
        lambda: {"points": 0, "metrics": set(), "last": None, "connections": set(), "principals": set()}
    )
    for batch in folder.scan("telemetry", _COLUMNS):
        for row in batch.to_pylist():
            software = f"{row['software_name'] or ''} {row['software_version'] or ''}".strip()
            found = clients[row["client_id"] or "without a name", software, row["client_instance_id"] or ""]
            found["points"] += row["metric"] is not None
            found["metrics"].add(row["metric"])
            found["connections"].add(row["connection_id"])
            found["principals"].add(row["principal"])
            if row["time"] is not None and (found["last"] is None or row["time"] > found["last"]):
                found["last"] = row["time"]
    addresses = _addresses(folder, {name for found in clients.values() for name in found["connections"] if name})
    rows = tuple(
        (
            client,
            software,
            instance,
            _few(sorted(addresses[name] for name in found["connections"] if name in addresses)),
            _few(sorted(found["principals"] - {None})),
            count(len(found["metrics"] - {None})),
            count(found["points"]),
            moment(found["last"]),
        )
        for (client, software, instance), found in sorted(clients.items(), key=lambda each: each[0])
    )
    return Listing(
        id="telemetry-list",
        title="Client metrics",
        lead="Clients that push their own metrics through the brokers (KIP-714); address and port lead to the process that does.",
        columns=(
            Column("Client"),
            Column("Software"),
            Column("Instance"),
            Column("Address"),
            Column("Principal"),
            Column("Metrics", "number"),
            Column("Points", "number"),
            Column("Last (UTC)", "time"),
        ),
        rows=rows,
        nothing="No client pushed metrics in these captures.",
        noun="clients",
    )


def _addresses(folder: AnalysisFolder, wanted: set[str]) -> dict[str, str]:
    """Address and port of the client, by connection."""
    if not wanted:
        return {}
    columns = ("connection_id", "client_address", "client_port")
    rows = folder.rows("connections", columns, pc.field("connection_id").isin(sorted(wanted)))
    return {row["connection_id"]: f"{row['client_address']}:{row['client_port']}" for row in rows if row["client_address"]}


def _few(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
