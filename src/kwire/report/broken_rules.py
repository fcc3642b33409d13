"""Violations by severity and rule, each with the first frames that prove it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.report.analysis_folder import AnalysisFolder

__all__ = ["CLIENTS_SHOWN", "FRAMES_SHOWN", "SEVERITIES", "BrokenRule", "Frame", "read_broken_rules"]

FRAMES_SHOWN: Final = 20
"""Frames listed for one rule; the table has them all."""

CLIENTS_SHOWN: Final = 10
"""Clients named for one rule, those that break it most."""

SEVERITIES: Final = ("error", "warning", "info")

_FRAME_COLUMNS: Final = (
    "capture", "connection_id", "request_index", "packet_number", "stream_offset", "software_name", "client_id", "explanation",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where a rule is broken."""

    capture: str
    connection_id: str
    request_index: int | None
    packet_number: int | None
    stream_offset: int | None
    software_name: str | None
    client_id: str | None
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenRule:
    """One rule: how often it is broken, on how many connections, by which clients (the worst, with their times), and the first frames."""

    rule: str
    severity: str
    times: int
    connections: int
    clients: tuple[tuple[str, int], ...]
    frames: tuple[Frame, ...]


def read_broken_rules(folder: AnalysisFolder) -> tuple[BrokenRule, ...]:
    """Count violations by rule, errors first; walks through the table once and keeps `FRAMES_SHOWN` frames a rule."""
    times: dict[tuple[str, str], int] = defaultdict(int)
    connections: dict[tuple[str, str], set[str]] = defaultdict(set)
    clients: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    frames: dict[tuple[str, str], list[Frame]] = defaultdict(list)
    for batch in folder.scan("violations", ("rule", "severity", "count", *_FRAME_COLUMNS)):
        table = pa.Table.from_batches([batch])
        # one row may stand for many; earlier releases had one row each
        column: Any = table["count"]
        counts: Any = pc.fill_null(column, 1)
        table = table.set_column(table.schema.get_field_index("count"), "count", counts)
        counted = table.group_by(["severity", "rule"]).aggregate([("count", "sum"), ("connection_id", "distinct")])
        for row in counted.to_pylist():
            kind = row["severity"] or "info", row["rule"] or "unnamed"
            times[kind] += row["count_sum"]
            connections[kind].update(name for name in row["connection_id_distinct"] if name)
            clients[kind].update(_by_client(table, row["severity"], row["rule"]))
            missing = FRAMES_SHOWN - len(frames[kind])
            if missing > 0:
                frames[kind] += _first_frames(table, row["severity"], row["rule"], missing)
    rules = [
        BrokenRule(
            severity=kind[0],
            rule=kind[1],
            times=number,
            connections=len(connections[kind]),
            clients=tuple(clients[kind].most_common(CLIENTS_SHOWN)),
            frames=tuple(frames[kind]),
        )
        for kind, number in times.items()
    ]
    order = {name: place for place, name in enumerate(SEVERITIES)}
    return tuple(sorted(rules, key=lambda rule: (order.get(rule.severity, len(order)), -rule.times, rule.rule)))


def _of_rule(table: pa.Table, severity: str | None, rule: str | None) -> pa.Table:
    def is_one(column: str, value: str | None) -> pc.Expression:
        return pc.field(column).is_null() if value is None else pc.field(column) == value

    return table.filter(is_one("severity", severity) & is_one("rule", rule))


def _by_client(table: pa.Table, severity: str | None, rule: str | None) -> dict[str, int]:
    """How often each client id breaks the rule; a connection without one counts for nobody."""
    counted = _of_rule(table, severity, rule).group_by("client_id").aggregate([("count", "sum")]).to_pylist()
    return {row["client_id"]: row["count_sum"] for row in counted if row["client_id"] is not None}


def _first_frames(table: pa.Table, severity: str | None, rule: str | None, number: int) -> list[Frame]:
    chosen = _of_rule(table, severity, rule).slice(0, number)
    return [_frame(row) for row in chosen.select(_FRAME_COLUMNS).to_pylist()]


def _frame(row: dict[str, Any]) -> Frame:
    return Frame(
        capture=row["capture"] or "",
        connection_id=row["connection_id"] or "",
        request_index=row["request_index"],
        packet_number=row["packet_number"],
        stream_offset=row["stream_offset"],
        software_name=row["software_name"],
        client_id=row["client_id"],
        explanation=row["explanation"] or "",
    )
