"""Topics with who writes and who reads them, the life of consumer groups, and the metrics that clients push: as lists."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import Any, Final

import pyarrow.compute as pc

from kwire.report.amounts import bytes_of, count, length_of_time, moment, plural
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.listings import Column, Listing

__all__ = ["read_groups", "read_telemetry", "read_topics"]

_NAMED: Final = 4  # clients that a cell names
_SECOND: Final = 1_000_000


def _several(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "") if names else "nobody in sight"


def read_topics(folder: AnalysisFolder) -> Listing:
    """Topics, the busiest first, with their writers and readers."""
    columns = ("topic", "topic_id", "direction", "client_id", "group_ids", "records", "bytes", "compression", "magic")
    topics: dict[str, dict[str, Any]] = {}
    for row in folder.rows("topic_access", columns):
        name = row["topic"] or f"id {row['topic_id']}"
        found = topics.setdefault(name, {"written": 0, "read": 0, "bytes": 0, "writers": set(), "readers": set(), "formats": set()})
        who = row["client_id"] or "without a name"
        if row["direction"] == "produce":
            found["written"] += row["records"] or 0
            found["bytes"] += row["bytes"] or 0
            found["writers"].add(who)
            codecs = {"uncompressed" if codec == "none" else codec for codec in row["compression"] or ()}
            found["formats"] |= codecs | {f"message format v{magic}" for magic in row["magic"] or () if magic < 2}
        else:
            found["read"] += row["records"] or 0
            found["readers"].add(who + (f" ({', '.join(row['group_ids'])})" if row["group_ids"] else ""))
    ranked = sorted(topics.items(), key=lambda each: (-each[1]["written"] - each[1]["read"], each[0]))
    rows = tuple(
        (
            name, _several(sorted(topic["writers"])), _several(sorted(topic["readers"])), count(topic["written"]), bytes_of(topic["bytes"]),
            count(topic["read"]), ", ".join(sorted(topic["formats"])),
        )
        for name, topic in ranked
    )  # fmt: skip
    return Listing(
        id="topic-list",
        title="Topics",
        lead="Who writes a topic and who reads it, as far as these captures show; records and bytes are those that travelled.",
        columns=(
            Column("Topic"),
            Column("Written by"),
            Column("Read by"),
            Column("Records written", "number"),
            Column("Bytes written", "number"),
            Column("Records read", "number"),
            Column("Written as", "words"),
        ),
        rows=rows,
        nothing="No topic was written or read in these captures.",
        noun="topics",
    )


def read_groups(folder: AnalysisFolder) -> Listing:
    """The rebalances of all groups, one after the other."""
    columns = ("group_id", "time", "generation", "members_before", "members_after", "duration_us", "reason", "diff", "protocol")
    found = folder.rows("group_events", columns, pc.field("event") == "rebalance")
    found.sort(key=lambda row: (row["group_id"], row["time"]))
    rows = tuple(
        (
            row["group_id"],
            moment(row["time"]),
            count(row["generation"]),
            f"{row['members_before']} to {row['members_after']}",
            "" if row["duration_us"] is None else length_of_time(timedelta(seconds=row["duration_us"] / _SECOND)),
            row["reason"] or "",
            row["diff"] or "",
        )
        for row in found
    )
    return Listing(
        id="group-list",
        title="Consumer groups",
        lead="Each time a group shared out its partitions anew: when, why, how long it took, and what changed.",
        columns=(
            Column("Group"),
            Column("When (UTC)", "time"),
            Column("Generation", "number"),
            Column("Members", "number"),
            Column("Took", "time"),
            Column("Why"),
            Column("What changed"),
        ),
        rows=rows,
        nothing="No group was seen to share out its partitions.",
        noun="rebalances",
    )


def read_telemetry(folder: AnalysisFolder) -> Listing:
    """Who pushes metrics (KIP-714), and which."""
    clients: dict[tuple[str, str, str], dict[str, Any]] = defaultdict(lambda: {"points": 0, "metrics": set(), "last": None})
    for batch in folder.scan("telemetry", ("client_id", "software_name", "software_version", "client_instance_id", "metric", "time")):
        for row in batch.to_pylist():
            software = f"{row['software_name'] or ''} {row['software_version'] or ''}".strip()
            found = clients[row["client_id"] or "without a name", software, row["client_instance_id"] or ""]
            found["points"] += row["metric"] is not None
            found["metrics"].add(row["metric"])
            if row["time"] is not None and (found["last"] is None or row["time"] > found["last"]):
                found["last"] = row["time"]
    rows = tuple(
        (client, software, instance, plural(len(found["metrics"] - {None}), "metric"), count(found["points"]), moment(found["last"]))
        for (client, software, instance), found in sorted(clients.items(), key=lambda each: each[0])
    )
    return Listing(
        id="telemetry-list",
        title="Client metrics",
        lead="Clients that push their own metrics through the brokers (KIP-714).",
        columns=(
            Column("Client"),
            Column("Software"),
            Column("Instance"),
            Column("Metrics", "number"),
            Column("Points", "number"),
            Column("Last (UTC)", "time"),
        ),
        rows=rows,
        nothing="No client pushed metrics in these captures.",
        noun="clients",
    )
