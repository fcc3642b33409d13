"""Changes since an earlier analysis, as lists: the differences of `kwire diff` for the page and its other forms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from kwire.analysis.comparison import COMPARED, compare
from kwire.analysis.differences import Comparison, Thresholds, VerdictChange
from kwire.analysis.digests import EVERYTHING
from kwire.errors import InputError
from kwire.report.amounts import count, latency, named
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.inventory import read_clients
from kwire.report.listings import Column, Listing
from kwire.schema import releases

__all__ = ["compare_folders", "read_changes"]


def compare_folders(before: AnalysisFolder, after: AnalysisFolder, thresholds: Thresholds | None = None) -> Comparison:
    """Compare two analyses; redacted ones need the same key."""
    if _redaction(before) != _redaction(after):
        raise InputError(
            f"{before.path} and {after.path} are not redacted with the same key, so no client of one can be found in the other"
        )
    return compare(_tables(before), _tables(after), thresholds, (_apart(before), _apart(after)))


def _apart(folder: AnalysisFolder) -> frozenset[str]:
    whole = AnalysisFolder(folder.location, EVERYTHING)
    return frozenset(client.client_key for client in read_clients(whole) if client.kind != "application")


def _tables(folder: AnalysisFolder) -> dict[str, pa.Table]:
    return {name: folder.read(name, columns) for name, columns in COMPARED.items()}


def _redaction(folder: AnalysisFolder) -> str | None:
    return folder.manifest().get("redacted")


def read_changes(before: AnalysisFolder, after: AnalysisFolder) -> tuple[Listing, ...]:
    """Return the differences as lists, the worst first; an empty list has a sentence instead."""
    found = compare_folders(before, after)
    client, api = Column("Client"), Column("API")
    was, now = (f"On {named(releases().short_name(each))}" for each in found.targets) if found.targets else ("Before", "Now")
    lists: list[tuple[str, str, str, tuple[Column, ...], list[tuple[str, ...]], str]] = [
        (
            "failing", "Newly failing", "Errors that a client did not get before, or gets much more often.",
            (client, api, Column("Errors before"), Column("Errors now"), Column("New errors")),
            [(x.client, _api(x), x.before, x.after, ", ".join(x.new_error_names)) for x in found.failing],
            "No new failures.",
        ),
        (
            "verdicts", "Verdicts that got worse", "Uses that a release refuses, or may, and that were judged better or not seen before.",
            (client, api, Column("Releases"), Column(was), Column(now), Column("Reason", "words")),
            _by_release(found.verdicts),
            "No verdict got worse.",
        ),
        (
            "slower", "Slower", "Uses of an api whose median or 99th percentile is at least half as long again.",
            (client, api, *(Column(title, "number") for title in ("p50 before", "p50 now", "p99 before", "p99 now", "Requests"))),
            [(x.client, _api(x), *map(latency, (x.p50_before_us, x.p50_after_us, x.p99_before_us, x.p99_after_us)), count(x.requests_after))
             for x in found.slower],
            "Nothing got slower.",
        ),
        (
            "clients", "Clients", "Clients that are new, gone, or of another version of their library.",
            (Column("Change", "words"), client, Column("Library"), Column("Version before"), Column("Version now"), Column("Owner"),
             Column("Requests", "number")),
            [(x.change, x.client, x.library, x.version_before or "", x.version_after or "", x.owner or "", count(x.requests))
             for x in found.clients],
            "The clients are the same, of the same versions.",
        ),
        (
            "apis", "API versions", "Versions of apis that a client uses on one side only.",
            (Column("Change", "words"), client, api, Column("Requests", "number")),
            [(x.change, x.client, _api(x), count(x.requests)) for x in found.apis],
            "Every client uses the same api versions.",
        ),
        (
            "topics", "Topics", "Topics that a client writes or reads on one side only.",
            (Column("Change", "words"), client, Column("Topic"), Column("Direction", "words")),
            [(x.change, x.client, x.topic, x.direction) for x in found.topics],
            "Every client uses the same topics.",
        ),
        (
            "violations", "Newly broken rules", "Rules that a client breaks now and did not before.",
            (Column("Severity", "words"), client, Column("Rule"), Column("Times", "number")),
            [(x.severity, x.client, x.rule, count(x.count)) for x in found.violations],
            "No rule is broken that was kept before.",
        ),
    ]  # fmt: skip
    return tuple(
        Listing(id=f"change-{name}", title=title, lead=lead, columns=columns, rows=tuple(rows), nothing=nothing, noun="changes")
        for name, title, lead, columns, rows, nothing in lists
    )


def _by_release(changes: Iterable[VerdictChange]) -> list[tuple[str, ...]]:
    """Merge equal verdicts of several releases into one row, with the reason of the first release."""
    groups: dict[tuple[str, str, str, str], list[VerdictChange]] = defaultdict(list)
    for one in changes:
        groups[one.client, _api(one), one.before or "not seen", one.after].append(one)
    return [
        (client, api, ", ".join(releases().short_name(one.target_release) for one in of_use), before, after, of_use[0].reason or "")
        for (client, api, before, after), of_use in groups.items()
    ]


def _api(change: Any) -> str:
    return f"{change.api} v{change.version}"
