"""Top lists of operational issues: Metadata requests, connection storms, throttling, refusals, rebalances, oversized batches."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta
from typing import Final

import pyarrow.compute as pc

from kwire.analysis.digests.of_answers import SAY_NO, STORM
from kwire.report.amounts import bytes_of, count, length_of_time, moment
from kwire.report.analysis_folder import AnalysisFolder, rows_of
from kwire.report.listings import Column, Listing

__all__ = ["TOP", "read_incidents"]

TOP: Final = 10
_NAMED: Final = ("client_key", "client_ids", "software_name", "library_guess", "addresses")
_OF_CLIENTS: Final = ("metadata", "storms", "throttled", "refusals", "failed_uses")
_CLIENT: Final = Column("Client")


def read_incidents(folder: AnalysisFolder) -> tuple[Listing, ...]:
    names = _names(folder)
    of_clients = [read(folder, names) for read in (_metadata, _storms, _throttled, _refused)]
    return (*of_clients, _rebalancing(folder), _oversized(folder))


def _names(folder: AnalysisFolder) -> dict[str, str]:
    keys = {row["client_key"] for name in _OF_CLIENTS for row in rows_of(folder.digest, name)} - {None}
    chosen = folder.read("clients", _NAMED, pc.field("client_key").isin(sorted(keys))) if keys else None
    names = {}
    for row in () if chosen is None else chosen.to_pylist():
        ids = [name for name in row["client_ids"] or () if name]
        shown = ids[0] + (f" and {len(ids) - 1} more" if len(ids) > 1 else "") if ids else ""
        library = row["library_guess"] or (row["software_name"] if row["software_name"] != "unknown" else "") or ""
        names[row["client_key"]] = shown or library or next(iter(row["addresses"] or ()), "") or "without a name"
    return names


def _metadata(folder: AnalysisFolder, names: dict[str, str]) -> Listing:
    found = [(row, row["last_seen"] - row["first_seen"]) for row in rows_of(folder.digest, "metadata")]
    rates = [(row["rate"], row["requests"], span, names.get(row["client_key"], row["client_key"])) for row, span in found]
    rates.sort(key=lambda each: (-each[0], each[3]))
    rows = tuple((name, f"{rate:,.1f}", count(requests), length_of_time(span)) for rate, requests, span, name in rates[:TOP])
    return Listing(
        id="incident-metadata",
        title="Excessive Metadata requests",
        lead="Clients that ask for the cluster's metadata more than once a minute over at least a minute; every five minutes is usual.",
        columns=(_CLIENT, Column("A minute", "number"), Column("Requests", "number"), Column("Within", "time")),
        rows=rows,
        nothing="Metadata requests: normal.",
        noun="clients",
    )


def _storms(folder: AnalysisFolder, names: dict[str, str]) -> Listing:
    found = rows_of(folder.digest, "storms")
    ranked = sorted(found, key=lambda row: (-row["connections"], names.get(row["client_key"], row["client_key"])))[:TOP]
    return Listing(
        id="incident-storms",
        title="Connection storms",
        lead=f"Clients that opened {STORM} connections or more within a minute.",
        columns=(_CLIENT, Column("In a minute", "number"), Column("That minute (UTC)", "time"), Column("In all", "number")),
        rows=tuple(
            (names.get(row["client_key"], row["client_key"]), count(row["connections"]), moment(row["minute"]), count(row["in_all"]))
            for row in ranked
        ),
        nothing=f"No client opened {STORM} connections within a minute.",
        noun="clients",
    )


def _throttled(folder: AnalysisFolder, names: dict[str, str]) -> Listing:
    held: Counter[str] = Counter()
    apis: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows_of(folder.digest, "throttled"):
        held[row["client_key"]] += row["throttle_ms"]
        apis[row["client_key"]][row["api_name"] or "?"] += row["throttle_ms"]
    rows = tuple(
        (names.get(key, key), length_of_time(timedelta(milliseconds=total)), ", ".join(name for name, _ in apis[key].most_common(3)))
        for key, total in sorted(held.items(), key=lambda each: (-each[1], each[0]))[:TOP]
    )
    return Listing(
        id="incident-throttled",
        title="Throttled by quotas",
        lead="Throttle time that brokers sent to clients, summed over their responses.",
        columns=(_CLIENT, Column("Told to wait", "time"), Column("On", "words")),
        rows=rows,
        nothing="No throttling.",
        noun="clients",
    )


def _refused(folder: AnalysisFolder, names: dict[str, str]) -> Listing:
    found: Counter[tuple[str, str]] = Counter()
    hung_up: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows_of(folder.digest, "refusals"):
        found[row["client_key"], row["reason"]] += row["times"]
    for row in rows_of(folder.digest, "failed_uses"):
        errors, disconnects = row["error_names"] or (), row["disconnects"] or 0
        if disconnects:
            hung_up[row["client_key"]][f"{row['api_name']} v{row['api_version']}"] += disconnects
        refused = [name for name in errors if name.endswith("AUTHORIZATION_FAILED") or name in SAY_NO]
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
    lives = {row["group_id"]: row for row in rows_of(folder.digest, "group_lives") if row["again"]}
    why: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows_of(folder.digest, "rebalance_reasons"):
        why[row["group_id"]][row["reason"] or "?"] += row["times"]
    worst = sorted(lives.items(), key=lambda each: (-each[1]["again"], each[0]))[:TOP]
    rows = tuple(
        (
            group,
            count(life["again"]),
            length_of_time(timedelta(microseconds=life["spent_us"])),
            count(life["expired"]),
            "; ".join(f"{reason} ({times})" for reason, times in why[group].most_common(3)),
        )
        for group, life in worst
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


def _oversized(folder: AnalysisFolder) -> Listing:
    too_large = {"MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"}
    found = rows_of(folder.digest, "oversized")
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
        lead="Producers whose largest record batch reached 1 MiB, the broker's default limit (message.max.bytes).",
        columns=(_CLIENT, Column("Topic"), Column("Largest batch", "number"), Column("The broker", "words")),
        rows=rows,
        nothing="No record batch reached 1 MiB.",
        noun="producers",
    )
