"""Tables of a digest: summed and kept columns, order, and limits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute

from kwire.analysis.columns import aggregated, flat
from kwire.analysis.group_lives import LIVES
from kwire.analysis.row_sums import codes_of
from kwire.tables.schemas import BOOL, CLIENTS, DOUBLE, INT, LONG, TEXT, TIME, TYPES

__all__ = ["DIGESTS", "EVERYTHING", "PAGE", "Digest", "DigestTable", "Limits", "merge_digests", "selected_clients"]

pc: Any = pyarrow.compute  # its stubs know neither numbers nor texts as arguments

Digest = dict[str, pa.Table]
"""Tables by name (`DIGESTS`)."""

_ALL: Final = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Numbers of rows that a report shows individually; it has only totals of the rest.

    Attributes:
        listed: clients, worst first.
        urgent: clients that break or may break, which have action items; more of them are kept than `listed`.
        others: peers other than applications, such as brokers.
        drawn: clients whose activity over time is drawn.
        groups: consumer groups with most rebalances.
        topics: topics; those with breaking clients first, then the busiest.
        uses: clients per topic and direction.
        topics_of_client: topics per client and direction.
        incidents: rows of a top list.
        listing: rows of other lists.
    """

    listed: int = 2_000
    urgent: int = 5_000
    others: int = 200
    drawn: int = 20
    groups: int = 200
    topics: int = 500
    uses: int = 20
    topics_of_client: int = 50
    incidents: int = 200
    listing: int = 2_000


