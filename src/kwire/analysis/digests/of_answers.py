"""Digest of the tables made by key: clients and their API usage, topics, groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute

from kwire.analysis.columns import aggregated, flat
from kwire.analysis.digests.of_clients import of_clients
from kwire.analysis.digests.of_groups import of_groups
from kwire.analysis.digests.of_topics import of_topics
from kwire.analysis.digests.tables import FINDING_COLUMNS, USE_COLUMNS, Digest, Limits, merge_digests, shaped
from kwire.analysis.group_lives import EVENTS
from kwire.tables.schemas import CLIENTS, LONG, SCHEMAS, TIME, schema_named

__all__ = ["ANSWER_COLUMNS", "OPENINGS", "SAY_NO", "STORM", "WAITING", "digest_of_answers", "openings_of"]

pc: Any = pyarrow.compute  # its stubs know neither numbers nor texts as arguments

OPENINGS: Final = schema_named("client_key protocol first_seen connections")
"""Connections by client, protocol and minute of their beginning."""

STORM: Final = 20
"""Connections of one client per minute that count as a connection storm; applications usually keep connections for days."""
# A client refreshes its metadata every five minutes by default (metadata.max.age.ms), and when something changed.
_METADATA_PER_MINUTE: Final = 1.0
# Errors by which a broker says no.
SAY_NO: Final = ("UNSUPPORTED_VERSION", "POLICY_VIOLATION", "INVALID_REQUEST")
# These wait on purpose, for records or for other members: their times say nothing about how fast a broker is.
WAITING: Final = ("Fetch", "ShareFetch", "JoinGroup", "SyncGroup")


ANSWER_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "clients": CLIENTS.names,
    "upgrade_impact": FINDING_COLUMNS,
    "topic_access": (*USE_COLUMNS, "unseen_requests", "compression", "magic", "error_names", "max_batch_bytes"),
    "group_events": (*EVENTS, "member_id", "client_id", "client_address"),
    "api_usage": (
        "client_key", "api_key", "api_name", "api_version", "requests", "errors", "disconnects", "error_names", "first_seen", "last_seen",
    ),
    "client_hourly": ("client_key", "hour", "api_name", "requests", "errors", "throttle_ms", "latency_histogram"),
}  # fmt: skip
"""Columns of the digested tables."""


def openings_of(connections: pa.Table) -> pa.Table:
    """Count connections by client, protocol and minute; the column `connections`, if present, has the number per row."""
    bare: Any = connections.column("first_seen").cast(pa.timestamp("us"))  # in no zone: to round in one takes ten times as long
    minute = pc.floor_temporal(bare, unit="minute").cast(TIME)
    counted = "connections" in connections.column_names
    number = connections.column("connections") if counted else pa.repeat(pa.scalar(1, LONG), len(connections))
    rows = pa.table([connections.column("client_key"), connections.column("protocol"), minute, number], schema=OPENINGS)
    return aggregated(rows, OPENINGS.names[:3], [("connections", "sum")])


def digest_of_answers(
    answers: Mapping[str, pa.Table],
    openings: pa.Table,
    limits: Limits,
    *,
    span: tuple[datetime, datetime] | None = None,
) -> Digest:
    """Digest the tables of `answers_by_key`, of which some may be missing; `span` has the times of the first and last packet."""
    found = {
        name: answers[name].select(columns) if name in answers else SCHEMAS[name].empty_table().select(columns)
        for name, columns in ANSWER_COLUMNS.items()
    }
    digest, judged = of_clients(found["clients"], found["upgrade_impact"], openings)
    digest |= of_topics(found["topic_access"], judged)
    digest |= of_groups(found["group_events"], span)
    digest |= _of_usage(found["api_usage"])
    digest |= _of_hours(found["client_hourly"])
    digest["storms"] = _storms(openings)
    digest["totals"] = _totals(found, len(digest["groups"]))
    digest["life_ends"] = pa.concat_tables([digest["life_ends"], _ends(found["clients"])])
    return merge_digests([digest], limits)


def _totals(found: Mapping[str, pa.Table], groups: int) -> pa.Table:
    unseen = pc.sum(found["topic_access"].column("unseen_requests")).as_py() or 0
    return shaped("totals", what=pa.array(["unseen_requests", "groups"]), number=pa.array([unseen, groups]))


def _ends(clients: pa.Table) -> pa.Table:
    ends = {name: pc.min_max(clients.column(name)) for name in ("first_seen", "last_seen")}
    start, end = ends["first_seen"]["min"].as_py(), ends["last_seen"]["max"].as_py()
    return shaped("life_ends", what=pa.array(["clients"]), start=pa.array([start], TIME), end=pa.array([end], TIME))


def _of_usage(usage: pa.Table) -> Digest:
    known = usage.filter(pc.is_valid(usage.column("api_version")))
    keys = ["api_key", "api_name", "api_version"]
    sums = aggregated(known, keys, [("requests", "sum"), ("errors", "sum"), ("client_key", "count_distinct")])
    asked = usage.filter(pc.equal(usage.column("api_name"), pa.scalar("Metadata")))
    rates = aggregated(asked, ["client_key"], [("requests", "sum"), ("first_seen", "min"), ("last_seen", "max")])
    span = _numbers(rates.column("last_seen")) - _numbers(rates.column("first_seen"))
    minutes = span / (timedelta(minutes=1) / timedelta(microseconds=1))
    rate = _numbers(rates.column("requests")) / np.maximum(minutes, 1e-9)
    often = pa.array((minutes >= 1) & (rate > _METADATA_PER_MINUTE))
    return {
        "api_versions": shaped("api_versions", sums, clients=sums.column("client_key")),
        "metadata": shaped("metadata", rates, rate=pa.array(rate, pa.float64())).filter(often),
        "failed_uses": _failed(usage),
    }


def _failed(usage: pa.Table) -> pa.Table:
    failed = usage.filter(pc.greater(usage.column("errors"), pa.scalar(0))).combine_chunks()
    names = flat(failed, "error_names")
    each = pc.list_flatten(names)
    says_no: Any = pc.or_(pc.ends_with(each, pattern="AUTHORIZATION_FAILED"), pc.is_in(each, value_set=pa.array(SAY_NO)))
    refused = np.zeros(len(failed), np.bool_)
    refused[_numbers(pc.list_parent_indices(names))[says_no.fill_null(False).to_numpy(zero_copy_only=False).astype(np.bool_)]] = True
    hung_up: Any = pc.greater(pc.fill_null(failed.column("disconnects"), 0), pa.scalar(0))
    return shaped("failed_uses", failed.filter(pa.array(refused | hung_up.to_numpy())))


def _of_hours(hourly: pa.Table) -> Digest:
    throttled = hourly.filter(pc.greater(hourly.column("throttle_ms"), pa.scalar(0)))
    by_api = aggregated(throttled, ["client_key", "api_name"], [("throttle_ms", "sum")])
    of_client = aggregated(by_api, ["client_key"], [("throttle_ms", "sum")])
    at: Any = pc.index_in(by_api.column("client_key"), value_set=flat(of_client, "client_key"))
    timed = hourly.filter(pc.is_valid(hourly.column("hour"))).combine_chunks()
    waits: Any = pc.fill_null(pc.is_in(timed.column("api_name"), value_set=pa.array(WAITING)), False)
    histograms: Any = timed.column("latency_histogram").filter(pc.invert(waits)).combine_chunks()
    hours: Any = timed.column("hour").filter(pc.invert(waits)).combine_chunks()
    buckets: Any = pc.list_flatten(histograms)
    return {
        "throttled": shaped("throttled", by_api, of_client=of_client.column("throttle_ms").take(at)),
        "hours": shaped("hours", timed, is_waiting=waits),
        "hour_latencies": shaped(
            "hour_latencies",
            hour=hours.take(pc.list_parent_indices(histograms)),
            up_to_us=pc.struct_field(buckets, "up_to_us"),
            requests=pc.struct_field(buckets, "requests"),
        ),
        "client_hours": shaped("client_hours", timed),
    }


def _storms(openings: pa.Table) -> pa.Table:
    known = openings.filter(pc.is_valid(openings.column("client_key")))
    in_all = aggregated(known, ["client_key"], [("connections", "sum")])
    timed = known.filter(pc.is_valid(known.column("first_seen")))
    minutes = aggregated(timed, ["client_key", "first_seen"], [("connections", "sum")])
    stormy = minutes.filter(pc.greater_equal(minutes.column("connections"), pa.scalar(STORM)))
    ordered = stormy.sort_by([("connections", "descending"), ("first_seen", "ascending")])
    worst = aggregated(ordered, ["client_key"], [("connections", "first"), ("first_seen", "first")])
    at: Any = pc.index_in(worst.column("client_key"), value_set=flat(in_all, "client_key"))
    return shaped("storms", worst, minute=worst.column("first_seen"), in_all=in_all.column("connections").take(at))


def _numbers(column: Any) -> Any:
    plain: Any = column.cast(LONG).fill_null(0)
    return plain.to_numpy(zero_copy_only=False) if isinstance(plain, pa.Array) else plain.to_numpy()
