"""Violations by severity and rule, each with the first frames as evidence."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Final

from kwire.report.analysis_folder import AnalysisFolder, rows_of
from kwire.report.records import record

__all__ = ["CLIENTS_SHOWN", "FILE_RULES", "FRAMES_SHOWN", "SEVERITIES", "BrokenRule", "Frame", "read_broken_rules"]

FRAMES_SHOWN: Final = 20
"""Maximum number of frames listed for one rule; the table has all."""

CLIENTS_SHOWN: Final = 10
"""Maximum number of clients named for one rule; those with most violations are named."""

SEVERITIES: Final = ("error", "warning", "info")

FILE_RULES: Final = frozenset(
    (
        "capture_cut", "capture_damaged", "capture_empty", "capture_link_type", "capture_times", "capture_unreadable", "log_line_torn",
        "log_line_unreadable", "log_lines_foreign", "log_without_times", "no_kafka", "series_connections", "series_order",
    )
)  # fmt: skip
"""Rules of input files, which no client or broker violates (`docs/reference/violations.md`, Files)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
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
    rule: str
    severity: str
    times: int
    connections: int
    clients: tuple[tuple[str, int], ...]
    frames: tuple[Frame, ...]

    @property
    def of_file(self) -> bool:
        return self.rule in FILE_RULES


def read_broken_rules(folder: AnalysisFolder) -> tuple[BrokenRule, ...]:
    clients: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    frames: dict[tuple[str, str], list[Frame]] = defaultdict(list)
    for row in rows_of(folder.digest, "rule_clients"):
        clients[row["severity"], row["rule"]][row["client_id"]] += row["times"]
    for row in rows_of(folder.digest, "rule_frames"):
        if len(frames[row["severity"], row["rule"]]) < FRAMES_SHOWN:
            frames[row["severity"], row["rule"]].append(record(Frame, row))
    rules = [
        record(BrokenRule, row, clients=tuple(clients[key].most_common(CLIENTS_SHOWN)), frames=tuple(frames[key]))
        for row in rows_of(folder.digest, "rules")
        for key in [(row["severity"], row["rule"])]
    ]
    order = {name: place for place, name in enumerate(SEVERITIES)}
    return tuple(sorted(rules, key=lambda rule: (order.get(rule.severity, len(order)), -rule.times, rule.rule)))
