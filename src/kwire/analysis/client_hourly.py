"""Rows of `client_hourly`: what each client asks of each node, hour by hour, with the latencies as a histogram that adds up."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.latency_buckets import top_of
from kwire.analysis.partials import Partial
from kwire.analysis.plain_rows import rows_of
from kwire.tables.schemas import CLIENT_HOURLY

__all__ = ["client_hourly"]

_PLACE: Final = ("client_key", "server", "api_key", "api_version", "hour")


def client_hourly(partial: Partial) -> pa.Table:
    """Make the table.

    Args:
        partial: merged parts.
    """
    buckets: dict[tuple[Any, ...], list[tuple[int, int]]] = defaultdict(list)
    for row in rows_of(partial["hourly_latency"]):
        buckets[tuple(row[name] for name in _PLACE)].append((row["bucket"], row["requests"]))
    software = _software(partial["identities"])
    nodes = {row["server"]: row["node_id"] for row in partial["servers"].to_pylist()}
    rows = []
    for row in rows_of(partial["hourly"]):
        name, version = software.get(row["client_key"], (None, None))
        histogram = [
            {"up_to_us": top_of(bucket), "requests": count} for bucket, count in sorted(buckets[tuple(row[name] for name in _PLACE)])
        ]
        more = {"software_name": name, "software_version": version, "node_id": nodes.get(row["server"]), "latency_histogram": histogram}
        rows.append(row | more)
    return pa.Table.from_pylist([{name: row[name] for name in CLIENT_HOURLY.names} for row in rows], schema=CLIENT_HOURLY)


def _software(identities: pa.Table) -> dict[str, tuple[str | None, str | None]]:
    """The software of each client key, which has a row for each address that it came from."""
    last = pc.ScalarAggregateOptions(skip_nulls=False)
    rules: list[Any] = [("software_name", "last", last), ("software_version", "last", last)]
    found = identities.group_by("client_key", use_threads=False).aggregate(rules).to_pydict()
    return dict(zip(found["client_key"], zip(found["software_name_last"], found["software_version_last"], strict=True), strict=True))