PAGE: Final = Limits()
"""Limits of the page, the summary on the terminal, Markdown and metrics."""
EVERYTHING: Final = replace(PAGE, **{field.name: _ALL for field in fields(Limits) if field.name not in ("drawn",)})
"""Limits of the machine-readable formats: JSON, CSV, SARIF and JUnit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestTable:
    """Rules of merging the rows of a table.

    Attributes:
        keys: columns that identify a row to merge; empty if each row is kept.
        sums, lows, highs: columns that are added up, or of which the
        minimum or maximum is kept.
        kept: other columns, if rows are kept.
        order: columns with `ascending` or `descending`.
        limit: field of `Limits` with the maximum number of rows, empty for no limit.
        each: columns for whose distinct values the limit applies.
    """

    keys: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()
    lows: tuple[str, ...] = ()
    highs: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    order: tuple[tuple[str, str], ...] = ()
    limit: str = ""
    each: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.keys, *self.sums, *self.lows, *self.highs, *self.kept)


_SIDES: Final = tuple(f"{side}{what}" for side in ("writers", "readers") for what in ("", "_break", "_unknown"))
CLIENT_FACTS: Final = (
    "kind", "library", "version", "guessed", "verdicts", "worst", "breaks", "unknown", "deprecated", "finding_requests", "versions_ok",
    "is_urgent",
)  # fmt: skip
"""Further columns about a client."""
EVIDENCE_COLUMNS: Final = (
    "capture", "connection_id", "request_index", "api_name", "api_version", "request_time", "error_name", "state", "packet_number",
)  # fmt: skip
FINDING_COLUMNS: Final = (
    "client_key", "client_id", "api_name", "api_version", "requests", "target_release", "verdict", "verdict_basis", "confidence",
    "evidence_connection_id", "evidence_request_index", "reason", "remedy", "cure_version", "cure_kind", "refused_by",
)  # fmt: skip
USE_COLUMNS: Final = (
    "client_key", "client_id", "group_ids", "topic", "topic_id", "direction", "requests", "errors", "records", "bytes", "first_seen",
    "last_seen",
)  # fmt: skip
FRAME_COLUMNS: Final = (
    "capture", "connection_id", "request_index", "packet_number", "stream_offset", "software_name", "client_id", "explanation",
)  # fmt: skip
WORST_CLIENTS: Final = ("worst", "breaks", "unknown", "deprecated", "finding_requests")
"""Columns that rank clients, worst first."""


def _table(*, order: str = "", limit: str = "", **columns: str | tuple[str, ...]) -> DigestTable:
    """Declare a table; columns are named in texts, descending ones of the order with a minus."""
    rules = {rule: tuple(names.split()) if isinstance(names, str) else names for rule, names in columns.items()}
    sorting = tuple((name.lstrip("-"), "descending" if name.startswith("-") else "ascending") for name in order.split())
    return DigestTable(order=sorting, limit=limit, **rules)


DIGESTS: Final[dict[str, DigestTable]] = {
    # by key: clients
    "fleet": _table(keys="kind role library version guessed identity_source verdicts", sums="clients connections requests errors"),
    "clients": _table(kept=(*(name for name in CLIENTS.names if name not in CLIENT_FACTS), *CLIENT_FACTS)),
    "findings": _table(kept=FINDING_COLUMNS),
    "topics_of_clients": _table(
        kept="client_key topic topic_id direction records group_ids", each="client_key direction", order="-records topic topic_id",
        limit="topics_of_client",
    ),
    "libraries": _table(kept="client_key library"),
    # by key: what they use
    "api_versions": _table(keys="api_key api_name api_version", sums="requests errors clients"),
    "api_verdicts": _table(keys="api_name api_version target_release", highs="rank"),
    "metadata": _table(kept="client_key requests first_seen last_seen rate", order="-rate client_key", limit="incidents"),
    "storms": _table(kept="client_key connections minute in_all", order="-connections client_key", limit="incidents"),
    "throttled": _table(
        kept="client_key api_name throttle_ms of_client", order="-of_client client_key -throttle_ms api_name", limit="incidents",
    ),
    "failed_uses": _table(
        kept="client_key api_name api_version error_names errors disconnects", order="-errors client_key api_name api_version",
        limit="listing",
    ),
    "hours": _table(keys="hour is_waiting", sums="requests errors"),
    "hour_latencies": _table(keys="hour up_to_us", sums="requests"),
    "client_hours": _table(keys="client_key hour", sums="requests"),
    # by key: groups and topics
    "group_lives": _table(kept=tuple(LIVES.names), order="group_id time"),
    "groups": _table(kept="group_id again troubled", order="-again -troubled group_id", limit="groups"),
    "members": _table(keys="group_id member_id", highs="client_id client_address"),
    "rebalance_reasons": _table(kept="group_id reason times again", order="-again group_id -times reason", limit="listing"),
    "life_ends": _table(keys="what", lows="start", highs="end"),
    "topics": _table(
        keys="topic topic_id", sums=("records_written", "bytes_written", "records_read", *_SIDES, "writing_rows", "reading_rows"),
    ),
    "topic_formats": _table(keys="topic topic_id format"),
    "oversized": _table(
        kept="client_id topic topic_id max_batch_bytes error_names", order="-max_batch_bytes client_id topic", limit="incidents",
    ),
    "totals": _table(keys="what", sums="number"),
    # rows of tables
    "open_span": _table(keys="what", lows="start", highs="end"),
    # by part, not of the report: between which times connections begin and end
    "part_times": _table(keys="part client_key protocol", sums="connections", lows="first_low last_low", highs="first_high last_high"),
    "open_connections": _table(keys="library step", sums="begun ended"),
    "streams": _table(keys="protocol state", sums="connections tls"),
    "listeners": _table(keys="server_address server_port node_id", sums="connections kafka opaque late one_way gaps bytes_cut"),
    "refusals": _table(keys="client_key reason", sums="times", order="-times client_key reason", limit="listing"),
    "unread": _table(
        keys="client_address listener tls_version tls_ja4 tls_decrypted", sums="connections bytes",
        order="-connections client_address listener tls_version tls_ja4 tls_decrypted", limit="listing",
    ),
    "client_connections": _table(
        kept="client_key connection_id first_seen last_seen state", each="client_key", order="client_key first_seen connection_id",
        limit="drawn",
    ),
    "topic_uses": _table(kept=USE_COLUMNS, each="topic topic_id direction", order="-records client_id", limit="uses"),
    "rules": _table(keys="severity rule", sums="times rows connections"),
    "rule_clients": _table(keys="severity rule client_id", sums="times", each="severity rule", order="-times client_id", limit="incidents"),
    "rule_frames": _table(
        kept=("severity", "rule", *FRAME_COLUMNS), each="severity rule",
        order="capture packet_number connection_id request_index explanation", limit="drawn",
    ),
    "handshakes": _table(
        keys="client_address listener rule explanation", sums="times", highs="last_seen tls_version tls_sni tls_ja4",
        order="-times client_address listener explanation", limit="listing",
    ),
    "evidence": _table(kept=EVIDENCE_COLUMNS, order="connection_id request_index"),
    "pushes": _table(
        keys="client_id software client_instance_id", sums="points", highs="metrics time", order="client_id software client_instance_id",
        limit="listing",
    ),
    "push_sources": _table(
        keys="client_id software client_instance_id what value", each="client_id software client_instance_id what", order="value",
        limit="drawn",
    ),
}  # fmt: skip

_LONGS: Final = (
    "again", "begun", "bytes_written", "clients", "ended", "expired", "finding_requests", "in_all", "kafka", "late", "metrics", "number",
    "of_client", "opaque", "points", "reading_rows", "rebalances", "records_read", "records_written", "rows", "spent_us", "times", "tls",
    "troubled", "up_to_us", "versions_ok", "writing_rows", *_SIDES,
)  # fmt: skip
_TYPES: Final[dict[str, pa.DataType]] = {
    **TYPES,
    **dict.fromkeys(_LONGS, LONG),
    **dict.fromkeys(("breaks", "deprecated", "most", "rank", "step", "unknown", "worst"), INT),
    **dict.fromkeys(("first_high", "first_low", "last_high", "last_low", "minute"), TIME),
    **dict.fromkeys(("guessed", "is_urgent", "is_waiting"), BOOL),
    "rate": DOUBLE,
    "value": TEXT,
}
_ONLY_NAMED: Final = (
    ("clients", "client_key", ("findings", "topics_of_clients", "client_hours")),
    ("groups", "group_id", ("group_lives", "members")),
)


def schema_of(name: str) -> pa.Schema:
    return pa.schema([(column, _TYPES.get(column, TEXT)) for column in DIGESTS[name].columns])


def shaped(name: str, rows: pa.Table | None = None, /, **columns: Any) -> pa.Table:
    """Make rows of a table: given columns replace those of `rows`."""
    schema = schema_of(name)
    made = [columns[column] if column in columns or rows is None else rows.column(column) for column in schema.names]
    return pa.table(made, schema.names).cast(schema)


def merge_digests(parts: Iterable[Digest], limits: Limits) -> Digest:
    """Merge digests; tables that are in none of them are missing."""
    found: dict[str, list[pa.Table]] = {}
    for part in parts:
        for name, table in part.items():
            found.setdefault(name, []).append(table)
    merged = {name: reduced(name, pa.concat_tables(tables), limits) for name, tables in found.items()}
    for named, key, others in _ONLY_NAMED:
        if named in merged:
            kept = flat(merged[named], key)
            merged |= {name: merged[name].filter(pc.is_in(merged[name].column(key), value_set=kept)) for name in others if name in merged}
    return merged


def reduced(name: str, table: pa.Table, limits: Limits) -> pa.Table:
    """Apply a table's rule: one row per key, sorted and limited."""
    rule = DIGESTS[name]
    if rule.keys:
        if len(table) > 1:
            kinds = (("sum", rule.sums), ("min", rule.lows), ("max", rule.highs))
            table = aggregated(table, rule.keys, ((column, what) for what, columns in kinds for column in columns))
        table = table.select(rule.columns).cast(schema_of(name))
    # `group_by` promises no order of its rows
    order: list[Any] = [*rule.order, *((key, "ascending") for key in rule.keys if key not in dict(rule.order))]
    if order and len(table) > 1:
        table = table.sort_by(order)
    if name == "clients":
        return table.filter(pa.array(selected_clients(table, limits)))
    if not rule.limit:
        return table
    most: int = getattr(limits, rule.limit)
    if not rule.each:
        return table.slice(0, most)
    if not len(table):
        return table
    numbers, _ = codes_of(*(flat(table, column) for column in rule.each))
    return table.filter(pa.array(_place_in_group(numbers) < most))


