"""History of breaking applications over several reports: one line for each state of an analysis, stored beside its tables."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from kwire.json_encoding import encode_json
from kwire.report.amounts import named
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.answer import Answer

__all__ = ["HISTORY", "HistoryPoint", "history_of", "history_text", "judged_for", "read_history"]

HISTORY: Final = "_history.json"
"""File name in the folder of an analysis; readers of Parquet skip names with this prefix."""
_KEPT: Final = 500
_COUNTS: Final = ("applications", "breaks", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPoint:
    """Counts of a report; `until` is the end of its captures, ISO 8601 in UTC, `to` its newest target, empty if unknown."""

    until: str
    applications: int
    breaks: int
    unknown: int
    to: str = ""


def read_history(folder: AnalysisFolder) -> tuple[HistoryPoint, ...]:
    """Read the states in earlier reports of this folder, oldest first; an unreadable file counts as empty."""
    try:
        lines = json.loads(folder.read_text(HISTORY))
    except (OSError, ValueError, RecursionError):
        return ()
    return tuple(point for line in (lines if isinstance(lines, list) else ()) if (point := _point(line)))


def history_of(
    until: datetime | None, applications: int, answer: Answer, to: str, *earlier: Iterable[HistoryPoint]
) -> tuple[HistoryPoint, ...]:
    """Return earlier states and the current one, by the end of their captures; the current one replaces an earlier one of the same
    captures."""
    found = {point.until: point for points in earlier for point in points}
    if until is not None:
        name = until.isoformat(timespec="seconds")
        found[name] = HistoryPoint(until=name, applications=applications, breaks=answer.breaks, unknown=answer.unknown, to=to)
    return tuple(found[name] for name in sorted(found))[-_KEPT:]


def judged_for(points: Iterable[HistoryPoint]) -> str:
    """Return the targets in turn if they differ, such as `, judged for Kafka 4.1, then redpanda-24.3.1`."""
    turns = [named(to) for to, _ in groupby(point.to for point in points if point.to)]
    return f", judged for {', then '.join(turns)}" if len(turns) > 1 else ""


def history_text(points: Iterable[HistoryPoint]) -> str:
    return encode_json([asdict(point) for point in points], indent=1) + "\n"


def _point(line: Any) -> HistoryPoint | None:
    if not isinstance(line, dict) or not isinstance(line.get("until"), str):
        return None
    applications, breaks, unknown = (line.get(name) for name in _COUNTS)
    if not (isinstance(applications, int) and isinstance(breaks, int) and isinstance(unknown, int)):
        return None
    to = line["to"] if isinstance(line.get("to"), str) else ""
    return HistoryPoint(until=line["until"], applications=applications, breaks=breaks, unknown=unknown, to=to)
