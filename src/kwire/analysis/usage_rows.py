"""From merged parts to rows of `api_usage`, and to what verdicts need of each of them.

A row is a client key, client id, api and version.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from kwire.analysis.latency_buckets import quantile
from kwire.analysis.partials import Partial
from kwire.analysis.plain_rows import rows_of
from kwire.analysis.shown_ids import ShownIds
from kwire.tables.schemas import API_USAGE

__all__ = ["UsageRow", "api_usage", "usage_rows"]


@dataclass(slots=True)
class UsageRow:
    """A row of `api_usage` with its evidence.

    Attributes:
        errors: answers with an error, and requests that the server hung up on.
        disconnects: of these, the requests that the server hung up on.
        servers: the servers that it was sent to.
        first_seen, last_seen: microseconds since 1970, UTC.
        evidence: connection id and request index of the first such request.
        unsupported: how many were answered with error 35.
        latencies: how many had which latency bucket.
    """

    client_key: str
    client_id: str | None
    software_name: str | None
    software_version: str | None
    api_key: int
    api_name: str | None
    api_version: int
    requests: int = 0
    errors: int = 0
    disconnects: int = 0
    unsupported: int = 0
    first_seen: int | None = None
    last_seen: int | None = None
    evidence: tuple[str, int] | None = None
    servers: set[str] = field(default_factory=set)
    error_names: set[str] = field(default_factory=set)
    latencies: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def values(self) -> dict[str, Any]:
        """Give the columns of `api_usage`."""
        buckets = sorted(self.latencies.items())
        keys, counts = [bucket for bucket, _ in buckets], [count for _, count in buckets]
        return {
            "client_key": self.client_key, "software_name": self.software_name, "software_version": self.software_version,
            "client_id": self.client_id, "api_key": self.api_key, "api_name": self.api_name, "api_version": self.api_version,
            "requests": self.requests, "errors": self.errors, "disconnects": self.disconnects, "error_names": sorted(self.error_names),
            "latency_p50_us": quantile(keys, counts, 0.5), "latency_p99_us": quantile(keys, counts, 0.99),
            "first_seen": self.first_seen, "last_seen": self.last_seen,
        }  # fmt: skip


def usage_rows(partial: Partial, refuses: Callable[[str, int, int], bool] = lambda *_: False) -> list[UsageRow]:
    """Make the rows, sorted by client, id, api and version.

    Args:
        partial: merged parts.
        refuses: whether a server, given as `address:port`, is of a release that does not accept a version of an api.
    """
    shown = ShownIds(partial)
    rows: dict[tuple[str, str | None, int, int], UsageRow] = {}
    for part in rows_of(partial["usage"]):
        place = (part["client_key"], shown(part["client_key"], part["client_id"]), part["api_key"], part["api_version"])
        row = rows.get(place)
        if row is None:
            row = rows[place] = UsageRow(
                *place[:2], part["software_name"], part["software_version"], part["api_key"], part["api_name"], part["api_version"]
            )
        row.requests += part["requests"]
        row.errors += part["errors"]
        row.servers.add(part["server"])
        evidence = (part["evidence_connection_id"], part["evidence_request_index"])
        seen = part["first_seen"]
        if seen is not None and (row.first_seen is None or (seen, evidence) < (row.first_seen, row.evidence)):
            row.first_seen, row.evidence = seen, evidence
        elif row.evidence is None:
            row.evidence = evidence
        if part["last_seen"] is not None and (row.last_seen is None or part["last_seen"] > row.last_seen):
            row.last_seen = part["last_seen"]
    for part in rows_of(partial["error_names"]):
        row = rows[part["client_key"], shown(part["client_key"], part["client_id"]), part["api_key"], part["api_version"]]
        row.error_names.add(part["error_name"] or "")
        if part["error_name"] == "UNSUPPORTED_VERSION":
            row.unsupported += part["requests"]
    for part in rows_of(partial["refusals"]):
        if part["refusal"] == "disconnected" or (
            part["refusal"] == "closed" and None not in (use := (part["api_key"], part["api_version"])) and refuses(part["server"], *use)
        ):
            row = rows.get((part["client_key"], shown(part["client_key"], part["client_id"]), part["api_key"], part["api_version"]))
            if row is not None:
                row.errors += part["requests"]
                row.disconnects += part["requests"]
    for part in rows_of(partial["latency"]):
        row = rows[part["client_key"], shown(part["client_key"], part["client_id"]), part["api_key"], part["api_version"]]
        row.latencies[part["bucket"]] += part["requests"]
    return [rows[place] for place in sorted(rows, key=lambda place: (place[0], place[1] is not None, place[1] or "", *place[2:]))]


def api_usage(rows: list[UsageRow]) -> pa.Table:
    """Make table `api_usage`."""
    return pa.Table.from_pylist([row.values() for row in rows], schema=API_USAGE)