def _place_in_group(numbers: Any) -> Any:
    """Return for each row the number of earlier rows with the same value."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    places = np.arange(len(numbers)) - np.repeat(starts, np.diff(np.r_[starts, len(numbers)]))
    found = np.empty(len(numbers), np.int64)
    found[order] = places
    return found


def selected_clients(clients: pa.Table, limits: Limits) -> Any:
    """Return which clients are shown individually: the worst, the busiest, and some that are not applications."""
    chosen = np.zeros(len(clients), np.bool_)
    if not len(clients):
        return chosen
    ranked = _ranked(clients, WORST_CLIENTS)
    drawn = _ranked(clients, ("worst", "requests"))
    kinds = clients.column("kind").to_numpy(zero_copy_only=False)
    is_counted = np.isin(kinds.astype(str), ("application", ""))
    urgent = clients.column("is_urgent").to_numpy(zero_copy_only=False).astype(np.bool_)
    of_these = ranked[is_counted[ranked]]
    chosen[of_these[: limits.listed]] = True
    chosen[ranked[urgent[ranked]][: limits.urgent]] = True
    chosen[drawn[is_counted[drawn]][: limits.drawn]] = True
    chosen[ranked[~is_counted[ranked]][: limits.others]] = True
    return chosen


def _ranked(clients: pa.Table, columns: tuple[str, ...]) -> Any:
    keys = clients.append_column("place", pa.array(np.arange(len(clients))))
    order: list[tuple[str, Any]] = [*((name, "descending") for name in columns), ("client_key", "ascending")]
    return keys.select([*columns, "client_key", "place"]).sort_by(order).column("place").to_numpy()
