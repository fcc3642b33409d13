"""Top lists of what wears a cluster out: who hammers Metadata, storms of connections, who is throttled or refused, which groups keep
rebalancing, what is oversized. Each is read from the tables beside the page, whole, and cut to the first `TOP`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.report.amounts import bytes_of, count, length_of_time, moment
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.listings import Column, Listing

__all__ = ["TOP", "read_incidents"]

TOP: Final = 10
# A client refreshes its metadata every five minutes by default (metadata.max.age.ms), and when something changed.
_METADATA_PER_MINUTE: Final = 1.0
# Connections of one client within a minute from which it is a storm; applications keep theirs for days.
_STORM: Final = 20
_BATCHES_TOGETHER: Final = 64
_MICROSECONDS: Final = 1_000_000

# Errors by which a broker says no.
_SAY_NO: Final = ("UNSUPPORTED_VERSION", "POLICY_VIOLATION", "INVALID_REQUEST")
_USE_WITH_ERRORS: Final = ("client_key", "api_name", "api_version", "error_names", "errors", "disconnects")

_CLIENT: Final = Column("Client")


def read_incidents(folder: AnalysisFolder) -> tuple[Listing, ...]:
    """Read all top lists."""
    names = _names(folder)
    of_clients = [read(folder, names) for read in (_metadata, _storms, _throttled, _refused)]
    return (*of_clients, _rebalancing(folder), _oversized(folder))


def _names(folder: AnalysisFolder) -> dict[str, str]:
    """What to call a client key: its client ids, else its library."""
    names = {}
    for row in folder.rows("clients", ("client_key", "client_ids", "software_name", "library_guess", "addresses")):
        ids = [name for name in row["client_ids"] or () if name]
        shown = ids[0] + (f" and {len(ids) - 1} more" if len(ids) > 1 else "") if ids else ""
        library = row["library_guess"] or (row["software_name"] if row["software_name"] != "unknown" else "") or ""
        names[row["client_key"]] = shown or library or next(iter(row["addresses"] or ()), "") or "without a name"
    return names


def _metadata(folder: AnalysisFolder, names: dict[str, str]) -> Listing:
    asked: Counter[str] = Counter()
    spans: dict[str, list[Any]] = {}
    for row in folder.rows("api_usage", ("client_key", "requests", "first_seen", "last_seen"), pc.field("api_name") == "Metadata"):
        asked[row["client_key"]] += row["requests"] or 0
        if row["first_seen"] is not None:
            seen = spans.setdefault(row["client_key"], [row["first_seen"], row["last_seen"]])
            seen[:] = [min(seen[0], row["first_seen"]), max(seen[1], row["last_seen"])]
    rates = []
    for key, requests in asked.items():
        span = spans[key][1] - spans[key][0] if key in spans else timedelta()
        minutes = span.total_seconds() / 60
        if minutes >= 1 and requests / minutes > _METADATA_PER_MINUTE:
            rates.append((requests / minutes, requests, span, names.get(key, key)))
    rates.sort(key=lambda each: (-each[0], each[3]))
    rows = tuple((name, f"{rate:,.1f}", count(requests), length_of_time(span)) for rate, requests, span, name in rates[:TOP])
    return Listing(
        id="incident-metadata",
        title="Excessive Metadata requests",
        lead="Clients that ask for the cluster's metadata more than once a minute over at least a minute; every five minutes is usual.",
        columns=(_CLIENT, Column("A minute", "number"), Column("Requests", "number"), Column("Within", "time")),
        rows=rows,
        nothing="No client asks for metadata more than once a minute.",
        noun="clients",
    )


def _storms(folder: AnalysisFolder, names: dict[str, str]) -> Listing:
    counted: list[pa.Table] = []
    for batch in folder.scan("connections", ("client_key", "first_seen")):
        first: Any = batch.column("first_seen")
        bare: Any = first.cast(pa.timestamp("us"))  # in no zone: to round in one takes ten times as long
        table = pa.table({"key": batch.column("client_key"), "minute": pc.floor_temporal(bare, unit="minute").cast(first.type)})
        counted.append(table.group_by(["key", "minute"]).aggregate([([], "count_all")]))
        if len(counted) > _BATCHES_TOGETHER:
            counted = [_together(counted)]
    worst: dict[str, tuple[int, Any]] = {}
    total: dict[str, int] = {}
    if counted:
        minutes = _together(counted)
        minutes = minutes.filter(pc.is_valid(minutes["key"])).sort_by([("count_all", "descending"), ("minute", "ascending")])
        for row in minutes.filter(pc.field("count_all") >= _STORM).to_pylist():
            worst.setdefault(row["key"], (row["count_all"], row["minute"]))
        stormy = minutes.filter(pc.is_in(minutes["key"], value_set=pa.array(worst, pa.string())))
        sums = stormy.group_by("key").aggregate([("count_all", "sum")]).to_pydict()
        total = dict(zip(sums["key"], sums["count_all_sum"], strict=True))
    ranked = sorted(worst.items(), key=lambda each: (-each[1][0], names.get(each[0], each[0])))[:TOP]
    return Listing(
        id="incident-storms",
        title="Connection storms",
        lead=f"Clients that opened {_STORM} connections or more within a minute.",
        columns=(_CLIENT, Column("In a minute", "number"), Column("That minute (UTC)", "time"), Column("In all", "number")),
        rows=tuple((names.get(key, key), count(number), moment(minute), count(total[key])) for key, (number, minute) in ranked),
        nothing=f"No client opened {_STORM} connections within a minute.",
        noun="clients",
    )


def _together(counted: list[pa.Table]) -> pa.Table:
    """Counts of several batches added up."""
    sums = pa.concat_tables(counted).group_by(["key", "minute"]).aggregate([("count_all", "sum")])
    return sums.rename_columns(["key", "minute", "count_all"])


def _throttled(folder: AnalysisFolder, names: dict[str, str]) -> Listing:
    held: Counter[str] = Counter()
    apis: dict[str, Counter[str]] = defaultdict(Counter)
    for row in folder.rows("client_hourly", ("client_key", "api_name", "throttle_ms"), pc.field("throttle_ms") > 0):
        held[row["client_key"]] += row["throttle_ms"]
        apis[row["client_key"]][row["api_name"] or "?"] += row["throttle_ms"]
    rows = tuple(
        (names.get(key, key), length_of_time(timedelta(milliseconds=total)), ", ".join(name for name, _ in apis[key].most_common(3)))
        for key, total in sorted(held.items(), key=lambda each: (-each[1], each[0]))[:TOP]
    )
    return Listing(
        id="incident-throttled",
        title="Throttled by quotas",
        lead="How long brokers told clients to wait, summed over their responses.",
        columns=(_CLIENT, Column("Told to wait", "time"), Column("On", "words")),
        rows=rows,
        nothing="No response told a client to wait.",
        noun="clients",
    )


def _refused(folder: AnalysisFolder, names: dict[str, str]) -> Listing:
    """Authentication that failed, connections that nobody took, errors that say no."""
    found: Counter[tuple[str, str]] = Counter()
    hung_up: dict[str, Counter[str]] = defaultdict(Counter)
    for batch in folder.scan("connections", ("client_key", "auth_failures", "state", "protocol", "attempted_principal")):
        table = pa.Table.from_batches([batch])
        for row in table.filter(pc.field("auth_failures") > 0).to_pylist():
            who = f" as {row['attempted_principal']}" if row["attempted_principal"] else ""
            found[row["client_key"], f"authentication failed{who}"] += row["auth_failures"]
        for row in table.filter((pc.field("state") == "reset") & (pc.field("protocol") == "silent")).to_pylist():
            found[row["client_key"], "connection refused or reset before a byte"] += 1
    for row in folder.rows("api_usage", _USE_WITH_ERRORS, pc.field("errors") > 0):
        errors, disconnects = row["error_names"] or (), row["disconnects"] or 0
        if disconnects:
            hung_up[row["client_key"]][f"{row['api_name']} v{row['api_version']}"] += disconnects
        refused = [name for name in errors if name.endswith("AUTHORIZATION_FAILED") or name in _SAY_NO]
        if refused:
            others = " and other errors" if len(refused) < len(errors) else ""
            found[row["client_key"], f"{row['api_name']}: {', '.join(refused)}{others}"] += (row["errors"] or 0) - disconnects
    for key, uses in hung_up.items():
        listed = ", ".join(f"{use} ({number:,})" for use, number in sorted(uses.items(), key=lambda each: (-each[1], each[0])))
        found[key, f"the server hung up without an answer: {listed}"] = uses.total()
    ranked = sorted(found.items(), key=lambda each: (-each[1], names.get(each[0][0], ""), each[0][1]))[:TOP]
    return Listing(
        id="incident-refused",
        title="Refused",
        lead="Failed logins, refused connections and rejected requests.",
        columns=(_CLIENT, Column("What"), Column("Times", "number")),
        rows=tuple((names.get(key, key), what, count(number)) for (key, what), number in ranked),
        nothing="No client was refused.",
        noun="refusals",
    )


def _rebalancing(folder: AnalysisFolder) -> Listing:
    columns = ("group_id", "event", "duration_us", "reason", "members_before")
    events = folder.read("group_events", columns, pc.field("event").isin(["rebalance", "expired"]))
    expired = _tallied(events.filter(pc.field("event") == "expired"))
    again = events.filter((pc.field("event") == "rebalance") & (pc.field("members_before") > 0))  # the first generation in sight is none
    sums = again.group_by("group_id").aggregate([([], "count_all"), ("duration_us", "sum")]).to_pydict()
    rebalances = dict(zip(sums["group_id"], sums["count_all"], strict=True))
    spent = dict(zip(sums["group_id"], (total or 0 for total in sums["duration_us_sum"]), strict=True))
    why: dict[str, Counter[str]] = defaultdict(Counter)
    worst = sorted(rebalances.items(), key=lambda each: (-each[1], each[0]))[:TOP]
    of_worst = again.filter(pc.is_in(again["group_id"], value_set=pa.array([group for group, _ in worst], pa.string())))
    for row in of_worst.group_by(["group_id", "reason"], use_threads=False).aggregate([([], "count_all")]).to_pylist():
        why[row["group_id"]][row["reason"] or "?"] += row["count_all"]
    rows = tuple(
        (
            group,
            count(number),
            length_of_time(timedelta(seconds=spent[group] / _MICROSECONDS)),
            count(expired.get(group, 0)),
            "; ".join(f"{reason} ({times})" for reason, times in why[group].most_common(3)),
        )
        for group, number in worst
    )
    return Listing(
        id="incident-rebalancing",
        title="Groups that rebalance",
        lead="Consumer groups by rebalances, and the time they spent in them.",
        columns=(
            Column("Group"),
            Column("Rebalances", "number"),
            Column("Time spent", "time"),
            Column("Members expired", "number"),
            Column("Why"),
        ),
        rows=rows,
        nothing="No group rebalanced.",
        noun="groups",
    )


def _tallied(events: pa.Table) -> dict[str, int]:
    """How many of them there are of each group."""
    found = events.group_by("group_id").aggregate([([], "count_all")]).to_pydict()
    return dict(zip(found["group_id"], found["count_all"], strict=True))


def _oversized(folder: AnalysisFolder) -> Listing:
    columns = ("client_id", "topic", "topic_id", "direction", "max_batch_bytes", "error_names", "bytes", "records")
    too_large = {"MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"}
    found = [
        row
        for row in folder.rows("topic_access", columns, pc.field("direction") == "produce")
        if (row["max_batch_bytes"] or 0) >= 1 << 20 or too_large & {*(row["error_names"] or ())}
    ]
    found.sort(key=lambda row: (-(row["max_batch_bytes"] or 0), row["client_id"] or "", row["topic"] or ""))
    rows = tuple(
        (
            row["client_id"] or "without a name",
            row["topic"] or row["topic_id"] or "?",
            bytes_of(row["max_batch_bytes"] or 0),
            ", ".join(sorted(too_large & {*(row["error_names"] or ())})) or "taken",
        )
        for row in found[:TOP]
    )
    return Listing(
        id="incident-oversized",
        title="Oversized batches",
        lead="Producers whose largest record batch reached 1 MiB, which is as much as a broker takes by default (message.max.bytes).",
        columns=(_CLIENT, Column("Topic"), Column("Largest batch", "number"), Column("The broker", "words")),
        rows=rows,
        nothing="No record batch reached 1 MiB.",
        noun="producers",
    )
