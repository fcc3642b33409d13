"""How well each listener of each broker was seen: late joins, one-way connections, gaps, cuts and what could not be read, by server."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.report.amounts import bytes_of, count
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.listings import Column, Listing

__all__ = ["read_server_coverage"]

_COLUMNS: Final = (
    "server_address", "server_port", "node_id", "protocol", "state", "request_bytes", "response_bytes", "gaps", "bytes_cut",
)  # fmt: skip
_SUMS: Final = ("connections", "kafka", "opaque", "late", "one_way", "gaps", "bytes_cut")


def read_server_coverage(folder: AnalysisFolder) -> Listing:
    """Sum up the connections by the address and port that clients dialled."""
    sums: dict[tuple[str, int], dict[str, Any]] = defaultdict(lambda: {"node": None, **dict.fromkeys(_SUMS, 0)})
    for batch in folder.scan("connections", _COLUMNS):
        for row in _summed(pa.Table.from_batches([batch])):
            found = sums[row["server_address"] or "?", row["server_port"] or 0]
            found["node"] = row["node_id"] if row["node_id"] is not None else found["node"]
            for name in _SUMS:
                found[name] += row[f"{name}_sum"] or 0
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
        lead="What was seen of each address that clients dialled.",
        columns=(
            Column("Listener"),
            Column("Node", "number"),
            Column("Connections", "number"),
            Column("Kafka", "number"),
            Column("Opaque bytes", "number"),
            Column("Joined late", "number"),
            Column("One way", "number"),
            Column("Gaps", "number"),
            Column("Bytes cut", "number"),
        ),
        rows=rows,
        nothing="No connection was seen.",
        noun="listeners",
    )


def _summed(table: pa.Table) -> list[dict[str, Any]]:
    compute: Any = pc  # the stubs know neither numbers nor texts as arguments
    asked, answered = (compute.coalesce(table.column(name), 0) for name in ("request_bytes", "response_bytes"))
    is_kafka = compute.equal(compute.coalesce(table.column("protocol"), "unknown"), "kafka")
    some = compute.greater(compute.add(asked, answered), 0)
    both = compute.greater(compute.multiply(compute.sign(asked), compute.sign(answered)), 0)
    columns: dict[str, Any] = {name: table.column(name) for name in ("server_address", "server_port", "node_id", "gaps", "bytes_cut")}
    columns["connections"] = pa.array([1] * len(table), pa.int64())
    columns["kafka"] = is_kafka.cast(pa.int64())
    columns["opaque"] = compute.if_else(is_kafka, 0, compute.add(asked, answered))
    columns["late"] = compute.equal(compute.coalesce(table.column("state"), ""), "joined_late").cast(pa.int64())
    columns["one_way"] = compute.and_(some, compute.invert(both)).cast(pa.int64())
    keys = ["server_address", "server_port", "node_id"]
    return pa.table(columns).group_by(keys, use_threads=False).aggregate([(name, "sum") for name in _SUMS]).to_pylist()
