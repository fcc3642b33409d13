"""Columns of a table that `kwire inspect` shows, their headings, and the text of a value."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, Final

from kwire.cli.tables import Column

__all__ = ["SHOWN", "chosen_columns", "columns_of", "shown_value"]

# What a person looks at first; --json gives every column. A heading stands for one column, or for several side by side.
SHOWN: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "requests": {
        "time": ("request_time",), "connection": ("connection_id",), "#": ("request_index",), "API": ("api_name", "api_version"),
        "client id": ("client_id",), "library": ("software_name", "software_version"), "latency us": ("latency_us",),
        "error": ("error_name",), "state": ("state",),
    },
    "connections": {
        "first seen": ("first_seen",), "connection": ("connection_id",), "protocol": ("protocol",), "state": ("state",),
        "library": ("software_name", "software_version"), "client id": ("client_id",), "principal": ("principal",),
        "requests": ("request_frames",), "responses": ("response_frames",), "gaps": ("gaps",),
    },
    "violations": {
        "severity": ("severity",), "rule": ("rule",), "connection": ("connection_id",), "#": ("request_index",),
        "packet": ("packet_number",), "explanation": ("explanation",),
    },
    "captures": {
        name.replace("_", " "): (name,) for name in (
            "capture", "start", "end", "packets", "packets_dropped", "bytes", "bytes_damaged", "bytes_lost", "bytes_opaque", "connections",
            "requests", "unanswered",
        )
    },
    "telemetry": {
        "time": ("time",), "client id": ("client_id",), "library": ("software_name", "software_version"), "metric": ("metric",),
        "type": ("type",), "value": ("value",), "count": ("count",),
    },
    "clients": {
        "client ids": ("client_ids",), "library": ("software_name", "software_version", "library_guess"),
        "identified by": ("identity_source", "software_name", "library_guess"), "addresses": ("addresses",),
        "principals": ("principals",), "connections": ("connections",),
        "requests": ("requests",), "errors": ("errors",),
    },
    "api_usage": {
        "client id": ("client_id",), "library": ("software_name", "software_version"), "API": ("api_name", "api_version"),
        "requests": ("requests",), "errors": ("errors",), "p50 us": ("latency_p50_us",), "p99 us": ("latency_p99_us",),
    },
    "topic_access": {
        "client id": ("client_id",), "direction": ("direction",), "topic": ("topic",), "groups": ("group_ids",), "requests": ("requests",),
        "records": ("records",), "bytes": ("bytes",), "compression": ("compression",), "errors": ("error_names",),
    },
    "group_events": {
        "time": ("time",), "group": ("group_id",), "event": ("event",), "generation": ("generation",), "member": ("member_id",),
        "members": ("members_before", "members_after"), "reason": ("reason",), "what changed": ("diff",), "error": ("error_name",),
    },
    "client_hourly": {
        "hour": ("hour",), "library": ("software_name", "software_version"), "server": ("server",), "API": ("api_name", "api_version"),
        "requests": ("requests",), "errors": ("errors",), "connections": ("connections",), "throttled ms": ("throttle_ms",),
    },
    "upgrade_impact": {
        "client id": ("client_id",), "library": ("software_name", "software_version"), "API": ("api_name", "api_version"),
        "release": ("target_release",), "verdict": ("verdict",), "basis": ("verdict_basis",), "reason": ("reason",),
    },
    "brokers": {
        "node": ("node_id",), "host": ("host",), "port": ("port",), "rack": ("rack",), "cluster": ("cluster_id",),
        "release": ("release_guess",), "addresses": ("addresses",),
    },
}  # fmt: skip

# Columns that a narrow terminal leaves out first; all others are equal, and of those the last goes first.
_RANKS: Final = {
    "connection": 9, "library": 8, "#": 7, "addresses": 6, "principals": 6, "principal": 6, "gaps": 5, "basis": 5, "connections": 4,
    "packet": 4, "state": 3, "responses": 3, "errors": 2, "error": 2, "identified by": 2,
}  # fmt: skip
_RANKS_IN: Final[dict[str, dict[str, int]]] = {"clients": {"library": 0, "identified by": 1, "requests": 2, "errors": 3}}
_LEAST: Final = {"client ids": 32, "API": 20, "library": 20, "reason": 30, "explanation": 30}
_NEVER_CUT: Final = frozenset(("time", "first seen", "start", "end", "verdict", "release", "severity", "direction", "identified by"))
_NARROW: Final = 120
"""Terminal width below which times have no date."""

_IDENTIFIED: Final = {
    "api_versions": "self-reported", "fingerprint": "inferred", "not_sent": "not sent", "not_observed": "handshake not captured",
}  # fmt: skip


def columns_of(table: str) -> list[Column]:
    ranks = {**_RANKS, **_RANKS_IN.get(table, {})}
    return [Column(heading, ranks.get(heading, 0), 0 if heading in _NEVER_CUT else _LEAST.get(heading, 12)) for heading in SHOWN[table]]


def chosen_columns(text: str, known: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns that `--columns` names; a ValueError names those that exist."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    missing = next((name for name in names if name not in known), None)
    if missing is not None or not names:
        raise ValueError(f"{missing!r} is not one of the columns {', '.join(known)}")
    return {name: (name,) for name in names}


def shown_value(row: dict[str, Any], names: tuple[str, ...], width: int) -> object:
    if len(names) == 1:
        return _single(names[0], row[names[0]], width)
    if names == ("members_before", "members_after"):
        return None if row["members_after"] is None else f"{row['members_before']} to {row['members_after']}"
    if names == ("api_name", "api_version"):
        return None if row["api_key"] is None else f"{row['api_name'] or row['api_key']} v{row['api_version']}"
    if names[-1] == "library_guess":
        named = row["software_name"] not in (None, "", "unknown")
        if names[0] == "identity_source":
            return "inferred" if row["library_guess"] and not named else _IDENTIFIED.get(row["identity_source"], row["identity_source"])
        if not named:
            return f"{row['library_guess']} ~" if row["library_guess"] else "unknown"
        names = names[:-1]
    return " ".join(dict.fromkeys(str(row[name]) for name in names if row[name] is not None)) or None


def _single(name: str, value: object, width: int) -> object:
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, datetime) and width < _NARROW:
        return value.astimezone(timezone.utc).strftime("%H:%M:%S.%f")[:-3]
    return value
