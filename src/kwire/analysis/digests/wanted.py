"""Selection of single rows for a report, made from the digest of all keys and looked up in the tables of rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute

from kwire.analysis.columns import aggregated, flat
from kwire.analysis.digests.of_clients import VERDICTS, release_order
from kwire.analysis.digests.tables import WORST_CLIENTS, Digest, Limits
from kwire.tables.schemas import BOOL, schema_named

__all__ = ["MOST_CLIENTS", "MOST_REQUESTS", "Wanted", "wanted_of"]

pc: Any = pyarrow.compute  # its stubs know neither numbers nor texts as arguments

MOST_REQUESTS: Final = 20_000_000
"""Largest table of requests in which the requests around a finding are searched."""
MOST_CLIENTS: Final = 3_000
"""Number of clients whose evidence is looked up, worst first."""
WITH_CONNECTIONS: Final = 2_000
"""Number of clients with listed connections, worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Rows to find in the tables of rows; picklable, because all tasks need it.

    Attributes:
        libraries: columns `client_key` and `library`.
        clients: array of keys of clients whose connections are listed.
        findings: columns `connection_id`, `request_index` and `is_shown`: requests that are evidence, and whether neighboring requests are
            shown too.
        topics: columns `topic` and `topic_id` of the topics whose clients are listed.
        span: time over which open connections are counted; None to skip counting.
    """

    limits: Limits
    libraries: pa.Table
    clients: Any
    findings: pa.Table
    topics: pa.Table
    span: tuple[datetime, datetime] | None

    @property
    def reads_requests(self) -> bool:
        return len(self.findings) > 0


def wanted_of(digest: Digest, limits: Limits, requests: int) -> Wanted:
    """Select the rows from the digest of all keys; `requests` is the number of rows in the table of requests."""
    span = None
    ends = digest["life_ends"].filter(pc.equal(digest["life_ends"].column("what"), pa.scalar("clients")))
    if len(ends) and ends["start"][0].is_valid and ends["end"][0].is_valid:
        span = ends["start"][0].as_py(), ends["end"][0].as_py()
    keys = flat(digest["clients"].sort_by([*((name, "descending") for name in WORST_CLIENTS), ("client_key", "ascending")]), "client_key")
    return Wanted(
        limits=limits,
        libraries=digest["libraries"],
        clients=keys[:WITH_CONNECTIONS],
        findings=_findings(digest, keys[:MOST_CLIENTS]) if requests <= MOST_REQUESTS else _NO_FINDINGS.empty_table(),
        topics=_topics(digest["topics"], limits),
        span=span,
    )


_NO_FINDINGS: Final = schema_named("connection_id request_index is_shown", is_shown=BOOL)


def _findings(digest: Digest, keys: Any) -> pa.Table:
    found = digest["findings"]
    chosen: Any = pc.and_(
        pc.is_in(found.column("verdict"), value_set=pa.array(VERDICTS[2:])), pc.is_in(found.column("client_key"), value_set=keys)
    )
    rows = found.filter(chosen)
    named: Any = pc.not_equal(pc.fill_null(rows.column("evidence_connection_id"), ""), "")
    rows = rows.filter(pc.and_(named, pc.is_valid(rows.column("evidence_request_index"))))
    rank: Any = pc.index_in(rows.column("verdict"), value_set=pa.array(VERDICTS))
    releases = sorted((one for one in pc.unique(rows.column("target_release")).to_pylist()), key=lambda one: release_order(one or ""))
    at: Any = pc.index_in(rows.column("target_release"), value_set=pa.array(releases, pa.string()))
    rows = rows.append_column("rank", rank).append_column("release", at)
    by_release: list[tuple[str, Any]] = [(name, "ascending") for name in ("release", "api_name", "api_version")]
    rows = rows.sort_by([("client_key", "ascending"), ("rank", "descending"), *by_release])
    client: Any = flat(rows, "client_key").dictionary_encode().indices.to_numpy()
    shown = np.r_[True, client[1:] != client[:-1]] if len(client) else np.zeros(0, np.bool_)
    names = {"connection_id": "evidence_connection_id", "request_index": "evidence_request_index"}
    pairs = pa.table([*(rows.column(of) for of in names.values()), pa.array(shown)], schema=_NO_FINDINGS)
    return aggregated(pairs, ["connection_id", "request_index"], [("is_shown", "max")])


def _topics(topics: pa.Table, limits: Limits) -> pa.Table:
    counts = {name: pc.fill_null(topics.column(name), 0).to_numpy() for name in topics.column_names if name not in ("topic", "topic_id")}
    stops = np.zeros(len(topics), np.bool_)
    for side in ("writers", "readers"):
        stops |= (counts[side] > 0) & (counts[f"{side}_break"] == counts[side])
    lost = counts["writers_break"] + counts["readers_break"]
    unknown = counts["writers_unknown"] + counts["readers_unknown"]
    ranks = {"stops": stops, "lost": lost, "unknown": unknown, "records": counts["records_written"] + counts["records_read"]}
    table = topics.select(["topic", "topic_id"])
    for name, rank in ranks.items():
        table = table.append_column(name, pa.array(rank))
    order: list[tuple[str, Any]] = [*((name, "descending") for name in ranks), ("topic", "ascending"), ("topic_id", "ascending")]
    return table.sort_by(order).select(["topic", "topic_id"]).slice(0, limits.topics)
